//! Much that is due at once: it goes in few commits, each thing once.

use std::time::Duration;

use lazuli_model::Timestamp;
use lazuli_model::admission::Preconditions;
use lazuli_model::blob::Expiry;
use lazuli_service::blob::*;

use super::world::{DAY, KEPT_DAYS, World, bytes_of};
use crate::SERVERS;
use crate::support::at;

const MANY: usize = 400;

impl World {
    /// What the sweeper does until nothing is left, in how many commits.
    async fn sweeping_commits(&self) -> u64 {
        let before = self.servers().engine().stats().transactions;
        self.sweep().await;
        self.servers().engine().stats().transactions - before
    }

    async fn left(&self) -> Vec<String> {
        let (services, context) = (self.servers().clone(), self.context.clone());
        let keys = crate::support::Bench { services, context }.keys().await;
        keys.into_iter().filter(|key| !key.starts_with(['c', 'p'])).collect()
    }

    async fn copy(&self, from: &str, to: &str) {
        let source = OwnSource {
            account: self.context.account.clone(),
            at: at(from),
            state: BlobState::Base,
            preconditions: Preconditions::default(),
            customer_key: None,
        };
        let op = lazuli_model::operation::WritingOp::of(lazuli_model::operation::Op::CopyBlob).unwrap();
        let copy = crate::support::copying(CopySource::Own(source), to);
        copy.execute(self.servers(), &self.context, op).await.unwrap();
    }
}

/// Bases, snapshots and versions, many of which hold one content, some deleted and brought back before.
#[tokio::test]
async fn many_soft_deletions_that_are_due_go_in_few_commits() {
    let mut world = World::new().await;
    world.keep_deleted(true).await;
    world.put("source", "chunk").await.unwrap();
    for number in 0..MANY {
        let name = format!("{number}");
        world.versioning = number % 3 == 0;
        match number % 2 {
            0 => world.copy("source", &name).await,
            _ => _ = world.put(&name, "other").await.unwrap(),
        }
        if number % 5 == 0 {
            world.snapshot(&name).await.unwrap();
        }
        for _ in 0..=number % 4 {
            let all = Some(DeleteSnapshots::Include);
            world.clock.advance(Duration::from_secs(1));
            // Of a version there is no base to be brought back.
            let _ = world.delete(&name, BlobState::Base, all, false).await;
            for state in super::states(&world, &name).await {
                if let BlobState::Version(_) = state {
                    let _ = world.delete(&name, state, None, false).await;
                }
            }
            if world.undelete(&name).await.is_ok() {
                let _ = world.delete(&name, BlobState::Base, all, false).await;
            }
        }
        for state in super::states(&world, &name).await {
            let _ = world.delete(&name, state, None, false).await;
        }
    }
    world.versioning = false;
    world.wait(DAY * (KEPT_DAYS + 1)).await;
    let commits = world.sweeping_commits().await;
    // Several servers beat meanwhile.
    if SERVERS == 1 {
        assert!((3..=40).contains(&commits), "{commits} commits");
    }
    assert_eq!(world.get("source", BlobState::Base).await.unwrap(), bytes_of("chunk"));
    world.keep_deleted(false).await;
    world.delete("source", BlobState::Base, None, false).await.unwrap();
    world.sweep().await;
    assert_eq!(world.left().await, Vec::<String>::new());
    assert_eq!(world.servers().engine().extents().stats().live_bytes, 0);
    assert_eq!(world.servers().passed_over(), 0);
}

#[tokio::test]
async fn many_blobs_that_expire_go_in_few_commits() {
    let world = World::new().await;
    world.put("source", "chunk").await.unwrap();
    let end = Timestamp(world.servers().now().0 + 600_000_000);
    for number in 0..MANY {
        let name = format!("{number}");
        match number % 2 {
            0 => world.copy("source", &name).await,
            _ => _ = world.put(&name, "other").await.unwrap(),
        }
        if number % 5 == 0 {
            world.snapshot(&name).await.unwrap();
        }
        let (preconditions, expiry) = (Preconditions::default(), Expiry::At(end));
        let input = SetBlobExpiry { at: at(&name), preconditions, expiry };
        input.execute(world.servers(), &world.context).await.unwrap();
    }
    world.wait(DAY).await;
    let commits = world.sweeping_commits().await;
    if SERVERS == 1 {
        // The snapshots of each name are swept by themselves.
        assert!((3..=MANY as u64 / 5 + 30).contains(&commits), "{commits} commits");
    }
    assert_eq!(world.get("source", BlobState::Base).await.unwrap(), bytes_of("chunk"));
    world.delete("source", BlobState::Base, None, false).await.unwrap();
    world.sweep().await;
    assert_eq!(world.left().await, Vec::<String>::new());
    assert_eq!(world.servers().engine().extents().stats().live_bytes, 0);
}
