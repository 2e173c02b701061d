//! Commit lanes: each carries a group to the database at a time, and answers its members.
//!
//! An error of the database says that nothing was done: the group is tried again, or cut in two. When the connection is lost,
//! the lane settles for good what became of the group before it goes on: see `sql/resolve_2.sql`.

use super::DEADLINE;
use super::connection::Connection;
use super::fault::Fault;
use super::group::Verdicts;
use super::member::Member;
use super::primary::{NO_PRIMARY, PATIENCE};
use super::queue::{GROUP_LOCKS, Taken};
use super::shared::{Guard, Shared};
use super::sql::Sql;
use super::uuid::Uuid;
use crate::error::{Corrupt, EngineError, Refusal};
use crate::txn::Ticks;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::time::{Duration, Instant};
use tokio::time::sleep;

/// Attempts of a group before it is cut in two, and of a member before it is refused.
const ATTEMPTS: u32 = 3;
const ATTEMPTS_ALONE: u32 = 40;
const LONGEST_PAUSE: Duration = Duration::from_millis(50);
const CONNECT_PATIENCE: Duration = Duration::from_secs(1);
/// A lane that cannot settle a group gives up so long after the engine was dropped.
const FAREWELL: Duration = Duration::from_secs(30);

const BUSY: EngineError = EngineError::Unavailable("the database is busy");

struct Part {
    members: Vec<Member>,
    attempts: u32,
    /// With the lock of the whole schema instead of one for each key.
    whole: bool,
}

pub(super) async fn run(shared: Arc<Shared>, lane: usize) {
    let _guard = Guard(shared.broken.clone());
    let mut held = None;
    while shared.queue.wanted(lane).await {
        let connected = shared.connected(&mut held).await;
        let Taken { group, late } = match &connected {
            Ok(()) => shared.queue.take(lane),
            Err(_) => shared.queue.take_late(PATIENCE),
        };
        let nothing = group.is_empty() && late.is_empty();
        let why = if connected.is_ok() { DEADLINE } else { NO_PRIMARY };
        for member in late {
            shared.refuse(member, Refusal::Error(why.clone()));
        }
        if !group.is_empty() {
            shared.carry(group, &mut held).await;
        }
        shared.queue.tell_settled();
        match connected {
            Ok(()) if nothing => shared.queue.woken(lane).await,
            Ok(()) => {}
            Err(_) => sleep(LONGEST_PAUSE).await,
        }
    }
}

impl Shared {
    /// Sees to it that there is a connection to the proven primary.
    async fn connected(&self, held: &mut Option<Connection>) -> Result<(), Fault> {
        self.primaries.renew(held, Instant::now() + CONNECT_PATIENCE).await
    }

    async fn carry(&self, members: Vec<Member>, held: &mut Option<Connection>) {
        let locks: usize = members.iter().map(Member::locks).sum();
        let mut parts = vec![Part { members, attempts: 0, whole: locks > GROUP_LOCKS * 2 }];
        while let Some(part) = parts.pop() {
            let group = self.new_group();
            let fault = match self.attempt(held, group, &part).await {
                Ok(verdicts) => {
                    self.answer(part.members, verdicts);
                    continue;
                }
                Err(fault) => fault,
            };
            match fault {
                Fault::Lost(why) => {
                    tracing::warn!(why, members = part.members.len(), "a commit's connection was lost");
                    self.counters.resolved.fetch_add(1, Relaxed);
                    match self.resolve(group, held).await {
                        Settled::Committed { now, refused } => {
                            let verdicts = Verdicts::known_later(&part.members, now, &refused);
                            self.answer(part.members, verdicts);
                        }
                        Settled::Never => self.put_back(part.members),
                        Settled::Unknown => self.leave_unknown(part.members),
                    }
                }
                // Nothing was done; whichever node is the primary now will be asked.
                Fault::NotPrimary | Fault::Settled => {
                    *held = None;
                    self.put_back(part.members);
                }
                fault => {
                    self.counters.again.fetch_add(1, Relaxed);
                    self.again(part, fault, &mut parts).await;
                }
            }
        }
    }

