//! The commit's side of chunks; how their bytes are kept is tested with the extents.

use super::*;
use bytes::Bytes;
use lazuli_engine::{ChunkId, Plan};

contract!(
    a_published_chunk_can_be_read,
    a_conflict_leaves_the_chunk_to_its_guard,
    a_given_up_chunk_is_not_published,
    a_released_chunk_goes_with_the_commit,
);

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
    assert!(engine.extents().stats().live_bytes > 0);
    let release = Txn { release: vec![id], ..txn(&engine, vec![], vec![]) };
    engine.commit(release).await.unwrap();
    assert_eq!(engine.extents().stats().live_bytes, 0);
}
