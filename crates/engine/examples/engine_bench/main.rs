//! How fast the embedded engine is, beside what the disk alone would allow. `cargo xtask bench engine`.
//!
//! Usage: engine_bench [directory] [--only PART] [--keys N] [--clients N] [--seconds N]

#[global_allocator]
static ALLOCATOR: tikv_jemallocator::Jemalloc = tikv_jemallocator::Jemalloc;

mod bytes_store;
mod commits;
mod deleted;
mod lane;
mod reads;
mod table;

use std::path::PathBuf;
use std::time::Duration;

pub struct Settings {
    pub dir: PathBuf,
    /// Size of the large store; the small one has 10,000 keys.
    pub keys: u64,
    /// Where the large store is kept between runs, instead of being loaded anew.
    pub keep: Option<PathBuf>,
    /// MiB of memtable for the large store.
    pub memtable: u64,
    /// Only so many waiting clients, instead of 1, 16 and 64.
    pub clients: Option<u64>,
    /// For each line of the table.
    pub time: Duration,
}

fn main() {
    let mut settings = Settings {
        dir: std::env::temp_dir(),
        keep: None,
        clients: None,
        memtable: 32,
        keys: 2_000_000,
        time: Duration::from_secs(3),
    };
    let mut only: Option<String> = None;
    let mut args = std::env::args().skip(1);
    while let Some(arg) = args.next() {
        let mut number = || args.next().and_then(|value| value.parse().ok()).expect("a number");
        match arg.as_str() {
            "--keys" => settings.keys = number(),
            "--seconds" => settings.time = Duration::from_secs(number()),
            "--memtable" => settings.memtable = number(),
            "--clients" => settings.clients = Some(number()),
            "--keep" => settings.keep = args.next().map(PathBuf::from),
            "--only" => only = args.next(),
            dir => settings.dir = dir.into(),
        }
    }
    let wanted = |name: &str| only.as_deref().is_none_or(|only| only == name);
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().expect("a runtime");
    runtime.block_on(async {
        if wanted("open") {
            reads::opening(&settings).await;
        }
        if wanted("commits") {
            commits::run(&settings).await;
        }
        if wanted("bytes") {
            bytes_store::run(&settings).await;
        }
        if wanted("reads") {
            reads::run(&settings).await;
        }
        if wanted("deleted") {
            deleted::run(&settings).await;
        }
    });
    if wanted("lane") {
        lane::run(&settings);
    }
}
