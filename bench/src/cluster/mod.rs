//! Servers over PostgreSQL, beside the database alone: what a commit and a read cost there, what the engine without HTTP makes of
//! them, and what is left of that over the wire, from one server and from four. On two cores four servers cannot be shown in
//! operations a second; what an operation costs of the database can.

mod bare;
mod clients;

use std::fs;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::Command;

use lazuli_testing::postgres::{Postgres, available};
use lazuli_testing::{Server, free_ports};

use crate::Outcome;
use crate::meter::cpu_of;
use crate::options::ClusterRun;
use bare::Rows;
use clients::{Load, Work};

const SERVERS: usize = 4;
/// Of a queue, in all.
const QUEUE_CLIENTS: usize = 32;

/// How fast, and what an operation cost in microseconds of CPU.
#[derive(Clone, Copy, Default)]
pub struct Figure {
    per_second: f64,
    database: f64,
    servers: f64,
    /// Transactions of a group, and batches of a statement that reads.
    group: f64,
    together: f64,
}

struct Place<'a> {
    run: &'a ClusterRun,
    postgres: &'a Postgres,
    directory: PathBuf,
    runtime: tokio::runtime::Runtime,
}

pub fn measure(run: &ClusterRun) -> Outcome {
    let settings = ["shared_buffers=256MB", "max_wal_size=2GB"];
    let Some(postgres) = Postgres::start(&settings) else { return Ok(()) };
    let directory = std::env::temp_dir().join(format!("lazuli-bench-cluster-{}", std::process::id()));
    fs::create_dir_all(&directory)?;
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build()?;
    let place = Place { run, postgres: &postgres, directory, runtime };
    let done = place.all();
    let _ = fs::remove_dir_all(&place.directory);
    done
}

