//! The seam between the contract and an engine behind it.
//!
//! A backend reads batches of keys of one snapshot, commits transactions, tells what became of one, and has a clock;
//! for bytes see [`crate::extents`]. How transactions are grouped is its own affair. An enum, not a trait object: reads of
//! the local engine stay direct calls. Another engine is one more folder, and one more variant here and there.

use crate::contention::Contention;
use crate::error::{EngineError, Refusal};
use crate::extents::Extents;
use crate::key::{Key, KeyRange, Value};
use crate::local::{Local, Snapshot, aside, scan};
#[cfg(feature = "postgres")]
use crate::remote::{Remote, RemoteView};
use crate::stats::EngineStats;
use crate::txn::{
    Commit, Count, Counted, Entry, LookPage, Looks, Outcome, Scan, ScanPage, SkipPage, SkipScan, Stamp,
    Ticks, Txn, TxnId,
};
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

pub(crate) enum Backend {
    Local(Local),
    #[cfg(feature = "postgres")]
    Remote(Remote),
}

/// One snapshot of a backend.
pub(crate) enum View {
    Local(Arc<Snapshot>),
    #[cfg(feature = "postgres")]
    Remote(RemoteView),
}

/// Something that the local engine never waits for. Boxed: the futures of callers stay small.
pub(crate) type Waiting<'a, T> = Pin<Box<dyn Future<Output = Result<T, EngineError>> + Send + 'a>>;

/// What a snapshot is opened for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Opening {
    /// A reader that stays where it was opened.
    Held,
    /// The same, where its first read is early enough.
    AtFirstRead,
    /// An attempt of [`crate::Engine::run`], which begins again when what it read turns out not to be of one snapshot, as
    /// it has so many times.
    Attempt { torn: u32 },
}

/// How a transaction is to be committed, beside what it says.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Submission {
    /// Bytes that it adds to a group.
    pub size: usize,
    /// What every check holds for, when they are all of one attempt: the snapshot that it read, and the clock after its first
    /// reading.
    pub read_at: Option<Stamp>,
    /// It gives space back: see [`crate::Engine::giving_back`].
    pub gives_back: bool,
}

/// The same call on whichever engine it is.
macro_rules! on {
    ($self:ident, $engine:ident => $call:expr) => {
        match $self {
            Self::Local($engine) => $call,
            #[cfg(feature = "postgres")]
            Self::Remote($engine) => $call,
        }
    };
}

impl Backend {
    /// A snapshot of everything committed, where that takes no waiting.
    pub fn view_at_once(&self) -> Option<(View, Stamp)> {
        match self {
            Self::Local(local) => {
                let (snapshot, stamp) = local.snapshot();
                Some((View::Local(snapshot), stamp))
            }
            #[cfg(feature = "postgres")]
            Self::Remote(_) => None,
        }
    }

    /// The same where it does. `near` are the keys that will be read first: a remote engine fetches them with the opening, so
    /// that the stamp and the first values are one round trip.
    pub async fn view(&self, near: Vec<Key>, opening: Opening) -> Result<(View, Stamp), EngineError> {
        match self {
            Self::Local(_) => {
                let _ = (near, opening);
                self.view_at_once().ok_or(EngineError::Unavailable("no snapshot"))
            }
            #[cfg(feature = "postgres")]
            Self::Remote(remote) => {
                let (view, stamp) = remote.view(near, opening).await?;
                Ok((View::Remote(view), stamp))
            }
        }
    }

    /// All or nothing, durable when it returns. Goes on even if the future is dropped.
    pub async fn commit(&self, txn: Txn, how: Submission) -> Result<Commit, Refusal> {
        match self {
            Self::Local(local) => local.commit(txn, how).await,
            #[cfg(feature = "postgres")]
            Self::Remote(remote) => Box::pin(remote.commit(txn, how)).await,
        }
    }

    pub async fn outcome(&self, id: TxnId) -> Result<Outcome, EngineError> {
        match self {
            Self::Local(local) => local.outcome(id),
            #[cfg(feature = "postgres")]
            Self::Remote(remote) => Box::pin(remote.outcome(id)).await,
        }
    }

    pub fn now(&self) -> Ticks {
        on!(self, engine => engine.clock().now())
    }

    pub fn wall_now(&self) -> Ticks {
        on!(self, engine => engine.clock().wall())
    }

    pub fn steady_now(&self) -> Ticks {
        on!(self, engine => engine.clock().steady())
    }

    pub fn move_clock_to(&self, offset: Ticks) {
        on!(self, engine => engine.clock().move_to(offset))
    }

    pub fn resume_clock(&self, offset: Ticks) {
        on!(self, engine => engine.clock().resume(offset))
    }

    pub fn advance_clock(&self, by: Duration) {
        on!(self, engine => engine.clock().advance(by))
    }

    pub fn extents(&self) -> &Extents {
        on!(self, engine => engine.extents())
    }

