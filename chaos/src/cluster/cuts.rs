//! Connections to the database are cut between a commit and its answer, again and again. A client that was told that a number is
//! stored finds it stored, and no client finds a number that was not written.

use std::sync::atomic::Ordering::Relaxed;
use std::time::{Duration, Instant};

use tokio::task::JoinSet;

use super::proxy::{Faults, Proxy};
use crate::options::Options;
use crate::server::{Doors, Launch};
use crate::wire::Client;
use crate::{Trial, blob};

const COUNTERS: usize = 12;
const CUTS: u64 = 1_000;

pub async fn run(options: &Options) -> Trial<String> {
    let cluster = options.cluster()?;
    let proxy = Proxy::start(cluster.postgres.port).await?;
    let launch = Launch::new(options, "cluster-cuts")?.with_database(&cluster.postgres.url_at(proxy.port));
    let server = launch.start()?;
    let doors = server.all_doors();
    let first = doors.first().ok_or("no server")?;
    Client::new(first.blob).must(&blob::create_container()).await?.expect(201, "Create Container")?;
    let wanted = CUTS;
    let end = Instant::now() + Duration::from_secs(if options.long { 900 } else { 240 });
    proxy.faults.cut_answers.store(3, Relaxed);
    let mut counters = JoinSet::new();
    for number in 0..COUNTERS {
        let (doors, faults) = (doors.clone(), proxy.faults.clone());
        counters.spawn(async move { count(number, &doors, &faults, wanted, end).await });
    }
    let (mut acknowledged, mut not_acknowledged) = (0, 0);
    while let Some(counted) = counters.join_next().await {
        let counted = counted.map_err(|error| error.to_string())??;
        acknowledged += counted.acknowledged;
        not_acknowledged += counted.not_acknowledged;
    }
    let cuts = proxy.faults.cuts.load(Relaxed);
    server.stop().await?;
    if cuts < wanted || acknowledged < 100 {
        return Err(format!("{cuts} cuts and {acknowledged} increments: too few to say anything"));
    }
    Ok(format!(
        "{cuts} answers to commits cut off, {acknowledged} increments of {COUNTERS} counters acknowledged and each counted once \
         ({not_acknowledged} not acknowledged)"
    ))
}

/// What one client was told of its increments.
struct Counted {
    acknowledged: u64,
    /// Refused by the server, or without an answer.
    not_acknowledged: u64,
}

/// One counter, which only this client writes, through one server after another.
async fn count(number: usize, doors: &[Doors], faults: &Faults, wanted: u64, end: Instant) -> Trial<Counted> {
    let name = format!("n{number}");
    // The number that a server acknowledged last; what may stand in its place because a server answered 500 or more since then, or
    // because the connection to a server broke, after which that server may still commit.
    let (mut last, mut since, mut unanswered): (u64, Vec<u64>, Vec<u64>) = (0, Vec::new(), Vec::new());
    let (mut counted, mut next) = (Counted { acknowledged: 0, not_acknowledged: 0 }, 0);
    let mut clients: Vec<Client> = doors.iter().map(|doors| Client::new(doors.blob)).collect();
    let mut turn = number;
    loop {
        let quiet = faults.cuts.load(Relaxed) >= wanted || Instant::now() > end;
        if quiet {
            faults.cut_answers.store(0, Relaxed);
        }
        turn += 1;
        let count = clients.len();
        let Some(client) = clients.get_mut(turn % count.max(1)) else { return Err("no server".into()) };
        if next > 0
            && let Ok(answer) = client.send(&blob::get(&name)).await
            && answer.status < 500
        {
            let found: u64 = match answer.status {
                200 => answer.text().trim().parse().map_err(|_| format!("{name}: {}", answer.text()))?,
                404 => 0,
                status => return Err(format!("{name}: {status}")),
            };
            if found != last && !since.contains(&found) && !unanswered.contains(&found) {
                return Err(format!(
                    "{name}: {found} is stored; {last} was acknowledged, {since:?} may have been stored since"
                ));
            }
            if quiet && found == last && since.is_empty() {
                return Ok(counted);
            }
        }
        next += 1;
        match client.send(&blob::put(&name, next.to_string().into_bytes())).await {
            Ok(answer) if answer.status == 201 => {
                last = next;
                counted.acknowledged += 1;
                // Those before it are settled: a commit is decided before its server says that it does not know.
                since.clear();
            }
            Ok(answer) if answer.status < 500 => return Err(format!("{name}: Put Blob: {}", answer.status)),
            Ok(_) => {
                counted.not_acknowledged += 1;
                since.push(next);
            }
            Err(_) => {
                counted.not_acknowledged += 1;
                unanswered.push(next);
            }
        }
    }
}
