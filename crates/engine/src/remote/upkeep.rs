//! What is done once in a while.

use super::fault::Fault;
use super::shared::Shared;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::time::sleep;

const ROUND: Duration = Duration::from_secs(1);
/// Rounds between two deletions of groups whose outcome no server asks for any more.
const PURGE: u64 = 60;
/// How long the row of a group is kept, in ticks.
const KEPT: u64 = 3_600 * 10_000_000;
const AT_ONCE: i64 = 10_000;

/// Ends when it is dropped.
pub(super) async fn run(shared: Arc<Shared>) {
    let mut rounds = shared.random.below(PURGE);
    loop {
        sleep(ROUND).await;
        shared.pool.tidy();
        rounds += 1;
        if rounds.is_multiple_of(PURGE)
            && let Err(fault) = shared.purge().await
        {
            tracing::debug!(%fault, "old groups are left for later");
        }
    }
}

impl Shared {
    /// Deletes the rows of old groups. Servers may do it at the same time.
    async fn purge(&self) -> Result<(), Fault> {
        let old = self.clock.steady().0.saturating_sub(KEPT);
        let before = super::uuid::Uuid(u128::from(old / 10_000) << 80);
        let text = format!(
            "DELETE FROM \"{0}\".grp WHERE id IN
                (SELECT id FROM \"{0}\".grp WHERE id < $1 ORDER BY id LIMIT {AT_ONCE} FOR UPDATE SKIP LOCKED) RETURNING 1",
            self.settings.schema
        );
        loop {
            let connection = self.pooled(Instant::now() + ROUND).await?;
            let gone = connection.ask(&text, &[&before]).await?;
            self.pool.give_back(connection);
            if (gone.len() as i64) < AT_ONCE {
                return Ok(());
            }
        }
    }
}