    /// A group that was not committed: once more, in halves, or not at all.
    async fn again(&self, mut part: Part, fault: Fault, parts: &mut Vec<Part>) {
        let alone = part.members.len() == 1;
        let most = if alone { ATTEMPTS_ALONE } else { ATTEMPTS };
        match fault {
            Fault::Again if part.attempts < most => {
                self.pause(part.attempts).await;
                parts.push(Part { attempts: part.attempts + 1, ..part });
            }
            Fault::Locks if alone && !part.whole => parts.push(Part { whole: true, ..part }),
            _ if !alone => {
                let half = part.members.split_off(part.members.len() / 2);
                for members in [half, part.members] {
                    parts.push(Part { members, attempts: 0, whole: false });
                }
            }
            Fault::NoRoom => self.refuse_under_way(part.members, EngineError::OutOfSpace),
            Fault::Unexpected(text) => {
                tracing::error!(text, "the database refused a commit");
                self.refuse_under_way(part.members, EngineError::Corrupt(Corrupt(text)));
            }
            _ => self.refuse_under_way(part.members, BUSY),
        }
    }

    /// Before something is tried again.
    pub async fn pause(&self, attempts: u32) {
        let longest = Duration::from_millis(1).saturating_mul(1 << attempts.min(6)).min(LONGEST_PAUSE);
        sleep(Duration::from_micros(self.random.below(longest.as_micros() as u64))).await;
    }

    async fn attempt(
        &self,
        held: &mut Option<Connection>,
        group: Uuid,
        part: &Part,
    ) -> Result<Verdicts, Fault> {
        // After a lost connection: what follows in this lane was not sent yet.
        if self.connected(held).await.is_err() {
            return Err(Fault::NotPrimary);
        }
        let Some(connection) = held.as_ref() else { return Err(Fault::NotPrimary) };
        if connection.statement(Sql::Commit).await.is_err() {
            self.primaries.suspect(connection.generation);
            return Err(Fault::NotPrimary);
        }
        let (began, mark) = (Instant::now(), self.barrier.mark());
        let generation = connection.generation;
        let verdicts =
            self.answered(connection, self.commit_group(connection, group, &part.members, part.whole)).await;
        match &verdicts {
            Ok(verdicts) => {
                self.counters.times.took(began.elapsed());
                if verdicts.refused.iter().any(Option::is_none) {
                    self.counters.groups.fetch_add(1, Relaxed);
                    self.primaries.committed();
                    self.barrier.pass(mark, generation);
                }
            }
            Err(fault) => {
                if fault.ends_connection() {
                    *held = None;
                }
            }
        }
        verdicts
    }

    /// Settles what became of a group.
    async fn resolve(&self, group: Uuid, held: &mut Option<Connection>) -> Settled {
        let mut ended = None;
        loop {
            if self.queue.is_ended() {
                let since: &mut Instant = ended.get_or_insert_with(Instant::now);
                if since.elapsed() > FAREWELL {
                    return Settled::Unknown;
                }
            }
            if self.connected(held).await.is_ok()
                && let Some(connection) = held.as_ref()
            {
                let now = self.clock.sent().1;
                match self.answered(connection, settle(connection, group, now)).await {
                    Ok(settled) => return settled,
                    Err(fault) => {
                        if matches!(fault, Fault::Unexpected(_)) {
                            tracing::error!(%fault, "the database does not tell what became of a commit");
                        } else {
                            tracing::debug!(%fault, "a group is not settled yet");
                        }
                        if fault.ends_connection() {
                            *held = None;
                        }
                    }
                }
            }
            sleep(LONGEST_PAUSE).await;
        }
    }

    /// Begins with the time, so that old groups stand together.
    fn new_group(&self) -> Uuid {
        let millis = u128::from(self.clock.steady().0 / 10_000);
        Uuid(millis << 80 | self.random.u128() >> 48)
    }
}

enum Settled {
    Committed {
        now: Ticks,
        refused: Vec<i32>,
    },
    Never,
    /// It cannot be told any more, or the engine ends before it can.
    Unknown,
}

async fn settle(connection: &Connection, group: Uuid, now: i64) -> Result<Settled, Fault> {
    let row = connection.query_one(Sql::Resolve, &[&group, &now]).await?;
    let is_committed: Option<bool> = row.try_get(0)?;
    match is_committed {
        None => {
            tracing::error!("a commit's outcome was asked for too late, and is not known any more");
            Ok(Settled::Unknown)
        }
        Some(false) => Ok(Settled::Never),
        Some(true) => {
            let at: i64 = row.try_get(1)?;
            let settled = Settled::Committed { now: Ticks(at.cast_unsigned()), refused: row.try_get(2)? };
            // The backend that committed it may have been ended while it waited for a standby: its row is seen from then on.
            connection.prove().await?;
            Ok(settled)
        }
    }
}
