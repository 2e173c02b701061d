//! The seam between the contract and an engine behind it.
//!
//! A backend reads batches of keys of one snapshot, commits transactions, tells what became of one, and has a clock;
//! for bytes see [`crate::extents`]. How transactions are grouped is its own affair. An enum, not a trait object: reads of
//! the local engine stay direct calls. Another engine is one more folder, and one more variant here and there.

use crate::contention::Contention;
use crate::error::{EngineError, Refusal};
use crate::extents::Extents;
use crate::key::{Key, Value};
use crate::local::{Local, Snapshot, aside, scan};
use crate::stats::EngineStats;
use crate::txn::{
    Commit, Count, Counted, Entry, LookPage, Looks, Outcome, Scan, ScanPage, SkipPage, SkipScan, Stamp,
    Ticks, Txn, TxnId,
};
use std::sync::Arc;
use std::time::Duration;

pub(crate) enum Backend {
    Local(Local),
}

/// One snapshot of a backend.
pub(crate) enum View {
    Local(Arc<Snapshot>),
}

/// How a transaction is to be committed, beside what it says.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Submission {
    /// Bytes that it adds to a group.
    pub size: usize,
    /// Where every check was read, when they were all read from one snapshot.
    pub read_at: Option<Stamp>,
    /// It gives space back: see [`crate::Engine::giving_back`].
    pub gives_back: bool,
}

impl Backend {
    /// A snapshot of everything committed, where that takes no waiting.
    pub fn view_at_once(&self) -> Option<(View, Stamp)> {
        match self {
            Self::Local(local) => {
                let (snapshot, stamp) = local.snapshot();
                Some((View::Local(snapshot), stamp))
            }
        }
    }

    /// The same where it does. `near` are the keys that will be read first: a remote engine fetches them with the opening, so
    /// that the stamp and the first values are one round trip.
    pub async fn view(&self, _near: Vec<Key>) -> Result<(View, Stamp), EngineError> {
        self.view_at_once().ok_or(EngineError::Unavailable("no snapshot"))
    }

    /// All or nothing, durable when it returns. Goes on even if the future is dropped.
    pub async fn commit(&self, txn: Txn, how: Submission) -> Result<Commit, Refusal> {
        match self {
            Self::Local(local) => local.commit(txn, how).await,
        }
    }

    pub async fn outcome(&self, id: TxnId) -> Result<Outcome, EngineError> {
        match self {
            Self::Local(local) => local.outcome(id),
        }
    }

    pub fn now(&self) -> Ticks {
        match self {
            Self::Local(local) => local.clock().now(),
        }
    }

    pub fn wall_now(&self) -> Ticks {
        match self {
            Self::Local(local) => local.clock().wall(),
        }
    }

    pub fn steady_now(&self) -> Ticks {
        match self {
            Self::Local(local) => local.clock().steady(),
        }
    }

    pub fn move_clock_to(&self, offset: Ticks) {
        match self {
            Self::Local(local) => local.clock().move_to(offset),
        }
    }

    pub fn resume_clock(&self, offset: Ticks) {
        match self {
            Self::Local(local) => local.clock().resume(offset),
        }
    }

    pub fn advance_clock(&self, by: Duration) {
        match self {
            Self::Local(local) => local.clock().advance(by),
        }
    }

    pub fn extents(&self) -> &Extents {
        match self {
            Self::Local(local) => local.extents(),
        }
    }

    /// Where commits tell which keys they wrote.
    pub fn contention(&self) -> &Contention {
        match self {
            Self::Local(local) => local.contention(),
        }
    }

    pub async fn close(&self) -> Result<(), EngineError> {
        match self {
            Self::Local(local) => local.close().await,
        }
    }

    pub fn stats(&self) -> EngineStats {
        match self {
            Self::Local(local) => local.stats(),
        }
    }

    pub fn stopped(&self) -> Option<&'static str> {
        match self {
            Self::Local(local) => local.stopped(),
        }
    }
}

impl View {
    /// Without waiting; `None` when it takes [`Self::get_many`].
    pub fn get_at_once(&self, key: &Key) -> Option<Result<Option<Entry>, EngineError>> {
        match self {
            Self::Local(snapshot) => snapshot.entry_at_once(key),
        }
    }

    /// One batch: the entries in the order of the keys.
    pub async fn get_many(&self, keys: Vec<Key>) -> Result<Vec<Option<Entry>>, EngineError> {
        match self {
            Self::Local(snapshot) => aside::get_many(snapshot.clone(), keys).await,
        }
    }

    pub async fn scan(&self, scan: &Scan) -> Result<ScanPage, EngineError> {
        match self {
            Self::Local(snapshot) => scan::scan(snapshot, scan),
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
        }
    }

    pub async fn count(&self, count: &Count) -> Result<Counted, EngineError> {
        match self {
            Self::Local(snapshot) => scan::count(snapshot, count),
        }
    }

    pub async fn skip_scan(&self, scan: &SkipScan) -> Result<SkipPage, EngineError> {
        match self {
            Self::Local(snapshot) => scan::skip_scan(snapshot, scan),
        }
    }
}
