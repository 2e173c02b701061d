//! Get Block List.

use lazuli_engine::Scan;
use lazuli_model::Op;
use lazuli_model::admission::{Kind, Preconditions, admit};
use lazuli_model::error::ErrorCode;
use lazuli_model::time::Timestamp;

use super::{BlobAddress, Place, Stamped};
use crate::fault::Answer;
use crate::record::Record;
use crate::record::block::BlockRecord;
use crate::record::content::Shape;
use crate::record::existing::Existing;
use crate::{Context, Services, key, manifest, store};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BlockListKind {
    Committed,
    Uncommitted,
    All,
}

#[derive(Clone, Debug)]
pub struct GetBlockList {
    pub at: BlobAddress,
    pub snapshot: Option<Timestamp>,
    pub preconditions: Preconditions,
    pub kind: BlockListKind,
}

#[derive(Clone, Debug, Default)]
pub struct BlockLists {
    /// Of the committed blob, when there is one.
    pub committed_blob: Option<(Stamped, u64)>,
    pub committed: Option<Vec<(Vec<u8>, u64)>>,
    pub uncommitted: Option<Vec<(Vec<u8>, u64)>>,
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
        let admitted = admit(row, &self.preconditions, Kind::Blob, place.existing, now, context.version)?;
        let existing = admitted.into_record().ok_or(ErrorCode::BlobNotFound)?;
        let mut lists = BlockLists::default();
        if self.kind != BlockListKind::Uncommitted {
            lists.committed = Some(Vec::new());
        }
        if let Existing::Blob(blob) = &existing {
            let stamped = Stamped { etag: blob.etag(), last_modified: blob.last_modified() };
            lists.committed_blob = Some((stamped, blob.length()));
            if let (Some(list), Shape::Manifest { named: true, .. }) =
                (&mut lists.committed, &blob.fields.content.shape)
            {
                let blocks = manifest::all_blocks(&reader, &blob.fields.content).await?;
                list.extend(blocks.into_iter().map(|block| (block.name, block.size)));
            }
        }
        if self.kind != BlockListKind::Committed {
            let mut list = Vec::new();
            let staged = match self.snapshot {
                Some(_) => None,
                None => store::find_staged(&reader, generation, &self.at.blob).await?,
            };
            let mut after = None;
            while let Some(staged) = &staged {
                let page = reader.scan(Scan { after, ..Scan::of(key::blocks(staged.stage)) }).await?;
                for (key, entry) in &page.items {
                    list.push((key[key::BLOCK_ID_AT..].to_vec(), BlockRecord::decode(&entry.value)?.size));
                }
                after = page.items.last().map(|(key, _)| key.clone());
                if !page.more {
                    break;
                }
            }
            lists.uncommitted = Some(list);
        }
        Ok(lists)
    }
}
