//! The only retry loop.

use crate::engine::Engine;
use crate::error::EngineError;
use crate::queue::Refusal;
use crate::reader::Reader;
use crate::txn::{Outcome, Plan, Txn, TxnId};
use std::time::{Duration, Instant};

/// Lost races before a transaction waits in line for the key that it lost on.
const RACES: u32 = 2;
/// Attempts in all, before the caller is told to come back later.
const ATTEMPTS: u32 = 24;
const LONGEST_PAUSE: Duration = Duration::from_millis(50);

impl Engine {
    /// Reads, decides, commits; again when somebody else was faster. The closure may run several times and
    /// must have no effect but its plan. It decides on one snapshot, and the commit is refused if anything
    /// that it read with a tracked read has changed: so a condition judged in it holds at the commit.
    pub async fn run<T, E, F, Fut>(&self, deadline: Option<Instant>, closure: F) -> Result<T, E>
    where
        F: Fn(Reader) -> Fut + Send + Sync,
        Fut: Future<Output = Result<Plan<T>, E>> + Send,
        E: From<EngineError>,
    {
        let mut turn = None;
        let mut lost = 0;
        for attempt in 0..ATTEMPTS {
            let reader = self.reader().await?;
            let Plan { writes, publish, release, output } = closure(reader.clone()).await?;
            if writes.is_empty() && publish.is_empty() && release.is_empty() {
                return Ok(output);
            }
            let tracked = reader.take_tracked();
            if turn.is_none()
                && let Some(key) = self.fifo().line_for(tracked.checks.iter().map(|(key, _)| key))
            {
                turn = Some(self.fifo().turn(key, deadline).await.ok_or(DEADLINE)?);
                continue;
            }
            let id = self.new_txn_id();
            let txn = Txn {
                id,
                checks: tracked.checks,
                range_checks: tracked.range_checks,
                writes,
                publish,
                release,
                deadline,
            };
            let snapshot = reader.stamp().version;
            drop(reader);
            match self.submit(txn, Some(snapshot)).await {
                Ok(_) => return Ok(output),
                Err(Refusal::Conflict(key)) => {
                    lost += 1;
                    match lost {
                        // The winner is published by now.
                        1 if turn.is_none() => self.crowd().lost(&key).await,
                        RACES.. if turn.is_none() => {
                            turn = Some(self.fifo().turn(key, deadline).await.ok_or(DEADLINE)?);
                        }
                        _ => self.pause(attempt).await,
                    }
                }
                Err(Refusal::Error(EngineError::Unknown)) => match self.resolve(id).await? {
                    Outcome::Committed(_) => return Ok(output),
                    Outcome::NotCommitted => {}
                },
                Err(Refusal::Error(error)) => return Err(error.into()),
            }
        }
        Err(EngineError::Unavailable("busy").into())
    }

    async fn pause(&self, attempt: u32) {
        let longest = Duration::from_micros(500).saturating_mul(1 << attempt.min(8)).min(LONGEST_PAUSE);
        if attempt > 0 {
            let micros = self.random().below(longest.as_micros() as u64);
            tokio::time::sleep(Duration::from_micros(micros)).await;
        }
    }

    async fn resolve(&self, id: TxnId) -> Result<Outcome, EngineError> {
        // Where the engine itself cannot tell any more, the caller must know that much.
        self.outcome(id).await.map_err(|_| EngineError::Unknown)
    }
}

const DEADLINE: EngineError = EngineError::Unavailable("deadline passed");
