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
    let (mut told, mut open) = (0, 0);
    while let Some(counted) = counters.join_next().await {
        let counted = counted.map_err(|error| error.to_string())??;
        told += counted.0;
        open += counted.1;
    }
    let cuts = proxy.faults.cuts.load(Relaxed);
    server.stop().await?;
    if cuts < wanted || told < 100 {
        return Err(format!("{cuts} cuts and {told} increments: too few to say anything"));
    }
    Ok(format!(
        "{cuts} answers to commits cut off, {told} increments of {COUNTERS} counters acknowledged and each counted once ({open} unanswered)"
    ))
}

/// One counter, which only this task writes: how often it was told that it counted, and how often it got no answer.
async fn count(
    number: usize,
    doors: &[Doors],
    faults: &Faults,
    wanted: u64,
    end: Instant,
) -> Trial<(u64, u64)> {
    let name = format!("n{number}");
    // What is stored for sure, and what may be stored instead because no answer came.
    let (mut stored, mut perhaps, mut unanswered): (u64, Vec<u64>, Vec<u64>) = (0, Vec::new(), Vec::new());
    let (mut told, mut open, mut next) = (0, 0, 0);
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
            if found != stored && !perhaps.contains(&found) && !unanswered.contains(&found) {
                return Err(format!(
                    "{name}: {found} is stored; {stored} was acknowledged, {perhaps:?} were unanswered"
                ));
            }
            if quiet && found == stored && perhaps.is_empty() {
                return Ok((told, open));
            }
        }
        next += 1;
        match client.send(&blob::put(&name, next.to_string().into_bytes())).await {
            Ok(answer) if answer.status == 201 => {
                (stored, told) = (next, told + 1);
                // Those before it are settled: a commit is decided before its server says that it does not know.
                perhaps.clear();
            }
            Ok(answer) if answer.status < 500 => return Err(format!("{name}: Put Blob: {}", answer.status)),
            Ok(_) => {
                open += 1;
                perhaps.push(next);
            }
            Err(_) => {
                open += 1;
                unanswered.push(next);
            }
        }
    }
}
