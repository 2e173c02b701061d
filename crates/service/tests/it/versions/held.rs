//! Immutability policies and legal holds on accounts that keep versions: what is held and replaced stays, held, as a version,
//! and nothing ends it.

use lazuli_model::Timestamp;
use lazuli_model::admission::{Hold, Preconditions};
use lazuli_model::blob::{ImmutabilityMode, ImmutabilityPolicy};
use lazuli_model::operation::policy;
use lazuli_service::Answer;
use lazuli_service::blob::*;

use super::world::{DAY, KEPT_DAYS, NAMES, World, bytes_of, finish};
use crate::support::{at, code};

const LEGAL: &str = "BlobImmutableDueToLegalHold";
const POLICY: &str = "BlobImmutableDueToPolicy";
const NAME: &str = NAMES[0];

impl World {
    async fn hold(&self, state: BlobState, hold: bool) -> Answer<()> {
        let preconditions = Preconditions::default();
        let input = SetBlobLegalHold { at: at(NAME), state, preconditions, hold };
        input.execute(self.servers(), &self.context).await
    }

    async fn protect(&self, state: BlobState, days: i64) -> Answer<()> {
        let until = self.servers().now().plus_seconds(days * 86_400);
        let policy = ImmutabilityPolicy { until, mode: ImmutabilityMode::Unlocked };
        let preconditions = Preconditions::default();
        let input = SetBlobImmutabilityPolicy { at: at(NAME), state, preconditions, policy };
        input.execute(self.servers(), &self.context).await
    }

    async fn unprotect(&self, state: BlobState) -> Answer<()> {
        let input =
            DeleteBlobImmutabilityPolicy { at: at(NAME), state, preconditions: Preconditions::default() };
        input.execute(self.servers(), &self.context).await
    }

    async fn held(&self, state: BlobState) -> Hold {
        let input = GetBlobProperties {
            at: at(NAME),
            state,
            preconditions: Preconditions::default(),
            customer_key: None,
        };
        let found = input.execute(self.servers(), &self.context, policy::GetBlobProperties).await;
        found.unwrap().blob.hold()
    }

    async fn delete_container(&self) -> String {
        let input = DeleteContainer { container: "c".into(), preconditions: Preconditions::default() };
        code(input.execute(self.servers(), &self.context).await)
    }

    async fn replace(&self, way: &str, label: &str) -> Option<Timestamp> {
        let stamped = match way {
            "put" => self.put(NAME, label).await,
            "list" => self.put_list(NAME, label, false).await,
            "list that keeps blocks" => self.put_list(NAME, label, true).await,
            _ => {
                self.put("source", label).await.unwrap();
                let source = OwnSource {
                    account: self.context.account.clone(),
                    at: at("source"),
                    state: BlobState::Base,
                    preconditions: Preconditions::default(),
                    customer_key: None,
                };
                let op = lazuli_model::operation::WritingOp::of(lazuli_model::operation::Op::CopyBlob);
                let copy = crate::support::copying(CopySource::Own(source), NAME);
                let copied = copy.execute(self.servers(), &self.context, op.unwrap()).await;
                copied.map(|copied| copied.stamped)
            }
        };
        stamped.unwrap().version
    }
}

/// The two ways in which something is held, with what Delete Blob and Delete Container say then.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    Legal,
    Policy,
}

impl Way {
    const ALL: [Self; 2] = [Self::Legal, Self::Policy];

    async fn hold(self, world: &World, state: BlobState) -> Answer<()> {
        match self {
            Self::Legal => world.hold(state, true).await,
            Self::Policy => world.protect(state, 30).await,
        }
    }

    async fn lift(self, world: &World, state: BlobState) -> Answer<()> {
        match self {
            Self::Legal => world.hold(state, false).await,
            Self::Policy => world.unprotect(state).await,
        }
    }

    fn refusal(self) -> &'static str {
        if self == Self::Legal { LEGAL } else { POLICY }
    }

    fn refusal_of_container(self) -> &'static str {
        if self == Self::Legal { "ContainerHasLegalHold" } else { POLICY }
    }
}

async fn world() -> World {
    let mut world = World::new().await;
    world.versioning = true;
    world
}

