//! What is kept of a page blob that is copied onto itself does not change with later writes.

use lazuli_service::blob::BlobState;

use super::world::{World, states};
use crate::support::Bench;

/// A blob of sevens is copied onto itself, then written over with nines.
async fn copied_onto_itself(world: &World) {
    let bench = Bench { services: world.servers().clone(), context: world.context.clone() };
    bench.create_pages("a", 4).await;
    bench.put_pages("a", 0, 1, 7).await.unwrap();
    world.promote("a", BlobState::Base).await.unwrap();
    bench.put_pages("a", 0, 1, 9).await.unwrap();
}

async fn every_kept_page_is_a_seven(world: &World) {
    let kept = states(world, "a").await;
    assert!(!kept.is_empty(), "something is kept");
    for state in kept {
        let bytes = world.get("a", state).await.unwrap();
        assert_ne!(bytes[0], 9, "{state:?} changed with the base");
    }
    assert_eq!(world.get("a", BlobState::Base).await.unwrap()[0], 9);
}

#[tokio::test]
async fn a_version_of_pages_stays_as_it_was() {
    let mut world = World::new().await;
    world.versioning = true;
    copied_onto_itself(&world).await;
    every_kept_page_is_a_seven(&world).await;
}

#[tokio::test]
async fn a_deleted_snapshot_of_pages_stays_as_it_was() {
    let world = World::new().await;
    world.keep_deleted(true).await;
    copied_onto_itself(&world).await;
    world.undelete("a").await.unwrap();
    every_kept_page_is_a_seven(&world).await;
}
