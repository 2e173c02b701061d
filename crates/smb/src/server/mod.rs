//! Connections, sessions and trees; what a request goes through before its command is carried out, and its answer after.

pub mod answer;
pub mod call;
pub mod chain;
pub mod channel;
pub mod connection;
pub mod credits;
pub mod limits;
pub mod memory;
pub mod negotiated;
pub mod notices;
pub mod open;
pub mod outgoing;
pub mod receive;
pub mod replays;
pub mod sequence;
pub mod session;
pub mod stats;
pub mod tree;

use std::collections::HashMap;
use std::future::Future;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Weak};
use std::time::{SystemTime, UNIX_EPOCH};

use lazuli_model::time::Timestamp;
use lazuli_service::Services;
use parking_lot::Mutex;
use tokio::net::TcpStream;
use tokio::sync::watch;
use tokio::time::timeout;

use crate::auth::logon::Gate;
use crate::auth::ntlm::NtHash;
use crate::auth::throttle::Throttle;
use crate::auth::users::Users;
use crate::crypto::{CryptoError, random};
use connection::Connection;
use memory::ServerMemory;
use replays::Replays;
use session::{End, Session};
use stats::Stats;

pub struct Options {
    /// What is not encrypted is refused: for listeners that others than this machine can reach.
    pub require_encryption: bool,
    /// How the server calls itself to clients.
    pub name: String,
}

/// Shared by all connections of a listener.
pub struct Server {
    pub(crate) services: Services,
    pub(crate) gate: Gate,
    pub(crate) options: Options,
    pub(crate) guid: [u8; 16],
    pub(crate) stats: Arc<Stats>,
    pub(crate) memory: ServerMemory,
    pub(crate) replays: Arc<Replays>,
    sessions: Mutex<HashMap<u64, Weak<Session>>>,
    next_session: AtomicU64,
    /// Connections that are ending: what they had open is not yet free to be taken up.
    ending: watch::Sender<usize>,
}

impl Server {
    pub fn new(services: Services, users: Users, options: Options) -> Result<Self, CryptoError> {
        let nobody = || random::<16>().map(|secret| NtHash::of_password(&format!("{secret:x?}")));
        let gate = Gate {
            users,
            throttle: Throttle::default(),
            name: options.name.clone(),
            nobody: [nobody()?, nobody()?],
        };
        // Ids of a server that was restarted are not those of the one before. They begin within 31 bits: some clients keep no more.
        let first = u64::from(u32::from_le_bytes(random()?) >> 1 | 1);
        Ok(Self {
            services,
            gate,
            options,
            guid: random()?,
            stats: Arc::default(),
            memory: ServerMemory::default(),
            replays: Arc::default(),
            sessions: Mutex::default(),
            next_session: AtomicU64::new(first),
            ending: watch::Sender::new(0),
        })
    }

    pub fn stats(&self) -> Arc<Stats> {
        Arc::clone(&self.stats)
    }

    /// A connection from its first byte to its last, or until `stop`.
    pub async fn serve(self: Arc<Self>, socket: TcpStream, peer: SocketAddr, stop: impl Future<Output = ()>) {
        self.stats.connection_opened();
        let stats = self.stats();
        Connection::serve(self, socket, peer, stop).await;
        stats.connection_closed();
    }

    /// A client comes back faster than its old connection is gone: it waits for that, though not for long.
    pub(crate) async fn lost_connections_ended(&self) {
        let mut ending = self.ending.subscribe();
        let _ = timeout(limits::LOSS_NOTICED, ending.wait_for(|count| *count == 0)).await;
    }

    /// Until the guard is dropped.
    pub(crate) fn ending(self: &Arc<Self>) -> Ending {
        self.ending.send_modify(|count| *count += 1);
        Ending(Arc::clone(self))
    }

    pub(crate) fn fresh_session_id(&self) -> u64 {
        self.next_session.fetch_add(1, Ordering::Relaxed)
    }

    pub(crate) fn remember(&self, session: &Arc<Session>) {
        self.sessions.lock().insert(session.id, Arc::downgrade(session));
    }

    /// On all of its connections.
    pub(crate) async fn end_session(&self, session: &Session, why: End) {
        self.sessions.lock().remove(&session.id);
        session.end(why).await;
    }

    /// On whichever connection.
    pub(crate) fn session(&self, id: u64) -> Option<Arc<Session>> {
        self.sessions.lock().get(&id).and_then(Weak::upgrade)
    }
}

pub(crate) struct Ending(Arc<Server>);

impl Drop for Ending {
    fn drop(&mut self) {
        self.0.ending.send_modify(|count| *count = count.saturating_sub(1));
    }
}

/// Ticks since 1601, as the protocol counts.
pub fn filetime(at: Timestamp) -> u64 {
    at.0.saturating_sub(Timestamp::YEAR_1601.0)
}

pub fn from_filetime(ticks: u64) -> Timestamp {
    Timestamp(ticks.saturating_add(Timestamp::YEAR_1601.0).min(Timestamp::MAX.0))
}

/// The system's time, which clients are told and nothing is judged by.
pub fn now() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    filetime(Timestamp::from_unix_ticks(u64::try_from(since.as_nanos() / 100).unwrap_or_default()))
}
