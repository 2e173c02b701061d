//! The only retry loop.

use crate::backend::Opening;
use crate::contention::Contender;
use crate::engine::Engine;
use crate::error::{EngineError, Refusal};
use crate::key::Key;
use crate::reader::Reader;
use crate::txn::{Outcome, Plan, Txn, TxnId};
use std::time::Instant;

/// Attempts of [`Engine::look`]. The third holds a snapshot, so that only a lost connection tears it.
const LOOKS: u32 = 6;

impl Engine {
    /// Reads and commits nothing. The closure may run several times: where reading takes round trips no snapshot is held for a few keys,
    /// and it begins again when what it read turns out not to be of one moment.
    pub async fn look<T, E, F, Fut>(&self, closure: F) -> Result<T, E>
    where
        F: Fn(Reader) -> Fut + Send + Sync,
        Fut: Future<Output = Result<T, E>> + Send,
        E: From<EngineError>,
    {
        let mut torn = 0;
        loop {
            let reader = self.open_reader(Vec::new, Opening::Attempt { torn }).await?;
            let output = closure(reader.clone()).await;
            torn += 1;
            if reader.is_torn() {
                if torn < LOOKS {
                    continue;
                }
                return Err(EngineError::Unavailable(
                    "what was read kept changing, or its snapshot was lost",
                )
                .into());
            }
            if let Some(confirmation) = reader.confirmation() {
                confirmation.await?;
            }
            return output;
        }
    }

    /// Reads, decides, commits; again when another transaction was faster. The closure may run several times and
    /// must have no effect but its plan. It decides on one snapshot, and the commit is refused if anything
    /// that it read with a tracked read has changed: so a condition judged in it holds at the commit.
    pub async fn run<T, E, F, Fut>(&self, deadline: Option<Instant>, closure: F) -> Result<T, E>
    where
        F: Fn(Reader) -> Fut + Send + Sync,
        Fut: Future<Output = Result<Plan<T>, E>> + Send,
        E: From<EngineError>,
    {
        self.run_near(deadline, Vec::new, closure).await
    }

    /// The same; `near` tells the keys that the closure reads first: see [`Engine::reader_near`].
    pub async fn run_near<T, E, N, F, Fut>(
        &self,
        deadline: Option<Instant>,
        near: N,
        closure: F,
    ) -> Result<T, E>
    where
        N: Fn() -> Vec<Key> + Send + Sync,
        F: Fn(Reader) -> Fut + Send + Sync,
        Fut: Future<Output = Result<Plan<T>, E>> + Send,
        E: From<EngineError>,
    {
        let mut contender = Contender::new(self.inner.backend.contention(), &self.inner.random, deadline);
        let mut torn = 0;
        loop {
            contender.attempt()?;
            let reader = self.open_reader(&near, Opening::Attempt { torn }).await?;
            let plan = closure(reader.clone()).await;
            if reader.is_torn() {
                torn += 1;
                contender.undecided()?;
                continue;
            }
            let plan = match plan {
                Ok(plan) if !plan.is_empty() => plan,
                decided => {
                    if let Some(confirmation) = reader.confirmation() {
                        confirmation.await?;
                    }
                    return decided.map(|plan| plan.output);
                }
            };
            let Plan { writes, private_writes, publish, release, output } = plan;
            let tracked = reader.take_tracked();
            if contender.waits_in_line(tracked.checks.iter().map(|(key, _)| key)).await? {
                continue;
            }
            let id = self.new_txn_id();
            let txn = Txn {
                id,
                checks: tracked.checks,
                range_checks: tracked.range_checks,
                writes,
                private_writes,
                publish,
                release,
                deadline,
            };
            let read_at = reader.read_at();
            drop(reader);
            match self.submit(txn, Some(read_at)).await {
                Ok(_) => return Ok(output),
                Err(Refusal::Conflict(key)) => contender.lost(key).await?,
                Err(Refusal::Error(EngineError::Unknown)) => match self.resolve(id).await? {
                    Outcome::Committed(_) => return Ok(output),
                    Outcome::NotCommitted => {}
                },
                Err(Refusal::Error(error)) => return Err(error.into()),
            }
        }
    }

    async fn resolve(&self, id: TxnId) -> Result<Outcome, EngineError> {
        // Where the engine itself cannot tell any more, the caller must know that much.
        self.outcome(id).await.map_err(|_| EngineError::Unknown)
    }
}
