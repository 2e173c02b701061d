//! The figures of the SMB listeners, of which a rehearsal has several.

use std::fmt;
use std::sync::Arc;

use lazuli_smb::Stats;
use parking_lot::RwLock;
use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, EncodeMetric};
use prometheus_client::metrics::MetricType;
use prometheus_client::metrics::counter::ConstCounter;
use prometheus_client::metrics::gauge::ConstGauge;

pub type Watched = Arc<RwLock<Vec<Arc<Stats>>>>;

#[derive(Debug)]
pub struct Smb(pub Watched);

impl Collector for Smb {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> fmt::Result {
        let watched = self.0.read();
        if watched.is_empty() {
            return Ok(());
        }
        let sum = |of: fn(&Stats) -> u64| watched.iter().map(|stats| of(stats)).sum::<u64>();
        for (name, help, of) in [
            ("smb_connections", "Open connections over SMB", Stats::connections as fn(&Stats) -> u64),
            ("smb_sessions", "Clients that are logged on over SMB", Stats::sessions),
            ("smb_opens", "Files, directories and pipes that SMB clients have open", Stats::opens),
        ] {
            let gauge = ConstGauge::new(i64::try_from(sum(of)).unwrap_or(i64::MAX));
            gauge.encode(encoder.encode_descriptor(name, help, None, gauge.metric_type())?)?;
        }
        let failures = ConstCounter::new(sum(Stats::logon_failures));
        let help = "Logons over SMB that were refused";
        failures.encode(encoder.encode_descriptor(
            "smb_logon_failures",
            help,
            None,
            failures.metric_type(),
        )?)?;
        let help = "Requests over SMB, by command";
        let mut family = encoder.encode_descriptor("smb_requests", help, None, MetricType::Counter)?;
        let mut commands: Vec<(&'static str, u64)> = Vec::new();
        for stats in watched.iter() {
            for (number, (command, count)) in stats.requests().enumerate() {
                match commands.get_mut(number) {
                    Some((_, sum)) => *sum += count,
                    None => commands.push((command, count)),
                }
            }
        }
        for (command, count) in commands {
            ConstCounter::new(count).encode(family.encode_family(&[("command", command)])?)?;
        }
        Ok(())
    }
}
