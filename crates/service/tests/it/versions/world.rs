//! An account whose versioning and retention are switched on and off, and short names for what is done in it.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use lazuli_engine::Host;
use lazuli_engine::host::{Clock, ManualClock};
use lazuli_model::access::PublicAccess;
use lazuli_model::account::AccountFeatures;
use lazuli_model::admission::Preconditions;
use lazuli_model::metadata::Metadata;
use lazuli_model::operation::{Op, Service, WritingOp, policy};
use lazuli_model::service_properties::RetentionPolicy;
use lazuli_model::version::ApiVersion;
use lazuli_service::blob::*;
use lazuli_service::shared::service_properties::SetServiceProperties;
use lazuli_service::{Answer, Body, Context, ServiceOptions};

use crate::SERVERS;
use crate::support::{at, copying, drain};
use crate::testing::Servers;

pub const DAY: Duration = Duration::from_secs(86_400);
pub const KEPT_DAYS: u32 = 3;

/// One account over one engine, by servers that have versioning on and by others that have it off.
pub struct World {
    with_versions: Servers,
    without: Servers,
    pub versioning: bool,
    pub context: Context,
    pub clock: Arc<ManualClock>,
}

impl World {
    pub async fn new() -> Self {
        let host = Host::test();
        let Clock::Manual(clock) = host.clock.clone() else { panic!("a test's clock") };
        let engine = crate::testing::engine(host).await;
        let mut features = AccountFeatures::default();
        features.entry("acct").container_soft_delete = Some(KEPT_DAYS);
        let off = ServiceOptions { features: Arc::new(features.clone()), ..ServiceOptions::default() };
        features.entry("acct").versioning = true;
        let on = ServiceOptions { features: Arc::new(features), ..ServiceOptions::default() };
        let world = Self {
            with_versions: Servers::new(engine.clone(), on, SERVERS).await,
            without: Servers::new(engine, off, SERVERS).await,
            versioning: false,
            context: Context::of_owner("acct", ApiVersion::NEWEST),
            clock,
        };
        world.create_container("c").await.unwrap();
        world
    }

    pub fn servers(&self) -> &Servers {
        if self.versioning { &self.with_versions } else { &self.without }
    }

    pub async fn create_container(&self, name: &str) -> Answer<Stamped> {
        let input = CreateContainer {
            container: name.into(),
            metadata: Metadata::default(),
            public_access: PublicAccess::Private,
            default_encryption_scope: None,
            deny_encryption_scope_override: false,
        };
        input.execute(self.servers(), &self.context).await
    }

    pub async fn keep_deleted(&self, enabled: bool) {
        let policy =
            RetentionPolicy { enabled, days: Some(KEPT_DAYS), allow_permanent_delete: Some(enabled) };
        let input = SetServiceProperties { delete_retention: Some(policy), ..Default::default() };
        input.execute(self.servers(), &self.context, Service::Blob).await.unwrap();
    }

    fn properties(label: &str) -> BlobProperties {
        BlobProperties { metadata: marked(label), ..BlobProperties::default() }
    }

    pub async fn put(&self, name: &str, label: &str) -> Answer<Stamped> {
        let input = PutBlockBlob {
            at: at(name),
            preconditions: Preconditions::default(),
            properties: Self::properties(label),
            digests: Digests::default(),
            body: Body::from(Bytes::from(bytes_of(label))),
            limit: u64::MAX,
        };
        Ok(input.execute(self.servers(), &self.context).await?.stamped)
    }

    /// A block of its own in front of a block that the blob has already, if it has one.
    pub async fn put_list(&self, name: &str, label: &str, keeps: bool) -> Answer<Stamped> {
        let block = PutBlock {
            at: at(name),
            preconditions: Preconditions::default(),
            block_id: label.as_bytes().to_vec(),
            digests: Digests::default(),
            body: Body::from(Bytes::from(bytes_of(label))),
            limit: u64::MAX,
            customer_key: None,
        };
        block.execute(self.servers(), &self.context).await?;
        let mut blocks = vec![(BlockSource::Latest, label.as_bytes().to_vec())];
        if keeps && let Some(old) = self.blocks(name).await {
            blocks.push((BlockSource::Committed, old));
        }
        let input = PutBlockList {
            at: at(name),
            preconditions: Preconditions::default(),
            properties: Self::properties(label),
            blocks,
        };
        input.execute(self.servers(), &self.context).await
    }

    /// The id of the first committed block.
    pub async fn blocks(&self, name: &str) -> Option<Vec<u8>> {
        let input = GetBlockList {
            at: at(name),
            snapshot: None,
            kind: BlockListKind::Committed,
            preconditions: Preconditions::default(),
        };
        let lists = input.execute(self.servers(), &self.context).await.ok()?;
        let mut first = None;
        let show = |id: &[u8], _| {
            first.get_or_insert_with(|| id.to_vec());
        };
        lists.committed(show).await.ok()?;
        first
    }

    pub async fn mark(&self, name: &str, label: &str) -> Answer<Stamped> {
        let input = SetBlobMetadata {
            at: at(name),
            preconditions: Preconditions::default(),
            metadata: marked(label),
            customer_key: None,
        };
        input.execute(self.servers(), &self.context).await
    }

