//! What is done once in a while.

use super::fault::Fault;
use super::shared::Shared;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::time::sleep;

const ROUND: Duration = Duration::from_secs(1);
/// Rounds between two deletions of groups whose outcome no server asks for any more, and of what is known of deleted keys.
const PURGE: u64 = 60;
const PURGE_GONE: u64 = 300;
/// How long the row of a group is kept, in ticks.
const KEPT: u64 = 3_600 * 10_000_000;
/// How long it is known when a key was deleted: twice as long as it is asked for, see `sql/commit_2.sql`.
const GONE_KEPT: u64 = 600 * 10_000_000;
const AT_ONCE: i64 = 10_000;

/// Ends when it is dropped.
pub(super) async fn run(shared: Arc<Shared>) {
    tokio::join!(tidy(&shared), purge(&shared));
}

async fn tidy(shared: &Shared) {
    loop {
        sleep(ROUND).await;
        shared.pool.tidy();
    }
}

async fn purge(shared: &Shared) {
    let mut rounds = shared.random.below(PURGE_GONE);
    loop {
        sleep(ROUND).await;
        rounds += 1;
        if rounds.is_multiple_of(PURGE)
            && let Err(fault) = shared.purge_groups().await
        {
            tracing::debug!(%fault, "old groups are left for later");
        }
        if rounds.is_multiple_of(PURGE_GONE)
            && let Err(fault) = shared.purge_gone().await
        {
            tracing::debug!(%fault, "what is known of deleted keys is left for later");
        }
    }
}

impl Shared {
    /// Deletes the rows of old groups. Servers may do it at the same time. The statement that deletes also notes how far it goes,
    /// so that a lane that settles such a group later does not take it for one that was never committed (`sql/resolve_2.sql`).
    pub async fn purge_groups(&self) -> Result<(), Fault> {
        let old = self.clock.steady().0.saturating_sub(KEPT);
        let before = super::uuid::Uuid(u128::from(old / 10_000) << 80);
        let text = format!(
            "WITH noted AS (INSERT INTO \"{0}\".setting AS old VALUES ('purged', uuid_send($1)) ON CONFLICT (name)
                    DO UPDATE SET value = EXCLUDED.value WHERE old.value < EXCLUDED.value)
                DELETE FROM \"{0}\".grp WHERE id IN
                (SELECT id FROM \"{0}\".grp WHERE id < $1 ORDER BY id LIMIT {AT_ONCE} FOR UPDATE SKIP LOCKED) RETURNING 1",
            self.settings.schema
        );
        loop {
            let connection = self.pooled(Instant::now() + ROUND).await?;
            let purged = self.answered(&connection, connection.ask(&text, &[&before])).await?;
            self.pool.give_back(connection);
            if (purged.len() as i64) < AT_ONCE {
                return Ok(());
            }
        }
    }

    /// One walk over what is known of deleted keys, which stands in no order of time, a page at a time. It ends: each page
    /// begins behind the one before. Tells how many were forgotten.
    pub async fn purge_gone(&self) -> Result<u64, Fault> {
        let before = self.clock.steady().0.saturating_sub(GONE_KEPT).cast_signed();
        let text = format!(
            "WITH page AS (SELECT h, at FROM \"{0}\".gone WHERE h > $1 ORDER BY h LIMIT {AT_ONCE}),
                purged AS (DELETE FROM \"{0}\".gone WHERE h IN
                    (SELECT h FROM \"{0}\".gone WHERE h IN (SELECT h FROM page WHERE at < $2) AND at < $2 FOR UPDATE SKIP LOCKED)
                    RETURNING 1)
                SELECT (SELECT max(h) FROM page), (SELECT count(*) FROM purged)",
            self.settings.schema
        );
        let (mut after, mut purged) = (Some(i64::MIN), 0);
        while let Some(from) = after {
            let connection = self.pooled(Instant::now() + ROUND).await?;
            let page = self.answered(&connection, connection.ask(&text, &[&from, &before])).await?;
            self.pool.give_back(connection);
            let Some(row) = page.first() else { break };
            after = row.try_get(0)?;
            purged += row.try_get::<_, i64>(1)?.unsigned_abs();
        }
        Ok(purged)
    }
}
