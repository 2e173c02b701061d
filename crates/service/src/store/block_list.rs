//! What a block list makes of what one snapshot shows: the new manifest, and what becomes of the stage and of the
//! content that it replaces.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};

use lazuli_engine::{Key, Reader, Scan, Version};
use lazuli_model::encryption::Encryption;
use lazuli_model::error::ErrorCode;
use lazuli_model::operation::Mode;

use super::blob::{BlobPlace, decode_blob};
use super::content;
use super::found::Admitted;
use super::unit::{Changes as _, Unit, View};
use crate::Services;
use crate::blob::{BlobAddress, BlobState, BlockSource};
use crate::fault::Answer;
use crate::store::key::{self, ContentId};
use crate::store::manifest::{self, Manifest, ManifestBuilder};
use crate::store::record::Record;
use crate::store::record::block::{BlockRecord, StagedRecord};
use crate::store::record::content::{Content, DeadContent, ListedBlock, Shape};
use crate::store::record::existing::Existing;

/// A stage up to this size is cleared by the commit itself; the sweeper clears a larger one.
const STAGE_IN_COMMIT_BYTES: usize = 150_000;

pub struct BlockListPlan {
    manifest: Manifest,
    /// Versions of the base record and of the staged record that the list was made from.
    seen: (Option<Version>, Option<Version>),
    /// Whether each of them stood for something then: its time may have come since.
    alive: (bool, bool),
    stage: Option<Stage>,
    /// Listed blocks came from the old content.
    reuses: bool,
}

struct Stage {
    id: ContentId,
    /// Tells whether the same blocks are staged.
    fingerprint: u64,
    /// Its keys and the blocks that the list leaves out, when these are few.
    small: Option<SmallStage>,
}

#[derive(Default)]
struct SmallStage {
    keys: Vec<Key>,
    unlisted: Vec<Content>,
    bytes: usize,
}

/// A block id that the list mentions, with the blocks that have it.
#[derive(Default)]
struct Mentioned {
    /// Some mention takes an uncommitted block where there is one.
    takes_uncommitted: bool,
    uncommitted: Option<Content>,
    committed: Option<Content>,
}

impl Mentioned {
    fn find(&self, source: BlockSource) -> Option<(&Content, bool)> {
        let uncommitted = self.uncommitted.as_ref().map(|content| (content, false));
        let committed = self.committed.as_ref().map(|content| (content, true));
        match source {
            BlockSource::Uncommitted => uncommitted,
            BlockSource::Committed => committed,
            BlockSource::Latest => uncommitted.or(committed),
        }
    }
}

impl BlockListPlan {
    pub async fn make(view: &View, at: &BlobAddress, listed: &[(BlockSource, Vec<u8>)]) -> Answer<Self> {
        let reader = view.reader();
        let place = view.place_of(at, BlobState::Base).await?;
        let base = reader.get(key::blob(place.generation, &place.name)).await?;
        let staged = reader.get(place.staged_key()).await?;
        let seen = (base.as_ref().map(|entry| entry.version), staged.as_ref().map(|entry| entry.version));
        let old = decode_blob(base)?.filter(|blob| !blob.is_expired(view.now())).map(|record| record.content);
        let staged = match staged {
            Some(entry) => Some(StagedRecord::decode(&entry.value)?),
            None => None,
        };
        let staged = staged.filter(|staged| !staged.is_expired(view.now()));
        let alive = (old.is_some(), staged.is_some());

        let mut mentioned: HashMap<&[u8], Mentioned> = HashMap::new();
        for (source, id) in listed {
            let found = mentioned.entry(id).or_default();
            found.takes_uncommitted |= *source != BlockSource::Committed;
        }
        let stage = match staged {
            Some(staged) => Some(Stage::read(reader, staged.stage, &mut mentioned).await?),
            None => None,
        };
        if let Some(Content { id, shape: Shape::Manifest { named: true, .. }, .. }) = old {
            manifest::each_block(reader, id, |block| {
                if let Some(found) = mentioned.get_mut(&block.name[..]) {
                    found.committed.get_or_insert(block.content);
                }
            })
            .await?;
        }

        let mut builder = ManifestBuilder::new(ContentId::fresh(view.now()));
        let mut reuses = false;
        for (source, id) in listed {
            let found = mentioned.get(&id[..]).and_then(|found| found.find(*source));
            let (content, is_committed) = found.ok_or(ErrorCode::InvalidBlockList)?;
            reuses |= is_committed;
            builder.push(ListedBlock { name: id.clone(), content: content.clone() });
        }
        Ok(Self { manifest: builder.finish(true), seen, alive, stage, reuses })
    }