    pub async fn snapshot(&self, name: &str) -> Answer<Snapshotted> {
        let input = SnapshotBlob {
            at: at(name),
            preconditions: Preconditions::default(),
            metadata: Metadata::default(),
            customer_key: None,
        };
        input.execute(self.servers(), &self.context).await
    }

    pub async fn delete(
        &self,
        name: &str,
        state: BlobState,
        snapshots: Option<DeleteSnapshots>,
        is_permanent: bool,
    ) -> Answer<Deleted> {
        let preconditions = Preconditions::default();
        let input = DeleteBlob { at: at(name), state, preconditions, snapshots, is_permanent };
        input.execute(self.servers(), &self.context).await
    }

    pub async fn undelete(&self, name: &str) -> Answer<()> {
        let input = UndeleteBlob { at: at(name), preconditions: Preconditions::default() };
        input.execute(self.servers(), &self.context).await
    }

    /// A version, or a snapshot, over the base.
    pub async fn promote(&self, name: &str, state: BlobState) -> Answer<Copied> {
        let source = OwnSource {
            account: self.context.account.clone(),
            at: at(name),
            state,
            preconditions: Preconditions::default(),
            customer_key: None,
        };
        let op = WritingOp::of(Op::CopyBlob).unwrap();
        copying(CopySource::Own(source), name).execute(self.servers(), &self.context, op).await
    }

    pub async fn get(&self, name: &str, state: BlobState) -> Answer<Vec<u8>> {
        let properties = GetBlobProperties {
            at: at(name),
            state,
            preconditions: Preconditions::default(),
            customer_key: None,
        };
        let input = GetBlob { properties, range: None };
        let (_, content) = input.execute(self.servers(), &self.context, policy::GetBlob).await?;
        drain(content.map_err(lazuli_service::Fault::from)?.1).await
    }

    pub async fn page(&self, input: ListBlobs) -> BlobList {
        input.execute(self.servers(), &self.context).await.unwrap()
    }

    /// All pages, of so many entries.
    pub async fn list(&self, asked: &ListBlobs, max_results: usize) -> Vec<BlobListItem> {
        let mut input = ListBlobs { container: "c".into(), max_results, max_bytes: 1 << 20, ..asked.clone() };
        let mut items = Vec::new();
        for _ in 0..10_000 {
            let page = self.page(input.clone()).await;
            assert!(page.items.len() <= max_results);
            items.extend(page.items);
            match page.next {
                Some(next) => input.marker = Some(next),
                None => return items,
            }
        }
        panic!("the listing finds no end");
    }

    pub async fn sweep(&self) {
        self.servers().sweep().await;
        self.beat().await;
    }

    pub async fn wait(&self, time: Duration) {
        self.clock.advance(time);
        self.beat().await;
    }

    /// Of several servers, none counts as dead because the clock has jumped.
    pub async fn beat(&self) {
        if SERVERS > 1 {
            let all = self.with_versions.all().iter().chain(self.without.all());
            for server in all {
                server.beat().await.unwrap();
            }
        }
    }
}

fn marked(label: &str) -> Metadata {
    Metadata::from_stored(vec![("label".to_owned(), label.to_owned())])
}

/// Inline or a chunk.
pub fn bytes_of(label: &str) -> Vec<u8> {
    let length = if label.len().is_multiple_of(2) { 10 } else { 20_000 };
    label.as_bytes().iter().copied().cycle().take(length).collect()
}

pub fn everything() -> ListBlobs {
    ListBlobs {
        snapshots: true,
        versions: true,
        deleted: true,
        deleted_with_versions: true,
        ..ListBlobs::default()
    }
}

pub const NAMES: [&str; 2] = ["a", "a/b"];

/// The real states of what is kept of a name, in the order of the model's.
pub async fn states(world: &World, name: &str) -> Vec<BlobState> {
    let asked = ListBlobs { prefix: name.to_owned(), ..everything() };
    let items = world.list(&asked, 1_000).await;
    let state = |item: &BlobListItem| match item {
        BlobListItem::Blob { name: of, state, .. } if of == name && *state != BlobState::Base => Some(*state),
        _ => None,
    };
    items.iter().filter_map(state).collect()
}

/// Everything is deleted for good, in its time.
pub async fn finish(mut world: World) {
    world.versioning = false;
    world.keep_deleted(false).await;
    for name in NAMES {
        // What is deleted already is not found.
        let _ = world.delete(name, BlobState::Base, Some(DeleteSnapshots::Include), false).await;
        for state in states(&world, name).await {
            let _ = world.delete(name, state, None, false).await;
        }
    }
    world.wait(DAY * (KEPT_DAYS + 1)).await;
    world.sweep().await;
    let bench = crate::support::Bench { services: world.without.clone(), context: world.context.clone() };
    let left: Vec<String> = bench.keys().await.into_iter().filter(|key| !key.starts_with('p')).collect();
    assert_eq!(left, vec!["cacct\\x00c".to_owned()], "keys left behind");
    assert_eq!(bench.services.engine().extents().stats().live_bytes, 0, "chunks left behind");
    assert_eq!(world.without.passed_over(), 0);
}
