//! The command line.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Parser, Subcommand};

use crate::bare::Bare;

/// What the bars are meant for.
const LIST: usize = 100_000;
const DELETE: usize = 10_000;
const DEPTH: usize = 100_000;
const PARTITION: usize = 100_000;

/// Lazuli beside Azurite and beside the limits of the machine. Numbers mean something on a quiet machine only.
#[derive(Debug, Parser)]
#[command(name = "lazuli-bench")]
pub struct Options {
    #[command(subcommand)]
    pub command: Command,
}

#[derive(Debug, Subcommand)]
pub enum Command {
    /// The workloads of the Blob service, then whether cost grows with what is stored.
    Blob(Run),
    /// The workloads of the Queue service, then whether cost grows with the messages of a queue.
    Queue(Run),
    /// The workloads of the Table service.
    Table(Run),
    /// The workloads of the File service, each beside the same work on blobs of the same server.
    File(Run),
    /// Servers over PostgreSQL, beside the database alone.
    Cluster(ClusterRun),
    /// A bare server, started by the benchmark itself.
    #[command(hide = true)]
    ServeBare { kind: Bare, directory: PathBuf },
}

#[derive(Clone, Debug, Args)]
pub struct ClusterRun {
    /// The binary to measure.
    #[arg(long, value_name = "FILE")]
    pub lazuli: PathBuf,
    /// Seconds each load is measured.
    #[arg(long, default_value_t = 5.0)]
    pub seconds: f64,
}

#[derive(Clone, Debug, Args)]
pub struct Run {
    /// The binary to measure: a build of the profile `dist`.
    #[arg(long, value_name = "FILE")]
    pub lazuli: PathBuf,
    /// Another build of it, beside which it is measured in many short turns: what differs by some percent is seen so, and
    /// not in two runs.
    #[arg(long, value_name = "FILE")]
    pub against: Option<PathBuf>,
    /// azurite, where installed; a node beside it is the one that runs it.
    #[arg(long, value_name = "FILE")]
    pub azurite: Option<PathBuf>,
    /// nginx, where there is one: the limit of reads.
    #[arg(long, value_name = "FILE")]
    pub nginx: Option<PathBuf>,
    /// Where the servers keep their data; on the disk whose syncs shall count.
    #[arg(long, value_name = "DIR", default_value = "target/bench")]
    pub directory: PathBuf,
    /// Keep-alive connections of the client.
    #[arg(long, default_value_t = 16)]
    pub connections: usize,
    /// Seconds each workload is measured.
    #[arg(long, default_value_t = 3.0)]
    pub seconds: f64,
    /// Blobs in the larger listing.
    #[arg(long, value_name = "COUNT", default_value_t = LIST)]
    pub list: usize,
    /// Blobs that are there to be deleted.
    #[arg(long, value_name = "COUNT", default_value_t = DELETE)]
    pub delete: usize,
    /// Messages in the queue from which they are taken. The emulator takes minutes to be given so many.
    #[arg(long, value_name = "COUNT", default_value_t = DEPTH)]
    pub depth: usize,
    /// Entities in the tables that are filtered, in tens of thousands.
    #[arg(long, value_name = "COUNT", default_value_t = PARTITION)]
    pub partition: usize,
    /// Blobs in the container when cost must still be what it was with 10,000, and messages in the queue when it
    /// must still be what it was with 100; 0 leaves this out.
    #[arg(long, value_name = "COUNT", default_value_t = 1_000_000)]
    pub growth: usize,
    /// Only workloads whose name contains one of these; `growth` is one.
    #[arg(long, value_name = "TEXT", value_delimiter = ',')]
    pub only: Vec<String>,
    /// Without the bare servers that show the limits.
    #[arg(long)]
    pub no_limits: bool,
}

impl Run {
    pub fn wants(&self, workload: &str) -> bool {
        self.only.is_empty() || self.only.iter().any(|part| workload.contains(part.as_str()))
    }

    /// Whether as much is stored as the bars are meant for.
    pub fn is_full(&self) -> bool {
        let stored = [self.list, self.delete, self.depth, self.partition];
        stored.iter().zip([LIST, DELETE, DEPTH, PARTITION]).all(|(stored, meant)| *stored >= meant)
    }

    pub fn time(&self) -> Duration {
        Duration::from_secs_f64(self.seconds.clamp(0.1, 600.0))
    }
}
