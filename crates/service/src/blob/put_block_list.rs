//! Put Block List: the blob becomes the blocks listed, in one atomic step.
//!
//! Uncommitted blocks change hands without being copied: the new manifest lists their pieces. Committed blocks
//! that are listed again move with them when nobody else holds the old content; when a snapshot does, the new
//! manifest borrows them from it and holds it as its parent.

use std::collections::{HashMap, HashSet};

use lazuli_engine::{Plan, Reader, Scan, Version};
use lazuli_model::Op;
use lazuli_model::admission::{Kind, Preconditions, admit};
use lazuli_model::error::ErrorCode;
use lazuli_model::time::Timestamp;

use super::put_blob::{BlobProperties, replace};
use super::write::{admit_early, check_key_of_blocks, refuse_archived};
use super::{BlobAddress, Place, Stamped};
use crate::fault::{Answer, Fault};
use crate::key::{self, ContentId};
use crate::manifest::{self, Manifest};
use crate::record::Record;
use crate::record::blob::BlobType;
use crate::record::block::{BlockRecord, StagedRecord};
use crate::record::content::{Content, DeadContent, ListedBlock, Piece, Shape};
use crate::record::existing::Existing;
use crate::{Context, Services, content, store};

/// Where a listed block is to be looked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BlockSource {
    Committed,
    Uncommitted,
    Latest,
}

pub struct PutBlockList {
    pub at: BlobAddress,
    pub preconditions: Preconditions,
    pub properties: BlobProperties,
    /// Decoded ids in order.
    pub blocks: Vec<(BlockSource, Vec<u8>)>,
}

/// So many keys of a stage, or pieces of an old content, are dealt with in the commit itself.
const IN_COMMIT: usize = 2_000;

impl PutBlockList {
    pub async fn execute(self, services: &Services, context: &Context) -> Answer<Stamped> {
        let Self { at, preconditions, properties, blocks } = self;
        let row = Op::PutBlockList.row();
        admit_early(services, context, row, &at, &preconditions).await?;
        // A long manifest is written ahead from what one snapshot shows; the commit checks that nothing moved.
        let mut tries = 0;
        loop {
            let reader = services.engine().reader().await?;
            let mut draft = Draft::make(&reader, context, &at, &blocks).await?;
            draft.manifest.write_ahead(services).await?;
            let (at, given, properties, drawn) = (&at, &preconditions, &properties, &draft);
            let done = services
                .engine()
                .run(services.deadline(), |reader| async move {
                    let now = store::now(&reader);
                    let place = Place::find(&reader, &context.account, at).await?;
                    let generation = place.generation();
                    let staged = store::find_staged(&reader, generation, &at.blob).await?;
                    let admitted = admit(row, given, Kind::Blob, place.existing, now, context.version)?;
                    let (existing, permit) = admitted.into_parts();
                    if let Some(Existing::Blob(old)) = &existing {
                        refuse_archived(old)?;
                        check_key_of_blocks(old, properties.customer_key.as_ref())?;
                    }
                    if !drawn.still_holds(&reader, generation, &at.blob).await? {
                        return Ok(Plan::new(None));
                    }
                    let body = drawn.manifest.content.clone();
                    let record = replace(existing.as_ref(), BlobType::Block, body, properties, now);
                    let stamped = Stamped { etag: record.etag(), last_modified: record.last_modified() };
                    let mut plan = Plan::new(Some(stamped));
                    if staged.is_some() {
                        plan.delete(key::staged(generation, &at.blob));
                    }
                    drawn.settle(&reader, &mut plan).await?;
                    drawn.manifest.publish(&reader, &mut plan).await?;
                    store::put_blob(&mut plan, generation, &at.blob, record, permit);
                    Ok::<_, Fault>(plan)
                })
                .await?;
            match done {
                Some(stamped) => {
                    draft.manifest.settle();
                    return Ok(stamped);
                }
                None if tries == 20 => return Err(ErrorCode::ServerBusy.into()),
                None => tries += 1,
            }
        }
    }
}

