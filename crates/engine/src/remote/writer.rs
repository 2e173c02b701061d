//! A server as a writer of objects: its incarnation, drawn once from the database, is part of the names of its chunks.
//!
//! A row `\0w` and the incarnation says that it lives. Every commit that publishes chunks checks that row, and a server that
//! takes a writer for dead deletes it by a commit: from then on none of its chunks can be published, and those that nothing
//! names are orphans for good. When it last said that it lives stands apart, in `setting`, so that the row does not
//! change: `writer` and the incarnation, with the time and the hour under which it writes.
//!
//! This is not the row that the service keeps of a server (decision 0025). That one goes after half a minute of silence, and
//! then the server goes on under another number; what was uploaded meanwhile may still be published. A writer has five
//! minutes, because with it go all chunks that no commit names yet.

use super::connection::Connection;
use super::fault::Fault;
use super::options::ConnectError;
use super::primary::PATIENCE;
use super::shared::Shared;
use super::uuid::Uuid;
use crate::host::Random;
use crate::key::Key;
use crate::objects::{COUNTER_MASK, Names, ObjectExtents};
use crate::txn::{ExpectedVersion, Ticks, Version};
use bytes::Bytes;
use parking_lot::Mutex;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::sync::Notify;
use tokio::time::timeout;

pub(super) const WRITER_ROW: &[u8] = b"\0w";
/// The object that says whose chunks are in a place.
const MARK: &str = "lazuli-cluster";

const BEAT: Duration = Duration::from_secs(10);
/// In ticks: a writer that said nothing for so long may be taken for dead.
pub(super) const EXPIRY: u64 = 300 * 10_000_000;
const HOUR: u64 = 3_600 * 10_000_000;

pub(super) struct Writer {
    row: Mutex<(u32, Version)>,
    /// The row may be gone.
    doubted: Notify,
}

pub(super) fn writer_key(incarnation: u32) -> Key {
    [WRITER_ROW, &incarnation.to_be_bytes()].concat().into()
}

pub(super) fn hour_of(now: Ticks) -> u32 {
    u32::try_from(now.0 / HOUR).unwrap_or(u32::MAX)
}

/// What a writer says at each beat: when, and under which hour it writes.
pub(super) fn encode_beat(now: Ticks) -> Vec<u8> {
    [&now.0.to_be_bytes()[..], &hour_of(now).to_be_bytes()].concat()
}

pub(super) fn decode_beat(value: &[u8]) -> Option<(Ticks, u32)> {
    let (now, hour) = value.split_first_chunk()?;
    Some((Ticks(u64::from_be_bytes(*now)), u32::from_be_bytes(hour.try_into().ok()?)))
}

impl Writer {
    /// What a commit that publishes chunks checks beside its own checks.
    pub fn check(&self) -> (Key, ExpectedVersion) {
        let (incarnation, version) = *self.row.lock();
        (writer_key(incarnation), ExpectedVersion::Version(version))
    }

    pub fn doubt(&self) {
        self.doubted.notify_one();
    }
}

/// The place becomes that of this cluster, or is refused because it is another's: names are unique within a cluster only.
pub(super) async fn adopt(
    connection: &Connection,
    schema: &str,
    cluster: &[u8],
    extents: &ObjectExtents,
) -> Result<(), ConnectError> {
    let wrong = |why: &str| Err(ConnectError::Bytes(why.into()));
    let mark: String = cluster.iter().map(|byte| format!("{byte:02x}")).collect();
    let requests = extents.requests();
    let found = requests.note(MARK).await.map_err(ConnectError::NoBytes)?;
    if found.is_none() {
        let text = format!("SELECT 1 FROM \"{schema}\".setting WHERE name = 'bytes'");
        if !connection.ask(&text, &[]).await?.is_empty() {
            return wrong(
                "the chunks of this database are not in this place: is it the right one, and mounted?",
            );
        }
        requests.write_note(MARK, Bytes::from(mark.clone())).await.map_err(ConnectError::NoBytes)?;
    }
    if requests.note(MARK).await.map_err(ConnectError::NoBytes)?.as_deref() != Some(mark.as_bytes()) {
        return wrong("this place holds the chunks of another database; give it a prefix of its own");
    }
    let text = format!("INSERT INTO \"{schema}\".setting VALUES ('bytes', '') ON CONFLICT DO NOTHING");
    connection.ask(&text, &[]).await?;
    Ok(())
}

