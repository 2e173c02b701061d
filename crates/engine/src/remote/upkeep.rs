//! What is done once in a while.

use super::fault::Fault;
use super::shared::Shared;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::time::sleep;
use tokio_postgres::types::ToSql;

const ROUND: Duration = Duration::from_secs(1);
/// Rounds between two deletions of groups whose outcome no server asks for any more.
const PURGE: u64 = 60;
/// How long the row of a group is kept, in ticks.
const KEPT: u64 = 3_600 * 10_000_000;
/// How long it is known when a key was deleted: twice as long as it is asked for, see `sql/commit_2.sql`.
const GONE_KEPT: u64 = 600 * 10_000_000;
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
    /// Deletes the rows of old groups, and of keys that were deleted long ago. Servers may do it at the same time.
    async fn purge(&self) -> Result<(), Fault> {
        let old = self.clock.steady().0.saturating_sub(KEPT);
        let before = super::uuid::Uuid(u128::from(old / 10_000) << 80);
        let groups = format!(
            "DELETE FROM \"{0}\".grp WHERE id IN
                (SELECT id FROM \"{0}\".grp WHERE id < $1 ORDER BY id LIMIT {AT_ONCE} FOR UPDATE SKIP LOCKED) RETURNING 1",
            self.settings.schema
        );
        self.purge_all(&groups, &before).await?;
        let before = self.clock.steady().0.saturating_sub(GONE_KEPT).cast_signed();
        let gone = format!(
            "DELETE FROM \"{0}\".gone WHERE h IN
                (SELECT h FROM \"{0}\".gone WHERE at < $1 LIMIT {AT_ONCE} FOR UPDATE SKIP LOCKED) RETURNING 1",
            self.settings.schema
        );
        self.purge_all(&gone, &before).await
    }

    async fn purge_all(&self, text: &str, before: &(dyn ToSql + Sync)) -> Result<(), Fault> {
        loop {
            let connection = self.pooled(Instant::now() + ROUND).await?;
            let purged = connection.ask(text, &[before]).await?;
            self.pool.give_back(connection);
            if (purged.len() as i64) < AT_ONCE {
                return Ok(());
            }
        }
    }
}
