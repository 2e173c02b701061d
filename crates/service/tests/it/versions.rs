//! Versions, soft delete and undelete against a plain model: what is listed and read is what the model says, whatever was
//! switched on and off meanwhile; and when everything is deleted and its time has come, nothing is left.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use lazuli_engine::host::{Clock, ManualClock};
use lazuli_engine::{Engine, Host};
use lazuli_model::Timestamp;
use lazuli_model::access::PublicAccess;
use lazuli_model::account::AccountFeatures;
use lazuli_model::admission::Preconditions;
use lazuli_model::blob::BlobType;
use lazuli_model::error::ErrorCode;
use lazuli_model::metadata::Metadata;
use lazuli_model::operation::{Op, Service, WritingOp, policy};
use lazuli_model::service_properties::RetentionPolicy;
use lazuli_model::version::ApiVersion;
use lazuli_service::blob::*;
use lazuli_service::shared::service_properties::SetServiceProperties;
use lazuli_service::{Answer, Body, Context, ServiceOptions};
use proptest::prelude::*;

use crate::SERVERS;
use crate::support::{at, copying, drain};
use crate::testing::Servers;

const DAY: Duration = Duration::from_secs(86_400);
const KEPT_DAYS: u32 = 3;

/// One account over one engine, by servers that have versioning on and by others that have it off.
pub struct World {
    with_versions: Servers,
    without: Servers,
    pub versioning: bool,
    context: Context,
    pub clock: Arc<ManualClock>,
}

