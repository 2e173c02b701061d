//! Append blobs: a content that grows by one segment with each block.
//!
//! The segments of an append blob's manifest are only ever added to, each by the commit that writes the longer record.
//! So records over one content differ in length alone: a snapshot reads up to its own length, and a download that began
//! before a block was appended ends where its record ended. Only one record, the blob itself, may append to a content;
//! a copy of an append blob has a content of its own.

use lazuli_model::error::{ErrorCode, Failure};

use super::found::Present;
use super::new_content::NewContent;
use super::unit::{Changes as _, Unit};
use crate::blob::Stamped;
use crate::fault::Answer;
use crate::store::key::{self, ContentId};
use crate::store::record::Record;
use crate::store::record::blob::BlobRecord;
use crate::store::record::content::{Content, ListedBlock, Segment, Shape};

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

impl Present<BlobRecord> {
    /// Adds a block behind the last one. The record is a check of the commit, so of several appenders that saw the same
    /// end one wins, and the others are judged again at the new end.
    pub async fn append(mut self, block: &NewContent) -> Answer<AppendedBlock> {
        let (offset, number) = (self.length(), self.committed_blocks());
        if number >= BLOCKS {
            return Err(too_many_blocks().into());
        }
        let id = match self.content.shape {
            Shape::Empty => ContentId::fresh(self.unit.now()),
            Shape::Manifest { .. } => self.content.id,
            Shape::Pieces(_) | Shape::Sparse => return Err(cannot_grow().into()),
        };
        self.encryption().admits(block.encryption())?;
        block.publish(&mut self.unit).await?;
        self.content = add_block(&mut self.unit, id, offset, number, &block.content);
        let blocks = self.committed_blocks();
        Ok(AppendedBlock { stamped: self.put().stamped(), offset, blocks })
    }

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
