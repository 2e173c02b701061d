//! A unit of work: what one operation reads and writes, at one snapshot and in one commit.
//!
//! Operations come to the engine by two doors. [`Services::commit`] gives a [`Unit`], whose changes are committed if
//! nothing that it read has changed; [`Services::view`] gives a [`View`], which only reads. A guarded record is written
//! through the [`Admitted`](super::Admitted) of that record, and in no other way.

use std::marker::PhantomData;
use std::sync::Arc;

use lazuli_engine::{EngineError, Key, Plan, Reader, Value};
use lazuli_model::access::Principal;
use lazuli_model::account::Features;
use lazuli_model::admission::Circumstances;
use lazuli_model::operation::{Mode, Reads, Writes};
use lazuli_model::time::Timestamp;
use lazuli_model::version::ApiVersion;
use parking_lot::Mutex;

use super::desk::{DeskNotes, WantedBreaks};
use super::upkeep::budget::has_room_with;
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
    plan: Arc<Mutex<Plan<()>>>,
    context: Context,
    services: Services,
    notes: Arc<Mutex<Notes>>,
}

/// What a unit leaves beside what it writes.
#[derive(Default)]
pub(super) struct Notes {
    /// It has put events into the outbox.
    pub raised: bool,
    /// It was refused until clients of SMB have given these up.
    pub waits_for: Vec<WantedBreaks>,
    /// What clients of SMB are told to give up by its commit, without being waited for.
    pub along: Vec<WantedBreaks>,
    pub desk: DeskNotes,
}

impl<M: Mode> Clone for Unit<M> {
    fn clone(&self) -> Self {
        Self { inner: Arc::clone(&self.inner), mode: PhantomData }
    }
}

impl Services {
    /// Runs `work` on a snapshot and commits what it wrote; again when another commit was faster. So `work` may run
    /// several times and must have no effect but what it does to its unit.
    ///
    /// Where a client of SMB has to give up what it keeps of a file before the work is let through, it is told so, and the work is
    /// run again when it has; not for longer than a request may take.
    pub async fn commit<T, E, F, Fut>(&self, context: &Context, work: F) -> Result<T, E>
    where
        F: Fn(Unit) -> Fut + Send + Sync,
        Fut: Future<Output = Result<T, E>> + Send,
        T: Send,
        E: From<EngineError>,
    {
        let mut patience = None;
        loop {
            let (output, notes) = self.commit_once(context, &work).await;
            if output.is_err() && !notes.waits_for.is_empty() {
                if self.wait_for_breaks(context, &notes.waits_for, &mut patience).await {
                    continue;
                }
                return output;
            }
            if output.is_ok() {
                self.publish(notes);
            }
            return output;
        }
    }

    async fn commit_once<T, E, F, Fut>(&self, context: &Context, work: &F) -> (Result<T, E>, Notes)
    where
        F: Fn(Unit) -> Fut + Send + Sync,
        Fut: Future<Output = Result<T, E>> + Send,
        T: Send,
        E: From<EngineError>,
    {
        let notes = &Mutex::new(Notes::default());
        let output = self
            .engine()
            .run(self.deadline(), |reader| async move {
                let noting = |unit: Unit| async move {
                    let take = || *notes.lock() = std::mem::take(&mut *unit.inner.notes.lock());
                    let output = match work(unit.clone()).await {
                        Ok(output) => output,
                        Err(refusal) => {
                            take();
                            return Err(refusal);
                        }
                    };
                    unit.break_along().await?;
                    take();
                    Ok(output)
                };
                self.plan(reader, context, noting).await
            })
            .await;
        let notes = std::mem::take(&mut *notes.lock());
        (output, notes)
    }

    /// Runs `work` on a snapshot, for operations that read what clients of SMB may keep in their memory: as [`Self::commit`] does.
    pub async fn look<T, F, Fut>(&self, context: &Context, work: F) -> Answer<T>
    where
        F: Fn(View) -> Fut + Send + Sync,
        Fut: Future<Output = Answer<T>> + Send,
    {
        let mut patience = None;
        loop {
            let view = self.view(context).await?;
            let output = work(view.clone()).await;
            if output.is_ok() {
                return output;
            }
            let waits_for = std::mem::take(&mut view.inner.notes.lock().waits_for);
            drop(view);
            if waits_for.is_empty() || !self.wait_for_breaks(context, &waits_for, &mut patience).await {
                return output;
            }
        }
    }

    /// The same for what breaks nothing and waits for nobody.
    pub(super) async fn commit_plainly<T, E, F, Fut>(&self, context: &Context, work: F) -> Result<T, E>
    where
        F: Fn(Unit) -> Fut + Send + Sync,
        Fut: Future<Output = Result<T, E>> + Send,
        T: Send,
        E: From<EngineError>,
    {
        let (output, notes) = self.commit_once(context, &work).await;
        if output.is_ok() {
            self.publish(notes);
        }
        output
    }

