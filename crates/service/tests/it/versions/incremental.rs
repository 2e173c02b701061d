//! Incremental copies beside versions and soft deletion: no moment of a name is given twice.

use std::time::Duration;

use lazuli_model::Timestamp;
use lazuli_service::blob::*;

use super::world::{World, everything, finish, states};
use crate::support::{Bench, at};

const SECOND: Duration = Duration::from_secs(1);

fn bench(world: &World) -> Bench {
    Bench { services: world.servers().clone(), context: world.context.clone() }
}

async fn copy(world: &World, moment: Timestamp, to: &str) {
    let source = OwnSource {
        account: world.context.account.clone(),
        at: at("disk"),
        state: BlobState::Snapshot(moment),
        preconditions: Default::default(),
        customer_key: None,
    };
    let shown_source = "http://host/disk?snapshot=moment".to_owned();
    let input = IncrementalCopyBlob { at: at(to), preconditions: Default::default(), source, shown_source };
    input.execute(world.servers(), &world.context).await.unwrap();
    world.clock.advance(SECOND);
}

/// Three snapshots of a disk, one after the other, to the name `a`.
async fn three_copies(world: &World) {
    let bench = bench(world);
    bench.create_pages("disk", 100).await;
    for fill in 1..=3 {
        bench.put_pages("disk", 0, 60, fill).await.unwrap();
        let moment = bench.snapshot("disk").await.unwrap();
        world.clock.advance(SECOND);
        copy(world, moment, "a").await;
    }
}

/// What the first page of each thing beside the base is filled with, the oldest first.
async fn fills(world: &World) -> Vec<u8> {
    let mut fills = Vec::new();
    for state in states(world, "a").await {
        if let Ok(bytes) = world.get("a", state).await {
            fills.push(bytes[0]);
        }
    }
    fills
}

#[tokio::test]
async fn a_base_that_is_replaced_is_kept_beside_the_new_snapshot() {
    let world = World::new().await;
    world.keep_deleted(true).await;
    three_copies(&world).await;
    assert_eq!(states(&world, "a").await.len(), 5, "three snapshots and two bases that were replaced");
    assert_eq!(fills(&world).await, [1, 2, 3]);
    world.delete("disk", BlobState::Base, Some(DeleteSnapshots::Include), false).await.unwrap();
    finish(world).await;
}

#[tokio::test]
async fn a_deleted_blob_under_the_name_is_kept_beside_the_first_snapshot() {
    let world = World::new().await;
    world.keep_deleted(true).await;
    let bench = bench(&world);
    bench.create_pages("disk", 100).await;
    let moment = bench.snapshot("disk").await.unwrap();
    world.put("a", "abc").await.unwrap();
    world.clock.advance(SECOND);
    world.delete("a", BlobState::Base, None, false).await.unwrap();
    world.clock.advance(SECOND);
    copy(&world, moment, "a").await;
    assert_eq!(states(&world, "a").await.len(), 2);
}

#[tokio::test]
async fn versions_and_snapshots_have_moments_of_their_own() {
    let mut world = World::new().await;
    world.versioning = true;
    three_copies(&world).await;
    let asked = ListBlobs { prefix: "a".into(), ..everything() };
    assert_eq!(world.list(&asked, 1).await.len(), 6, "in pages of one");
    assert_eq!(world.list(&asked, 100).await.len(), 6);
    let mut fills = fills(&world).await;
    fills.sort_unstable();
    assert_eq!(fills, [1, 1, 2, 2, 3], "a version of an incremental copy can be read, as its snapshots can");
}
