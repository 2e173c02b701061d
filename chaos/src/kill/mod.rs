//! kill -9 under load. Each writer alone owns what it writes, so it knows what must be there after every restart: what
//! was acknowledged last, or what was under way when the server died, and nothing else. All services at once: they share
//! the log, and what is written together is lost together.

mod blobs;
mod log;
mod pages;
mod queue;
mod table;
mod tree;
mod versions;
mod writer;

use std::time::{Duration, Instant};

use tokio::task::JoinSet;

use crate::Trial;
use crate::options::Options;
use crate::random::Random;
use crate::server::{Launch, Server};
use crate::wire::Client;
use blobs::Blobs;
use log::Log;
use pages::Pages;
use queue::Queue;
use table::Table;
use tree::Tree;
use versions::Versions;
use writer::Writer;

/// Of each service.
const WRITERS: u64 = 6;
/// How long messages are hidden; the clock passes it before each look.
const HIDDEN: Duration = Duration::from_secs(3600);

/// What became of one request.
enum Step {
    Done,
    /// The server is gone.
    Gone,
}

pub async fn run(options: &Options) -> Trial<String> {
    let mut random = Random::new(options.seed);
    let launch = Launch::new(options, "kill")?.with(&["--test-clock"]);
    let server = launch.start()?;
    let writers = prepare(&server, &mut random).await?;
    let (writers, slowest) = kill_and_check(options, &launch, server, &mut random, writers).await?;
    report(options, &writers, slowest)
}

/// The same with an account that keeps versions, and the search by tags.
pub async fn versions(options: &Options) -> Trial<String> {
    let mut random = Random::new(options.seed);
    let launch = Launch::new(options, "kill-versions")?.with(&["--test-clock", "--features", "versioning"]);
    let server = launch.start()?;
    let container = crate::blob::create_container();
    Client::new(server.blob).must(&container).await?.expect(201, "Create Container")?;
    let writers = (0..WRITERS).map(|number| Writer::Versions(Versions::new(number, random.fork()))).collect();
    let (writers, slowest) = kill_and_check(options, &launch, server, &mut random, writers).await?;
    let acknowledged: u64 = writers.iter().map(Writer::acknowledged).sum();
    let open: u64 = writers.iter().map(Writer::unanswered).sum();
    if acknowledged < options.cycles {
        return Err(format!("{acknowledged} acknowledged writes: no load"));
    }
    Ok(format!(
        "{} kills, {acknowledged} acknowledged writes of versions and tags, 0 lost ({open} unanswered); slowest start {} ms",
        options.cycles,
        slowest.as_millis()
    ))
}

/// Lets the writers write, kills the server, starts it again and lets them look, as often as is wanted. The slowest start.
async fn kill_and_check(
    options: &Options,
    launch: &Launch,
    mut server: Server,
    random: &mut Random,
    mut writers: Vec<Writer>,
) -> Trial<(Vec<Writer>, Duration)> {
    let mut slowest = Duration::ZERO;
    for cycle in 1..=options.cycles {
        let failed = |reason| format!("cycle {cycle}: {reason}");
        let doors = server.doors();
        let mut work = JoinSet::new();
        for mut writer in writers.drain(..) {
            work.spawn(async move { writer.write(doors).await.map(|()| writer) });
        }
        tokio::time::sleep(Duration::from_millis(random.between(50, 700))).await;
        server.must_run().map_err(failed)?;
        server.kill();
        while let Some(writer) = work.join_next().await {
            writers.push(writer.map_err(|error| error.to_string())?.map_err(failed)?);
        }
        let started = Instant::now();
        server = launch.start().map_err(failed)?;
        slowest = slowest.max(started.elapsed());
        // Every time-out of a message is over, whoever set it.
        crate::blob::advance(&server, HIDDEN + Duration::from_secs(60)).await?;
        let doors = server.doors();
        let last = cycle == options.cycles;
        let mut checks = JoinSet::new();
        for mut writer in writers.drain(..) {
            checks.spawn(async move { writer.check(doors, last).await.map(|()| writer) });
        }
        while let Some(writer) = checks.join_next().await {
            writers.push(writer.map_err(|error| error.to_string())?.map_err(failed)?);
        }
    }
    server.stop().await?;
    Ok((writers, slowest))
}

async fn prepare(server: &Server, random: &mut Random) -> Trial<Vec<Writer>> {
    let container = crate::blob::create_container();
    Client::new(server.blob).must(&container).await?.expect(201, "Create Container")?;
    Client::new(server.table).must(&crate::table::create()).await?.expect(201, "Create Table")?;
    Client::new(server.file).must(&tree::create_share()).await?.expect(201, "Create Share")?;
    let mut writers = Vec::new();
    for number in 0..WRITERS {
        let queue = Queue::new(number, random.fork());
        queue.prepare(server.queue).await?;
        writers.push(Writer::Queue(queue));
        writers.push(Writer::Blobs(Blobs::new(number, random.fork())));
        writers.push(Writer::Table(Table::new(number, random.fork())));
        writers.push(Writer::Log(Log::new(number, random.fork())));
        writers.push(Writer::Pages(Pages::new(number, random.fork())));
        writers.push(Writer::Tree(Tree::new(number, random.fork())));
    }
    Ok(writers)
}

fn report(options: &Options, writers: &[Writer], slowest: Duration) -> Trial<String> {
    let sum = |of: fn(&Writer) -> bool| -> u64 {
        writers.iter().filter(|writer| of(writer)).map(Writer::acknowledged).sum()
    };
    let blobs = sum(|writer| matches!(writer, Writer::Blobs(_)));
    let queues = sum(|writer| matches!(writer, Writer::Queue(_)));
    let tables = sum(|writer| matches!(writer, Writer::Table(_)));
    let appends = sum(|writer| matches!(writer, Writer::Log(_)));
    let pages = sum(|writer| matches!(writer, Writer::Pages(_)));
    let trees = sum(|writer| matches!(writer, Writer::Tree(_)));
    let open: u64 = writers.iter().map(Writer::unanswered).sum();
    if blobs.min(queues).min(tables).min(appends).min(pages).min(trees) < options.cycles {
        let all = [blobs, queues, tables, appends, pages, trees];
        return Err(format!("{all:?} acknowledged writes: no load"));
    }
    Ok(format!(
        "{} kills, {blobs} acknowledged writes of blobs, {queues} of queues, {tables} of tables, {appends} appends to \
         shared logs, {pages} of pages and copies of them, {trees} of the trees of a share, 0 lost ({open} unanswered); slowest start {} ms",
        options.cycles,
        slowest.as_millis()
    ))
}
