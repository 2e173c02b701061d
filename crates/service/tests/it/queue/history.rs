//! Many producers and consumers, messages abandoned at random, the engine reopened under them. Whatever happens:
//! no two valid receipts of one message at a time, every message delivered, its count exact.

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicIsize, Ordering};
use std::time::Duration;

use lazuli_engine::{Engine, Host, Options};
use lazuli_model::error::ErrorCode;
use lazuli_service::queue::Delivered;
use parking_lot::Mutex;
use rand::Rng;
use tokio::task::JoinSet;
use uuid::Uuid;

use super::bench::Bench;

/// What the workers saw, in whatever order they came to note it.
#[derive(Default)]
struct Seen {
    put: HashMap<Uuid, String>,
    /// The DequeueCounts with which each was got.
    got: HashMap<Uuid, Vec<u32>>,
    /// Acknowledged deletes, by the DequeueCount of the receipt that did it.
    deleted: HashMap<Uuid, Vec<u32>>,
    texts: HashMap<Uuid, String>,
}

impl Seen {
    fn note_get(&mut self, message: &Delivered) {
        self.got.entry(message.id).or_default().push(message.dequeue_count);
        self.texts.insert(message.id, message.text.clone());
    }

    fn judge(&mut self) {
        assert_eq!(self.got.len(), self.put.len(), "every message was delivered");
        assert_eq!(self.texts, self.put, "and as it was put");
        for (id, counts) in &mut self.got {
            counts.sort_unstable();
            let exact: Vec<u32> = (1..=counts.len() as u32).collect();
            assert_eq!(*counts, exact, "no Get of {id} was lost, none was given to two");
            assert_eq!(
                self.deleted.get(id),
                Some(&vec![counts.len() as u32]),
                "{id} was deleted once, by the holder of the newest receipt"
            );
        }
    }
}

struct Run {
    producers: usize,
    consumers: usize,
    messages: usize,
    /// One in so many is not deleted.
    abandon_in: u32,
}

async fn produce(bench: Bench, seen: Arc<Mutex<Seen>>, run: usize, producer: usize, count: usize) {
    for number in 0..count {
        let text = format!("{run}/{producer}/{number}");
        let put = bench.put_with(&text, 0, None).await.expect("put");
        seen.lock().put.insert(put.id, text);
    }
}

