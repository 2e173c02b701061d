//! A unit of work: what one operation reads and writes, at one snapshot and in one commit.
//!
//! Operations come to the engine by two doors. [`Services::commit`] gives a [`Unit`], whose changes are committed if
//! nothing that it read has changed; [`Services::view`] gives a [`View`], which only reads. A guarded record is written
//! through the [`Admitted`](super::Admitted) of that record, and in no other way.

use std::marker::PhantomData;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use lazuli_engine::{EngineError, Key, Plan, Reader, Value};
use lazuli_model::access::Principal;
use lazuli_model::account::{AccountFeatures, Features};
use lazuli_model::admission::Circumstances;
use lazuli_model::operation::{Mode, Reads, Writes};
use lazuli_model::time::Timestamp;
use lazuli_model::version::ApiVersion;
use parking_lot::Mutex;

use crate::event::Cause;
use crate::fault::Answer;
use crate::{Context, Services};

/// One snapshot, and in a unit that writes what is to be committed on top of it. Cheap to clone.
pub struct Unit<M: Mode = Writes> {
    inner: Arc<Inner>,
    mode: PhantomData<fn() -> M>,
}

/// A unit that only reads: there is nothing to commit.
pub type View = Unit<Reads>;

struct Inner {
    reader: Reader,
    plan: Mutex<Plan<()>>,
    now: Timestamp,
    context: Context,
    features: Arc<AccountFeatures>,
    /// It has put events into the outbox.
    raised: AtomicBool,
}

impl<M: Mode> Clone for Unit<M> {
    fn clone(&self) -> Self {
        Self { inner: Arc::clone(&self.inner), mode: PhantomData }
    }
}

impl Services {
    /// Runs `work` on a snapshot and commits what it wrote; again when another commit was faster. So `work` may run
    /// several times and must have no effect but what it does to its unit.
    pub async fn commit<T, E, F, Fut>(&self, context: &Context, work: F) -> Result<T, E>
    where
        F: Fn(Unit) -> Fut + Send + Sync,
        Fut: Future<Output = Result<T, E>> + Send,
        T: Send,
        E: From<EngineError>,
    {
        let (work, raised) = (&work, &AtomicBool::new(false));
        let output = self
            .engine()
            .run(self.deadline(), |reader| async move {
                let noting = |unit: Unit| async move {
                    let output = work(unit.clone()).await;
                    raised.store(unit.inner.raised.load(Ordering::Relaxed), Ordering::Relaxed);
                    output
                };
                self.plan(reader, context, noting).await
            })
            .await;
        if output.is_ok() && raised.load(Ordering::Relaxed) {
            self.events().ring();
        }
        output
    }

    /// What `work` writes on the snapshot of a reader, for those who commit it themselves.
    pub(super) async fn plan<T, E, Fut>(
        &self,
        reader: Reader,
        context: &Context,
        work: impl FnOnce(Unit) -> Fut,
    ) -> Result<Plan<T>, E>
    where
        Fut: Future<Output = Result<T, E>>,
    {
        let unit = Unit::new(reader, context.clone(), self.options().features.clone());
        let output = work(unit.clone()).await?;
        let Plan { writes, private_writes, publish, release, .. } =
            std::mem::replace(&mut *unit.inner.plan.lock(), Plan::new(()));
        Ok(Plan { writes, private_writes, publish, release, output })
    }

    /// A snapshot of everything that is committed.
    pub async fn view(&self, context: &Context) -> Answer<View> {
        Ok(Unit::new(self.engine().reader().await?, context.clone(), self.options().features.clone()))
    }
}

impl<M: Mode> Unit<M> {
    fn new(reader: Reader, context: Context, features: Arc<AccountFeatures>) -> Self {
        let now = Timestamp::from_unix_ticks(reader.stamp().now.0);
        let inner = Inner {
            reader,
            plan: Mutex::new(Plan::new(())),
            now,
            context,
            features,
            raised: AtomicBool::new(false),
        };
        Self { inner: Arc::new(inner), mode: PhantomData }
    }

    /// The clock at the snapshot: what leases and dates are judged by.
    pub fn now(&self) -> Timestamp {
        self.inner.now
    }

    pub fn account(&self) -> &str {
        &self.inner.context.account
    }

    /// What the account can do beyond a plain one.
    pub fn features(&self) -> &Features {
        self.features_of(self.account())
    }

    pub(super) fn features_of(&self, account: &str) -> &Features {
        self.inner.features.of(account)
    }

    /// Whether changes of the account's blobs are told to anyone.
    pub(super) fn has_events(&self) -> bool {
        !self.features().events.is_empty()
    }

    /// The request behind the unit.
    pub(super) fn cause(&self) -> Option<&Cause> {
        self.inner.context.cause.as_deref()
    }

    pub fn principal(&self) -> &Principal {
        &self.inner.context.principal
    }

    /// The encryption scope that the request names.
    pub fn encryption_scope(&self) -> Option<&str> {
        self.inner.context.encryption_scope.as_deref()
    }

    pub fn version(&self) -> ApiVersion {
        self.inner.context.version
    }

    /// What records are judged in.
    pub(super) fn circumstances(&self) -> Circumstances {
        let (now, version) = (self.now(), self.version());
        Circumstances { now, version, keeps_versions: self.features().versioning }
    }

    pub(in crate::store) fn reader(&self) -> &Reader {
        &self.inner.reader
    }

    /// The same unit, for an operation of another mode.
    pub(super) fn in_mode<N: Mode>(self) -> Unit<N> {
        Unit { inner: self.inner, mode: PhantomData }
    }
}

/// What writes are made of. The room [`store`](super) alone has it.
pub(in crate::store) trait Changes {
    fn put(&mut self, key: Key, value: Value);
    fn delete(&mut self, key: Key);
}

impl Changes for Unit {
    fn put(&mut self, key: Key, value: Value) {
        self.inner.plan.lock().put(key, value);
    }

    fn delete(&mut self, key: Key) {
        self.inner.plan.lock().delete(key);
    }
}

impl<T> Changes for Plan<T> {
    fn put(&mut self, key: Key, value: Value) {
        Plan::put(self, key, value);
    }

    fn delete(&mut self, key: Key) {
        Plan::delete(self, key);
    }
}

impl Unit {
    /// Once it is committed, deliverers are to be woken.
    pub(super) fn note_raised(&self) {
        self.inner.raised.store(true, Ordering::Relaxed);
    }

    pub(super) fn publish(&self, chunks: impl IntoIterator<Item = lazuli_engine::ChunkId>) {
        self.inner.plan.lock().publish.extend(chunks);
    }
}
