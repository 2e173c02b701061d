//! Figures that are kept elsewhere, and read when they are asked for.

use std::fmt;
use std::sync::{Arc, OnceLock};

use lazuli_engine::{ObjectStats, RemoteStats, SyncStats};
use lazuli_service::Services;
use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, EncodeMetric, NoLabelSet};
use prometheus_client::metrics::MetricType;
use prometheus_client::metrics::counter::ConstCounter;
use prometheus_client::metrics::gauge::ConstGauge;
use prometheus_client::registry::Unit;

use crate::net::Acceptor;

/// Of the listeners: accepting counts nothing.
pub struct Connections(pub Acceptor);

impl fmt::Debug for Connections {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Connections")
    }
}

impl Collector for Connections {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> fmt::Result {
        gauge(&mut encoder, "connections", "Open client connections", None, self.0.open_connections() as u64)
    }
}

/// Of the services and their engine.
pub struct Figures(pub Arc<OnceLock<Services>>);

impl fmt::Debug for Figures {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Figures")
    }
}

impl Collector for Figures {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> fmt::Result {
        let Some(services) = self.0.get() else { return Ok(()) };
        let to = &mut encoder;
        counter(
            to,
            "sweeper_passed_over",
            "Times that the sweeper could not give something back and went on with the next",
            services.upkeep().stats().passed_over,
        )?;
        let events = services.event_stats();
        counter(to, "events_delivered", "Events that their subscribers have", events.delivered)?;
        counter(to, "events_failed", "Tries to deliver an event that failed", events.failed)?;
        counter(
            to,
            "events_given_up",
            "Events that could not be delivered and are not tried again",
            events.given_up,
        )?;
        let (stats, extents) = services.engine_stats();
        counter(
            to,
            "engine_transactions",
            "Transactions committed since the data was made",
            stats.transactions,
        )?;
        counter(to, "engine_groups", "Groups of transactions that were made durable together", stats.groups)?;
        let synced = "Time that the disk, or the database, took to make a group durable";
        times(to, "engine_sync_duration", synced, &stats.syncs)?;
        if let Some(remote) = &stats.remote {
            database(to, remote)?;
        }
        if let Some(store) = &stats.objects {
            return objects(to, store);
        }
        let rows = stats.row_cache;
        counter(to, "row_cache_hits", "Single rows that were found in memory", rows.hits)?;
        counter(to, "row_cache_misses", "Single rows that were looked up in the tables", rows.misses)?;
        gauge(to, "row_cache", "Memory of the rows in the row cache", Some(&Unit::Bytes), rows.bytes)?;
        if let Some(available) = stats.available_bytes {
            gauge(to, "disk_available", "What the disk of the data has left", Some(&Unit::Bytes), available)?;
        }
        gauge(to, "extents", "Files that hold the bytes of blobs", None, extents.extents)?;
        gauge(
            to,
            "extents_free",
            "Those of them that are empty and kept for use",
            None,
            extents.free_extents,
        )?;
        gauge(
            to,
            "extents_damaged",
            "Those of them with a part that cannot be read",
            None,
            extents.damaged_extents,
        )?;
        gauge(
            to,
            "extents_used",
            "Bytes in extents that something refers to",
            Some(&Unit::Bytes),
            extents.live_bytes,
        )?;
        let free = extents.total_bytes.saturating_sub(extents.live_bytes);
        gauge(
            to,
            "extents_unused",
            "Bytes in extents that are free or wait for the collector",
            Some(&Unit::Bytes),
            free,
        )?;
        counter(
            to,
            "extents_collected_bytes",
            "Bytes that the collector moved to free extents",
            extents.collected_bytes,
        )
    }
}

fn counter(to: &mut DescriptorEncoder<'_>, name: &str, help: &str, value: u64) -> fmt::Result {
    let counter = ConstCounter::new(value);
    let metric = to.encode_descriptor(name, help, None, counter.metric_type())?;
    counter.encode(metric)
}

