//! A snapshot, and the record of what was read from it: that record becomes the checks of a commit.

use crate::backend::{View, Waiting};
use crate::caps;
use crate::error::EngineError;
use crate::key::{Key, KeyRange, Value};
use crate::txn::{
    Count, Counted, Entry, ExpectedVersion, LookPage, Looks, RangeCheck, Scan, ScanPage, SkipPage, SkipScan,
    Stamp,
};
use parking_lot::Mutex;
use std::sync::Arc;

#[derive(Clone)]
pub struct Reader {
    inner: Arc<Inner>,
}

struct Inner {
    view: View,
    stamp: Stamp,
    tracked: Mutex<Tracked>,
}

#[derive(Default)]
pub(crate) struct Tracked {
    pub checks: Vec<(Key, ExpectedVersion)>,
    pub range_checks: Vec<RangeCheck>,
}

impl Reader {
    pub(crate) fn new(view: View, stamp: Stamp) -> Self {
        Self { inner: Arc::new(Inner { view, stamp, tracked: Mutex::default() }) }
    }

    pub(crate) fn take_tracked(&self) -> Tracked {
        std::mem::take(&mut *self.inner.tracked.lock())
    }

    /// What was read is not of one snapshot, or the snapshot was lost: nothing may be decided on it.
    pub(crate) fn is_torn(&self) -> bool {
        self.inner.view.is_torn()
    }

