//! Counters for Prometheus. Labels are operation names of the table and status codes: a bounded set, whatever
//! clients send.

use std::sync::atomic::AtomicU64;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use lazuli_rest::Observer;
use lazuli_service::Services;
use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::counter::{ConstCounter, Counter};
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::ConstGauge;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::{Registry, Unit};

use crate::net::Acceptor;

/// Seconds: from a cached read to a large upload.
const BUCKETS: [f64; 12] = [0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.05, 0.25, 1.0, 5.0, 30.0];

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Outcome {
    operation: &'static str,
    status: u16,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Operation {
    operation: &'static str,
}

pub struct Metrics {
    registry: Registry,
    requests: Family<Outcome, Counter>,
    durations: Family<Operation, Histogram, fn() -> Histogram>,
    bytes_in: Counter<u64, AtomicU64>,
    bytes_out: Counter<u64, AtomicU64>,
    /// The services are made after the metrics that they are given.
    services: Arc<OnceLock<Services>>,
}

impl Metrics {
    pub fn new(connections: Acceptor) -> Arc<Self> {
        let requests = Family::default();
        let durations = Family::new_with_constructor((|| Histogram::new(BUCKETS)) as fn() -> Histogram);
        let (bytes_in, bytes_out) = (Counter::default(), Counter::default());
        let mut registry = Registry::with_prefix("lazuli");
        registry.register("requests", "Requests answered", requests.clone());
        registry.register_with_unit(
            "request_duration",
            "Time from the head of a request to the end of its answer",
            Unit::Seconds,
            durations.clone(),
        );
        registry.register("received", "Bytes of request bodies (bytes)", bytes_in.clone());
        registry.register("sent", "Bytes of response bodies (bytes)", bytes_out.clone());
        registry.register(
            "connections_cut_off",
            "Connections that the server ended by itself, by reason",
            connections.cuts().family(),
        );
        registry.register_collector(Box::new(Connections(connections)));
        let services = Arc::default();
        registry.register_collector(Box::new(Upkeep(Arc::clone(&services))));
        Arc::new(Self { registry, requests, durations, bytes_in, bytes_out, services })
    }

    /// From now on the sweeper's figures of these services are shown.
    pub fn watch_upkeep(&self, services: &Services) {
        let _ = self.services.set(services.clone());
    }

    pub fn text(&self) -> String {
        let mut text = String::new();
        match prometheus_client::encoding::text::encode(&mut text, &self.registry) {
            Ok(()) => text,
            Err(error) => {
                tracing::error!(%error, "cannot encode metrics");
                String::new()
            }
        }
    }
}

/// Read when asked for, so that accepting counts nothing.
struct Connections(Acceptor);

impl std::fmt::Debug for Connections {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Connections")
    }
}

impl prometheus_client::collector::Collector for Connections {
    fn encode(
        &self,
        mut encoder: prometheus_client::encoding::DescriptorEncoder<'_>,
    ) -> Result<(), std::fmt::Error> {
        use prometheus_client::encoding::EncodeMetric;
        let open = ConstGauge::new(i64::try_from(self.0.open_connections()).unwrap_or(i64::MAX));
        let metric =
            encoder.encode_descriptor("connections", "Open client connections", None, open.metric_type())?;
        open.encode(metric)
    }
}

/// What the sweeper could not give back.
struct Upkeep(Arc<OnceLock<Services>>);

impl std::fmt::Debug for Upkeep {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Upkeep")
    }
}

impl prometheus_client::collector::Collector for Upkeep {
    fn encode(
        &self,
        mut encoder: prometheus_client::encoding::DescriptorEncoder<'_>,
    ) -> Result<(), std::fmt::Error> {
        use prometheus_client::encoding::EncodeMetric;
        let stats = self.0.get().map(|services| services.upkeep().stats()).unwrap_or_default();
        let passed_over = ConstCounter::new(stats.passed_over);
        let metric = encoder.encode_descriptor(
            "sweeper_passed_over",
            "Times that the sweeper could not give something back and went on with the next",
            None,
            passed_over.metric_type(),
        )?;
        passed_over.encode(metric)
    }
}

impl Observer for Metrics {
    fn finished(&self, op: &'static str, status: u16, elapsed: Duration, bytes_in: u64, bytes_out: u64) {
        self.requests.get_or_create(&Outcome { operation: op, status }).inc();
        self.durations.get_or_create(&Operation { operation: op }).observe(elapsed.as_secs_f64());
        self.bytes_in.inc_by(bytes_in);
        self.bytes_out.inc_by(bytes_out);
    }
}
