//! The table, and which bars were met.

use std::fmt::{self, Display, Formatter};

use crate::bars::{BARS, Wanted};
use crate::load::Measured;
use crate::options::Run;
use crate::servers::{Kind, Service};
use crate::workload::{Unit, Workload};

/// Cores kept busy by others from which on a figure is marked as noisy.
const NOISE: f64 = 0.25;

struct Line {
    workload: Workload,
    kind: Kind,
    measured: Measured,
}

pub struct Report {
    heading: String,
    full: bool,
    lines: Vec<Line>,
}

impl Report {
    pub fn new(service: Service, run: &Run) -> Self {
        let stored = match service {
            Service::Blob => format!("{} blobs listed", run.list),
            Service::Queue => format!("messages taken from a queue of {}", run.depth),
            Service::File => format!("directories of up to {} files renamed", run.list),
            Service::Table => format!("tables of {} entities queried", run.partition),
        };
        let heading = format!(
            "{} connections, {} s each, durable; {stored}; short turns that the host disturbed were repeated; \
             `~`: others kept more than {NOISE} cores busy",
            run.connections, run.seconds
        );
        Self { heading, full: run.is_full(), lines: Vec::new() }
    }

    pub fn add(&mut self, workload: &Workload, kind: Kind, measured: Measured) {
        let line = Line { workload: *workload, kind, measured };
        eprintln!("{}", self.cells(&line));
        self.lines.push(line);
    }

    fn rate(&self, workload: Workload, kind: Kind) -> Option<f64> {
        let line = self.lines.iter().find(|line| line.workload == workload && line.kind == kind)?;
        Some(line.measured.per_second())
    }

    fn cells(&self, line: &Line) -> String {
        let Line { workload, kind, measured } = line;
        let cost = &measured.cost;
        let rate = match workload.unit() {
            Unit::Operations => format!("{} /s", short(measured.per_second())),
            Unit::Megabytes => format!("{} MB/s", short(measured.moved as f64 / cost.seconds / 1e6)),
            Unit::Names => format!("{} names/s", short(measured.moved as f64 / cost.seconds)),
            Unit::Entities => format!("{} entities/s", short(measured.moved as f64 / cost.seconds)),
        };
        let noise = if cost.others > NOISE { "~" } else { "" };
        let milliseconds = |part| short(measured.percentile(part).as_secs_f64() * 1e3);
        let per_thousand = |cpu: f64| short(cpu * 1e3 / measured.operations.max(1) as f64);
        let ratio = match (kind, self.rate(*workload, Kind::Lazuli)) {
            (Kind::Lazuli, _) | (_, None) => String::new(),
            (_, Some(ours)) => format!("{}x", short(ours / measured.per_second())),
        };
        format!(
            "| {} | {kind} | {rate}{noise} | {} | {} | {} | {} | {:.0} | {ratio} |",
            workload.name(),
            milliseconds(0.5),
            milliseconds(0.99),
            per_thousand(cost.cpu),
            per_thousand(cost.client_cpu),
            cost.resident,
        )
    }
}

impl Display for Report {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}\n", self.heading)?;
        writeln!(
            f,
            "| workload | server | rate | p50 ms | p99 ms | server CPU s/1000 | client CPU s/1000 | RSS MiB | lazuli is |"
        )?;
        writeln!(f, "|---|---|---|---|---|---|---|---|---|")?;
        for line in &self.lines {
            writeln!(f, "{}", self.cells(line))?;
        }
        writeln!(f)?;
        if !self.full {
            writeln!(
                f,
                "a first look: the bars are meant for more that is stored, which costs the emulator more"
            )?;
        }
        for bar in BARS {
            let Some(ours) = self.rate(bar.workload, Kind::Lazuli) else { continue };
            let name = bar.workload.name();
            match bar.wanted {
                Wanted::Times(wanted, against) => {
                    let Some(theirs) = self.rate(bar.workload, against) else { continue };
                    let (ratio, verdict) = (short(ours / theirs), verdict(ours / theirs >= wanted));
                    writeln!(f, "{verdict}: {name} is {ratio}x {against}, wanted {wanted}x")?;
                }
                Wanted::TimesOf(wanted, other) => {
                    let Some(theirs) = self.rate(other, Kind::Lazuli) else { continue };
                    let (ratio, verdict) = (short(ours / theirs), verdict(ours / theirs >= wanted));
                    writeln!(f, "{verdict}: {name} is {ratio}x {}, wanted {wanted}x", other.name())?;
                }
                Wanted::PerSecond(wanted) => {
                    let (rate, verdict) = (short(ours), verdict(ours >= wanted));
                    writeln!(f, "{verdict}: {name} is {rate} /s, wanted {wanted} /s")?;
                }
            }
        }
        Ok(())
    }
}

fn verdict(met: bool) -> &'static str {
    if met { "met" } else { "NOT MET" }
}

/// Three digits that count.
pub fn short(number: f64) -> String {
    match number {
        0.0 => "0".to_owned(),
        number if number >= 100.0 => format!("{number:.0}"),
        number if number >= 10.0 => format!("{number:.1}"),
        number if number >= 1.0 => format!("{number:.2}"),
        number => format!("{number:.4}"),
    }
}
