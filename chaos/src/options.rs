//! What to run and how long.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use crate::Trial;
use crate::case::{self, Case};
use crate::cluster::Cluster;
use crate::cluster::aim::Aim;

pub const USAGE: &str = "\
lazuli-chaos --server PATH [CASE...]
  --server PATH    the binary under test
  --work DIR       where data and logs of the servers go [the system's temporary directory]
  --cycles N       how often `kill` kills [20, long: 500]
  --seconds N      how long `history` records [8, long: 60]
  --rounds N       how many histories [1, long: 10]
  --messages N     how many messages `delivery` delivers [4000, long: 1000000]
  --seed N         of the random choices [the time]
  --long           everything at full size
  --cluster        three servers over PostgreSQL and SeaweedFS, which are started; only the cases for those
  --list           the cases
";

#[derive(Clone)]
pub struct Options {
    pub server: PathBuf,
    pub work: PathBuf,
    pub cycles: u64,
    pub seconds: u64,
    pub rounds: u64,
    pub messages: u64,
    pub seed: u64,
    pub long: bool,
    /// Servers over one engine, for the cases that have clients of all of them.
    pub servers: u8,
    /// What the servers share, when each is a process of its own.
    pub cluster: Option<Arc<Cluster>>,
    /// Another database than the cluster's.
    pub database: Option<String>,
    /// At what moments the servers of a case are killed, instead of at any.
    pub aim: Option<Arc<Aim>>,
    /// What happens to the servers of a case instead of being killed.
    pub fault: Option<Fault>,
    cases: Vec<String>,
}

#[derive(Clone)]
pub struct Fault(pub Arc<dyn Fn() -> Trial + Send + Sync>);

pub enum Wish {
    Run(Options),
    List,
    /// Nothing of what was asked for can be done here, for this reason.
    Skip(&'static str),
}

impl Options {
    pub fn wants(&self, case: &Case) -> bool {
        let of_this_kind = if self.cluster.is_some() { case.in_cluster } else { case.alone };
        of_this_kind && (self.cases.is_empty() || self.cases.iter().any(|name| name == case.name))
    }

    pub fn cluster(&self) -> Trial<&Cluster> {
        self.cluster.as_deref().ok_or_else(|| "it is about a cluster: --cluster".to_owned())
    }
}

pub fn read(arguments: impl Iterator<Item = String>) -> Trial<Wish> {
    let (mut server, mut work, mut seed) = (PathBuf::new(), std::env::temp_dir(), None);
    let (mut cycles, mut seconds, mut rounds, mut messages, mut long) = (None, None, None, None, false);
    let mut cluster = false;
    let mut cases = Vec::new();
    let mut arguments = arguments.peekable();
    while let Some(argument) = arguments.next() {
        let mut value = || arguments.next().ok_or(format!("{argument}: a value is missing"));
        match argument.as_str() {
            "--server" => server = value()?.into(),
            "--work" => work = value()?.into(),
            "--cycles" => cycles = Some(number(&value()?)?),
            "--seconds" => seconds = Some(number(&value()?)?),
            "--rounds" => rounds = Some(number(&value()?)?),
            "--messages" => messages = Some(number(&value()?)?),
            "--seed" => seed = Some(number(&value()?)?),
            "--long" => long = true,
            "--cluster" => cluster = true,
            "--list" => return Ok(Wish::List),
            name if case::CASES.iter().any(|case| case.name == name) => cases.push(argument),
            _ => return Err(format!("unknown: {argument}")),
        }
    }
    let chosen = |case: &&case::Case| cases.is_empty() || cases.iter().any(|name| name == case.name);
    if !server.is_file() && case::CASES.iter().filter(chosen).any(|case| case.needs_server) {
        return Err(format!("--server: no such file: {}", server.display()));
    }
    let cluster = match cluster.then(Cluster::start) {
        Some(None) => {
            return Ok(Wish::Skip("PostgreSQL is not installed, without which there is no cluster"));
        }
        started => started.flatten().map(Arc::new),
    };
    let or = |given: Option<u64>, short, full| given.unwrap_or(if long { full } else { short });
    Ok(Wish::Run(Options {
        server,
        work,
        cycles: or(cycles, 20, 500),
        seconds: or(seconds, 8, 60),
        rounds: or(rounds, 1, 10),
        messages: or(messages, 4000, 1_000_000),
        seed: seed.unwrap_or_else(now),
        long,
        servers: if cluster.is_some() { 3 } else { 1 },
        cluster,
        database: None,
        aim: None,
        fault: None,
        cases,
    }))
}

fn number(text: &str) -> Trial<u64> {
    text.parse().map_err(|_| format!("not a number: {text}"))
}

fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs())
}