impl Place<'_> {
    fn all(&self) -> Outcome {
        println!(
            "{:<44} {:>9} {:>12} {:>12} {:>7} {:>7}",
            "", "per s", "database us", "servers us", "group", "batches"
        );
        let select =
            self.pgbench("select, 16 clients", "SELECT abalance FROM pgbench_accounts WHERE aid = :aid;")?;
        let one = self.servers(1, "reads=primary", &["--reads", "primary"])?;
        let put = self.over_http(&one, "Put Blob 1 KiB, 16 clients", Load::spread(Work::Put, 16))?;
        let lease = self.over_http(&one, "Lease Blob (renew), 16 clients", Load::spread(Work::Lease, 16))?;
        let get = self.over_http(&one, "Get Blob 1 KiB, 16 clients", Load::spread(Work::Get, 16))?;
        let alone = self.over_http(&one, "Put Blob 1 KiB, 1 client", Load::spread(Work::Put, 1))?;
        drop(one);
        let strict = self.servers(1, "reads=strict", &["--reads", "strict"])?;
        let confirmed =
            self.over_http(&strict, "Get Blob 1 KiB, 16 clients, strict", Load::spread(Work::Get, 16))?;
        drop(strict);
        let four = self.servers(SERVERS, "four servers", &["--reads", "primary"])?;
        let put_four =
            self.over_http(&four, "Put Blob 1 KiB, 16 clients of each of four", Load::spread(Work::Put, 64))?;
        let queue = Load::spread(Work::Queue, QUEUE_CLIENTS);
        let queue = self.over_http(&four, "put, get and delete in one queue, of four", queue)?;
        drop(four);
        let bare =
            self.engine_alone("the engine alone: read one key, write 1 KiB", Rows::One, lease.group)?;
        let rows = self.engine_alone("the engine alone: the rows of Put Blob", Rows::OfPutBlob, put.group)?;
        println!("\n{:<58} {:>9} {:>9}", "", "measured", "bar");
        let bar = |what: &str, measured: f64, least: Option<f64>, most: Option<f64>| {
            let (bar, met) = match (least, most) {
                (Some(least), _) => (format!(">= {least:.2}"), measured >= least),
                (None, Some(most)) => (format!("<= {most:.2}"), measured <= most),
                (None, None) => (String::new(), true),
            };
            println!("{what:<58} {measured:>9.2} {bar:>9}{}", if met { "" } else { "  MISSED" });
        };
        bar(
            "Put Blob, of the engine alone with its rows",
            put.per_second / rows.per_second,
            Some(0.40),
            None,
        );
        bar("  CPU of the database, of that", put.database / rows.database, None, Some(1.25));
        bar(
            "Lease Blob, of the engine alone with one row",
            lease.per_second / bare.per_second,
            Some(0.40),
            None,
        );
        bar("  CPU of the database, of that", lease.database / bare.database, None, Some(1.25));
        bar("Get Blob, of pgbench's select", get.per_second / select.per_second, Some(0.25), None);
        bar("  CPU of the database, of that", get.database / select.database, None, Some(1.50));
        bar("Get Blob strict, of that not strict", confirmed.per_second / get.per_second, Some(0.60), None);
        bar("CPU of the database, four servers of one", put_four.database / put.database, None, Some(1.15));
        bar("CPU of the servers, four of one", put_four.servers / put.servers, None, Some(1.15));
        bar("put, get and delete of one queue, a second", queue.per_second, Some(2_000.0), None);
        bar("Put Blob of one client, ms", 1_000.0 / alone.per_second, None, None);
        Ok(())
    }

    fn seconds(&self) -> f64 {
        self.run.seconds
    }

    fn pgbench(&self, name: &str, statement: &str) -> Outcome<Figure> {
        let (programs, _) = available().ok_or("no PostgreSQL")?;
        let run = |arguments: &[&str]| {
            let mut command = Command::new(programs.join("pgbench"));
            command.args(["-h", "127.0.0.1", "-U", "lazuli", "-p", &self.postgres.port.to_string()]);
            command.args(arguments).arg("postgres").output()
        };
        run(&["-q", "-i"])?;
        let script = self.directory.join("select.sql");
        fs::write(&script, format!("\\set aid random(1, 100000)\n{statement}\n"))?;
        let before = self.database_cpu();
        let seconds = self.seconds().ceil().max(1.0);
        let time = seconds.to_string();
        let script = script.to_string_lossy().into_owned();
        let output = run(&["-n", "-M", "prepared", "-c", "16", "-j", "1", "-T", &time, "-f", &script])?;
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        let tps = text
            .lines()
            .find_map(|line| line.strip_prefix("tps = ")?.split_whitespace().next()?.parse().ok());
        let per_second: f64 = tps.ok_or_else(|| format!("pgbench: {text}"))?;
        // Its connections are gone by now: what they took is the postmaster's.
        let database = (self.database_cpu() - before) * 1e6 / (per_second * seconds);
        Ok(told(name, Figure { per_second, database, ..Figure::default() }))
    }

    fn database_cpu(&self) -> f64 {
        cpu_of(self.postgres.process())
    }

    /// With as many clients as make groups of this size.
    fn engine_alone(&self, name: &str, rows: Rows, group: f64) -> Outcome<Figure> {
        let url = self.postgres.url();
        let clients = self.runtime.block_on(bare::clients_for(&url, rows, group))?;
        let before = self.database_cpu();
        let done = self.runtime.block_on(bare::commits(&url, rows, clients, self.seconds()))?;
        let database = (self.database_cpu() - before) * 1e6 / done.operations as f64;
        let per_second = done.operations as f64 / done.seconds;
        let figure = Figure { per_second, database, group: done.group, ..Figure::default() };
        Ok(told(&format!("{name}, {clients}"), figure))
    }

    fn servers(&self, count: usize, name: &str, flags: &[&str]) -> Outcome<Vec<Server>> {
        let schema = format!("b_{}", name.replace([' ', '='], "_"));
        let mut servers = Vec::new();
        for number in 0..count {
            let mut command = Command::new(&self.run.lazuli);
            free_ports(&mut command).args([
                "--silent",
                "--database",
                &self.postgres.url(),
                "--schema",
                &schema,
            ]);
            command
                .arg("--bytes")
                .arg(format!("file://{}", self.directory.join(&schema).display()))
                .args(flags);
            command.stderr(fs::File::create(self.directory.join(format!("{schema}-{number}.log")))?);
            servers.push(Server::start(&mut command)?);
        }
        Ok(servers)
    }

    fn counts(&self, servers: &[Server]) -> Outcome<Counts> {
        let mut counts = Counts::default();
        for server in servers {
            let admin = server.listener("admin").ok_or("no admin listener")?.address;
            let metrics = self.runtime.block_on(clients::metrics(admin))?;
            counts.add(&metrics)?;
        }
        Ok(counts)
    }

    fn over_http(&self, servers: &[Server], name: &str, load: Load) -> Outcome<Figure> {
        let listener = if load.work == Work::Queue { "queue" } else { "blob" };
        let doors: Vec<SocketAddr> =
            servers.iter().filter_map(|server| Some(server.listener(listener)?.address)).collect();
        let of_servers = || servers.iter().map(|server| cpu_of(server.id())).sum::<f64>();
        self.runtime.block_on(clients::prepare(&doors, load))?;
        let counted = self.counts(servers)?;
        let before = (self.database_cpu(), of_servers());
        let (operations, seconds) = self.runtime.block_on(clients::run(&doors, load, self.seconds()))?;
        let per = |seconds: f64| seconds * 1e6 / operations.max(1) as f64;
        let figure = Figure {
            per_second: operations as f64 / seconds,
            database: per(self.database_cpu() - before.0),
            servers: per(of_servers() - before.1),
            ..self.counts(servers)?.since(&counted)
        };
        Ok(told(name, figure))
    }
}

/// What the servers have counted in all.
#[derive(Default)]
struct Counts {
    transactions: f64,
    groups: f64,
    batches: f64,
    statements: f64,
}

impl Counts {
    fn add(&mut self, metrics: &str) -> Outcome {
        for (name, sum) in [
            ("lazuli_engine_transactions_total ", &mut self.transactions),
            ("lazuli_engine_groups_total ", &mut self.groups),
            ("lazuli_database_batches_total ", &mut self.batches),
            ("lazuli_database_statements_total ", &mut self.statements),
        ] {
            let value = metrics.lines().find_map(|line| line.strip_prefix(name));
            *sum += value.ok_or_else(|| format!("no {name}in /metrics"))?.trim().parse::<f64>()?;
        }
        Ok(())
    }

    fn since(&self, before: &Self) -> Figure {
        let of = |many: f64, few: f64| many / few.max(1.0);
        Figure {
            group: of(self.transactions - before.transactions, self.groups - before.groups),
            together: of(self.batches - before.batches, self.statements - before.statements),
            ..Figure::default()
        }
    }
}

fn told(name: &str, figure: Figure) -> Figure {
    let Figure { per_second, database, servers, group, together } = figure;
    println!("{name:<46} {per_second:>7.0} {database:>12.0} {servers:>12.0} {group:>7.1} {together:>7.1}");
    figure
}