fn gauge(
    to: &mut DescriptorEncoder<'_>,
    name: &str,
    help: &str,
    unit: Option<&Unit>,
    value: u64,
) -> fmt::Result {
    let gauge = ConstGauge::new(i64::try_from(value).unwrap_or(i64::MAX));
    let metric = to.encode_descriptor(name, help, unit, gauge.metric_type())?;
    gauge.encode(metric)
}

/// Of an engine on a database.
fn database(to: &mut DescriptorEncoder<'_>, stats: &RemoteStats) -> fmt::Result {
    gauge(to, "database_primary_proven", "1 while a primary is proven", None, u64::from(stats.proven))?;
    counter(to, "database_primaries", "Primaries that this server has worked with", stats.generation)?;
    gauge(to, "database_waiting", "Transactions that wait for a lane", None, stats.waiting)?;
    for (name, help, value) in [
        ("database_refused", "Transactions that another one's commit refused", stats.refused),
        ("database_groups_again", "Groups that were tried again because others were in the way", stats.again),
        (
            "database_groups_resolved",
            "Groups whose outcome was asked for after a connection was lost",
            stats.resolved,
        ),
        ("database_batches", "Batches of keys that were read", stats.batches),
        ("database_statements", "Statements that read them, several batches in one", stats.statements),
        (
            "database_torn",
            "Attempts that began again because what they read had changed meanwhile",
            stats.torn,
        ),
        ("database_snapshots", "Snapshots that were held by a connection", stats.snapshots),
        ("database_barriers", "Commits that were made to confirm reads", stats.barriers),
        ("database_clock_jumps", "Times that the clock of the database stepped ahead", stats.clock_jumps),
    ] {
        counter(to, name, help, value)?;
    }
    gauge(to, "database_snapshots_held", "Snapshots that are held now", None, stats.snapshots_held)
}

/// Of chunks that are kept as objects.
fn objects(to: &mut DescriptorEncoder<'_>, stats: &ObjectStats) -> fmt::Result {
    times(to, "objects_put_duration", "Time that it took to write an object", &stats.puts)?;
    times(to, "objects_get_duration", "Time that it took to read an object or a part of one", &stats.gets)?;
    for (name, help, value) in [
        ("objects_put_bytes", "Bytes of objects that were written", stats.put_bytes),
        ("objects_put_failures", "Objects that could not be written", stats.put_failures),
        ("objects_get_bytes", "Bytes of objects that were read", stats.get_bytes),
        ("objects_get_failures", "Reads of objects that failed", stats.get_failures),
        ("objects_deleted", "Objects that were deleted", stats.deleted),
        ("objects_delete_failures", "Deletions of objects that failed", stats.delete_failures),
        ("objects_orphans", "Objects that nothing named, deleted by the search for them", stats.orphans),
        ("objects_cache_hits", "Chunks that were found in memory or on their way", stats.cache_hits),
        ("objects_cache_misses", "Chunks that were not", stats.cache_misses),
    ] {
        counter(to, name, help, value)?;
    }
    gauge(to, "objects_cache", "Memory of chunks that were fetched", Some(&Unit::Bytes), stats.cache_bytes)?;
    gauge(
        to,
        "objects_writing",
        "Memory of chunks that are being written",
        Some(&Unit::Bytes),
        stats.writing_bytes,
    )
}

fn times(to: &mut DescriptorEncoder<'_>, name: &str, help: &str, stats: &SyncStats) -> fmt::Result {
    let bounds = SyncStats::BOUNDS_MICROS.iter().map(|micros| *micros as f64 / 1e6).chain([f64::INFINITY]);
    let buckets: Vec<(f64, u64)> = bounds.zip(stats.counts).collect();
    let mut metric = to.encode_descriptor(name, help, Some(&Unit::Seconds), MetricType::Histogram)?;
    let count = stats.counts.iter().sum();
    metric.encode_histogram::<NoLabelSet>(stats.total.as_secs_f64(), count, &buckets, None)
}
