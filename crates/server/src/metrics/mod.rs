//! Figures for Prometheus. Labels are operation names of the table and status codes: a bounded set, whatever clients
//! send.

mod collect;
mod smb;

use std::sync::atomic::AtomicU64;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use lazuli_service::Services;
use lazuli_smb::Stats;
use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::metrics::info::Info;
use prometheus_client::registry::{Registry, Unit};

use crate::net::{Acceptor, Ended};
use collect::{Connections, Figures};
use smb::{Smb, Watched};

/// Seconds: from a cached read to a large download.
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

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct CutShort {
    operation: &'static str,
    by: &'static str,
}

/// A request that was answered, or of which the answer ended early.
pub struct Request<'a> {
    pub operation: &'static str,
    pub status: u16,
    /// From the head of the request to the last byte of the answer.
    pub elapsed: Duration,
    pub bytes_in: u64,
    pub bytes_out: u64,
    pub ended: &'a Ended,
}

pub struct Metrics {
    registry: Registry,
    requests: Family<Outcome, Counter>,
    cut_short: Family<CutShort, Counter>,
    durations: Family<Operation, Histogram, fn() -> Histogram>,
    bytes_in: Counter<u64, AtomicU64>,
    bytes_out: Counter<u64, AtomicU64>,
    /// The services are made after the metrics that they are given.
    services: Arc<OnceLock<Services>>,
    smb: Watched,
}

impl Metrics {
    pub fn new(connections: Acceptor) -> Arc<Self> {
        let (requests, cut_short) = (Family::default(), Family::default());
        let durations = Family::new_with_constructor((|| Histogram::new(BUCKETS)) as fn() -> Histogram);
        let (bytes_in, bytes_out) = (Counter::default(), Counter::default());
        let mut registry = Registry::with_prefix("lazuli");
        registry.register("build", "This program", build());
        registry.register("requests", "Requests answered", requests.clone());
        registry.register_with_unit(
            "request_duration",
            "Time from the head of a request to the last byte of its answer",
            Unit::Seconds,
            durations.clone(),
        );
        registry.register(
            "answers_cut_short",
            "Answers of which the client did not get every byte, by who ended them: the server (it could not go on) or the client",
            cut_short.clone(),
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
        registry.register_collector(Box::new(Figures(Arc::clone(&services))));
        let smb = Watched::default();
        registry.register_collector(Box::new(Smb(Arc::clone(&smb))));
        Arc::new(Self { smb, registry, requests, cut_short, durations, bytes_in, bytes_out, services })
    }

    /// From now on the figures of these services and of their engine are shown.
    pub fn watch(&self, services: &Services) {
        let _ = self.services.set(services.clone());
    }

    /// From now on the figures of this SMB listener are shown, too.
    pub fn watch_smb(&self, stats: Arc<Stats>) {
        self.smb.write().push(stats);
    }

    pub fn finished(&self, request: &Request<'_>) {
        let Request { operation, status, elapsed, bytes_in, bytes_out, ended } = *request;
        self.requests.get_or_create(&Outcome { operation, status }).inc();
        self.durations.get_or_create(&Operation { operation }).observe(elapsed.as_secs_f64());
        let by = match ended {
            Ended::Complete => None,
            Ended::Broken { .. } => Some("server"),
            Ended::Left => Some("client"),
        };
        if let Some(by) = by {
            self.cut_short.get_or_create(&CutShort { operation, by }).inc();
        }
        // All lanes write these: most requests have nothing to add to one of them.
        for (counter, bytes) in [(&self.bytes_in, bytes_in), (&self.bytes_out, bytes_out)] {
            if bytes > 0 {
                counter.inc_by(bytes);
            }
        }
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

fn build() -> Info<Vec<(&'static str, &'static str)>> {
    Info::new(vec![
        ("version", env!("CARGO_PKG_VERSION")),
        ("arch", std::env::consts::ARCH),
        ("os", std::env::consts::OS),
        ("optimized", if cfg!(debug_assertions) { "false" } else { "true" }),
    ])
}