    /// Writes a long list ahead of the commit that will point to it.
    pub async fn write_ahead(&mut self, services: &Services) -> Answer<()> {
        self.manifest.write_ahead(services).await
    }

    /// A commit points to it.
    pub fn settle(&mut self) {
        self.manifest.settle();
    }

    /// Whether it lists blocks of the content that it replaces.
    pub fn reuses(&self) -> bool {
        self.reuses
    }

    pub(super) fn content(&self) -> &Content {
        &self.manifest.content
    }

    /// The list that the old content becomes the parent of, if it lists blocks of it again.
    pub(super) fn taking_over(&self) -> Option<ContentId> {
        self.reuses.then_some(self.manifest.content.id)
    }

    /// What the list was made from is what the commit stands on.
    pub(super) async fn still_holds<M: Mode>(&self, unit: &Unit<M>, place: &BlobPlace) -> Answer<bool> {
        let reader = unit.reader();
        let base = reader.get(key::blob(place.generation, &place.name)).await?.map(|entry| entry.version);
        let staged = reader.get(place.staged_key()).await?.map(|entry| entry.version);
        // A block staged since under the same stage changes neither record.
        if let Some(stage) = &self.stage {
            reader.check_range(key::blocks(stage.id), place.staged_key()).await?;
            if fingerprint(reader, stage.id).await? != stage.fingerprint {
                return Ok(false);
            }
        }
        let is_alive =
            (unit.find_blob(place).await?.is_some(), unit.find_staged(place).await?.is_some()) == self.alive;
        Ok(is_alive && (base, staged) == self.seen)
    }

    /// What the commit that points to the list carries, the end of the stage included.
    pub(super) async fn publish(&self, unit: &mut Unit) -> Answer<()> {
        let id = self.manifest.content.id;
        match &self.stage {
            None => {}
            Some(Stage { small: Some(small), .. }) => {
                small.keys.iter().for_each(|key| unit.delete(key.clone()));
                // No reader can need blocks that no list ever named.
                small.unlisted.iter().for_each(|block| content::discard(unit, block));
            }
            Some(stage) if self.manifest.content.shape == Shape::Empty => {
                unit.put(key::dead_content(stage.id), DeadContent::Stage.encode());
            }
            Some(stage) => unit.put(key::adopted(id), stage.id.0.to_be_bytes().to_vec().into()),
        }
        self.manifest.publish(&unit.reader().clone(), unit).await
    }
}

impl Stage {
    /// Walks the uncommitted blocks and keeps those that are mentioned.
    async fn read(reader: &Reader, id: ContentId, mentioned: &mut HashMap<&[u8], Mentioned>) -> Answer<Self> {
        let mut small = Some(SmallStage::default());
        let mut hasher = DefaultHasher::new();
        let mut after = None;
        loop {
            let page = reader.scan(Scan { after, ..Scan::of(key::blocks(id)) }).await?;
            for (key, entry) in &page.items {
                (key, entry.version.0).hash(&mut hasher);
                let block = BlockRecord::decode(&entry.value)?.content;
                let taken =
                    mentioned.get_mut(&key[key::BLOCK_ID_AT..]).filter(|found| found.takes_uncommitted);
                if let Some(clears) = &mut small {
                    clears.bytes += key.len() + entry.value.len() + 40;
                    clears.keys.push(key.clone());
                    if taken.is_none() {
                        clears.unlisted.push(block.clone());
                    }
                }
                if let Some(found) = taken {
                    found.uncommitted = Some(block);
                }
            }
            small = small.filter(|small| small.bytes <= STAGE_IN_COMMIT_BYTES);
            after = page.items.last().map(|(key, _)| key.clone());
            if !page.more {
                return Ok(Self { id, fingerprint: hasher.finish(), small });
            }
            tokio::task::yield_now().await;
        }
    }
}

/// Of the blocks of a stage and the commits that wrote them.
async fn fingerprint(reader: &Reader, stage: ContentId) -> Answer<u64> {
    let mut hasher = DefaultHasher::new();
    let mut after = None;
    loop {
        let page = reader.scan(Scan { after, keys_only: true, ..Scan::of(key::blocks(stage)) }).await?;
        for (key, entry) in &page.items {
            (key, entry.version.0).hash(&mut hasher);
        }
        after = page.items.last().map(|(key, _)| key.clone());
        if !page.more {
            return Ok(hasher.finish());
        }
        tokio::task::yield_now().await;
    }
}

