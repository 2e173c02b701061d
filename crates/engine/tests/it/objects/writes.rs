//! Chunks on their way to the store.

use super::*;
use crate::contract::text;
use std::collections::HashSet;
use std::sync::atomic::Ordering::SeqCst;
use tokio::time::timeout;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn names_of_several_servers_are_never_the_same() {
    let Some((store, database)) = faulty() else { return };
    let engines: Vec<Engine> = (0..3).map(|_| database.open(Host::real())).collect();
    let mut ids = HashSet::new();
    for n in 0..60_usize {
        ids.insert(published(&engines[n % 3], vec![n as u8; 100]).await);
    }
    assert_eq!((ids.len(), store.chunks().await.len()), (60, 60));
    // Each is read back by another than its writer.
    for id in ids {
        assert_eq!(engines[1].extents().read(id, 0..100).await.unwrap().len(), 100);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_was_not_written_is_not_published() {
    let Some((store, database)) = faulty() else { return };
    let engine = database.open(Host::real());
    store.refuse_puts.store(true, SeqCst);
    let written = engine.extents().write(Bytes::from_static(b"bytes")).await.unwrap();
    let refused = engine.commit(publishing(&engine, written.id)).await;
    assert!(is_unavailable(&refused), "{refused:?}");
    assert!(is_unavailable(&engine.extents().read(written.id, 0..5).await));
    assert!(written.failure().is_some());
    assert_eq!(text(&engine, "row").await, None);
    store.refuse_puts.store(false, SeqCst);
    published(&engine, &b"bytes"[..]).await;
    assert_eq!(store.chunks().await.len(), 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_may_have_been_written_is_deleted() {
    let Some((store, database)) = faulty() else { return };
    let engine = database.open(Host::real());
    store.lose_answers.store(true, SeqCst);
    let written = engine.extents().write(Bytes::from_static(b"bytes")).await.unwrap();
    assert!(is_unavailable(&engine.commit(publishing(&engine, written.id)).await));
    assert_eq!(store.chunks().await.len(), 1);
    drop(written);
    soon("the object is gone", async || store.chunks().await.is_empty()).await;
    assert_eq!(engine.extents().stats().pending_chunks, 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_given_up_is_deleted() {
    let Some((store, database)) = faulty() else { return };
    let engine = database.open(Host::real());
    // After it was written, and while it is.
    let written = engine.extents().write(Bytes::from_static(b"one")).await.unwrap();
    soon("it is written", async || store.chunks().await.len() == 1).await;
    drop(written);
    let allowed = store.puts_allowed.available_permits();
    store.puts_allowed.forget_permits(allowed);
    let written = engine.extents().write(Bytes::from_static(b"other")).await.unwrap();
    drop(written);
    store.puts_allowed.add_permits(1);
    soon("both are gone", async || {
        store.puts.load(SeqCst) == 3
            && store.chunks().await.is_empty()
            && engine.stats().objects.unwrap().deleted == 2
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn several_are_under_way_and_no_more_than_there_is_memory_for() {
    let options = ObjectOptions { writing_bytes: 20 << 20, ..ObjectOptions::default() };
    let Some((store, database)) = faulty_with(options) else { return };
    let engine = database.open(Host::real());
    let allowed = store.puts_allowed.available_permits();
    store.puts_allowed.forget_permits(allowed);
    let chunk = Bytes::from(vec![1; 4 << 20]);
    let mut written = Vec::new();
    for _ in 0..5 {
        written.push(engine.extents().write(chunk.clone()).await.unwrap());
    }
    assert_eq!(engine.stats().objects.unwrap().writing_bytes, 20 << 20);
    let patience = Duration::from_millis(200);
    assert!(timeout(patience, engine.extents().write(chunk.clone())).await.is_err(), "a sixth waits");
    // The commit waits for all of them.
    let publish = written.iter().map(|written| written.id).collect();
    let commit = engine.commit(Txn { publish, ..txn(&engine, vec![], vec![put("row", "1")]) });
    let mut commit = Box::pin(commit);
    assert!(timeout(patience, &mut commit).await.is_err());
    store.puts_allowed.add_permits(5);
    commit.await.unwrap();
    assert_eq!((store.chunks().await.len(), engine.stats().objects.unwrap().writing_bytes), (5, 0));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_given_back_is_deleted_when_the_store_can() {
    let Some((store, database)) = faulty() else { return };
    let (engine, other) = (database.open(Host::real()), database.open(Host::real()));
    let mut ids = Vec::new();
    for n in 0..30_u8 {
        ids.push(published(&engine, vec![n; 10]).await);
    }
    let kept = ids.split_off(28);
    store.refuse_deletes.store(true, SeqCst);
    release(&other, ids).await;
    tokio::time::sleep(Duration::from_secs(1)).await;
    assert_eq!(store.chunks().await.len(), 30);
    store.refuse_deletes.store(false, SeqCst);
    soon("given back", async || store.chunks().await.len() == 2).await;
    for id in kept {
        assert_eq!(other.extents().read(id, 0..10).await.unwrap().len(), 10);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_request_that_fails_as_a_whole_does_not_stand_for_the_objects_of_another() {
    let Some((store, database)) = faulty() else { return };
    let engine = database.open(Host::real());
    let mut ids = Vec::new();
    for n in 0..30_u8 {
        ids.push(published(&engine, vec![n; 10]).await);
    }
    store.refused_requests.store(2, SeqCst);
    release(&engine, ids).await;
    soon("deleted by the third request", async || store.chunks().await.len() == 20).await;
    soon("deleted later", async || store.chunks().await.is_empty()).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_answer_that_makes_no_sense_ends_nothing_but_its_request() {
    let Some((store, database)) = faulty() else { return };
    let engine = database.open(Host::real());
    let id = published(&engine, &b"bytes"[..]).await;
    store.panic_on_deletes.store(true, SeqCst);
    release(&engine, vec![id]).await;
    soon("tried", async || engine.stats().objects.unwrap().delete_failures > 0).await;
    published(&engine, &b"others"[..]).await;
    assert_eq!(engine.is_stopped(), None);
    store.panic_on_deletes.store(false, SeqCst);
    soon("deleted", async || store.chunks().await.len() == 1).await;
}
