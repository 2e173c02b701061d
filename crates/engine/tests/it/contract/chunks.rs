//! The commit's side of chunks; how their bytes are kept is tested with the extents.

use super::*;
use bytes::Bytes;
use lazuli_engine::{ChunkId, MAX_CHUNK, Plan};

contract!(
    a_published_chunk_can_be_read,
    a_conflict_leaves_the_chunk_to_its_guard,
    a_given_up_chunk_is_not_published,
    a_released_chunk_goes_with_the_commit,
    a_part_of_a_chunk_can_be_read,
);

/// Where chunks are kept as objects, by every kind of store.
#[cfg(feature = "objects")]
mod as_objects {
    mod in_memory {
        crate::contract::contract!(on Objects: a_published_chunk_can_be_read, a_conflict_leaves_the_chunk_to_its_guard,
            a_given_up_chunk_is_not_published, a_released_chunk_goes_with_the_commit, a_part_of_a_chunk_can_be_read);
    }
    mod in_a_directory {
        crate::contract::contract!(on ObjectsInDirectory: a_published_chunk_can_be_read,
            a_conflict_leaves_the_chunk_to_its_guard, a_given_up_chunk_is_not_published,
            a_released_chunk_goes_with_the_commit, a_part_of_a_chunk_can_be_read);
    }
    /// One server for all, since it takes its time to start.
    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn in_seaweed() {
        let Some(seaweed) = crate::objects::seaweed() else { return };
        let place = || Place::over(crate::objects::in_seaweed(&seaweed));
        let (Some(a), Some(b), Some(c), Some(d), Some(e)) = (place(), place(), place(), place(), place())
        else {
            return;
        };
        a_published_chunk_can_be_read(a).await;
        a_conflict_leaves_the_chunk_to_its_guard(b).await;
        a_given_up_chunk_is_not_published(c).await;
        a_released_chunk_goes_with_the_commit(d).await;
        a_part_of_a_chunk_can_be_read(e).await;
    }
    use super::*;
}

fn publishing(engine: &Engine, checks: Vec<(Key, ExpectedVersion)>, id: ChunkId) -> Txn {
    Txn { publish: vec![id], ..txn(engine, checks, vec![put("row", "1")]) }
}

async fn a_published_chunk_can_be_read(place: Place) {
    let engine = place.open();
    let written = engine.extents().write(Bytes::from(vec![7; 100_000])).await.unwrap();
    let id = written.id;
    engine.commit(publishing(&engine, vec![], id)).await.unwrap();
    drop(written);
    assert_eq!(engine.extents().read(id, 10..20).await.unwrap(), vec![7; 10]);
    assert_eq!(engine.extents().crc64(id).await.unwrap(), lazuli_engine::crc64(&[7; 100_000]));
    assert_eq!(engine.extents().stats().pending_chunks, 0);
}

async fn a_conflict_leaves_the_chunk_to_its_guard(place: Place) {
    let engine = place.open();
    write(&engine, vec![put("row", "0")]).await;
    let written = engine.extents().write(Bytes::from_static(b"bytes")).await.unwrap();
    let refused = publishing(&engine, vec![(key("row"), ExpectedVersion::Absent)], written.id);
    assert!(is_conflict(&engine.commit(refused).await));
    // The same guard publishes at the next attempt.
    engine.commit(publishing(&engine, vec![], written.id)).await.unwrap();
    assert_eq!(engine.extents().read(written.id, 0..5).await.unwrap(), &b"bytes"[..]);
}

async fn a_given_up_chunk_is_not_published(place: Place) {
    let engine = place.open();
    let written = engine.extents().write(Bytes::from_static(b"bytes")).await.unwrap();
    let id = written.id;
    drop(written);
    assert!(engine.commit(publishing(&engine, vec![], id)).await.is_err());
    assert_eq!(text(&engine, "row").await, None);
    // And the engine goes on.
    write(&engine, vec![put("row", "2")]).await;
    assert_eq!(text(&engine, "row").await.as_deref(), Some("2"));
}

async fn a_released_chunk_goes_with_the_commit(place: Place) {
    let engine = place.open();
    let written = engine.extents().write(Bytes::from(vec![1; 50_000])).await.unwrap();
    let id = written.id;
    engine
        .run(None, |_| async move {
            let mut plan = Plan::new(());
            plan.publish.push(id);
            Ok::<_, EngineError>(plan)
        })
        .await
        .unwrap();
    let counts = engine.stats().objects.is_none();
    assert!(!counts || engine.extents().stats().live_bytes > 0);
    let release = Txn { release: vec![id], ..txn(&engine, vec![], vec![]) };
    engine.commit(release).await.unwrap();
    assert_eq!(engine.extents().stats().live_bytes, 0);
    if !counts {
        // The object goes a little later; what was read of it may stay in memory.
        let gone = || async { engine.stats().objects.is_some_and(|objects| objects.deleted == 1) };
        for _ in 0..200 {
            if gone().await {
                break;
            }
            tokio::time::sleep(std::time::Duration::from_millis(50)).await;
        }
        assert!(gone().await, "{:?}", engine.stats().objects);
        assert!(engine.extents().read(id, 0..10).await.is_err());
    }
}

async fn a_part_of_a_chunk_can_be_read(place: Place) {
    let engine = place.open();
    let payload: Vec<u8> = (0..MAX_CHUNK).map(|i| (i * 7 + i / 253) as u8).collect();
    let written = engine.extents().write(Bytes::from(payload.clone())).await.unwrap();
    let id = written.id;
    engine.commit(publishing(&engine, vec![], id)).await.unwrap();
    drop(written);
    let end = MAX_CHUNK as u32;
    let mut ranges = vec![0..0, 5..6, 65_535..65_537, end - 1..end, end..end, 1_000_000..1_300_000];
    // The whole, in the pieces of a download.
    ranges.extend((0..16).map(|n| n * (256 << 10)..(n + 1) * (256 << 10)));
    ranges.push(0..end);
    for range in ranges {
        let read = engine.extents().read(id, range.clone()).await.unwrap();
        assert!(read == payload[range.start as usize..range.end as usize], "{range:?}");
    }
    assert!(engine.extents().read(id, 0..end + 1).await.is_err());
    assert_eq!(engine.extents().crc64(id).await.unwrap(), lazuli_engine::crc64(&payload));
}
