//! Who asks the store for how much.

use super::*;
use std::sync::atomic::Ordering::SeqCst;
use tokio::task::JoinSet;

const UNIT: u32 = 256 << 10;

fn counts(store: &Faulty) -> (u64, u64) {
    (store.gets.swap(0, SeqCst), store.get_bytes.swap(0, SeqCst))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_chunk_is_fetched_once_for_all_who_read_it() {
    let Some((store, database)) = faulty() else { return };
    let engine = database.open(Host::real());
    let id = published(&engine, vec![7; 4 << 20]).await;
    counts(&store);
    store.delay_millis.store(50, SeqCst);
    let mut readers = JoinSet::new();
    for n in 0..40_u32 {
        let engine = engine.clone();
        readers.spawn(async move {
            let _ahead = engine.extents().read_ahead(id, 4 << 20);
            let start = n % 16 * UNIT;
            engine.extents().read(id, start..start + UNIT).await.unwrap().len()
        });
    }
    assert!(readers.join_all().await.iter().all(|len| *len == UNIT as usize));
    let (gets, bytes) = counts(&store);
    assert_eq!(gets, 1);
    assert!(bytes < (4 << 20) + 1_000);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_a_large_chunk_little_is_read_when_little_is_wanted() {
    let Some((store, database)) = faulty() else { return };
    let engine = database.open(Host::real());
    let (large, small) =
        (published(&engine, vec![7; 4 << 20]).await, published(&engine, vec![8; 200_000]).await);
    counts(&store);
    for at in [0, 70_000, 4_000_000] {
        assert_eq!(engine.extents().read(large, at..at + 10).await.unwrap(), vec![7; 10]);
        assert!(counts(&store).1 < 70_000);
    }
    let crc64 = engine.extents().crc64(large).await.unwrap();
    assert_eq!(crc64, lazuli_engine::crc64(&vec![7; 4 << 20]));
    assert!(counts(&store).1 < 1_000);
    for at in [0, 199_000] {
        assert_eq!(engine.extents().read(small, at..at + 10).await.unwrap(), vec![8; 10]);
    }
    assert_eq!(counts(&store).0, 1, "a small one is kept");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_was_announced_is_there_when_it_is_read() {
    let Some((store, database)) = faulty() else { return };
    let engine = database.open(Host::real());
    let id = published(&engine, vec![7; 4 << 20]).await;
    counts(&store);
    store.delay_millis.store(100, SeqCst);
    let ahead = engine.extents().read_ahead(id, 4 << 20);
    tokio::time::sleep(Duration::from_millis(300)).await;
    let began = Instant::now();
    for n in 0..16 {
        engine.extents().read(id, n * UNIT..(n + 1) * UNIT).await.unwrap();
    }
    assert!(began.elapsed() < Duration::from_millis(90), "{:?}", began.elapsed());
    assert_eq!(counts(&store).0, 1);
    drop(ahead);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn without_memory_for_whole_chunks_parts_are_read() {
    let options = ObjectOptions { cache_bytes: 1 << 20, ..ObjectOptions::default() };
    let Some((store, database)) = faulty_with(options) else { return };
    let engine = database.open(Host::real());
    let id = published(&engine, vec![7; 4 << 20]).await;
    counts(&store);
    let _ahead = engine.extents().read_ahead(id, 4 << 20);
    for n in 0..16 {
        assert_eq!(engine.extents().read(id, n * UNIT..(n + 1) * UNIT).await.unwrap().len(), UNIT as usize);
    }
    assert!(counts(&store).1 < (4 << 20) + 16 * 1_000);
    assert!(engine.stats().objects.unwrap().cache_bytes <= 1 << 20);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn damaged_bytes_are_asked_for_again_and_never_given_out() {
    let Some((store, database)) = faulty() else { return };
    let engine = database.open(Host::real());
    let (large, small) =
        (published(&engine, vec![7; 4 << 20]).await, published(&engine, vec![8; 1_000]).await);
    for (id, range) in [(large, 100_000..100_010), (small, 0..1_000)] {
        store.damage.store(2, SeqCst);
        let read = engine.extents().read(id, range.clone()).await;
        // Twice damaged: the header or the bytes of both attempts, or of one only.
        assert!(read.is_ok() || matches!(read, Err(EngineError::Corrupt(_))), "{read:?}");
        store.damage.store(100, SeqCst);
        if id == large {
            assert!(matches!(engine.extents().read(id, range.clone()).await, Err(EngineError::Corrupt(_))));
        }
        store.damage.store(0, SeqCst);
        assert_eq!(engine.extents().read(id, range.clone()).await.unwrap().len(), range.len());
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_store_that_fails_is_not_a_chunk_that_is_lost() {
    let Some((store, database)) = faulty() else { return };
    let engine = database.open(Host::real());
    let id = published(&engine, vec![7; 1_000]).await;
    store.refuse_gets.store(true, SeqCst);
    assert!(is_unavailable(&engine.extents().read(id, 0..10).await));
    store.refuse_gets.store(false, SeqCst);
    assert_eq!(engine.extents().read(id, 0..10).await.unwrap(), vec![7; 10]);
}
