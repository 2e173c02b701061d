//! Get Block List.

use lazuli_model::admission::Preconditions;
use lazuli_model::operation::policy;
use lazuli_model::time::Timestamp;

use super::{BlobAddress, Stamped};
use crate::fault::Answer;
use crate::store::{CommittedBlocks, Stage, View};
use crate::{Context, Services};

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
    view: View,
    kind: BlockListKind,
    /// Of the committed blob, when there is one.
    pub committed_blob: Option<(Stamped, u64)>,
    committed: Option<CommittedBlocks>,
    stage: Option<Stage>,
}

impl GetBlockList {
    pub async fn execute(self, services: &Services, context: &Context) -> Answer<BlockLists> {
        let Self { at, snapshot, preconditions: given, kind } = self;
        let view = services.view(context).await?;
        let blob = match snapshot {
            Some(_) => {
                let found = view.committed_blob(&at, snapshot).await?;
                Some(found.admit(policy::GetBlockList, &given)?.into_record()?)
            }
            None => view.blob(&at).await?.admit(policy::GetBlockList, &given)?.into_record()?.blob(),
        };
        let stage = match snapshot {
            None if kind != BlockListKind::Committed => view.stage_of(&at).await?,
            _ => None,
        };
        let committed = blob.as_ref().and_then(CommittedBlocks::of);
        let committed_blob = blob.map(|blob| (blob.stamped(), blob.length()));
        Ok(BlockLists { view, kind, committed_blob, committed, stage })
    }
}

impl BlockLists {
    /// Walking through them may take long enough to matter to others on the same thread.
    pub fn is_long(&self) -> bool {
        let committed = self.committed.as_ref().map_or(0, CommittedBlocks::count);
        self.stage.is_some() || self.shows_committed() && committed > SHORT
    }

    pub fn shows_committed(&self) -> bool {
        self.kind != BlockListKind::Uncommitted
    }

    pub fn shows_uncommitted(&self) -> bool {
        self.kind != BlockListKind::Committed
    }

    /// Shows the decoded id and the size of each committed block, in the order of the blob.
    pub async fn committed(&self, show: impl FnMut(&[u8], u64) + Send) -> Answer<()> {
        match &self.committed {
            Some(blocks) => self.view.each_committed_block(blocks, show).await,
            None => Ok(()),
        }
    }

    /// The same for the uncommitted blocks, in the order of their ids.
    pub async fn uncommitted(&self, show: impl FnMut(&[u8], u64) + Send) -> Answer<()> {
        match &self.stage {
            Some(stage) => self.view.each_staged_block(stage, show).await,
            None => Ok(()),
        }
    }
}
