//! Histories of entities: conditions, groups, and queries that see a whole partition.

pub mod bad;
mod call;
mod client;
mod model;
mod tamper;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::time::{Duration, Instant};

use tokio::task::JoinSet;

use super::judge;
use crate::Trial;
use crate::arena::Arena;
use crate::options::Options;
use crate::random::Random;
use crate::table;
use crate::wire::Client;
use call::{Event, KEYS};
use client::{Actor, Recorded};
use model::Partition;

const CLIENTS: u64 = 32;
const PARTITIONS: usize = 6;

pub async fn run(options: &Options) -> Trial<String> {
    let mut random = Random::new(options.seed ^ 0x5441_424C);
    let (mut events, mut open, mut kills, mut tampered) = (0, 0, 0, 0);
    for round in 1..=options.rounds {
        let failed = |reason| format!("round {round}: {reason}");
        let (recorded, killed) = record(options, &mut random).await?;
        kills += killed;
        check_etags(&recorded).map_err(failed)?;
        let mut by_partition: BTreeMap<usize, Vec<Event>> = BTreeMap::new();
        for Recorded { partition, event, identities: _ } in recorded {
            by_partition.entry(partition).or_default().push(event);
        }
        for (partition, events_of_it) in by_partition {
            events += events_of_it.len();
            open += events_of_it.iter().filter(|event| event.answer.is_none()).count();
            judge::<Partition>(options, &format!("partition {partition}"), &events_of_it).map_err(failed)?;
            tampered += tamper::all_rejected(&events_of_it).map_err(failed)?;
        }
    }
    if tampered == 0 {
        return Err("no history could be tampered with: nothing happened in them".to_owned());
    }
    Ok(format!(
        "{CLIENTS} clients, {PARTITIONS} partitions of {KEYS} entities, {kills} kills: {events} operations ({open} \
         unanswered) linearizable; {tampered} tampered histories rejected"
    ))
}

async fn record(options: &Options, random: &mut Random) -> Trial<(Vec<Recorded>, usize)> {
    let mut arena = Arena::open(options, "table-history")?;
    Client::new(arena.doors().table).must(&table::create()).await?.expect(201, "Create Table")?;
    let end = Instant::now() + Duration::from_secs(options.seconds);
    let versions = Arc::new(AtomicU64::new(1));
    let mut actors = JoinSet::new();
    for _ in 0..CLIENTS {
        let guest = arena.guest(|doors| doors.table);
        actors.spawn(Actor::new(random.fork(), guest, versions.clone(), PARTITIONS).run(end));
    }
    arena.kill_until(end, random, (800, 2500)).await?;
    let mut recorded: Vec<Recorded> = Vec::new();
    while let Some(done) = actors.join_next().await {
        recorded.extend(done.map_err(|error| error.to_string())??);
    }
    for Recorded { event, .. } in recorded.iter_mut().filter(|recorded| recorded.event.answer.is_none()) {
        event.until = Arena::end_of(&arena.deaths, event.called);
    }
    let kills = arena.deaths.len();
    arena.close().await?;
    Ok((recorded, kills))
}

/// An ETag stands for one content of an entity, and a content has one ETag.
fn check_etags(recorded: &[Recorded]) -> Trial {
    let (mut versions, mut etags) = (BTreeMap::new(), BTreeMap::new());
    for Recorded { partition, identities, .. } in recorded {
        for (key, version, etag) in identities {
            let known_version = *versions.entry((partition, key, etag)).or_insert(version);
            let known_etag = *etags.entry((partition, key, version)).or_insert(etag);
            if known_version != version || known_etag != etag {
                return Err(format!(
                    "{partition}/{key}: ETag {etag} of version {version} is not unique: {known_etag}, {known_version}"
                ));
            }
        }
    }
    Ok(())
}
