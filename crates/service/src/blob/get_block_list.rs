//! Get Block List.

use lazuli_engine::{Reader, Scan};
use lazuli_model::Op;
use lazuli_model::admission::{Kind, Preconditions, admit};
use lazuli_model::error::ErrorCode;
use lazuli_model::time::Timestamp;

use super::{BlobAddress, Place, Stamped};
use crate::fault::Answer;
use crate::key::{self, ContentId};
use crate::record::Record;
use crate::record::block::BlockRecord;
use crate::record::content::{Content, Shape};
use crate::record::existing::Existing;
use crate::{Context, Services, manifest, store};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BlockListKind {
    Committed,
    Uncommitted,
    All,
}

/// A list of so many blocks is a short one. How many are uncommitted is not known beforehand.
const SHORT: usize = 200;

#[derive(Clone, Debug)]
pub struct GetBlockList {
    pub at: BlobAddress,
    pub snapshot: Option<Timestamp>,
    pub preconditions: Preconditions,
    pub kind: BlockListKind,
}

/// The lists as one snapshot shows them. They may be long, so they are shown block by block.
pub struct BlockLists {
    reader: Reader,
    kind: BlockListKind,
    /// Of the committed blob, when there is one.
    pub committed_blob: Option<(Stamped, u64)>,
    committed: Option<Content>,
    stage: Option<ContentId>,
}

impl GetBlockList {
    pub async fn execute(self, services: &Services, context: &Context) -> Answer<BlockLists> {
        let reader = services.engine().reader().await?;
        let now = store::now(&reader);
        let mut place = Place::find(&reader, &context.account, &self.at).await?;
        let generation = place.generation();
        if let Some(snapshot) = self.snapshot {
            let found = store::find_snapshot(&reader, generation, &self.at.blob, snapshot).await?;
            place.existing = found.map(|blob| Existing::Blob(Box::new(blob)));
        }
        let row = Op::GetBlockList.row();
        let admitted =
            admit(&row.policy, &self.preconditions, Kind::Blob, place.existing, now, context.version)?;
        let existing = admitted.into_record().ok_or(ErrorCode::BlobNotFound)?;
        let (mut committed_blob, mut committed) = (None, None);
        if let Existing::Blob(blob) = existing {
            let stamped = Stamped { etag: blob.etag, last_modified: blob.last_modified };
            committed_blob = Some((stamped, blob.length()));
            committed = Some(blob.content)
                .filter(|content| matches!(content.shape, Shape::Manifest { named: true, .. }));
        }
        let stage = match self.snapshot {
            None if self.kind != BlockListKind::Committed => {
                store::find_staged(&reader, generation, &self.at.blob).await?.map(|staged| staged.stage)
            }
            _ => None,
        };
        Ok(BlockLists { reader, kind: self.kind, committed_blob, committed, stage })
    }
}

impl BlockLists {
    /// Walking through them may take long enough to matter to others on the same thread.
    pub fn is_long(&self) -> bool {
        let committed = match self.committed.as_ref().map(|content| &content.shape) {
            Some(Shape::Manifest { blocks, .. }) => *blocks as usize,
            _ => 0,
        };
        self.stage.is_some() || self.shows_committed() && committed > SHORT
    }

    pub fn shows_committed(&self) -> bool {
        self.kind != BlockListKind::Uncommitted
    }

    pub fn shows_uncommitted(&self) -> bool {
        self.kind != BlockListKind::Committed
    }

    /// Shows the decoded id and the size of each committed block, in the order of the blob.
    pub async fn committed(&self, mut show: impl FnMut(&[u8], u64) + Send) -> Answer<()> {
        match &self.committed {
            Some(content) => {
                manifest::each_block(&self.reader, content.id, |block| {
                    show(&block.name, block.content.length)
                })
                .await
            }
            None => Ok(()),
        }
    }

    /// The same for the uncommitted blocks, in the order of their ids.
    pub async fn uncommitted(&self, mut show: impl FnMut(&[u8], u64) + Send) -> Answer<()> {
        let Some(stage) = self.stage else { return Ok(()) };
        let mut after = None;
        loop {
            let page = self.reader.scan(Scan { after, ..Scan::of(key::blocks(stage)) }).await?;
            for (key, entry) in &page.items {
                show(&key[key::BLOCK_ID_AT..], BlockRecord::decode(&entry.value)?.content.length);
            }
            after = page.items.last().map(|(key, _)| key.clone());
            if !page.more {
                return Ok(());
            }
            tokio::task::yield_now().await;
        }
    }
}