    /// Others are told of what a commit did.
    fn publish(&self, notes: Notes) {
        if notes.raised {
            self.events().ring();
        }
        self.tell_desk(notes.desk);
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
        let unit = Unit::new(reader, context.clone(), self.clone());
        let output = work(unit.clone()).await?;
        let Plan { writes, private_writes, publish, release, .. } =
            std::mem::replace(&mut *unit.inner.plan.lock(), Plan::new(()));
        Ok(Plan { writes, private_writes, publish, release, output })
    }

    /// Runs `work` on what is committed, for operations that read a few rows: where reading takes round trips, no snapshot is held for
    /// them. It may run several times.
    pub async fn read<T, F, Fut>(&self, context: &Context, work: F) -> Answer<T>
    where
        F: Fn(View) -> Fut + Send + Sync,
        Fut: Future<Output = Answer<T>> + Send,
        T: Send,
    {
        self.engine().look(|reader| work(Unit::new(reader, context.clone(), self.clone()))).await
    }

    /// A snapshot of everything that is committed.
    pub async fn view(&self, context: &Context) -> Answer<View> {
        Ok(Unit::new(self.engine().reader_at_first_read().await?, context.clone(), self.clone()))
    }
}

impl<M: Mode> Unit<M> {
    fn new(reader: Reader, context: Context, services: Services) -> Self {
        let inner = Inner {
            reader,
            plan: Arc::new(Mutex::new(Plan::new(()))),
            context,
            services,
            notes: Arc::default(),
        };
        Self { inner: Arc::new(inner), mode: PhantomData }
    }

    pub(super) fn services(&self) -> &Services {
        &self.inner.services
    }

    /// What is to be told of it once it is committed, or why it is refused.
    pub(super) fn notes(&self) -> parking_lot::MutexGuard<'_, Notes> {
        self.inner.notes.lock()
    }

    /// The clock at the snapshot: what leases and dates are judged by. Nothing that was read so far is dated later.
    pub fn now(&self) -> Timestamp {
        super::now(&self.inner.reader)
    }

    pub fn account(&self) -> &str {
        &self.inner.context.account
    }

    /// What the account can do beyond a plain one.
    pub fn features(&self) -> &Features {
        self.features_of(self.account())
    }

    pub(super) fn features_of(&self, account: &str) -> &Features {
        self.inner.services.options().features.of(account)
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
    /// Of a key that nobody makes because there is none: see [`Plan::delete_without_trace`].
    fn delete_without_trace(&mut self, key: Key);
    /// Of a key that no other transaction can be checking: the bytes of a content, which are read untracked.
    fn put_private(&mut self, key: Key, value: Value);
    fn delete_private(&mut self, key: Key);
}

impl Changes for Unit {
    fn put(&mut self, key: Key, value: Value) {
        self.inner.plan.lock().put(key, value);
    }

    fn delete(&mut self, key: Key) {
        self.inner.plan.lock().delete(key);
    }

    fn delete_without_trace(&mut self, key: Key) {
        self.inner.plan.lock().delete_without_trace(key);
    }

    fn put_private(&mut self, key: Key, value: Value) {
        self.inner.plan.lock().put_private(key, value);
    }

    fn delete_private(&mut self, key: Key) {
        self.inner.plan.lock().delete_private(key);
    }
}

impl<T> Changes for Plan<T> {
    fn put(&mut self, key: Key, value: Value) {
        Plan::put(self, key, value);
    }

    fn delete(&mut self, key: Key) {
        Plan::delete(self, key);
    }

    fn delete_without_trace(&mut self, key: Key) {
        Plan::delete_without_trace(self, key);
    }

    fn put_private(&mut self, key: Key, value: Value) {
        Plan::put_private(self, key, value);
    }

    fn delete_private(&mut self, key: Key) {
        Plan::delete_private(self, key);
    }
}

impl Unit {
    /// Once it is committed, deliverers are to be woken.
    pub(super) fn note_raised(&self) {
        self.notes().raised = true;
    }

    /// The same unit for another request of the same account: it reads the same snapshot and adds to the same commit.
    pub(super) fn on_behalf_of(&self, context: Context) -> Self {
        let inner = Inner {
            reader: self.inner.reader.clone(),
            plan: Arc::clone(&self.inner.plan),
            context,
            services: self.inner.services.clone(),
            notes: Arc::clone(&self.inner.notes),
        };
        Self { inner: Arc::new(inner), mode: PhantomData }
    }

    /// Whether what is written so far leaves room for one step more, and for dropping so many contents at the end.
    pub(super) fn has_room_with(&self, contents: usize) -> bool {
        has_room_with(&self.inner.plan.lock(), contents)
    }

    pub(super) fn publish(&self, chunks: impl IntoIterator<Item = lazuli_engine::ChunkId>) {
        self.inner.plan.lock().publish.extend(chunks);
    }
}
