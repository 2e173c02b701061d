//! Objects that nothing names, and servers that are taken for dead. Time is moved by hand.

use super::*;
use crate::contract::text;
use lazuli_engine::host::{Clock, Random};

/// Engines of one cluster share the clock.
fn host() -> (Host, Clock) {
    let host = Host { random: Random::from_os(), ..Host::test() };
    let clock = host.clock.clone();
    (host, clock)
}

fn pass(clock: &Clock, minutes: u64) {
    let Clock::Manual(clock) = clock else { panic!("a clock that is moved by hand") };
    clock.advance(Duration::from_secs(60 * minutes));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn exactly_what_nothing_names_is_deleted() {
    let Some((store, database)) = faulty() else { return };
    let (host, clock) = host();
    let (dying, living) = (database.open(host.clone()), database.open(host));
    let mut kept = Vec::new();
    for n in 0..20_u8 {
        kept.push(published(&dying, vec![n; 50]).await);
        kept.push(published(&living, vec![n; 50]).await);
        // What a process that is killed leaves behind, and an upload that goes on.
        std::mem::forget(dying.extents().write(Bytes::from(vec![n; 60])).await.unwrap());
    }
    let unfinished = living.extents().write(Bytes::from_static(b"to be published")).await.unwrap();
    soon("all are written", async || store.chunks().await.len() == 61).await;
    assert_eq!(living.delete_orphans().await.unwrap(), 0, "the hour is not over");
    drop(dying);
    // The one that lives says so, the other does not any more.
    for _ in 0..20 {
        pass(&clock, 10);
        soon("a heartbeat", async || beats(&living).await).await;
    }
    assert_eq!(living.delete_orphans().await.unwrap(), 20);
    assert_eq!(store.chunks().await.len(), 41);
    for id in kept {
        assert_eq!(living.extents().read(id, 0..50).await.unwrap().len(), 50);
    }
    living.commit(publishing(&living, unfinished.id)).await.unwrap();
    assert_eq!(living.delete_orphans().await.unwrap(), 0);
    assert_eq!(living.extents().read(unfinished.id, 0..15).await.unwrap(), &b"to be published"[..]);
}

/// Lets the engine say that it lives: a chunk can be published.
async fn beats(engine: &Engine) -> bool {
    engine.beat_writer().await.is_ok()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_that_was_taken_for_dead_publishes_nothing_and_goes_on_as_another() {
    let Some((store, database)) = faulty() else { return };
    let (host, clock) = host();
    let (stalled, other) = (database.open(host.clone()), database.open(host));
    let old = stalled.extents().write(Bytes::from_static(b"old")).await.unwrap();
    soon("it is written", async || store.chunks().await.len() == 1).await;
    pass(&clock, 10);
    beats(&other).await;
    other.delete_orphans().await.unwrap();
    let refused = stalled.commit(publishing(&stalled, old.id)).await;
    assert!(is_unavailable(&refused), "{refused:?}");
    assert_eq!(text(&other, "row").await, None);
    soon("it goes on", async || {
        let fresh = stalled.extents().write(Bytes::from_static(b"new")).await.unwrap();
        stalled.commit(publishing(&stalled, fresh.id)).await.is_ok()
    })
    .await;
    assert!(stalled.commit(publishing(&stalled, old.id)).await.is_err(), "the old one is given up for good");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_that_stops_in_order_leaves_no_writer_behind() {
    let Some((store, database)) = faulty() else { return };
    let (host, clock) = host();
    let (leaving, living) = (database.open(host.clone()), database.open(host));
    std::mem::forget(leaving.extents().write(Bytes::from_static(b"left")).await.unwrap());
    soon("it is written", async || store.chunks().await.len() == 1).await;
    leaving.close().await.unwrap();
    drop(leaving);
    pass(&clock, 180);
    beats(&living).await;
    assert_eq!(living.delete_orphans().await.unwrap(), 1);
}
