//! Turns at work of which only so much may go on at once. A request waits for its turn for a bounded time.

use std::sync::Arc;
use std::time::Duration;

use lazuli_engine::EngineError;
use lazuli_model::error::{ErrorCode, Failure};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::task::spawn_blocking;
use tokio::time::timeout;

use crate::fault::{Answer, Fault};

#[derive(Clone, Debug)]
pub(crate) struct Turns {
    free: Arc<Semaphore>,
    patience: Duration,
}

impl Turns {
    pub fn new(count: usize, patience: Duration) -> Self {
        Self { free: Arc::new(Semaphore::new(count)), patience }
    }

    /// The next turn, first come, first served; ServerBusy when none comes in time.
    pub async fn take(&self) -> Answer<OwnedSemaphorePermit> {
        match timeout(self.patience, Arc::clone(&self.free).acquire_owned()).await {
            Ok(Ok(turn)) => Ok(turn),
            // The semaphore is never closed.
            _ => {
                Err(Fault(Failure::new(ErrorCode::ServerBusy).cause("too many requests wait for their turn")))
            }
        }
    }

    /// A turn, if there is one now.
    pub fn try_take(&self) -> Option<OwnedSemaphorePermit> {
        Arc::clone(&self.free).try_acquire_owned().ok()
    }

    /// Does the work on a blocking thread. The turn goes with the work: a client that leaves does not make room for more
    /// of it. A panic of the work is one of the request.
    pub async fn on_thread<T: Send + 'static>(&self, work: impl FnOnce() -> T + Send + 'static) -> Answer<T> {
        let turn = self.take().await?;
        let done = spawn_blocking(move || {
            let _turn = turn;
            work()
        });
        match done.await {
            Ok(done) => Ok(done),
            Err(ended) => match ended.try_into_panic() {
                Ok(panic) => std::panic::resume_unwind(panic),
                Err(_) => Err(EngineError::Unavailable("the runtime is shutting down").into()),
            },
        }
    }

    #[cfg(test)]
    pub fn free(&self) -> usize {
        self.free.available_permits()
    }
}
