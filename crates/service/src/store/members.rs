//! The servers that work over one engine: each writes a row of its own, again every other second, and says in it what
//! its readers still need (decision 0025). A server whose row was not written for long is declared dead by deleting the
//! row, so that it finds out by its next heartbeat; then nothing of it is waited for any more.
//!
//! One server alone writes no rows: all other incarnations are dead.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use lazuli_engine::{Engine, Plan, Reader, Scan};
use parking_lot::Mutex;
use tokio::sync::Mutex as FairMutex;

use super::formats;
use super::queue::Share;
use crate::Services;
use crate::fault::{Answer, Fault};
use crate::store::key::{self, Incarnation};
use crate::store::record::Record;
use crate::store::record::server::ServerRow;

/// Whether other servers work over the same engine.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Members {
    /// This process alone, as when a directory is locked by it. Nothing is written while nothing is asked.
    #[default]
    Alone,
    /// Other servers may be there, each with a row.
    Several,
}

/// How often a server writes its row.
pub const BEAT: Duration = Duration::from_secs(2);
/// How often one with a test clock looks where the others moved it.
pub const FOLLOW: Duration = Duration::from_millis(100);
/// A server that has not written its row for so long may be declared dead.
pub const EXPIRY: Duration = Duration::from_secs(30);
/// How long one heartbeat may try. The next says more.
const BEAT_PATIENCE: Duration = Duration::from_secs(5);

pub(crate) struct Membership {
    incarnation: Mutex<Incarnation>,
    /// One heartbeat at a time.
    beating: FairMutex<Beating>,
    settings: AtomicU64,
    share: Mutex<Option<Share>>,
    /// Servers with other settings.
    differing: AtomicUsize,
}

#[derive(Default)]
struct Beating {
    /// The row of this incarnation was written: if it is gone, the others took this server for dead.
    joined: bool,
    /// The row shows the present epoch. Another begins only then, so that readers are at most one epoch ahead of it.
    published: bool,
}

impl Default for Membership {
    fn default() -> Self {
        let incarnation = Mutex::new(Incarnation::fresh());
        Self {
            incarnation,
            beating: FairMutex::default(),
            settings: AtomicU64::new(0),
            share: Mutex::default(),
            differing: AtomicUsize::new(0),
        }
    }
}

impl Membership {
    pub fn incarnation(&self) -> Incarnation {
        *self.incarnation.lock()
    }

    /// Which messages of a queue this server tries to get first, while others do the same. `None` when it is alone.
    pub fn share(&self) -> Option<Share> {
        *self.share.lock()
    }
}

impl Services {
    pub fn members(&self) -> Members {
        self.options().members
    }

    /// Which life of which server this is.
    pub fn incarnation(&self) -> Incarnation {
        self.membership().incarnation()
    }

    /// Makes this server one of the members. To be awaited before the first request is served.
    pub async fn join(&self) -> Answer<()> {
        self.beat().await
    }

    /// Writes this server's row anew.
    pub async fn beat(&self) -> Answer<()> {
        if self.members() == Members::Alone {
            return Ok(());
        }
        let mut beating = self.membership().beating.lock().await;
        if beating.joined {
            if self.write_row(&mut beating, self.incarnation()).await? {
                return Ok(());
            }
            tracing::warn!("this server was taken for dead; it goes on as another");
            self.readers().begin_life();
            *beating = Beating::default();
        }
        // Each time another one: a row whose writing failed may have been there all the same, and been deleted.
        self.write_row(&mut beating, Incarnation::fresh()).await?;
        Ok(())
    }

    /// Writes the row of an incarnation, which this server goes by once it is written. False when the row is gone.
    async fn write_row(&self, beating: &mut Beating, incarnation: Incarnation) -> Answer<bool> {
        if beating.published {
            self.readers().next_epoch();
            beating.published = false;
        }
        let (sent, said) = (Instant::now(), self.readers().publish());
        let (engine, joined) = (self.engine(), beating.joined);
        let row = &ServerRow {
            epoch: said.epoch,
            drained: said.drained,
            reading: said.reading,
            beat: 0,
            settings: self.settings_digest(),
            formats: self.options().formats,
        };
        let at = &key::server(incarnation);
        let written = engine
            .run(sent.checked_add(BEAT_PATIENCE), |reader| async move {
                reader.near(|| vec![at.clone(), key::store_format()]).await?;
                formats::check(self, &reader).await?;
                if reader.get(at.clone()).await?.is_none() && joined {
                    return Ok(Plan::new(false));
                }
                let mut plan = Plan::new(true);
                plan.put(at.clone(), ServerRow { beat: engine.steady_now().0, ..row.clone() }.encode());
                Ok::<_, Fault>(plan)
            })
            .await?;
        if written {
            *self.membership().incarnation.lock() = incarnation;
            *beating = Beating { joined: true, published: true };
            self.readers().beat(sent);
            if let Err(fault) = self.look_around().await {
                tracing::warn!(cause = ?fault.0.cause, "the other servers are not known");
            }
        }
        Ok(written)
    }

