//! What the engine's handles, its readers and its committer share.

use crate::clock::EngineClock;
use crate::crowd::Crowd;
use crate::error::EngineError;
use crate::extent::{Extents, Rows};
use crate::host::Host;
use crate::key::Value;
use crate::stats::SyncTimes;
use crate::store::{Snapshot, Store};
use crate::txn::{Commit, Ticks, TxnId, Version};
use foldhash::fast::RandomState;
use parking_lot::{Mutex, RwLock};
use std::collections::{HashMap, VecDeque};
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, OnceLock};

pub(crate) struct Core {
    pub host: Host,
    pub store: Store,
    pub extents: Extents,
    pub clock: EngineClock,
    pub published: Arc<Published>,
    pub recent: Mutex<Recent>,
    pub groups: AtomicU64,
    pub syncs: SyncTimes,
    pub crowd: Crowd,
    stopped: OnceLock<&'static str>,
}

impl Core {
    pub fn new(
        host: Host,
        store: Store,
        extents: Extents,
        clock: EngineClock,
        published: Arc<Published>,
        recent: Recent,
    ) -> Self {
        Self {
            host,
            store,
            extents,
            clock,
            published,
            recent: Mutex::new(recent),
            groups: AtomicU64::new(0),
            syncs: SyncTimes::default(),
            crowd: Crowd::default(),
            stopped: OnceLock::new(),
        }
    }

    pub fn stop(&self, reason: &'static str) {
        let _ = self.stopped.set(reason);
    }

    pub fn stopped(&self) -> Option<&'static str> {
        self.stopped.get().copied().or_else(|| self.extents.failed()).or_else(|| self.store.failed())
    }
}

/// The newest durable snapshot. Readers share it: opening one costs a reference count.
pub(crate) struct Published(RwLock<Arc<Snapshot>>);

impl Published {
    pub fn new(snapshot: Snapshot) -> Self {
        Self(RwLock::new(Arc::new(snapshot)))
    }

    pub fn get(&self) -> Arc<Snapshot> {
        self.0.read().clone()
    }

    pub fn set(&self, snapshot: Arc<Snapshot>) {
        // The old snapshot is dropped after the lock is released.
        let _old = std::mem::replace(&mut *self.0.write(), snapshot);
    }
}

impl Rows for Published {
    fn get(&self, key: &[u8]) -> Result<Option<Value>, EngineError> {
        Ok(Published::get(self).get(key)?.map(|(_, value)| value))
    }
}

/// The outcomes of the last transactions, by id.
#[derive(Default)]
pub(crate) struct Recent {
    commits: HashMap<TxnId, Commit, RandomState>,
    order: VecDeque<TxnId>,
}

impl Recent {
    const CAPACITY: usize = 32_768;

    pub fn get(&self, id: TxnId) -> Option<Commit> {
        self.commits.get(&id).copied()
    }

    pub fn insert(&mut self, id: TxnId, seq: u64, now: Ticks) {
        let commit = Commit { version: Version(u128::from(seq)), now };
        if self.commits.insert(id, commit).is_none() {
            self.order.push_back(id);
        }
        if self.order.len() > Self::CAPACITY
            && let Some(oldest) = self.order.pop_front()
        {
            self.commits.remove(&oldest);
        }
    }
}
