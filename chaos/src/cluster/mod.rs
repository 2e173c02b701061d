//! Several servers, each a process of its own, over one database and one store of bytes.

pub mod aim;
pub mod bytes_down;
pub mod cuts;
pub mod failover;
pub mod mid_commit;
pub mod proxy;
mod trap;

use std::path::Path;

use lazuli_testing::postgres::Postgres;
use lazuli_testing::seaweed::Seaweed;

/// Processes of a server, in a cluster.
pub const SERVERS: usize = 3;
const BUCKET: &str = "chaos";

/// What the servers of all cases share. Ended when dropped.
pub struct Cluster {
    pub postgres: Postgres,
    /// Where it cannot be had, bytes are in a directory.
    pub seaweed: Option<Seaweed>,
    /// The address of the database as servers are told it: a case may have put something in between.
    pub database: String,
}

impl Cluster {
    /// `None` where PostgreSQL cannot be had.
    pub fn start() -> Option<Self> {
        let postgres = Postgres::start(&[])?;
        let seaweed = Seaweed::start().inspect(|seaweed| seaweed.make_bucket(BUCKET));
        Some(Self { database: postgres.url(), postgres, seaweed })
    }

    /// Flags of a server whose data would be in this directory alone.
    pub fn flags(&self, data: &Path) -> Vec<String> {
        let number = data.to_string_lossy().bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3)
        });
        let name = format!("c_{number:016x}");
        let bytes = match &self.seaweed {
            Some(seaweed) => seaweed.url(BUCKET).replace("/data?", &format!("/{name}?")),
            None => format!("file://{}/bytes", data.display()),
        };
        let flags = ["--database", &self.database, "--schema", &name, "--bytes", &bytes];
        flags.into_iter().map(str::to_owned).collect()
    }
}