async fn consume(bench: Bench, seen: Arc<Mutex<Seen>>, left: Arc<AtomicIsize>, abandon_in: u32) {
    while left.load(Ordering::Relaxed) > 0 {
        let (count, timeout) = {
            let mut random = rand::rng();
            (random.random_range(1..=8), random.random_range(1..=2))
        };
        let got = bench.get_for(count, timeout).await.expect("get");
        if got.is_empty() {
            tokio::time::sleep(Duration::from_millis(2)).await;
            continue;
        }
        got.iter().for_each(|message| seen.lock().note_get(message));
        for message in got {
            let (abandon, hand_back, slow) = {
                let mut random = rand::rng();
                (random.random_ratio(1, abandon_in), random.random_bool(0.5), random.random_ratio(1, 20))
            };
            if abandon {
                // Half come back at once, half when their time is up; in between the receipt may be lost.
                if hand_back {
                    expect_lost(bench.update(message.id, message.receipt, 0, None).await.map(drop));
                }
                continue;
            }
            if slow {
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
            match bench.delete(message.id, message.receipt).await {
                Ok(()) => {
                    seen.lock().deleted.entry(message.id).or_default().push(message.dequeue_count);
                    left.fetch_sub(1, Ordering::Relaxed);
                }
                refused => expect_lost(refused),
            }
        }
    }
}

/// The only good reason for a refusal: the time-out passed and somebody else got it.
fn expect_lost(answer: lazuli_service::Answer<()>) {
    if let Err(fault) = answer {
        assert_eq!(fault.0.code, ErrorCode::MessageNotFound, "{:?}", fault.0.cause);
    }
}

async fn one_run(bench: &Bench, seen: &Arc<Mutex<Seen>>, number: usize, run: &Run, leave: usize) {
    let before = bench.count().await as usize;
    let left = Arc::new(AtomicIsize::new((before + run.messages - leave) as isize));
    let each = run.messages / run.producers;
    let mut tasks = Vec::new();
    for producer in 0..run.producers {
        tasks.push(tokio::spawn(produce(bench.clone(), seen.clone(), number, producer, each)));
    }
    for _ in 0..run.consumers {
        tasks.push(tokio::spawn(consume(bench.clone(), seen.clone(), left.clone(), run.abandon_in)));
    }
    let all = async {
        for task in tasks {
            task.await.expect("a worker failed");
        }
    };
    tokio::time::timeout(Duration::from_secs(100), all).await.expect("a message was never delivered");
}

async fn open(dir: &Path) -> Bench {
    Bench::over(Engine::open(dir, Options::default(), Host::real()).expect("open")).await
}

async fn history(run: Run, runs: usize) {
    let dir = tempfile::tempdir().expect("dir");
    let seen = Arc::new(Mutex::new(Seen::default()));
    let bench = open(dir.path()).await;
    bench.create(&[]).await.expect("queue");
    bench.services.end().await;
    for number in 0..runs {
        // Not closed: reopened as after a crash.
        let bench = open(dir.path()).await;
        let leave = if number + 1 == runs { 0 } else { run.messages / 4 };
        one_run(&bench, &seen, number, &run, leave).await;
        bench.services.end().await;
    }
    let bench = open(dir.path()).await;
    assert_eq!(bench.count().await, 0);
    tokio::time::sleep(Duration::from_millis(2100)).await;
    assert!(bench.get(32).await.is_empty());
    assert!(bench.rest().await.is_empty(), "nothing is left");
    let mut seen = seen.lock();
    assert_eq!(seen.put.len(), run.messages * runs);
    seen.judge();
    assert!(seen.got.values().any(|counts| counts.len() > 1), "some were abandoned and came again");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn producers_and_consumers_over_restarts() {
    history(Run { producers: 4, consumers: 8, messages: 800, abandon_in: 10 }, 3).await;
}

#[ignore = "a minute"]
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn sixty_four_consumers() {
    history(Run { producers: 16, consumers: 64, messages: 20_000, abandon_in: 20 }, 3).await;
}

/// A client that gives up waiting does not take the message with it.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn requests_that_are_dropped_half_way_lose_nothing() {
    let dir = tempfile::tempdir().expect("dir");
    let bench = open(dir.path()).await;
    bench.create(&[]).await.expect("queue");
    for number in 0..300 {
        let put = bench.put_with("x", 0, None);
        let _ = tokio::time::timeout(Duration::from_micros(number * 10), put).await;
        let get = bench.get_for(3, 1);
        let _ = tokio::time::timeout(Duration::from_micros(number * 7), get).await;
    }
    tokio::time::sleep(Duration::from_millis(500)).await;
    let expected = bench.count().await;
    assert!(expected > 0);
    let mut deleted = 0;
    for _ in 0..300 {
        for message in bench.get(32).await {
            bench.delete(message.id, message.receipt).await.expect("mine");
            deleted += 1;
        }
        if deleted == expected {
            break;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    assert_eq!(deleted, expected);
    assert!(bench.rest().await.is_empty());
}

/// Two windows over one engine hand out the same heads; only the commit keeps the consumers apart.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn the_commit_decides_who_gets_a_message_not_the_window() {
    let engine = crate::testing::engine(Host::real()).await;
    let benches = [Bench::over(engine.clone()).await, Bench::over(engine).await];
    benches[0].create(&[]).await.expect("queue");
    let mut put: Vec<Uuid> = Vec::new();
    for number in 0..400 {
        put.push(benches[0].put(&number.to_string()).await.id);
    }
    let mut tasks = JoinSet::new();
    for worker in 0..16 {
        let bench = benches[worker % 2].clone();
        tasks.spawn(async move {
            let mut got = Vec::new();
            loop {
                let more = bench.get_for(1 + worker % 4, 600).await.expect("get");
                if more.is_empty() {
                    return got;
                }
                got.extend(more);
                tokio::task::yield_now().await;
            }
        });
    }
    let got: Vec<Delivered> = tasks.join_all().await.into_iter().flatten().collect();
    assert!(got.iter().all(|message| message.dequeue_count == 1));
    let mut ids: Vec<Uuid> = got.iter().map(|message| message.id).collect();
    ids.sort();
    put.sort();
    assert_eq!(ids, put, "each to one consumer");
    for message in &got {
        benches[1].delete(message.id, message.receipt).await.expect("the only receipt");
    }
}