    /// Finds this server's place among all, and which of them answer by other settings.
    async fn look_around(&self) -> Answer<()> {
        let membership = self.membership();
        let (me, settings) = (membership.incarnation(), self.settings_digest());
        let servers = list(&self.engine().reader().await?).await?;
        let mine = servers.iter().position(|(server, _)| *server == me);
        let share = mine.map(|mine| Share { mine: mine as u64, of: servers.len() as u64 });
        *membership.share.lock() = share;
        let differing = servers.iter().filter(|(_, row)| row.settings != settings).count();
        if membership.differing.swap(differing, Ordering::Relaxed) != differing && differing > 0 {
            tracing::warn!(differing, "other servers have other accounts, keys, features or byteRetention");
        }
        Ok(())
    }

    /// Beats until the engine stops. To be spawned once for a server that has joined.
    pub async fn keep_beating(self) {
        while self.members() == Members::Several && self.engine().is_stopped().is_none() {
            // Who moves the clock in a test does not wait long for the others.
            let looks =
                if self.options().test_clock { (BEAT.as_millis() / FOLLOW.as_millis()) as u32 } else { 1 };
            for _ in 0..looks {
                tokio::time::sleep(BEAT / looks).await;
                if looks > 1 {
                    let _ = self.follow_clock().await;
                }
            }
            if let Err(fault) = self.beat().await {
                tracing::warn!(cause = ?fault.0.cause, "a heartbeat was not written");
            }
            if let Err(fault) = self.follow_clock().await {
                tracing::warn!(cause = ?fault.0.cause, "the test clock is not known");
            }
        }
    }

    /// Takes the row away: what this server had under way is over.
    pub async fn leave(&self) -> Answer<()> {
        if self.members() == Members::Alone {
            return Ok(());
        }
        let mut beating = self.membership().beating.lock().await;
        *beating = Beating::default();
        self.readers().begin_life();
        let at = &key::server(self.membership().incarnation());
        self.engine()
            .run(Instant::now().checked_add(BEAT_PATIENCE), |_| async move {
                let mut plan = Plan::new(());
                plan.delete(at.clone());
                Ok::<_, Fault>(plan)
            })
            .await
    }

    /// Whether the heartbeats are so late that this server reads nothing any more.
    pub fn is_late(&self) -> bool {
        self.readers().is_late()
    }

    /// What the heartbeats say of the settings of this server, beside its features.
    pub fn set_settings_digest(&self, digest: u64) {
        self.membership().settings.store(digest, Ordering::Relaxed);
    }

    /// Of what servers must have in common to answer alike: what this one was told, and what each account can do.
    fn settings_digest(&self) -> u64 {
        let described = self.options().features.described();
        let features = crate::md5(described.as_bytes());
        let features = features.iter().take(8).fold(0, |number, byte| number << 8 | u64::from(*byte));
        self.membership().settings.load(Ordering::Relaxed) ^ features
    }

    /// How many other servers had other settings than this one, by its last heartbeat.
    pub fn servers_with_other_settings(&self) -> usize {
        self.membership().differing.load(Ordering::Relaxed)
    }
}

/// The servers that are alive, or not yet declared dead.
pub(crate) async fn list(reader: &Reader) -> Answer<Vec<(Incarnation, ServerRow)>> {
    let (mut servers, mut after) = (Vec::new(), None);
    loop {
        let page = reader.scan(Scan { after, ..Scan::of(key::servers()) }).await?;
        for (key, entry) in &page.items {
            if let Some(incarnation) = key::incarnation_of(key) {
                // A row that cannot be read is a server of which it is not known what it reads.
                servers.push((incarnation, ServerRow::decode(&entry.value)?));
            }
        }
        after = page.items.last().map(|(key, _)| key.clone());
        if !page.more {
            return Ok(servers);
        }
    }
}

/// Whether a server has been silent for so long that it may be declared dead. A row from the future is one of a store
/// whose clock was set back since.
pub(crate) fn is_expired(engine: &Engine, row: &ServerRow) -> bool {
    let silent = engine.steady_now().0.abs_diff(row.beat);
    u128::from(silent) * 100 >= EXPIRY.as_nanos()
}

/// Whether a server is dead for good. A check of the commit: no server has a row again once it was deleted.
pub(crate) async fn is_dead(services: &Services, reader: &Reader, server: Incarnation) -> Answer<bool> {
    if server == services.membership().incarnation() {
        return Ok(false);
    }
    match services.members() {
        Members::Alone => Ok(true),
        Members::Several => Ok(reader.get(key::server(server)).await?.is_none()),
    }
}