impl World {
    pub async fn new() -> Self {
        let host = Host::test();
        let Clock::Manual(clock) = host.clock.clone() else { panic!("a test's clock") };
        let engine = Engine::memory(host);
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

    fn servers(&self) -> &Servers {
        if self.versioning { &self.with_versions } else { &self.without }
    }

    async fn create_container(&self, name: &str) -> Answer<Stamped> {
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
    async fn put_list(&self, name: &str, label: &str, keeps: bool) -> Answer<Stamped> {
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
    async fn blocks(&self, name: &str) -> Option<Vec<u8>> {
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

    async fn mark(&self, name: &str, label: &str) -> Answer<Stamped> {
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
    async fn promote(&self, name: &str, state: BlobState) -> Answer<Copied> {
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

    async fn get(&self, name: &str, state: BlobState) -> Answer<Vec<u8>> {
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

    async fn page(&self, input: ListBlobs) -> BlobList {
        input.execute(self.servers(), &self.context).await.unwrap()
    }

    /// All pages, of so many entries.
    async fn list(&self, asked: &ListBlobs, max_results: usize) -> Vec<BlobListItem> {
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

    async fn sweep(&self) {
        self.servers().sweep().await;
        self.beat().await;
    }

    async fn wait(&self, time: Duration) {
        self.clock.advance(time);
        self.beat().await;
    }

    /// Of several servers, none counts as dead because the clock has jumped.
    async fn beat(&self) {
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
fn bytes_of(label: &str) -> Vec<u8> {
    let length = if label.len().is_multiple_of(2) { 10 } else { 20_000 };
    label.as_bytes().iter().copied().cycle().take(length).collect()
}

fn everything() -> ListBlobs {
    ListBlobs {
        snapshots: true,
        versions: true,
        deleted: true,
        deleted_with_versions: true,
        ..ListBlobs::default()
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Snapshot,
    Version,
    Base,
    VersionsOnly,
}

/// An entry of a listing as the model knows it.
type Listed = (String, Kind, bool, String);

fn seen(item: &BlobListItem) -> Option<Listed> {
    let entry = |name: &str, kind, blob: &BlobRecord| {
        let label = blob.metadata.get("label").unwrap_or_default().to_owned();
        Some((name.to_owned(), kind, blob.extras().deletion.is_some(), label))
    };
    match item {
        BlobListItem::Blob { name, state, blob } => match state {
            BlobState::Base => entry(name, Kind::Base, blob),
            BlobState::Snapshot(_) => entry(name, Kind::Snapshot, blob),
            BlobState::Version(_) => entry(name, Kind::Version, blob),
        },
        BlobListItem::VersionsOnly { name, blob } => {
            let label = blob.metadata.get("label").unwrap_or_default().to_owned();
            Some((name.clone(), Kind::VersionsOnly, false, label))
        }
        BlobListItem::Uncommitted { .. } | BlobListItem::Prefix(_) => None,
    }
}

#[derive(Clone, Debug)]
struct Kept {
    kind: Kind,
    label: String,
    bytes: Vec<u8>,
    /// When it is gone, in seconds of the model.
    until: Option<u64>,
}

#[derive(Clone, Debug)]
struct Base {
    label: String,
    bytes: Vec<u8>,
    is_version: bool,
}

/// One name. What is kept of it lies in the order of its moments.
#[derive(Clone, Debug, Default)]
struct Model {
    base: Option<Base>,
    deleted: Option<(Base, u64)>,
    past: Vec<Kept>,
}

#[derive(Clone, Copy, Debug)]
struct Settings {
    versioning: bool,
    keeps: bool,
    now: u64,
}

impl Settings {
    fn until(self) -> Option<u64> {
        self.keeps.then_some(self.now + u64::from(KEPT_DAYS) * DAY.as_secs())
    }
}

impl Model {
    fn forget(&mut self, now: u64) {
        self.past.retain(|kept| kept.until.is_none_or(|until| until > now));
        self.deleted.take_if(|(_, until)| *until <= now);
    }

    fn leave(&mut self, kind: Kind, base: Base, until: Option<u64>) {
        self.past.push(Kept { kind, label: base.label, bytes: base.bytes, until });
    }

    fn replace(&mut self, label: &str, bytes: Vec<u8>, at: Settings) {
        if let Some((base, until)) = self.deleted.take() {
            self.leave(Kind::Snapshot, base, Some(until));
        }
        if let Some(old) = self.base.take() {
            if old.is_version || at.versioning {
                self.leave(Kind::Version, old, None);
            } else if at.keeps {
                self.leave(Kind::Snapshot, old, at.until());
            }
        }
        self.base = Some(Base { label: label.to_owned(), bytes, is_version: at.versioning });
    }

    /// A change that makes a version and keeps the content.
    fn renew(&mut self, at: Settings) {
        let Some(base) = self.base.clone() else { return };
        if base.is_version || at.versioning {
            self.leave(Kind::Version, base, None);
            self.base.as_mut().unwrap().is_version = at.versioning;
        }
    }

    fn alive(&self, kind: Kind) -> usize {
        self.past.iter().filter(|kept| kept.kind == kind && kept.until.is_none()).count()
    }

    fn delete_snapshots(&mut self, at: Settings) {
        for kept in &mut self.past {
            if kept.kind == Kind::Snapshot && kept.until.is_none() {
                kept.until = Some(at.until().unwrap_or(0));
            }
        }
        self.forget(at.now);
    }

    fn listed(&self, name: &str) -> Vec<Listed> {
        let entry = |kind, until: Option<u64>, label: &str| {
            (name.to_owned(), kind, until.is_some(), label.to_owned())
        };
        let mut all: Vec<Listed> =
            self.past.iter().map(|kept| entry(kept.kind, kept.until, &kept.label)).collect();
        let last = self.past.iter().rfind(|kept| kept.kind == Kind::Version);
        match (&self.base, &self.deleted, last) {
            (Some(base), _, _) => all.push(entry(Kind::Base, None, &base.label)),
            (None, Some((base, until)), _) => all.push(entry(Kind::Base, Some(*until), &base.label)),
            (None, None, last) => {
                all.extend(last.map(|kept| entry(Kind::VersionsOnly, None, &kept.label)));
            }
        }
        all
    }
}

#[derive(Clone, Debug)]
enum Act {
    Versioning(bool),
    KeepDeleted(bool),
    Put(u8),
    List(u8, bool),
    Mark(u8),
    Snapshot(u8),
    Delete(u8, Option<bool>),
    DeletePast(u8, usize, bool),
    Promote(u8, usize),
    Undelete(u8),
    Wait(u8),
    Sweep,
}

fn act() -> impl Strategy<Value = Act> {
    let blob = 0..2u8;
    prop_oneof![
        2 => any::<bool>().prop_map(Act::Versioning),
        2 => any::<bool>().prop_map(Act::KeepDeleted),
        5 => blob.clone().prop_map(Act::Put),
        3 => (blob.clone(), any::<bool>()).prop_map(|(blob, keeps)| Act::List(blob, keeps)),
        2 => blob.clone().prop_map(Act::Mark),
        3 => blob.clone().prop_map(Act::Snapshot),
        4 => (blob.clone(), prop::option::of(any::<bool>())).prop_map(|(blob, how)| Act::Delete(blob, how)),
        3 => (blob.clone(), 0..6usize, any::<bool>()).prop_map(|(blob, which, good)| Act::DeletePast(blob, which, good)),
        2 => (blob.clone(), 0..6usize).prop_map(|(blob, which)| Act::Promote(blob, which)),
        3 => blob.prop_map(Act::Undelete),
        2 => (1..3u8).prop_map(Act::Wait),
        2 => Just(Act::Sweep),
    ]
}

const NAMES: [&str; 2] = ["a", "a/b"];

/// The real states of what is kept of a name, in the order of the model's.
async fn states(world: &World, name: &str) -> Vec<BlobState> {
    let asked = ListBlobs { prefix: name.to_owned(), ..everything() };
    let items = world.list(&asked, 1_000).await;
    let state = |item: &BlobListItem| match item {
        BlobListItem::Blob { name: of, state, .. } if of == name && *state != BlobState::Base => Some(*state),
        _ => None,
    };
    items.iter().filter_map(state).collect()
}

async fn run(acts: Vec<Act>) {
    let mut world = World::new().await;
    let mut at = Settings { versioning: false, keeps: false, now: 0 };
    let mut models: [Model; 2] = Default::default();
    for (number, act) in acts.into_iter().enumerate() {
        let label = format!("{}{number}", "x".repeat(number % 2));
        match act {
            Act::Versioning(on) => (world.versioning, at.versioning) = (on, on),
            Act::KeepDeleted(on) => {
                world.keep_deleted(on).await;
                at.keeps = on;
            }
            Act::Put(blob) => {
                let made = world.put(NAMES[usize::from(blob)], &label).await.unwrap();
                assert_eq!(made.version.is_some(), at.versioning);
                models[usize::from(blob)].replace(&label, bytes_of(&label), at);
            }
            Act::List(blob, keeps) => {
                let (name, model) = (NAMES[usize::from(blob)], &mut models[usize::from(blob)]);
                let kept = match world.blocks(name).await {
                    Some(old) if keeps => bytes_of(std::str::from_utf8(&old).unwrap()),
                    _ => Vec::new(),
                };
                world.put_list(name, &label, keeps).await.unwrap();
                model.replace(&label, [bytes_of(&label), kept].concat(), at);
            }
            Act::Mark(blob) => {
                let model = &mut models[usize::from(blob)];
                let made = world.mark(NAMES[usize::from(blob)], &label).await;
                assert_eq!(made.is_ok(), model.base.is_some());
                model.renew(at);
                if let Some(base) = &mut model.base {
                    base.label.clone_from(&label);
                }
            }
            Act::Snapshot(blob) => {
                let model = &mut models[usize::from(blob)];
                let made = world.snapshot(NAMES[usize::from(blob)]).await;
                assert_eq!(made.is_ok(), model.base.is_some());
                if let Some(base) = model.base.clone() {
                    let is_version = base.is_version || at.versioning;
                    if is_version {
                        model.leave(Kind::Version, base.clone(), None);
                    }
                    model.leave(Kind::Snapshot, base, None);
                    model.base.as_mut().unwrap().is_version = at.versioning;
                }
            }
            Act::Delete(blob, how) => {
                let (name, model) = (NAMES[usize::from(blob)], &mut models[usize::from(blob)]);
                let snapshots = how.map(|only| match only {
                    true => DeleteSnapshots::Only,
                    false => DeleteSnapshots::Include,
                });
                let done = world.delete(name, BlobState::Base, snapshots, false).await;
                let Some(base) = model.base.clone() else {
                    assert_eq!(done.unwrap_err().0.code, ErrorCode::BlobNotFound);
                    continue;
                };
                if snapshots.is_none() && model.alive(Kind::Snapshot) > 0 {
                    assert_eq!(done.unwrap_err().0.code, ErrorCode::SnapshotsPresent);
                    continue;
                }
                let done = done.unwrap();
                if snapshots.is_some() {
                    model.delete_snapshots(at);
                }
                if snapshots == Some(DeleteSnapshots::Only) {
                    assert_eq!(done.is_permanent, !at.keeps);
                    continue;
                }
                model.base = None;
                let becomes_version = base.is_version || at.versioning;
                assert_eq!(done.is_permanent, !at.keeps && !becomes_version);
                if becomes_version {
                    model.leave(Kind::Version, base, None);
                } else if let Some(until) = at.until() {
                    model.deleted = Some((base, until));
                }
            }
            Act::DeletePast(blob, which, for_good) => {
                let (name, model) = (NAMES[usize::from(blob)], &mut models[usize::from(blob)]);
                if which >= model.past.len() {
                    continue;
                }
                let state = states(&world, name).await[which];
                let done = world.delete(name, state, None, for_good).await;
                let kept = &mut model.past[which];
                match (for_good, kept.until) {
                    (true, _) if !at.keeps => {
                        assert_eq!(done.unwrap_err().0.code, ErrorCode::PermanentDeleteIsOff);
                    }
                    (true, Some(_)) => {
                        done.unwrap();
                        kept.until = Some(0);
                    }
                    (false, None) => {
                        assert_eq!(done.unwrap().is_permanent, !at.keeps);
                        kept.until = Some(at.until().unwrap_or(0));
                    }
                    (true, None) | (false, Some(_)) => {
                        assert_eq!(done.unwrap_err().0.code, ErrorCode::BlobNotFound);
                    }
                }
                model.forget(at.now);
            }
            Act::Promote(blob, which) => {
                let (name, model) = (NAMES[usize::from(blob)], &mut models[usize::from(blob)]);
                if which >= model.past.len() {
                    continue;
                }
                let state = states(&world, name).await[which];
                let done = world.promote(name, state).await;
                let kept = model.past[which].clone();
                assert_eq!(done.is_ok(), kept.until.is_none());
                if kept.until.is_none() {
                    model.replace(&kept.label, kept.bytes, at);
                }
            }
            Act::Undelete(blob) => {
                let model = &mut models[usize::from(blob)];
                let done = world.undelete(NAMES[usize::from(blob)]).await;
                if let Some((base, _)) = model.deleted.take() {
                    model.base = Some(base);
                }
                let has_versions = model.past.iter().any(|kept| kept.kind == Kind::Version);
                assert_eq!(done.is_ok(), model.base.is_some() || has_versions);
                for kept in &mut model.past {
                    if model.base.is_some() || kept.kind == Kind::Version {
                        kept.until = None;
                    }
                }
            }
            Act::Wait(days) => {
                world.wait(DAY * u32::from(days)).await;
                at.now += u64::from(days) * DAY.as_secs();
                models.iter_mut().for_each(|model| model.forget(at.now));
            }
            Act::Sweep => world.sweep().await,
        }
        check(&world, &models).await;
    }
    finish(world, &models).await;
}

async fn check(world: &World, models: &[Model; 2]) {
    let expected: Vec<Listed> =
        models.iter().zip(NAMES).flat_map(|(model, name)| model.listed(name)).collect();
    let items = world.list(&everything(), 1_000).await;
    assert_eq!(items.iter().filter_map(seen).collect::<Vec<_>>(), expected);
    for size in [1, 2, 3] {
        let items = world.list(&everything(), size).await;
        assert_eq!(items.iter().filter_map(seen).collect::<Vec<_>>(), expected, "pages of {size}");
    }
    // What was not asked for is not there.
    let plain = world.list(&ListBlobs::default(), 1_000).await;
    let bases: Vec<&Listed> =
        expected.iter().filter(|(_, kind, deleted, _)| *kind == Kind::Base && !deleted).collect();
    assert_eq!(plain.iter().filter_map(seen).collect::<Vec<_>>().iter().collect::<Vec<_>>(), bases);
    for (model, name) in models.iter().zip(NAMES) {
        let found = world.get(name, BlobState::Base).await;
        assert_eq!(found.ok(), model.base.as_ref().map(|base| base.bytes.clone()));
        let states = states(world, name).await;
        assert_eq!(states.len(), model.past.len());
        for (state, kept) in states.into_iter().zip(&model.past) {
            let expected = kept.until.is_none().then(|| kept.bytes.clone());
            let found = world.get(name, state).await.map_err(|fault| fault.0);
            let told = format!("{name} {state:?}: {:?}", found.as_ref().map(Vec::len));
            assert!(found.ok() == expected, "{told}");
        }
    }
}

/// Everything is deleted for good, in its time.
async fn finish(mut world: World, models: &[Model; 2]) {
    world.versioning = false;
    world.keep_deleted(false).await;
    for (model, name) in models.iter().zip(NAMES) {
        if model.base.is_some() {
            world.delete(name, BlobState::Base, Some(DeleteSnapshots::Include), false).await.unwrap();
        }
        for state in states(&world, name).await {
            // What is deleted already is not found.
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

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, max_shrink_iters: 2_000, ..ProptestConfig::default() })]

    #[test]
    fn what_was_kept_is_found_and_nothing_else(acts in prop::collection::vec(act(), 1..30)) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(run(acts));
    }
}

/// More snapshots than one commit deletes one by one.
#[tokio::test]
async fn many_snapshots_are_deleted_brought_back_and_swept() {
    let world = World::new().await;
    world.keep_deleted(true).await;
    const MANY: usize = 1_500;
    world.put("b", &"l".repeat(200)).await.unwrap();
    let mut snapshots = Vec::new();
    for _ in 0..MANY {
        snapshots.push(BlobState::Snapshot(world.snapshot("b").await.unwrap().snapshot));
    }
    // One by itself, before all others.
    world.delete("b", snapshots[7], None, false).await.unwrap();
    let include = Some(DeleteSnapshots::Include);
    world.delete("b", BlobState::Base, include, false).await.unwrap();
    let count = async |deleted: bool| {
        let asked = ListBlobs { snapshots: true, deleted, ..ListBlobs::default() };
        world.list(&asked, 700).await.len()
    };
    assert_eq!((count(false).await, count(true).await), (0, MANY + 1));
    assert!(world.get("b", snapshots[3]).await.is_err());
    world.undelete("b").await.unwrap();
    assert_eq!((count(false).await, count(true).await), (MANY + 1, MANY + 1));
    let plain = world.delete("b", BlobState::Base, None, false).await.unwrap_err();
    assert_eq!(plain.0.code, ErrorCode::SnapshotsPresent);
    // Every one is counted again: when each is deleted, a plain delete goes through.
    for snapshot in &snapshots {
        world.delete("b", *snapshot, None, false).await.unwrap();
    }
    world.delete("b", BlobState::Base, None, false).await.unwrap();
    world.undelete("b").await.unwrap();
    world.delete("b", BlobState::Base, include, false).await.unwrap();
    world.wait(DAY * KEPT_DAYS).await;
    assert_eq!(count(true).await, 0, "before the sweeper comes");
    assert!(world.undelete("b").await.is_err());
    finish(world, &Default::default()).await;
}

/// A writer that was told of a version finds it, whoever wrote beside it.
#[tokio::test]
async fn every_acknowledged_overwrite_is_a_version() {
    let mut world = World::new().await;
    world.versioning = true;
    let world = Arc::new(world);
    let mut writers = tokio::task::JoinSet::new();
    for writer in 0..6 {
        let world = Arc::clone(&world);
        writers.spawn(async move {
            let mut made = Vec::new();
            for number in 0..8 {
                let label = format!("{writer}-{number}");
                let told = match number % 4 {
                    3 => world.delete("b", BlobState::Base, None, false).await.ok().map(|_| None),
                    _ => world.put("b", &label).await.ok().map(|told| told.version),
                };
                made.extend(told.flatten().map(|version| (version, label)));
            }
            made
        });
    }
    let told: Vec<(Timestamp, String)> = writers.join_all().await.into_iter().flatten().collect();
    assert!(told.len() >= 36, "{}", told.len());
    for (version, label) in &told {
        let found = world.get("b", BlobState::Version(*version)).await.unwrap();
        assert!(found == bytes_of(label), "{label}");
    }
    let asked = ListBlobs { versions: true, ..ListBlobs::default() };
    assert_eq!(world.list(&asked, 5).await.len(), told.len());
}

/// Page and append blobs are changed in place; what was kept of them is not.
#[tokio::test]
async fn versions_of_growing_contents_stay_as_they_were() {
    let mut world = World::new().await;
    world.versioning = true;
    let (servers, context) = (world.servers().clone(), world.context.clone());
    let bench = crate::support::Bench { services: servers, context };
    bench.create_append_blob("log").await.unwrap();
    bench.append("log", b"one").await.unwrap();
    let first = bench.properties("log").await.unwrap().version().unwrap();
    let marked = world.mark("log", "m").await.unwrap();
    bench.append("log", b"two").await.unwrap();
    assert_eq!(bench.properties("log").await.unwrap().version(), marked.version, "an append makes none");
    assert_eq!(world.get("log", BlobState::Version(first)).await.unwrap(), b"one");
    assert_eq!(world.get("log", BlobState::Base).await.unwrap(), b"onetwo");
    let snapshot = world.snapshot("log").await.unwrap();
    assert!(snapshot.stamped.version > marked.version);
    bench.append("log", b"three").await.unwrap();
    for state in [BlobState::Version(marked.version.unwrap()), BlobState::Snapshot(snapshot.snapshot)] {
        assert_eq!(world.get("log", state).await.unwrap(), b"onetwo");
    }

    let pages = PutPageBlob {
        at: at("disk"),
        preconditions: Preconditions::default(),
        properties: BlobProperties::default(),
        length: 1024,
        sequence_number: 0,
    };
    let made = pages.execute(&bench.services, &bench.context).await.unwrap();
    let write = async |byte: u8| {
        let input = PutPage {
            at: at("disk"),
            preconditions: Preconditions::default(),
            range: 0..512,
            digests: Digests::default(),
            body: Body::from(Bytes::from(vec![byte; 512])),
            customer_key: None,
        };
        input.execute(&bench.services, &bench.context).await.unwrap();
    };
    write(1).await;
    let second = world.mark("disk", "m").await.unwrap().version.unwrap();
    write(2).await;
    world.snapshot("disk").await.unwrap();
    write(3).await;
    for (state, byte) in [
        (BlobState::Version(made.version.unwrap()), 1),
        (BlobState::Version(second), 2),
        (BlobState::Base, 3),
    ] {
        let found = world.get("disk", state).await.unwrap();
        assert!(found == [vec![byte; 512], vec![0; 512]].concat(), "{state:?}");
    }
    assert_eq!(bench.properties("disk").await.unwrap().kind, BlobType::Page);
    // All of it goes.
    for name in ["log", "disk"] {
        world.delete(name, BlobState::Base, Some(DeleteSnapshots::Include), false).await.unwrap();
        for state in states(&world, name).await {
            world.delete(name, state, None, false).await.unwrap();
        }
    }
    finish(world, &Default::default()).await;
}

#[tokio::test]
async fn the_current_version_is_the_base() {
    let mut world = World::new().await;
    world.versioning = true;
    let first = world.put("b", "one").await.unwrap().version.unwrap();
    let second = world.put("b", "two").await.unwrap().version.unwrap();
    let refused = world.delete("b", BlobState::Version(second), None, false).await.unwrap_err();
    assert_eq!(refused.0.code, ErrorCode::OperationNotAllowedOnRootBlob);
    let tags = lazuli_model::tags::Tags::parse_header("k=v").unwrap();
    for (state, found) in [(BlobState::Version(first), 0), (BlobState::Version(second), 1)] {
        let input =
            SetBlobTags { at: at("b"), state, preconditions: Preconditions::default(), tags: tags.clone() };
        input.execute(world.servers(), &world.context).await.unwrap();
        let input = FindBlobsByTags {
            container: None,
            expression: lazuli_model::tags::WhereExpression::parse("k = 'v'").unwrap(),
            after: None,
            max_results: 10,
            max_bytes: 1 << 20,
        };
        let all = input.execute(world.servers(), &world.context).await.unwrap();
        assert_eq!(all.items.len(), found, "only the current one is in the index");
    }
}

#[tokio::test]
async fn listings_by_hierarchy_fold_versions_too() {
    let mut world = World::new().await;
    world.versioning = true;
    for name in ["a", "dir/x", "dir/y", "e", "f/z"] {
        world.put(name, "one").await.unwrap();
        world.put(name, "two").await.unwrap();
    }
    world.delete("f/z", BlobState::Base, None, false).await.unwrap();
    world.delete("e", BlobState::Base, None, false).await.unwrap();
    let shown = |items: &[BlobListItem]| -> Vec<String> {
        let show = |item: &BlobListItem| match item {
            BlobListItem::Prefix(prefix) => format!("{prefix}.."),
            BlobListItem::Blob { name, state: BlobState::Version(_), .. } => format!("{name}@"),
            BlobListItem::Blob { name, .. } => name.clone(),
            BlobListItem::VersionsOnly { name, .. } => format!("{name}?"),
            BlobListItem::Uncommitted { name, .. } => format!("{name}*"),
        };
        items.iter().map(show).collect()
    };
    let asked = |versions: bool, only: bool| ListBlobs {
        delimiter: "/".into(),
        versions,
        deleted_with_versions: only,
        ..ListBlobs::default()
    };
    let cases = [
        (asked(false, false), vec!["a", "dir/.."]),
        (asked(true, false), vec!["a@", "a", "dir/..", "e@", "e@", "f/.."]),
        (asked(false, true), vec!["a", "dir/..", "e?", "f/.."]),
    ];
    for (asked, expected) in cases {
        for size in [1, 2, 3, 100] {
            assert_eq!(shown(&world.list(&asked, size).await), expected, "pages of {size}");
        }
    }
}

#[tokio::test]
async fn a_deleted_container_is_restored_or_swept() {
    let world = World::new().await;
    world.put("b", "one").await.unwrap();
    let delete = async |name: &str| {
        let input = DeleteContainer { container: name.into(), preconditions: Preconditions::default() };
        input.execute(world.servers(), &world.context).await
    };
    let list = async |deleted: bool, max_results: usize| {
        let (mut all, mut marker) = (Vec::new(), None);
        for _ in 0..100 {
            let (prefix, max_bytes) = (String::new(), 1 << 20);
            let input = ListContainers { prefix, deleted, marker, max_results, max_bytes };
            let page = input.execute(world.servers(), &world.context).await.unwrap();
            all.extend(page.items.into_iter().map(|item| (item.name, item.deleted.map(|deleted| deleted.0))));
            match page.next {
                Some(next) => marker = Some(next),
                None => return all,
            }
        }
        panic!("the listing finds no end");
    };
    let restore = async |to: &str, version: Timestamp| {
        let input = RestoreContainer {
            container: to.into(),
            preconditions: Preconditions::default(),
            deleted: "c".into(),
            version,
        };
        input.execute(world.servers(), &world.context).await.map_err(|fault| fault.0.code)
    };
    // Twice in the same moment of the clock, and a third container stands there now.
    delete("c").await.unwrap();
    world.create_container("c").await.unwrap();
    delete("c").await.unwrap();
    world.create_container("c").await.unwrap();
    world.create_container("d").await.unwrap();
    for size in [1, 2, 10] {
        let found = list(true, size).await;
        let [(a, Some(first)), (b, Some(second)), (c, None), (d, None)] = &found[..] else {
            panic!("{found:?}")
        };
        assert!(first < second && [a, b, c, d] == ["c", "c", "c", "d"]);
        assert_eq!(list(false, size).await.len(), 2);
    }
    let first = list(true, 10).await[0].1.unwrap();
    assert_eq!(restore("c", first).await, Err(ErrorCode::ContainerAlreadyExists));
    assert_eq!(restore("e", Timestamp(first.0 + 9)).await, Err(ErrorCode::ContainerNotFound));
    delete("c").await.unwrap();
    restore("c", first).await.unwrap();
    assert_eq!(world.get("b", BlobState::Base).await.unwrap(), bytes_of("one"));
    assert_eq!(restore("e", first).await, Err(ErrorCode::ContainerNotFound), "it is there once");
    world.wait(DAY * KEPT_DAYS).await;
    assert_eq!(list(true, 10).await.len(), 2, "before the sweeper comes");
    let second = Timestamp(first.0 + 1);
    assert_eq!(restore("e", second).await, Err(ErrorCode::ContainerNotFound));
    delete("d").await.unwrap();
    world.wait(DAY * KEPT_DAYS).await;
    finish_containers(world).await;
}

async fn finish_containers(world: World) {
    world.sweep().await;
    world.delete("b", BlobState::Base, None, false).await.unwrap();
    finish(world, &Default::default()).await;
}