impl<M: Mode> Admitted<Existing, M> {
    /// Whether a list can still be committed here.
    pub async fn still_holds(&self, list: &BlockListPlan) -> Answer<bool> {
        list.still_holds(&self.unit, &self.place).await
    }

    /// What the uncommitted blocks of the name are encrypted with; None where there are none.
    pub async fn staged_with(&self) -> Answer<Option<Encryption>> {
        Ok(self.unit.find_staged(&self.place).await?.map(|staged| staged.encryption()))
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use lazuli_engine::host::Clock;
    use lazuli_engine::{Engine, Host, Plan};
    use lazuli_model::admission::Preconditions;
    use lazuli_model::operation::policy;
    use lazuli_model::version::ApiVersion;

    use super::*;
    use crate::blob::{BlobProperties, CreateContainer, PutBlock, PutBlockBlob};
    use crate::fault::Fault;
    use crate::store::record::blob::BlobRecord;
    use crate::{Body, Context, ServiceOptions};

    const WEEKS: Duration = Duration::from_secs(14 * 24 * 60 * 60);

    async fn with_blocks()
    -> (Services, Context, BlobAddress, std::sync::Arc<lazuli_engine::host::ManualClock>) {
        let host = Host::test();
        let Clock::Manual(clock) = host.clock.clone() else { panic!("a test's clock") };
        let services = Services::new(Engine::memory(host), ServiceOptions::default());
        let context = Context::of_owner("acct", ApiVersion::NEWEST);
        let container = CreateContainer {
            container: "c".into(),
            metadata: Default::default(),
            public_access: lazuli_model::access::PublicAccess::Private,
            default_encryption_scope: None,
            deny_encryption_scope_override: false,
        };
        container.execute(&services, &context).await.expect("a container");
        let at = BlobAddress { container: "c".into(), blob: "b".into() };
        let put = PutBlockBlob {
            at: at.clone(),
            preconditions: Preconditions::default(),
            properties: BlobProperties::default(),
            digests: Default::default(),
            body: Body::from(bytes::Bytes::from_static(b"base")),
            limit: u64::MAX,
        };
        put.execute(&services, &context).await.expect("a blob");
        let block = PutBlock {
            at: at.clone(),
            preconditions: Preconditions::default(),
            block_id: b"one".to_vec(),
            digests: Default::default(),
            body: Body::from(bytes::Bytes::from_static(b"block")),
            limit: u64::MAX,
            customer_key: None,
        };
        block.execute(&services, &context).await.expect("a block");
        (services, context, at, clock)
    }

    async fn holds(services: &Services, context: &Context, at: &BlobAddress, list: &BlockListPlan) -> bool {
        let check = |unit: Unit| async move {
            let found = unit.blob(at).await?;
            let admitted = found.admit(policy::PutBlockList, &Preconditions::default())?;
            admitted.still_holds(list).await
        };
        services.commit(context, check).await.expect("read")
    }

    /// A list stands on what was there when it was planned. What expires until the commit is not there any more, although no
    /// key has changed.
    #[tokio::test]
    async fn a_list_does_not_outlive_what_it_was_made_from() {
        let (services, context, at, clock) = with_blocks().await;
        let plan = async |listed: &[(BlockSource, Vec<u8>)]| {
            let view = services.view(&context).await.expect("read");
            BlockListPlan::make(&view, &at, listed).await.expect("planned")
        };
        let staged = plan(&[(BlockSource::Latest, b"one".to_vec())]).await;
        assert!(holds(&services, &context, &at, &staged).await);
        clock.advance(WEEKS);
        assert!(!holds(&services, &context, &at, &staged).await, "the block is over");

        let empty = plan(&[]).await;
        assert!(holds(&services, &context, &at, &empty).await);
        let later = services.now().plus_seconds(10);
        let expire = |reader: Reader| async move {
            let mut plan = Plan::new(());
            for (key, entry) in reader.scan(Scan::of(lazuli_engine::KeyRange::prefix(&b"b"[..]))).await?.items
            {
                let mut blob = BlobRecord::decode(&entry.value)?;
                blob.extras_mut().expires = Some(later);
                plan.put(key, blob.encode());
            }
            Ok::<_, Fault>(plan)
        };
        services.engine().run(None, expire).await.expect("written");
        let over = plan(&[]).await;
        assert!(holds(&services, &context, &at, &over).await);
        clock.advance(Duration::from_secs(10));
        assert!(!holds(&services, &context, &at, &over).await, "the blob is over");
    }
}
