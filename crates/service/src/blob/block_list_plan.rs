//! What a block list makes of what one snapshot shows: the new manifest, and what becomes of the stage and of the
//! content that it replaces.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};

use lazuli_engine::{Key, Plan, Reader, Scan, Version};
use lazuli_model::error::ErrorCode;

use super::{BlobAddress, BlockSource};
use crate::fault::Answer;
use crate::key::{self, ContentId};
use crate::manifest::{self, Manifest, ManifestBuilder};
use crate::record::Record;
use crate::record::block::{BlockRecord, StagedRecord};
use crate::record::content::{Content, DeadContent, ListedBlock, Shape};
use crate::{Context, content, store};

/// A stage up to this size is cleared by the commit itself; the sweeper clears a larger one.
const STAGE_IN_COMMIT_BYTES: usize = 150_000;

pub(super) struct BlockListPlan {
    pub manifest: Manifest,
    /// Versions of the base record and of the staged record that the list was made from.
    seen: (Option<Version>, Option<Version>),
    stage: Option<Stage>,
    old: Option<Content>,
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
    pub async fn make(
        reader: &Reader,
        context: &Context,
        at: &BlobAddress,
        listed: &[(BlockSource, Vec<u8>)],
    ) -> Answer<Self> {
        let container = store::container(reader, &context.account, &at.container).await?;
        let generation = container.fields.generation;
        let base = reader.get(key::blob(generation, &at.blob)).await?;
        let staged = reader.get(key::staged(generation, &at.blob)).await?;
        let seen = (base.as_ref().map(|entry| entry.version), staged.as_ref().map(|entry| entry.version));
        let old = store::decode_blob(base)?.map(|record| record.fields.content);

        let mut mentioned: HashMap<&[u8], Mentioned> = HashMap::new();
        for (source, id) in listed {
            let found = mentioned.entry(id).or_default();
            found.takes_uncommitted |= *source != BlockSource::Committed;
        }
        let stage = match staged {
            Some(entry) => {
                let id = StagedRecord::decode(&entry.value)?.stage;
                Some(Stage::read(reader, id, &mut mentioned).await?)
            }
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

        let mut builder = ManifestBuilder::new(ContentId::fresh(store::now(reader)));
        let mut reuses = false;
        for (source, id) in listed {
            let found = mentioned.get(&id[..]).and_then(|found| found.find(*source));
            let (content, is_committed) = found.ok_or(ErrorCode::InvalidBlockList)?;
            reuses |= is_committed;
            builder.push(ListedBlock { name: id.clone(), content: content.clone() });
        }
        Ok(Self { manifest: builder.finish(true), seen, stage, old, reuses })
    }

    /// What the list was made from is what the commit stands on.
    pub async fn still_holds(
        &self,
        reader: &Reader,
        generation: key::Generation,
        name: &str,
    ) -> Answer<bool> {
        let base = reader.get(key::blob(generation, name)).await?.map(|entry| entry.version);
        let staged = reader.get(key::staged(generation, name)).await?.map(|entry| entry.version);
        // A block staged since under the same stage changes neither record.
        if let Some(stage) = &self.stage {
            reader.check_range(key::blocks(stage.id), key::staged(generation, name));
            if fingerprint(reader, stage.id).await? != stage.fingerprint {
                return Ok(false);
            }
        }
        Ok((base, staged) == self.seen)
    }

    /// Deals with the stage and with the old content.
    pub async fn settle<T>(&self, reader: &Reader, plan: &mut Plan<T>) -> Answer<()> {
        let id = self.manifest.content.id;
        match &self.stage {
            None => {}
            Some(Stage { small: Some(small), .. }) => {
                small.keys.iter().for_each(|key| plan.delete(key.clone()));
                // No reader can need blocks that no list ever named.
                small.unlisted.iter().for_each(|block| content::discard(plan, block));
            }
            Some(stage) if self.manifest.content.shape == Shape::Empty => {
                plan.put(key::dead_content(stage.id), DeadContent::Stage.encode());
            }
            Some(stage) => plan.put(key::adopted(id), stage.id.0.to_be_bytes().to_vec()),
        }
        match &self.old {
            None => Ok(()),
            Some(old) if self.reuses => content::become_parent(reader, plan, old, id).await,
            Some(old) => content::drop_holder(reader, plan, old).await,
        }
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
