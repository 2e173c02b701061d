//! What the engine's handles, its readers and its committer share.

use crate::contention::Contention;
use crate::error::EngineError;
use crate::key::Value;
use crate::local::clock::EngineClock;
use crate::local::extent::{LocalExtents, Rows};
use crate::local::store::{Snapshot, Store};
use crate::outcomes::RecentOutcomes;
use crate::stats::SyncTimes;
use parking_lot::{Mutex, RwLock};
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, OnceLock};

pub(crate) struct Shared {
    pub store: Store,
    pub extents: LocalExtents,
    pub clock: EngineClock,
    pub published: Arc<Published>,
    pub recent: Mutex<RecentOutcomes>,
    pub groups: AtomicU64,
    pub contention: Contention,
    pub syncs: SyncTimes,
    stopped: OnceLock<&'static str>,
}

impl Shared {
    pub fn new(
        store: Store,
        extents: LocalExtents,
        clock: EngineClock,
        published: Arc<Published>,
        recent: RecentOutcomes,
    ) -> Self {
        Self {
            store,
            extents,
            clock,
            published,
            recent: Mutex::new(recent),
            groups: AtomicU64::new(0),
            contention: Contention::default(),
            syncs: SyncTimes::default(),
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

    fn get_at_once(&self, key: &[u8]) -> Option<Result<Option<Value>, EngineError>> {
        let row = Published::get(self).get_at_once(key)?;
        Some(row.map(|row| row.map(|(_, value)| value)))
    }
}
