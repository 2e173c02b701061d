//! Work that may have to wait until others have given up what they keep.

use std::time::Duration;

use lazuli_model::admission::caching::Act;
use lazuli_model::error::ErrorCode;
use tokio::time::Instant;

use super::{OpenFile, Outcome, ShareClient};
use crate::store::Unit;
use crate::store::share::OpenKey;

/// After so long, a task that waits looks again.
pub(super) const PAUSE: Duration = Duration::from_millis(100);
/// A break ends after 35 seconds, and others may begin another.
pub(super) const LONGEST: Duration = Duration::from_secs(90);

pub(super) enum Step<T> {
    Done(T),
    /// Others were told; it is to be tried again when they have answered.
    Wait,
}

impl ShareClient {
    /// Commits the work, as often as it has to wait.
    pub(super) async fn attempt<T, F, Fut>(&self, open: &OpenKey, work: F) -> Outcome<T>
    where
        F: Fn(Unit) -> Fut + Send + Sync,
        Fut: Future<Output = Outcome<Step<T>>> + Send,
        T: Send,
    {
        let patience = Instant::now() + LONGEST;
        loop {
            let waiting = self.services().opens().wait(open.node());
            let changed = waiting.change();
            match self.services().commit(self.context(), &work).await? {
                Step::Done(output) => return Ok(output),
                Step::Wait if Instant::now() >= patience => return Err(ErrorCode::OperationTimedOut.into()),
                Step::Wait => drop(tokio::time::timeout(PAUSE, changed).await),
            }
        }
    }
}

impl OpenFile {
    /// Commits the work of this open.
    pub(super) async fn work<T, F, Fut>(&self, work: F) -> Outcome<T>
    where
        F: Fn(Unit) -> Fut + Send + Sync,
        Fut: Future<Output = Outcome<Step<T>>> + Send,
        T: Send,
    {
        self.client().attempt(self.key(), work).await
    }

    /// Others give up what stands against an act that only reads.
    pub(super) async fn break_others(&self, act: Act) -> Outcome<()> {
        self.work(|unit| async move {
            let mut opened = unit.opened(self.key()).await?;
            Ok(if opened.must_wait(act).await? { Step::Wait } else { Step::Done(()) })
        })
        .await
    }
}
