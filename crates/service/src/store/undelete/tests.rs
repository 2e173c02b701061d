//! What happens between two of the commits in which snapshots are taken away or come back.

use std::sync::Arc;
use std::time::Duration;

use lazuli_engine::host::{Clock, ManualClock};
use lazuli_engine::{Engine, Host, Plan};
use lazuli_model::access::PublicAccess;
use lazuli_model::admission::Preconditions;
use lazuli_model::metadata::Metadata;
use lazuli_model::operation::{Service, policy};
use lazuli_model::service_properties::RetentionPolicy;
use lazuli_model::version::ApiVersion;

use super::*;
use crate::blob::*;
use crate::fault::Fault;
use crate::shared::service_properties::SetServiceProperties;
use crate::store::key::Generation;
use crate::{Body, Context, ServiceOptions, Services};

/// So many snapshots of 8 kB are some commits' work.
const MANY: usize = 60;
const DAY: Duration = Duration::from_secs(86_400);
const KEPT_DAYS: u32 = 3;

struct World {
    services: Services,
    context: Context,
    clock: Arc<ManualClock>,
}

fn at() -> BlobAddress {
    BlobAddress { container: "c".into(), blob: "b".into() }
}

impl World {
    async fn new() -> Self {
        let host = Host::test();
        let Clock::Manual(clock) = host.clock.clone() else { panic!("a test's clock") };
        let services = Services::new(Engine::memory(host), ServiceOptions::default());
        let world = Self { services, context: Context::of_owner("acct", ApiVersion::NEWEST), clock };
        let input = CreateContainer {
            container: "c".into(),
            metadata: Metadata::default(),
            public_access: PublicAccess::Private,
            default_encryption_scope: None,
            deny_encryption_scope_override: false,
        };
        input.execute(&world.services, &world.context).await.unwrap();
        world.put().await;
        world
    }

    async fn put(&self) {
        let metadata = Metadata::from_stored(vec![("k".into(), "v".repeat(8_000))]);
        let input = PutBlockBlob {
            at: at(),
            preconditions: Preconditions::default(),
            properties: BlobProperties { metadata, ..BlobProperties::default() },
            digests: Digests::default(),
            body: Body::from(bytes::Bytes::from_static(b"bytes")),
            limit: u64::MAX,
        };
        input.execute(&self.services, &self.context).await.unwrap();
    }

    async fn keep_deleted(&self, enabled: bool) {
        let policy = RetentionPolicy { enabled, days: Some(KEPT_DAYS), allow_permanent_delete: None };
        let input = SetServiceProperties { delete_retention: Some(policy), ..Default::default() };
        input.execute(&self.services, &self.context, Service::Blob).await.unwrap();
    }

    async fn snapshots(&self, count: usize) -> Vec<BlobState> {
        let mut all = Vec::new();
        for _ in 0..count {
            let input = SnapshotBlob {
                at: at(),
                preconditions: Preconditions::default(),
                metadata: Metadata::default(),
                customer_key: None,
            };
            let made = input.execute(&self.services, &self.context).await.unwrap();
            all.push(BlobState::Snapshot(made.snapshot));
        }
        all
    }

    async fn delete(&self, state: BlobState, snapshots: Option<DeleteSnapshots>) -> Answer<Deleted> {
        let preconditions = Preconditions::default();
        let input = DeleteBlob { at: at(), state, preconditions, snapshots, is_permanent: false };
        input.execute(&self.services, &self.context).await
    }

    async fn delete_all(&self, is_kept: bool) {
        self.keep_deleted(is_kept).await;
        self.delete(BlobState::Base, Some(DeleteSnapshots::Only)).await.unwrap();
    }

    async fn generation(&self) -> Generation {
        let view = self.services.view(&self.context).await.unwrap();
        view.container_of("c").await.unwrap().generation
    }

    /// One commit of the sweeper's; false when none is left.
    async fn clear(&self) -> bool {
        let generation = self.generation().await;
        let clear = |reader: lazuli_engine::Reader| async move {
            let mut plan = Plan::new(false);
            let now = crate::store::now(&reader);
            plan.output = DeletedSnapshots::clear_some(&reader, &mut plan, generation, "b", now).await?;
            Ok::<_, Fault>(plan)
        };
        self.services.engine().run(None, clear).await.unwrap()
    }

    /// One step of Undelete Blob.
    async fn step(&self, step: &Undeleting) -> Answer<Option<Undeleting>> {
        let undelete = |unit: Unit| async move {
            let found = unit.blob(&at()).await?;
            found.admit(policy::UndeleteBlob, &Preconditions::default())?.undelete(step).await
        };
        self.services.commit(&self.context, undelete).await
    }

    /// From a step on up to the end.
    async fn finish(&self, mut next: Option<Undeleting>) {
        while let Some(step) = next {
            next = self.step(&step).await.unwrap();
        }
    }

    /// How many snapshots are alive, how many are kept, how many keys there are. Of those that are alive the base knows.
    async fn counts(&self) -> (usize, usize, usize) {
        let list = async |deleted: bool| {
            let input = ListBlobs {
                container: "c".into(),
                snapshots: true,
                deleted,
                max_results: 5_000,
                max_bytes: 1 << 24,
                ..ListBlobs::default()
            };
            let list = input.execute(&self.services, &self.context).await.unwrap();
            let is_one = |item: &&BlobListItem| {
                matches!(item, BlobListItem::Blob { state: BlobState::Snapshot(_), .. })
            };
            list.items.iter().filter(is_one).count()
        };
        let (alive, all) = (list(false).await, list(true).await);
        let view = self.services.view(&self.context).await.unwrap();
        let base = view.blob(&at()).await.unwrap();
        if let Some(Existing::Blob(base)) = base.record() {
            assert_eq!(base.snapshots as usize, alive);
        }
        let range = key::snapshots_of(self.generation().await, "b");
        let page = view.reader().scan(Scan { keys_only: true, ..Scan::of(range) }).await.unwrap();
        assert!(!page.more);
        (alive, all - alive, page.items.len())
    }
}