#[tokio::test]
async fn what_replaces_a_held_blob_leaves_it_as_a_held_version() {
    for replacement in ["put", "list", "list that keeps blocks", "copy"] {
        for way in Way::ALL {
            let world = world().await;
            let first = world.put_list(NAME, "first", false).await.unwrap().version.unwrap();
            way.hold(&world, BlobState::Base).await.unwrap();
            let held = world.held(BlobState::Base).await;
            let second = world.replace(replacement, "second").await.unwrap();
            assert!(second > first);
            let old = BlobState::Version(first);
            assert_eq!(world.get(NAME, old).await.unwrap(), bytes_of("first"), "{replacement} {way:?}");
            assert_eq!(world.held(old).await, held, "{replacement}");
            assert_eq!(world.held(BlobState::Base).await, Hold::NONE, "what is new is not held");
            assert_eq!(code(world.delete(NAME, old, None, false).await), way.refusal());
            // The new one is deleted without the old one: it becomes a version itself.
            world.delete(NAME, BlobState::Base, None, false).await.unwrap();
            world.delete(NAME, BlobState::Version(second), None, false).await.unwrap();
            world.sweep().await;
            assert_eq!(world.get(NAME, old).await.unwrap(), bytes_of("first"), "{replacement} {way:?}");
            assert_eq!(world.delete_container().await, way.refusal_of_container());
            way.lift(&world, old).await.unwrap();
            world.delete(NAME, old, None, false).await.unwrap();
            let _ = world.delete("source", BlobState::Base, None, false).await;
            for state in super::states(&world, "source").await {
                world.delete("source", state, None, false).await.unwrap();
            }
            finish(world).await;
        }
    }
}

/// An account whose versioning was switched off makes no version of a blob that has none.
#[tokio::test]
async fn without_versions_what_is_held_is_not_replaced() {
    let mut world = World::new().await;
    world.put(NAME, "first").await.unwrap();
    world.hold(BlobState::Base, true).await.unwrap();
    assert_eq!(code(world.put(NAME, "second").await), LEGAL);
    world.versioning = true;
    let second = world.put(NAME, "second").await.unwrap().version;
    let first = super::states(&world, NAME).await[0];
    assert_eq!((world.get(NAME, first).await.unwrap(), second.is_some()), (bytes_of("first"), true));
    assert_eq!(code(world.delete(NAME, first, None, false).await), LEGAL);
    world.hold(first, false).await.unwrap();
    finish(world).await;
}

/// By its id, for good, by the sweeper of what was soft deleted, with its container, with a soft-deleted container.
#[tokio::test]
async fn a_held_version_outlives_every_deletion() {
    for way in Way::ALL {
        let world = world().await;
        world.keep_deleted(true).await;
        let version = BlobState::Version(world.put(NAME, "first").await.unwrap().version.unwrap());
        world.put(NAME, "second").await.unwrap();
        // A version is held as the current one is, and freed again.
        way.hold(&world, version).await.unwrap();
        way.lift(&world, version).await.unwrap();
        assert_eq!(world.held(version).await, Hold::NONE);
        // What is soft deleted is not there to be held, before it is brought back.
        world.delete(NAME, version, None, false).await.unwrap();
        assert_eq!(code(way.hold(&world, version).await), "BlobNotFound");
        world.undelete(NAME).await.unwrap();
        way.hold(&world, version).await.unwrap();
        assert_eq!(code(world.delete(NAME, version, None, false).await), way.refusal());
        assert_eq!(code(world.delete(NAME, version, None, true).await), "BlobNotFound", "not soft deleted");
        assert_eq!(world.delete_container().await, way.refusal_of_container());
        world.delete(NAME, BlobState::Base, Some(DeleteSnapshots::Include), false).await.unwrap();
        // The time of the deletion before is over, too.
        for _ in 0..2 {
            world.wait(DAY * KEPT_DAYS).await;
            world.sweep().await;
        }
        assert_eq!(world.get(NAME, version).await.unwrap(), bytes_of("first"), "{way:?}");
        assert_eq!(code(world.delete(NAME, version, None, false).await), way.refusal());
        assert_eq!(world.delete_container().await, way.refusal_of_container());
        way.lift(&world, version).await.unwrap();
        // A container that is soft deleted holds nothing that is held.
        assert_eq!(world.delete_container().await, "ok");
        world.wait(DAY * KEPT_DAYS).await;
        world.sweep().await;
        world.create_container("c").await.unwrap();
        finish(world).await;
    }
}