    /// Where commits tell which keys they wrote.
    pub fn contention(&self) -> &Contention {
        on!(self, engine => engine.contention())
    }

    pub async fn close(&self) -> Result<(), EngineError> {
        match self {
            Self::Local(local) => local.close().await,
            #[cfg(feature = "postgres")]
            Self::Remote(remote) => Box::pin(remote.close()).await,
        }
    }

    pub fn stats(&self) -> EngineStats {
        on!(self, engine => engine.stats())
    }

    pub fn unready(&self) -> Option<&'static str> {
        match self {
            Self::Local(_) => None,
            #[cfg(feature = "postgres")]
            Self::Remote(remote) => remote.unready(),
        }
    }

    pub fn stopped(&self) -> Option<&'static str> {
        match self {
            Self::Local(local) => local.stopped(),
            // A lost database is not a broken disk: it may come back.
            #[cfg(feature = "postgres")]
            Self::Remote(remote) => remote.stopped(),
        }
    }
}

impl View {
    /// Where it changes with what is read: the clock after the last of it.
    pub fn now(&self) -> Option<Ticks> {
        match self {
            Self::Local(_) => None,
            #[cfg(feature = "postgres")]
            Self::Remote(view) => Some(view.now()),
        }
    }

    /// Where it changes with what is read: the clock after the first of it.
    pub fn first(&self) -> Option<Ticks> {
        match self {
            Self::Local(_) => None,
            #[cfg(feature = "postgres")]
            Self::Remote(view) => Some(view.first()),
        }
    }

    /// Reads keys ahead of those that will ask for them, where that takes waiting.
    pub fn fetch(&self, keys: impl FnOnce() -> Vec<Key>) -> Option<Waiting<'_, ()>> {
        match self {
            Self::Local(_) => {
                let _ = keys;
                None
            }
            #[cfg(feature = "postgres")]
            Self::Remote(view) => Some(Box::pin(view.fetch(keys()))),
        }
    }

    pub fn is_torn(&self) -> bool {
        match self {
            Self::Local(_) => false,
            #[cfg(feature = "postgres")]
            Self::Remote(view) => view.is_torn(),
        }
    }

    pub fn confirmation(&self) -> Option<Waiting<'_, ()>> {
        match self {
            Self::Local(_) => None,
            #[cfg(feature = "postgres")]
            Self::Remote(view) => view.confirmation(),
        }
    }

    /// What a range holds. `None` where the engine knows what was written since a stamp.
    pub fn range_digest<'a>(&'a self, range: &'a KeyRange) -> Option<Waiting<'a, u128>> {
        match self {
            Self::Local(_) => {
                let _ = range;
                None
            }
            #[cfg(feature = "postgres")]
            Self::Remote(view) => Some(Box::pin(view.range_digest(range))),
        }
    }

    /// Without waiting; `None` when it takes [`Self::get_many`].
    pub fn get_at_once(&self, key: &Key) -> Option<Result<Option<Entry>, EngineError>> {
        match self {
            Self::Local(snapshot) => snapshot.entry_at_once(key),
            #[cfg(feature = "postgres")]
            Self::Remote(view) => view.known(key).map(Ok),
        }
    }

    /// One batch: the entries in the order of the keys.
    pub async fn get_many(&self, keys: Vec<Key>) -> Result<Vec<Option<Entry>>, EngineError> {
        match self {
            Self::Local(snapshot) => aside::get_many(snapshot.clone(), keys).await,
            #[cfg(feature = "postgres")]
            Self::Remote(view) => view.get_many(keys).await,
        }
    }

    pub async fn scan(&self, scan: &Scan) -> Result<ScanPage, EngineError> {
        match self {
            Self::Local(snapshot) => scan::scan(snapshot, scan),
            #[cfg(feature = "postgres")]
            Self::Remote(view) => Box::pin(view.scan(scan)).await,
        }
    }

    pub async fn scan_filtered(
        &self,
        scan: &Scan,
        looks: Looks,
        wanted: &mut (dyn FnMut(&Key, &Value) -> bool + Send),
    ) -> Result<LookPage, EngineError> {
        match self {
            Self::Local(snapshot) => scan::scan_filtered(snapshot, scan, looks, wanted),
            #[cfg(feature = "postgres")]
            Self::Remote(view) => Box::pin(view.scan_filtered(scan, looks, wanted)).await,
        }
    }

    pub async fn count(&self, count: &Count) -> Result<Counted, EngineError> {
        match self {
            Self::Local(snapshot) => scan::count(snapshot, count),
            #[cfg(feature = "postgres")]
            Self::Remote(view) => Box::pin(view.count(count)).await,
        }
    }

    pub async fn skip_scan(&self, scan: &SkipScan) -> Result<SkipPage, EngineError> {
        match self {
            Self::Local(snapshot) => scan::skip_scan(snapshot, scan),
            #[cfg(feature = "postgres")]
            Self::Remote(view) => Box::pin(view.skip_scan(scan)).await,
        }
    }
}