    /// To be awaited before an answer is given that no commit stands behind. `None` when there is nothing to wait for.
    pub(crate) fn confirmation(&self) -> Option<Waiting<'_, ()>> {
        self.inner.view.confirmation()
    }

    /// Where the snapshot stands. Nothing that was read is dated later; in an attempt of [`crate::Engine::run`] the time may be
    /// a later one after each read, so it is asked for when it is judged by.
    pub fn stamp(&self) -> Stamp {
        Stamp { now: self.inner.view.now().unwrap_or(self.inner.stamp.now), ..self.inner.stamp }
    }

    /// The same, with the clock after the first reading. Nothing that the attempt decides is dated earlier, so a commit that
    /// makes a key asks whether that was there since then.
    pub(crate) fn read_at(&self) -> Stamp {
        Stamp { now: self.inner.view.first().unwrap_or(self.inner.stamp.now), ..self.inner.stamp }
    }

    /// Whether reading takes no round trip.
    pub fn is_near(&self) -> bool {
        self.inner.view.now().is_none()
    }

    /// Tells the keys that will be read next. An engine behind a network fetches them in one round trip; a local one does not ask.
    pub async fn near(&self, keys: impl FnOnce() -> Vec<Key>) -> Result<(), EngineError> {
        match self.inner.view.fetch(keys) {
            Some(fetched) => fetched.await,
            None => Ok(()),
        }
    }

    /// The commit will be refused if the key has changed by then.
    pub async fn get(&self, key: impl Into<Key>) -> Result<Option<Entry>, EngineError> {
        let key = key.into();
        let found = match self.at_once(&key) {
            Some(found) => found?,
            None => self.awaited(&key).await?,
        };
        self.track(key, found.as_ref());
        Ok(found)
    }

    /// Like [`Self::get`], but the commit does not depend on it.
    pub async fn get_untracked(&self, key: impl Into<Key>) -> Result<Option<Entry>, EngineError> {
        let key = key.into();
        match self.at_once(&key) {
            Some(found) => found,
            None => self.awaited(&key).await,
        }
    }

    /// Like [`Self::get`], for many keys in one batch: the entries come in the order of the keys.
    pub async fn get_many(&self, keys: Vec<Key>) -> Result<Vec<Option<Entry>>, EngineError> {
        let found = self.batch(&keys).await?;
        for (key, found) in keys.into_iter().zip(&found) {
            self.track(key, found.as_ref());
        }
        Ok(found)
    }

    /// Like [`Self::get_untracked`], for many keys in one batch.
    pub async fn get_untracked_many(&self, keys: Vec<Key>) -> Result<Vec<Option<Entry>>, EngineError> {
        self.batch(&keys).await
    }

    /// Not tracked: add [`Self::check_range`] where the commit depends on the range.
    pub async fn scan(&self, scan: Scan) -> Result<ScanPage, EngineError> {
        self.inner.view.scan(&scan).await
    }

    /// Like [`Self::scan`], but of the rows that `looks` allows only those that are `wanted`, which sees each row where
    /// it lies. The limits of the scan are on what is wanted. Not tracked.
    pub async fn scan_filtered(
        &self,
        scan: Scan,
        looks: Looks,
        mut wanted: impl FnMut(&Key, &Value) -> bool + Send,
    ) -> Result<LookPage, EngineError> {
        self.inner.view.scan_filtered(&scan, looks, &mut wanted).await
    }

    /// Not tracked.
    pub async fn skip_scan(&self, scan: SkipScan) -> Result<SkipPage, EngineError> {
        self.inner.view.skip_scan(&scan).await
    }

    /// How many keys of a range there are, in one bounded step; nothing of them is returned. Not tracked.
    pub async fn count(&self, count: Count) -> Result<Counted, EngineError> {
        self.inner.view.count(&Count { limit: count.limit.min(caps::COUNT), ..count }).await
    }

    /// The commit will be refused if any key of the range was written since this snapshot. The guard is a key that every
    /// transaction which writes into the range has among its checks or its writes: an engine that locks keys closes the
    /// range by it, since it cannot lock keys that are not there.
    pub async fn check_range(&self, range: KeyRange, guard: impl Into<Key>) -> Result<(), EngineError> {
        let check = self.range_check(range, guard).await?;
        self.inner.tracked.lock().range_checks.push(check);
        Ok(())
    }

    /// The same for a transaction that the caller puts together: see [`crate::Engine::commit`].
    pub async fn range_check(
        &self,
        range: KeyRange,
        guard: impl Into<Key>,
    ) -> Result<RangeCheck, EngineError> {
        let digest = match self.inner.view.range_digest(&range) {
            Some(digest) => Some(digest.await?),
            None => None,
        };
        Ok(RangeCheck { range, since: self.inner.stamp, guard: guard.into(), digest })
    }

    /// `None` when it takes waiting.
    fn at_once(&self, key: &Key) -> Option<Result<Option<Entry>, EngineError>> {
        // A key that may not be written is absent, and a backend need not be able to look for it.
        if caps::check_key(key).is_err() {
            return Some(Ok(None));
        }
        self.inner.view.get_at_once(key)
    }

    async fn awaited(&self, key: &Key) -> Result<Option<Entry>, EngineError> {
        // Boxed: the futures of callers stay small.
        Ok(Box::pin(self.inner.view.get_many(vec![key.clone()])).await?.pop().flatten())
    }

    async fn batch(&self, keys: &[Key]) -> Result<Vec<Option<Entry>>, EngineError> {
        let mut found = Vec::with_capacity(keys.len());
        for (at, key) in keys.iter().enumerate() {
            let Some(entry) = self.at_once(key) else {
                found.extend(self.batch_awaited(&keys[at..]).await?);
                break;
            };
            found.push(entry?);
        }
        Ok(found)
    }

    /// What takes waiting goes together.
    async fn batch_awaited(&self, keys: &[Key]) -> Result<Vec<Option<Entry>>, EngineError> {
        let possible: Vec<Key> = keys.iter().filter(|key| caps::check_key(key).is_ok()).cloned().collect();
        let mut found = Box::pin(self.inner.view.get_many(possible)).await?.into_iter();
        let entry = |key: &Key| caps::check_key(key).ok().and_then(|()| found.next().flatten());
        Ok(keys.iter().map(entry).collect())
    }

    fn track(&self, key: Key, found: Option<&Entry>) {
        // A key that may not be written stays absent: the commit need not check it.
        if caps::check_key(&key).is_err() {
            return;
        }
        let expect = found.map_or(ExpectedVersion::Absent, |entry| ExpectedVersion::Version(entry.version));
        self.inner.tracked.lock().checks.push((key, expect));
    }
}
