//! A queue with many producers and consumers; messages are abandoned, handed back and deleted late; the server is killed
//! and restarted. Whatever happens: every message is delivered, a deleted one never again, no two receipts of a message
//! are valid at once, and its DequeueCount is exact.

mod ledger;
mod worker;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use tokio::task::JoinSet;

use crate::Trial;
use crate::arena::{Arena, Death};
use crate::options::Options;
use crate::queue;
use crate::random::Random;
use crate::wire::Client;
use ledger::Ledger;
use worker::{Consumer, Shared, produce};

const PRODUCERS: u64 = 16;
const CONSUMERS: u64 = 64;
const QUEUE: &str = "delivery";
/// Without any message less: something is never delivered.
const PATIENCE: Duration = Duration::from_secs(120);

pub async fn run(options: &Options) -> Trial<String> {
    let mut random = Random::new(options.seed ^ 0x5155_4555);
    let mut arena = Arena::open(options, "delivery")?;
    Client::new(arena.doors().queue).must(&queue::create(QUEUE)).await?.expect(201, "Create Queue")?;
    let shared = Arc::new(Shared {
        ledger: Default::default(),
        next: AtomicU64::new(0),
        messages: options.messages,
        over: AtomicBool::new(false),
    });
    let (mut producers, mut consumers) = (JoinSet::new(), JoinSet::new());
    for _ in 0..PRODUCERS {
        let guest = arena.guest(|doors| doors.queue);
        producers.spawn(produce(shared.clone(), guest, random.fork()));
    }
    for _ in 0..CONSUMERS {
        let guest = arena.guest(|doors| doors.queue);
        consumers.spawn(Consumer::new(shared.clone(), guest, random.fork()).run());
    }
    let started = Instant::now();
    let kills = watch(options, &mut arena, &mut random, &mut producers, &mut consumers).await?;
    arena.struck().await?;
    let seconds = started.elapsed().as_secs_f64();
    shared.over.store(true, Ordering::Relaxed);
    while let Some(done) = consumers.join_next().await {
        done.map_err(|error| error.to_string())??;
    }
    // Longer than any of them was hidden, and over one more death.
    arena.kill().await?;
    tokio::time::sleep(Duration::from_millis(3100)).await;
    let mut client = Client::new(arena.doors().queue);
    let left = client.must(&queue::get(QUEUE, 32, 1)).await?.expect(200, "Get Messages")?;
    let left = queue::messages(&left)?;
    if !left.is_empty() || count(&mut client).await? != 0 {
        return Err(format!("deleted messages COME BACK: {left:?}"));
    }
    let deaths = std::mem::take(&mut arena.deaths);
    arena.close().await?;
    report(&shared.ledger(), &deaths, kills, seconds)
}

fn report(ledger: &Ledger, deaths: &[Death], kills: usize, seconds: f64) -> Trial<String> {
    let summary = ledger.judge(deaths)?;
    let Ledger { abandoned, updates, stale_refused, .. } = ledger;
    if kills == 0 {
        return Err("it was over before anything was killed".to_owned());
    }
    if *abandoned == 0 || *stale_refused == 0 || summary.most < 2 {
        return Err("nothing was abandoned and came again: nothing is shown".to_owned());
    }
    Ok(format!(
        "{} messages, {} deliveries, {abandoned} abandoned, {updates} updated, {stale_refused} old receipts refused, \
         {kills} kills and {} restarts in {seconds:.0} s; unanswered: {} puts, {} gets (of {} messages), {} deletes; most \
         deliveries of one: {}",
        summary.messages,
        summary.deliveries,
        // The last death comes after the last message.
        deaths.len().saturating_sub(kills + 1),
        summary.open_puts,
        summary.open_gets,
        summary.unheard,
        summary.open_deletes,
        summary.most
    ))
}

async fn count(client: &mut Client) -> Trial<u64> {
    queue::count(&client.must(&queue::metadata(QUEUE)).await?.expect(200, "Get Queue Metadata")?)
}

/// Kills the server, and now and then stops it in order, until everything was put and is gone. How often it killed.
async fn watch(
    options: &Options,
    arena: &mut Arena,
    random: &mut Random,
    producers: &mut JoinSet<Trial>,
    consumers: &mut JoinSet<Trial>,
) -> Trial<usize> {
    let pauses = if options.long { (4000, 12_000) } else { (700, 1500) };
    let (mut kills, mut least, mut changed) = (0, u64::MAX, Instant::now());
    let mut next = Instant::now() + Duration::from_millis(random.between(pauses.0, pauses.1));
    loop {
        tokio::time::sleep(Duration::from_millis(100)).await;
        for failed in [producers.try_join_next(), consumers.try_join_next()].into_iter().flatten() {
            failed.map_err(|error| error.to_string())??;
        }
        let left = match count(&mut Client::new(arena.doors().queue)).await {
            Ok(left) => left,
            // The database may be away; if it stays away, nothing gets less.
            Err(_) if options.fault.is_some() && changed.elapsed() <= PATIENCE => continue,
            Err(reason) => return Err(reason),
        };
        if producers.is_empty() && left == 0 {
            return Ok(kills);
        }
        if left != least {
            (least, changed) = (left, Instant::now());
        } else if changed.elapsed() > PATIENCE {
            return Err(format!("{left} messages are never delivered"));
        }
        if Instant::now() >= next && options.fault.is_some() {
            if kills == 0 {
                arena.strike();
                kills += 1;
            }
        } else if Instant::now() >= next {
            match random.one_in(4) {
                true => arena.restart().await?,
                false => {
                    arena.kill().await?;
                    kills += 1;
                }
            }
            next = Instant::now() + Duration::from_millis(random.between(pauses.0, pauses.1));
        }
    }
}