/// The new manifest as one snapshot allows it, and what becomes of what it replaces.
struct Draft {
    manifest: Manifest,
    /// Versions of the base record and of the staged record that it was drawn from.
    seen: (Option<Version>, Option<Version>),
    stage: Option<Stage>,
    old: Option<Content>,
    /// Listed blocks came from the old content.
    reuses: bool,
    /// Pieces of the old content that are not listed again, when it may be taken apart.
    left_over: Vec<Piece>,
    old_pieces: usize,
    /// The old content lives on: something else holds it, or it is too long to be taken apart in one commit.
    outlives: bool,
}

struct Stage {
    id: ContentId,
    /// Every uncommitted block: its id, its pieces, and whether the list takes it.
    blocks: Vec<(Vec<u8>, Vec<Piece>, bool)>,
}

impl Draft {
    async fn make(
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
        let committed = match &old {
            Some(old) => manifest::all_blocks(reader, old).await?,
            None => Vec::new(),
        };
        let stage_id = match staged {
            Some(entry) => Some(StagedRecord::decode(&entry.value)?.stage),
            None => None,
        };
        let mut uncommitted = match stage_id {
            Some(stage) => load_stage(reader, stage).await?,
            None => HashMap::new(),
        };
        let old_pieces: usize = committed.iter().map(|block| block.pieces.len()).sum();
        let outlives = match &old {
            Some(old) => old_pieces > IN_COMMIT || is_held_elsewhere(reader, old).await?,
            None => false,
        };
        let mut by_name: HashMap<&[u8], &ListedBlock> = HashMap::new();
        for block in &committed {
            by_name.entry(&block.name).or_insert(block);
        }

        let mut taken = Vec::with_capacity(listed.len());
        // First pieces of the old content's blocks that the new one owns: each block has one owner, and every
        // further mention of it borrows.
        let mut moved: HashSet<Piece> = HashSet::new();
        let mut reuses = false;
        for (source, id) in listed {
            let fresh = if *source == BlockSource::Committed { None } else { uncommitted.get_mut(&id[..]) };
            if let Some((record, is_taken)) = fresh {
                let borrowed = std::mem::replace(is_taken, true);
                taken.push(listed_block(id, record.size, &record.pieces, borrowed));
                continue;
            }
            let old_block = if *source == BlockSource::Uncommitted { None } else { by_name.get(&id[..]) };
            let block = old_block.ok_or(ErrorCode::InvalidBlockList)?;
            reuses = true;
            let again = block.pieces.first().is_some_and(|first| !moved.insert(*first));
            taken.push(listed_block(id, block.size, &block.pieces, block.borrowed || outlives || again));
        }
        let left_over = committed
            .iter()
            .filter(|block| {
                !block.borrowed && block.pieces.first().is_some_and(|first| !moved.contains(first))
            })
            .flat_map(|block| block.pieces.iter().copied())
            .collect();
        let stage = stage_id.map(|id| Stage {
            id,
            blocks: uncommitted
                .into_iter()
                .map(|(name, (record, is_taken))| (name, record.pieces, is_taken))
                .collect(),
        });
        let manifest = Manifest::build(ContentId::fresh(store::now(reader)), taken, true);
        Ok(Self { manifest, seen, stage, old, reuses, left_over, old_pieces, outlives })
    }

    /// What the draft was drawn from is what the commit stands on.
    async fn still_holds(&self, reader: &Reader, generation: key::Generation, name: &str) -> Answer<bool> {
        let base = reader.get(key::blob(generation, name)).await?.map(|entry| entry.version);
        let staged = reader.get(key::staged(generation, name)).await?.map(|entry| entry.version);
        let outlives = match &self.old {
            Some(old) => self.old_pieces > IN_COMMIT || is_held_elsewhere(reader, old).await?,
            None => false,
        };
        // A block staged since under the same stage changes neither record: its key must be looked at.
        if let Some(stage) = &self.stage {
            reader.check_range(key::blocks(stage.id));
            if !stage.is_unchanged(reader).await? {
                return Ok(false);
            }
        }
        Ok((base, staged) == self.seen && outlives == self.outlives)
    }