/// A policy ends by the clock, for a version as for a blob; and leaves no key behind.
#[tokio::test]
async fn a_version_is_held_until_its_policy_ends() {
    let world = world().await;
    world.keep_deleted(true).await;
    world.put(NAME, "first").await.unwrap();
    world.protect(BlobState::Base, 2).await.unwrap();
    let version = BlobState::Version(world.put(NAME, "second").await.unwrap().version.unwrap());
    let first = super::states(&world, NAME).await[0];
    // The id of the current version is the base's.
    world.protect(version, 1).await.unwrap();
    assert!(world.held(BlobState::Base).await.policy.is_some());
    world.wait(DAY).await;
    assert_eq!(code(world.delete(NAME, BlobState::Base, None, false).await), "ok");
    assert_eq!(code(world.delete(NAME, version, None, false).await), "ok");
    assert_eq!(code(world.delete(NAME, first, None, false).await), POLICY);
    world.wait(DAY).await;
    assert_eq!(code(world.delete(NAME, first, None, false).await), "ok");
    world.wait(DAY * KEPT_DAYS).await;
    world.sweep().await;
    assert!(super::states(&world, NAME).await.is_empty());
    finish(world).await;
}

/// Snapshot Blob makes a version of what the base was: both stay held, the snapshot is not.
#[tokio::test]
async fn a_snapshot_of_a_held_blob_leaves_a_held_version() {
    let world = world().await;
    let first = world.put(NAME, "first").await.unwrap().version.unwrap();
    world.hold(BlobState::Base, true).await.unwrap();
    let snapshot = BlobState::Snapshot(world.snapshot(NAME).await.unwrap().snapshot);
    let first = BlobState::Version(first);
    for (state, legal) in [(BlobState::Base, true), (first, true), (snapshot, false)] {
        assert_eq!(world.held(state).await.legal, legal, "{state:?}");
    }
    world.hold(BlobState::Base, false).await.unwrap();
    world.delete(NAME, BlobState::Base, Some(DeleteSnapshots::Include), false).await.unwrap();
    assert_eq!(code(world.delete(NAME, first, None, false).await), LEGAL);
    assert_eq!(world.delete_container().await, "ContainerHasLegalHold");
    world.hold(first, false).await.unwrap();
    finish(world).await;
}

/// Of a hold and what would end the version, one comes first, and the other is told.
#[tokio::test]
async fn a_hold_on_a_version_and_its_deletion_do_not_both_succeed() {
    for round in 0..40 {
        let world = world().await;
        world.keep_deleted(round % 4 < 2).await;
        let version = BlobState::Version(world.put(NAME, "first").await.unwrap().version.unwrap());
        world.put(NAME, "second").await.unwrap();
        let way = Way::ALL[round % 2];
        let (holding, deleting) = tokio::join!(way.hold(&world, version), async {
            match round % 3 {
                0 => world.delete_container().await,
                _ => code(world.delete(NAME, version, None, false).await),
            }
        });
        assert_ne!(code(holding) == "ok", deleting == "ok", "round {round}");
    }
}

/// A write that replaces a blob and a hold on it meet: whichever comes first, what was held stays.
#[tokio::test]
async fn a_hold_and_an_overwrite_leave_nothing_that_was_held_behind() {
    for _ in 0..20 {
        let world = world().await;
        let first = world.put(NAME, "first").await.unwrap().version.unwrap();
        let current = BlobState::Version(first);
        let (holding, replacing) = tokio::join!(world.hold(current, true), world.put(NAME, "second"));
        holding.unwrap();
        replacing.unwrap();
        assert!(world.held(current).await.legal);
        assert_eq!(code(world.delete(NAME, current, None, false).await), LEGAL);
        assert_eq!(world.get(NAME, current).await.unwrap(), bytes_of("first"));
    }
}
