//! A snapshot, and the record of what was read from it: that record becomes the checks of a commit.

use crate::error::EngineError;
use crate::key::{Key, KeyRange, Value};
use crate::limits;
use crate::scan;
use crate::store::{Snapshot, entry};
use crate::txn::{Entry, Expect, LookPage, Looks, Scan, ScanPage, SkipPage, SkipScan, Stamp};
use parking_lot::Mutex;
use std::sync::Arc;

#[derive(Clone)]
pub struct Reader {
    inner: Arc<Inner>,
}

struct Inner {
    snapshot: Arc<Snapshot>,
    stamp: Stamp,
    tracked: Mutex<Tracked>,
}

#[derive(Default)]
pub(crate) struct Tracked {
    pub checks: Vec<(Key, Expect)>,
    pub range_checks: Vec<(KeyRange, Stamp)>,
}

impl Reader {
    pub(crate) fn new(snapshot: Arc<Snapshot>, stamp: Stamp) -> Self {
        Self { inner: Arc::new(Inner { snapshot, stamp, tracked: Mutex::default() }) }
    }

    pub(crate) fn take_tracked(&self) -> Tracked {
        std::mem::take(&mut *self.inner.tracked.lock())
    }

    /// Where the snapshot stands. The same for every read of this reader.
    pub fn stamp(&self) -> Stamp {
        self.inner.stamp
    }

    /// The commit will be refused if the key has changed by then.
    pub async fn get(&self, key: impl Into<Key>) -> Result<Option<Entry>, EngineError> {
        let key = key.into();
        let found = self.one(&key)?;
        self.track(key, found.as_ref());
        Ok(found)
    }

    /// Like [`Self::get`], but the commit does not depend on it.
    pub async fn peek(&self, key: impl Into<Key>) -> Result<Option<Entry>, EngineError> {
        self.one(&key.into())
    }

    pub async fn get_many(&self, keys: Vec<Key>) -> Result<Vec<Option<Entry>>, EngineError> {
        let found = self.peek_many(keys.clone()).await?;
        for (key, found) in keys.into_iter().zip(&found) {
            self.track(key, found.as_ref());
        }
        Ok(found)
    }

    pub async fn peek_many(&self, keys: Vec<Key>) -> Result<Vec<Option<Entry>>, EngineError> {
        keys.iter().map(|key| self.one(key)).collect()
    }

    /// Not tracked: add [`Self::check_range`] where the commit depends on the range.
    pub async fn scan(&self, scan: Scan) -> Result<ScanPage, EngineError> {
        scan::scan(&self.inner.snapshot, &scan)
    }

    /// Like [`Self::scan`], but of the rows that `looks` allows only those that are `wanted`, which sees each row where
    /// it lies. The limits of the scan are on what is wanted. Not tracked.
    pub async fn look(
        &self,
        scan: Scan,
        looks: Looks,
        mut wanted: impl FnMut(&Key, &Value) -> bool + Send,
    ) -> Result<LookPage, EngineError> {
        scan::look(&self.inner.snapshot, &scan, looks, &mut wanted)
    }

    /// Not tracked.
    pub async fn skip_scan(&self, scan: SkipScan) -> Result<SkipPage, EngineError> {
        scan::skip_scan(&self.inner.snapshot, &scan)
    }

    /// The commit will be refused if any key of the range was written since this snapshot.
    pub fn check_range(&self, range: KeyRange) {
        self.inner.tracked.lock().range_checks.push((range, self.inner.stamp));
    }

    fn one(&self, key: &Key) -> Result<Option<Entry>, EngineError> {
        // What may not be written is not there, and a store need not be able to look for it.
        if limits::check_key(key).is_err() {
            return Ok(None);
        }
        Ok(self.inner.snapshot.get(key)?.map(|(seq, value)| entry(seq, value)))
    }

    fn track(&self, key: Key, found: Option<&Entry>) {
        // Nor will it ever be: the commit need not look again.
        if limits::check_key(&key).is_err() {
            return;
        }
        let expect = found.map_or(Expect::Absent, |entry| Expect::Version(entry.version));
        self.inner.tracked.lock().checks.push((key, expect));
    }
}
