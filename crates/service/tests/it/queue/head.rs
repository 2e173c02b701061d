//! The head of a queue is found at the same cost whatever stands behind it and whatever was deleted before it.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use lazuli_engine::{Engine, Host, Options};
use tokio::task::JoinSet;

use super::bench::Bench;

const WORKERS: usize = 128;

/// Many at a time, so that they share commits.
async fn fill(bench: &Bench, count: usize) {
    let mut tasks = JoinSet::new();
    for worker in 0..WORKERS {
        let bench = bench.clone();
        tasks.spawn(async move {
            for number in (worker..count).step_by(WORKERS) {
                bench.put(&number.to_string()).await;
            }
        });
    }
    tasks.join_all().await;
}

/// The fastest of some get-and-delete pairs, one after the other: what else the machine does lengthens only the others.
async fn pair(bench: &Bench, pairs: usize) -> Duration {
    let mut fastest = Duration::MAX;
    for _ in 0..pairs {
        let started = Instant::now();
        let got = bench.get(1).await.remove(0);
        bench.delete(got.id, got.receipt).await.expect("deleted");
        fastest = fastest.min(started.elapsed());
    }
    fastest
}

async fn drain(bench: &Bench, count: usize) {
    let left = Arc::new(AtomicUsize::new(count));
    let mut tasks = JoinSet::new();
    for _ in 0..WORKERS {
        let (bench, left) = (bench.clone(), left.clone());
        tasks.spawn(async move {
            let take = |left: usize| left.checked_sub(1);
            while left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, take).is_ok() {
                let got = bench.get(1).await.remove(0);
                bench.delete(got.id, got.receipt).await.expect("deleted");
            }
        });
    }
    tasks.join_all().await;
}

async fn flat(large: usize) {
    let dir = tempfile::tempdir().expect("dir");
    let engine = Engine::open(dir.path(), Options::default(), Host::real()).expect("open");
    let bench = Bench::over(engine).await;
    bench.create(&[]).await.expect("queue");
    fill(&bench, 100).await;
    let small = pair(&bench, 50).await;
    fill(&bench, large).await;
    let full = pair(&bench, 50).await;
    // As many deleted keys before the head as there were messages.
    drain(&bench, large - 100).await;
    let behind = pair(&bench, 50).await;
    println!("100 messages {small:?}, {large} messages {full:?}, behind {large} deleted {behind:?}");
    let most = small * 4 + Duration::from_millis(2);
    assert!(full < most, "{small:?} with 100 messages, {full:?} with {large}");
    assert!(behind < most, "{small:?} with 100 messages, {behind:?} behind {large} deleted");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn flat_to_ten_thousand() {
    flat(10_000).await;
}

#[ignore = "minutes"]
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn flat_to_two_hundred_thousand() {
    flat(200_000).await;
}