/// A pass that began before a deletion leaves nothing of it behind, and brings nothing back.
#[tokio::test]
async fn what_is_deleted_between_two_commits_of_the_sweeper_stays_deleted() {
    for (first, second) in [(false, false), (true, false), (false, true), (true, true)] {
        for commits in 0..6 {
            let world = World::new().await;
            world.snapshots(MANY).await;
            world.delete_all(first).await;
            world.snapshots(MANY).await;
            if first {
                world.clock.advance(DAY * KEPT_DAYS);
            }
            for _ in 0..commits {
                world.clear().await;
            }
            world.delete_all(second).await;
            world.snapshots(3).await;
            let kept = if second { MANY } else { 0 };
            let (alive, kept_now, _) = world.counts().await;
            assert_eq!((alive, kept_now), (3, kept), "{first} {second} {commits}");
            while world.clear().await {}
            assert_eq!(world.counts().await, (3, kept, 3 + kept), "{first} {second} {commits}");
            world.clock.advance(DAY * KEPT_DAYS);
            while world.clear().await {}
            assert_eq!(world.counts().await, (3, 0, 3), "{first} {second} {commits}");
        }
    }
}

/// More that is kept than the sweeper deletes in a pass does not bring it back to its beginning.
#[tokio::test]
async fn a_pass_over_what_is_kept_comes_to_its_end() {
    let world = World::new().await;
    world.keep_deleted(true).await;
    for snapshot in world.snapshots(MANY).await {
        world.delete(snapshot, None).await.unwrap();
    }
    world.snapshots(MANY).await;
    world.delete_all(false).await;
    let mut commits = 1;
    while world.clear().await {
        commits += 1;
    }
    assert_eq!(world.counts().await, (0, MANY, MANY));
    assert!((5..20).contains(&commits), "{commits}");
}

/// Whatever others delete between two steps of Undelete Blob, what has come back is there and counted, and what is gone is
/// not.
#[tokio::test]
async fn what_is_deleted_between_two_steps_of_undelete_is_not_half_deleted() {
    for is_kept in [false, true] {
        for steps in 0..16 {
            let world = World::new().await;
            world.keep_deleted(true).await;
            // Some by themselves, some together.
            for snapshot in world.snapshots(MANY).await {
                world.delete(snapshot, None).await.unwrap();
            }
            world.snapshots(MANY).await;
            world.delete_all(true).await;
            let mut next = Some(Undeleting::default());
            for _ in 0..steps {
                if let Some(step) = next {
                    next = world.step(&step).await.unwrap();
                }
            }
            let (alive, ..) = world.counts().await;
            world.snapshots(1).await;
            world.delete_all(is_kept).await;
            world.snapshots(1).await;
            world.finish(next.clone()).await;
            let (now, kept, _) = world.counts().await;
            // Behind the snapshots come the versions, of which there are none.
            match (is_kept, next.filter(|next| next.phase != Phase::Versions)) {
                // What was deleted while it went on comes back with the rest.
                (true, Some(_)) => assert_eq!((now, kept), (2 * MANY + 2, 0), "{steps}"),
                (true, None) => assert_eq!((now, kept), (1, 2 * MANY + 1)),
                (false, Some(_)) => assert_eq!((now, kept), (2 * MANY - alive + 1, 0), "{steps}"),
                (false, None) => assert_eq!((now, kept), (1, 0)),
            }
            while world.clear().await {}
            world.finish(Some(Undeleting::default())).await;
            let expected = if is_kept { 2 * MANY + 2 } else { now };
            assert_eq!(world.counts().await, (expected, 0, expected), "{is_kept} {steps}");
        }
    }
}

/// The time of some comes between two steps.
#[tokio::test]
async fn what_expires_between_two_steps_of_undelete_does_not_come_back() {
    for steps in 1..14 {
        let world = World::new().await;
        world.snapshots(MANY).await;
        world.delete_all(true).await;
        world.clock.advance(DAY);
        for snapshot in world.snapshots(MANY).await {
            world.delete(snapshot, None).await.unwrap();
        }
        world.snapshots(MANY).await;
        world.delete_all(true).await;
        let mut next = Some(Undeleting::default());
        for _ in 0..steps {
            if let Some(step) = next {
                next = world.step(&step).await.unwrap();
            }
        }
        world.clock.advance(DAY * (KEPT_DAYS - 1));
        world.finish(next).await;
        let expected = if steps == 1 { 2 * MANY } else { 3 * MANY };
        assert_eq!(world.counts().await, (expected, 0, expected), "{steps}");
    }
}

/// A client that deletes all snapshots for good again and again does not keep Undelete Blob busy for ever.
#[tokio::test]
async fn undelete_does_not_begin_again_for_ever() {
    let world = World::new().await;
    let mut next = Undeleting::default();
    let refused = loop {
        next = match world.step(&next).await {
            Ok(next) => next.unwrap(),
            Err(refused) => break refused,
        };
        if next.phase != Phase::Clear {
            world.snapshots(25).await;
            world.delete_all(false).await;
        }
    };
    assert_eq!((refused.0.code, next.returned), (ErrorCode::ServerBusy, RETURNS_MAX));
}