    /// Deals with the stage and with the old content.
    async fn settle(&self, reader: &Reader, plan: &mut Plan<Option<Stamped>>) -> Answer<()> {
        let (id, now) = (self.manifest.content.id, store::now(reader));
        if let Some(stage) = &self.stage {
            if stage.blocks.len() <= IN_COMMIT && self.manifest.content.shape != Shape::Empty {
                let mut orphans = Vec::new();
                for (name, pieces, is_taken) in &stage.blocks {
                    plan.delete(key::block(stage.id, name));
                    if !is_taken {
                        orphans.extend_from_slice(pieces);
                    }
                }
                discard_pieces(plan, &orphans, now);
            } else if self.manifest.content.shape == Shape::Empty {
                plan.put(key::dead_content(stage.id), DeadContent::Stage.encode());
            } else {
                plan.put(key::adopted(id), stage.id.0.to_be_bytes().to_vec());
            }
        }
        let Some(old) = &self.old else { return Ok(()) };
        if !self.reuses {
            return content::drop_holder(reader, plan, old).await;
        }
        if self.outlives {
            // The old content goes on as the parent of the new one, which takes over this hold on it.
            plan.put(key::parent(id), old.encode());
            return Ok(());
        }
        // Nobody else holds it: its listed blocks have moved, the rest is given back, its segments go.
        discard_pieces(plan, &self.left_over, now);
        plan.put(key::dead_content(old.id), DeadContent::Segments.encode());
        Ok(())
    }
}

/// A snapshot shares the content, or the content itself borrows from a parent and cannot be taken apart.
async fn is_held_elsewhere(reader: &Reader, content: &Content) -> Answer<bool> {
    Ok(reader.get(key::holders(content.id)).await?.is_some()
        || reader.get(key::parent(content.id)).await?.is_some())
}

impl Stage {
    /// The same blocks with the same bytes are staged as when the draft was made.
    async fn is_unchanged(&self, reader: &Reader) -> Answer<bool> {
        let mut count = 0;
        let known: HashMap<&[u8], &[Piece]> =
            self.blocks.iter().map(|(name, pieces, _)| (&name[..], &pieces[..])).collect();
        let mut after = None;
        loop {
            let page = reader.scan(Scan { after, ..Scan::of(key::blocks(self.id)) }).await?;
            for (key, entry) in &page.items {
                let record = BlockRecord::decode(&entry.value)?;
                count += 1;
                if known.get(&key[key::BLOCK_ID_AT..]) != Some(&&record.pieces[..]) {
                    return Ok(false);
                }
            }
            after = page.items.last().map(|(key, _)| key.clone());
            if !page.more {
                return Ok(count == known.len());
            }
        }
    }
}

/// All uncommitted blocks of a stage, by id.
async fn load_stage(reader: &Reader, stage: ContentId) -> Answer<HashMap<Vec<u8>, (BlockRecord, bool)>> {
    let mut blocks = HashMap::new();
    let mut after = None;
    loop {
        let page = reader.scan(Scan { after, ..Scan::of(key::blocks(stage)) }).await?;
        for (key, entry) in &page.items {
            blocks.insert(key[key::BLOCK_ID_AT..].to_vec(), (BlockRecord::decode(&entry.value)?, false));
        }
        after = page.items.last().map(|(key, _)| key.clone());
        if !page.more {
            return Ok(blocks);
        }
    }
}

fn listed_block(name: &[u8], size: u64, pieces: &[Piece], borrowed: bool) -> ListedBlock {
    ListedBlock { name: name.to_vec(), size, pieces: pieces.to_vec(), borrowed }
}

/// Pieces that a list left out. Some may still be read through the old content, so the sweeper takes them all.
fn discard_pieces<T>(plan: &mut Plan<T>, pieces: &[Piece], now: Timestamp) {
    for run in pieces.chunks(1_000) {
        plan.put(key::dead_content(ContentId::fresh(now)), DeadContent::Pieces(run.to_vec()).encode());
    }
}
