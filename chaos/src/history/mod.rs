//! Histories: what many clients asked and were told, and whether one order of it all explains every answer.

mod bad;
mod checker;
mod client;
mod event;
mod model;
mod tamper;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::time::{Duration, Instant};

use tokio::sync::watch;
use tokio::task::JoinSet;

use crate::Trial;
use crate::blob;
use crate::options::Options;
use crate::random::Random;
use crate::server::Launch;
use crate::wire::Client;
use checker::Verdict;
use client::{Actor, Recorded};
use event::{Event, Moment};

const CLIENTS: u64 = 32;
const BLOBS: usize = 6;

pub async fn judge_the_judge(_options: &Options) -> Trial<String> {
    bad::run()
}

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
            judge(options, blob, &events_of_blob).map_err(failed)?;
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

fn judge(options: &Options, blob: usize, events: &[Event]) -> Trial {
    let reason = match checker::check(events) {
        Verdict::Linearizable => return Ok(()),
        Verdict::Undecided => "undecided: too many orders to try".to_owned(),
        Verdict::Impossible(place) => format!("NOT LINEARIZABLE: {place}"),
    };
    let file = options.work.join(format!("chaos-history-{blob}.txt"));
    let text: String = events.iter().map(|event| format!("{event:?}\n")).collect();
    let _ = std::fs::write(&file, text);
    Err(format!("blob {blob}: {reason}; the history is in {}", file.display()))
}

/// Lets the clients run against a server that is killed now and then.
async fn record(options: &Options, random: &mut Random) -> Trial<(Vec<Recorded>, usize)> {
    let launch = Launch::new(options, "history")?;
    let mut server = launch.start()?;
    Client::new(server.blob).must(&blob::create_container()).await?.expect(201, "Create Container")?;
    let (place, address) = watch::channel(Some(server.blob));
    let start = Instant::now();
    let end = start + Duration::from_secs(options.seconds);
    let versions = Arc::new(AtomicU64::new(1));
    let mut actors = JoinSet::new();
    for number in 0..CLIENTS {
        let actor = Actor::new(number, random.fork(), address.clone(), versions.clone(), start, BLOBS);
        actors.spawn(actor.run(end));
    }
    let mut deaths: Vec<Moment> = Vec::new();
    loop {
        let pause = Duration::from_millis(random.between(800, 2500));
        if Instant::now() + pause >= end {
            break;
        }
        tokio::time::sleep(pause).await;
        server.must_run()?;
        place.send_replace(None);
        server.kill();
        deaths.push(u64::try_from(start.elapsed().as_nanos()).unwrap_or(Moment::MAX));
        server = launch.start()?;
        place.send_replace(Some(server.blob));
    }
    let mut recorded: Vec<Recorded> = Vec::new();
    while let Some(done) = actors.join_next().await {
        recorded.extend(done.map_err(|error| error.to_string())??);
    }
    server.stop().await?;
    for Recorded { event, .. } in recorded.iter_mut().filter(|recorded| recorded.event.answer.is_none()) {
        let death = deaths.iter().find(|death| **death >= event.called);
        event.until = death.copied().unwrap_or(Moment::MAX);
    }
    Ok((recorded, deaths.len()))
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
