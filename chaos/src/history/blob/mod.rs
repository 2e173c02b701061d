//! Histories of blobs: contents, conditions and leases.

pub mod bad;
pub mod call;
mod client;
pub mod model;
mod tamper;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::time::{Duration, Instant};

use tokio::task::JoinSet;

use super::judge;
use crate::Trial;
use crate::arena::Arena;
use crate::blob;
use crate::options::Options;
use crate::random::Random;
use crate::wire::Client;
use call::Event;
use client::{Actor, Recorded};
use model::Blob;

const CLIENTS: u64 = 32;
const BLOBS: usize = 6;

pub async fn run(options: &Options) -> Trial<String> {
    let mut random = Random::new(options.seed ^ 0x4849_5354);
    let (mut events, mut open, mut kills, mut tampered) = (0, 0, 0, 0);
    for round in 1..=options.rounds {
        let failed = |reason| format!("round {round}: {reason}");
        let (recorded, killed) = record(options, &mut random).await?;
        kills += killed;
        check_etags(&recorded).map_err(failed)?;
        for (blob, events_of_blob) in by_blob(recorded) {
            events += events_of_blob.len();
            open += events_of_blob.iter().filter(|event| event.answer.is_none()).count();
            judge::<Blob>(options, &format!("blob {blob}"), &events_of_blob).map_err(failed)?;
            tampered += tamper::all_rejected(&events_of_blob).map_err(failed)?;
        }
    }
    if tampered == 0 {
        return Err("no history could be tampered with: nothing happened in them".to_owned());
    }
    Ok(format!(
        "{CLIENTS} clients, {BLOBS} blobs, {kills} kills: {events} operations ({open} unanswered) linearizable; \
         {tampered} tampered histories rejected"
    ))
}

/// Lets the clients run against a server that is killed now and then.
async fn record(options: &Options, random: &mut Random) -> Trial<(Vec<Recorded>, usize)> {
    let mut arena = Arena::open(options, "history")?;
    let container = blob::create_container();
    Client::new(arena.doors().blob).must(&container).await?.expect(201, "Create Container")?;
    let end = Instant::now() + Duration::from_secs(options.seconds);
    let versions = Arc::new(AtomicU64::new(1));
    let mut actors = JoinSet::new();
    for number in 0..CLIENTS {
        let guest = arena.guest(|doors| doors.blob);
        let actor = Actor::new(number, random.fork(), guest, versions.clone(), BLOBS);
        actors.spawn(actor.run(end));
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

/// An ETag stands for one content of a blob, and a content has one ETag.
fn check_etags(recorded: &[Recorded]) -> Trial {
    let (mut versions, mut etags) = (BTreeMap::new(), BTreeMap::new());
    for (blob, version, etag) in recorded.iter().filter_map(|recorded| {
        recorded.identity.as_ref().map(|(version, etag)| (recorded.blob, *version, etag.as_str()))
    }) {
        let known_version = *versions.entry((blob, etag)).or_insert(version);
        let known_etag = *etags.entry((blob, version)).or_insert(etag);
        if known_version != version || known_etag != etag {
            return Err(format!(
                "blob {blob}: ETag {etag} of version {version} is not unique: {known_etag}, {known_version}"
            ));
        }
    }
    Ok(())
}

/// Blobs are independent of each other, so each has a history of its own.
fn by_blob(recorded: Vec<Recorded>) -> BTreeMap<usize, Vec<Event>> {
    let mut all: BTreeMap<usize, Vec<Event>> = BTreeMap::new();
    for Recorded { blob, event, identity: _ } in recorded {
        all.entry(blob).or_default().push(event);
    }
    all
}
