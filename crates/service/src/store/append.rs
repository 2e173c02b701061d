//! Append blobs: a content that grows by one segment with each commit, which lists the blocks that it appends.
//!
//! The segments of an append blob's manifest are only ever added to, each by the commit that writes the longer record;
//! the sweeper packs them ([`pack`](super::pack)).
//! So records over one content differ in length alone: a snapshot reads up to its own length, and a download that began
//! before a block was appended ends where its record ended. Only one record, the blob itself, may append to a content;
//! a copy of an append blob has a content of its own.

use lazuli_engine::Value;
use lazuli_model::admission::Preconditions;
use lazuli_model::blob::CustomerKey;
use lazuli_model::error::{ErrorCode, Failure};
use lazuli_model::operation::{Judged, Policy, Writes};

use super::found::{Found, Present};
use super::new_content::NewContent;
use super::pack;
use super::unit::{Changes as _, Unit};
use crate::Context;
use crate::blob::{BlobAddress, Stamped};
use crate::fault::Answer;
use crate::store::key::{self, ContentId};
use crate::store::record::Record;
use crate::store::record::blob::BlobRecord;
use crate::store::record::content::{Content, ListedBlock, Segment, Shape};
use crate::store::record::existing::Existing;

/// The most blocks that an append blob has.
const BLOCKS: u32 = 50_000;

/// Where a block came to stand.
#[derive(Clone, Copy, Debug)]
pub struct AppendedBlock {
    pub stamped: Stamped,
    pub offset: u64,
    /// How many blocks the blob has with this one.
    pub blocks: u32,
}

/// The operations that append, which are known at run time: both bring one block.
#[derive(Clone, Copy)]
pub struct Appending(&'static Policy);

impl Appending {
    pub fn by(op: impl Judged<Mode = Writes>) -> Self {
        Self(op.policy())
    }
}

impl Judged for Appending {
    type Mode = Writes;

    fn policy(self) -> &'static Policy {
        self.0
    }
}

/// A block that is written and belongs to no blob yet, and what its request asserts.
pub struct NewBlock {
    pub context: Context,
    pub op: Appending,
    pub preconditions: Preconditions,
    pub customer_key: Option<CustomerKey>,
    /// Whether the bytes are those that the sender meant. Wrong ones are refused after whatever the conditions refuse.
    pub intact: Result<(), Failure>,
    pub content: NewContent,
}

/// What the blocks of one commit make of a blob.
struct Growth {
    record: BlobRecord,
    /// Of the blocks, which are listed together.
    start: u64,
    listed: Vec<ListedBlock>,
}

impl Unit {
    /// Adds blocks behind the last one, as if their requests had come one after another: each is judged on what the one
    /// before it left, and has an answer of its own. A block that is refused does not hurt its neighbours. The record is a
    /// check of the commit, so of several servers that saw the same end one wins, and the others judge again at the new end.
    pub(super) async fn append(
        mut self,
        at: &BlobAddress,
        blocks: &[NewBlock],
    ) -> Answer<Vec<Answer<AppendedBlock>>> {
        let (_, place, mut existing) = self.blob(at).await?.into_parts();
        let mut growth = None;
        let mut answers = Vec::with_capacity(blocks.len());
        for block in blocks {
            let unit = self.on_behalf_of(block.context.clone());
            let found = Found::new(unit, place.clone(), existing.clone());
            answers.push(match grow(found, block, &mut growth).await {
                Ok((record, appended)) => {
                    existing = Some(Existing::Blob(Box::new(record)));
                    Ok(appended)
                }
                Err(fault) => Err(fault),
            });
        }
        if let Some(Growth { record, start, listed }) = growth {
            let Content { id, length, .. } = record.content;
            // A number tells lists apart that end at one offset; no two of these do.
            let number = record.committed_blocks().saturating_sub(1);
            place.write(&mut self, &record);
            if pack::is_due(start, &listed, &record) {
                self.put(key::to_pack(place.generation, &place.name), Value::new());
            }
            self.put(key::segment(id, length, number), Segment { start, blocks: listed }.encode());
        }
        Ok(answers)
    }
}

/// Judges one block and adds it to what is to be written.
async fn grow(
    found: Found<Existing>,
    block: &NewBlock,
    growth: &mut Option<Growth>,
) -> Answer<(BlobRecord, AppendedBlock)> {
    let mut blob = found.admit(block.op, &block.preconditions)?.committed()?;
    blob.check_encryption(block.customer_key.as_ref())?;
    block.intact.clone()?;
    let (offset, number) = (blob.length(), blob.committed_blocks());
    if number >= BLOCKS {
        return Err(too_many_blocks().into());
    }
    let id = match blob.content.shape {
        Shape::Empty => ContentId::fresh(blob.unit.now()),
        Shape::Manifest { .. } => blob.content.id,
        Shape::Pieces(_) | Shape::Sparse => return Err(cannot_grow().into()),
    };
    blob.encryption().admits(block.content.encryption())?;
    block.content.publish(&mut blob.unit).await?;
    let added = &block.content.content;
    let shape = Shape::Manifest { blocks: number + 1, named: false };
    blob.content = Content { id, length: offset + added.length, shape };
    blob.stamp();
    let record = blob.into_record();
    let appended = AppendedBlock { stamped: record.stamped(), offset, blocks: number + 1 };
    let listed = ListedBlock { name: Vec::new(), content: added.clone() };
    match growth {
        Some(growth) => {
            growth.record = record.clone();
            growth.listed.push(listed);
        }
        None => *growth = Some(Growth { record: record.clone(), start: offset, listed: vec![listed] }),
    }
    Ok((record, appended))
}

impl Present<BlobRecord> {
    /// No block can be appended any more. To seal a sealed blob changes nothing.
    pub fn seal(mut self) -> Stamped {
        if self.sealed {
            return self.stamped();
        }
        self.sealed = true;
        self.put().stamped()
    }
}

/// What an append blob gets that is created with bytes: a content that can grow.
pub(super) fn growing(unit: &mut Unit, content: &Content) -> Content {
    match content.shape {
        Shape::Pieces(_) => {
            let id = ContentId::fresh(unit.now());
            add_block(unit, id, 0, 0, content)
        }
        Shape::Empty | Shape::Manifest { .. } | Shape::Sparse => content.clone(),
    }
}

/// Writes the segment of one block, and gives the content that ends with it.
fn add_block(unit: &mut Unit, id: ContentId, start: u64, number: u32, block: &Content) -> Content {
    let length = start + block.length;
    let listed = ListedBlock { name: Vec::new(), content: block.clone() };
    let segment = Segment { start, blocks: vec![listed] };
    unit.put(key::segment(id, length, number), segment.encode());
    Content { id, length, shape: Shape::Manifest { blocks: number + 1, named: false } }
}

fn too_many_blocks() -> Failure {
    Failure::new(ErrorCode::BlockCountExceedsLimit)
        .with_message("The committed block count cannot exceed the maximum limit of 50,000 blocks.")
}

/// Every append blob is written through [`growing`].
fn cannot_grow() -> Failure {
    Failure::new(ErrorCode::InternalError).cause("an append blob whose content is no manifest")
}