/// A new incarnation, alive.
pub(super) async fn register(
    connection: &Connection,
    schema: &str,
    random: &Random,
    now: Ticks,
) -> Result<(Writer, Names), Fault> {
    let text = format!(
        "INSERT INTO \"{schema}\".setting AS old VALUES ('incarnation', '1') ON CONFLICT (name)
            DO UPDATE SET value = convert_to((convert_from(old.value, 'UTF8')::bigint + 1)::text, 'UTF8')
            RETURNING convert_from(value, 'UTF8')::bigint"
    );
    let drawn = connection.ask(&text, &[]).await?;
    let drawn: i64 = drawn.first().ok_or(Fault::lost("no incarnation"))?.try_get(0)?;
    let incarnation =
        u32::try_from(drawn).map_err(|_| Fault::Unexpected("no incarnations are left".into()))?;
    let version = Version(random.u128());
    let text = format!(
        "WITH said AS (INSERT INTO \"{schema}\".setting VALUES ($3, $4)),
            hour AS (INSERT INTO \"{schema}\".setting VALUES ($5, '') ON CONFLICT DO NOTHING)
            INSERT INTO \"{schema}\".kv (k, ver, v) VALUES ($1, $2, '')"
    );
    let hour = hour_of(now);
    connection
        .ask(
            &text,
            &[
                &&writer_key(incarnation)[..],
                &Uuid(version.0),
                &writer_name(incarnation),
                &encode_beat(now),
                &hour_name(hour),
            ],
        )
        .await?;
    let writer = Writer { row: Mutex::new((incarnation, version)), doubted: Notify::new() };
    // A database that was restored may give an incarnation twice: the counter begins elsewhere then.
    Ok((writer, Names { incarnation, hour, counter: random.below(1 << 40) & COUNTER_MASK }))
}

pub(super) fn writer_name(incarnation: u32) -> String {
    format!("writer {incarnation:08x}")
}

pub(super) fn hour_name(hour: u32) -> String {
    format!("hour {hour:06x}")
}

/// Says again and again that this writer lives. Ends when it is dropped.
pub(super) async fn run(shared: Arc<Shared>) {
    let (Some(writer), Some(extents)) = (&shared.writer, shared.extents.as_objects()) else {
        return std::future::pending().await;
    };
    loop {
        let _ = timeout(BEAT, writer.doubted.notified()).await;
        if let Err(fault) = shared.beat(writer, extents).await {
            tracing::debug!(%fault, "the writer's row is not renewed");
        }
    }
}

impl Shared {
    pub async fn beat(&self, writer: &Writer, extents: &ObjectExtents) -> Result<(), Fault> {
        let connection = self.pooled(Instant::now() + PATIENCE).await?;
        let schema = &self.settings.schema;
        let now = self.clock.steady();
        let incarnation = writer.row.lock().0;
        let text = format!(
            "WITH lives AS (SELECT 1 FROM \"{schema}\".kv WHERE k = $4),
                said AS (UPDATE \"{schema}\".setting SET value = $2
                    WHERE name = $1 AND EXISTS (SELECT 1 FROM lives) RETURNING 1),
                hour AS (INSERT INTO \"{schema}\".setting SELECT $3, '' FROM said ON CONFLICT DO NOTHING)
                SELECT count(*) FROM said"
        );
        let name = writer_name(incarnation);
        let key = writer_key(incarnation);
        let lives =
            connection.ask(&text, &[&name, &encode_beat(now), &hour_name(hour_of(now)), &&key[..]]).await?;
        let lives: i64 = lives.first().ok_or(Fault::lost("no answer"))?.try_get(0)?;
        if lives > 0 {
            extents.rename(|names| names.hour = hour_of(now));
        } else {
            tracing::warn!("this server was taken for dead; uploads that were under way fail");
            let (again, names) = register(&connection, schema, &self.random, now).await?;
            // In this order: see `Shared::commit`.
            extents.rename(|old| *old = names);
            *writer.row.lock() = *again.row.lock();
        }
        self.pool.give_back(connection);
        Ok(())
    }

    /// This server writes no more: everything that it sent is answered.
    pub async fn leave_writing(&self, connection: &Connection) -> Result<(), Fault> {
        let Some(writer) = &self.writer else { return Ok(()) };
        let schema = &self.settings.schema;
        let incarnation = writer.row.lock().0;
        let text = format!(
            "WITH said AS (DELETE FROM \"{schema}\".setting WHERE name = $1)
                DELETE FROM \"{schema}\".kv WHERE k = $2"
        );
        connection.ask(&text, &[&writer_name(incarnation), &&writer_key(incarnation)[..]]).await.map(drop)
    }
}
