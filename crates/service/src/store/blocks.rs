//! The blocks of a blob, shown one by one.

use lazuli_engine::Scan;

use super::key;
use super::manifest;
use super::record::Record;
use super::record::blob::BlobRecord;
use super::record::block::BlockRecord;
use super::record::content::{Content, Shape};
use super::stage::Stage;
use super::unit::View;
use crate::blob::{BlobAddress, BlobState};
use crate::fault::Answer;

/// The blocks that a block list named.
pub struct CommittedBlocks(Content);

impl CommittedBlocks {
    /// None for a blob that was not made by a block list.
    pub fn of(blob: &BlobRecord) -> Option<Self> {
        let content = &blob.content;
        matches!(content.shape, Shape::Manifest { named: true, .. }).then(|| Self(content.clone()))
    }

    pub fn count(&self) -> usize {
        match self.0.shape {
            Shape::Manifest { blocks, .. } => blocks as usize,
            _ => 0,
        }
    }
}

impl View {
    /// The stage of the name, if it has uncommitted blocks.
    pub async fn stage_of(&self, at: &BlobAddress) -> Answer<Option<Stage>> {
        let place = self.place_of(at, BlobState::Base).await?;
        Ok(self.find_staged(&place).await?.map(|staged| Stage(staged.stage)))
    }

    /// Shows the decoded id and the size of each block, in the order of the blob.
    pub async fn each_committed_block(
        &self,
        blocks: &CommittedBlocks,
        mut show: impl FnMut(&[u8], u64) + Send,
    ) -> Answer<()> {
        let show = |block: super::record::content::ListedBlock| show(&block.name, block.content.length);
        manifest::each_block(self.reader(), blocks.0.id, show).await
    }

    /// The same for uncommitted blocks, in the order of their ids.
    pub async fn each_staged_block(
        &self,
        stage: &Stage,
        mut show: impl FnMut(&[u8], u64) + Send,
    ) -> Answer<()> {
        let mut after = None;
        loop {
            let page = self.reader().scan(Scan { after, ..Scan::of(key::blocks(stage.0)) }).await?;
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
