//! Uncommitted blocks of a name: staged, and given up.

use lazuli_model::error::ErrorCode;

use super::blob::BlobPlace;
use super::content;
use super::found::Admitted;
use super::new_content::NewContent;
use super::unit::{Changes as _, Unit};
use crate::Services;
use crate::fault::Answer;
use crate::store::key::{self, ContentId};
use crate::store::record::Record;
use crate::store::record::block::{BlockRecord, StagedRecord};
use crate::store::record::content::DeadContent;
use crate::store::record::existing::Existing;

/// A stage, as the memory of how many blocks it has knows it.
pub struct Stage(pub(super) ContentId);

impl Stage {
    /// One block more was committed to it.
    pub fn count_one(self, services: &Services) {
        services.stage_counts().add(self.0);
    }
}

impl Unit {
    /// The sweeper deletes the blocks and their bytes.
    pub(super) fn give_up_stage(&mut self, place: &BlobPlace, staged: &StagedRecord) {
        self.delete(place.staged_key());
        self.put(key::dead_content(staged.stage), DeadContent::Stage.encode());
    }
}

impl Admitted<Existing> {
    /// Files a block under the name. Gives the stage if the block's id is new to it.
    pub async fn stage_block(
        self,
        services: &Services,
        block_id: &[u8],
        new: &NewContent,
    ) -> Answer<Option<Stage>> {
        let Self { mut unit, place, admitted, .. } = self;
        unit.check_sealed(&place, new.encryption())?;
        let staged = match admitted.record() {
            Some(Existing::Staged(staged)) => Some(staged.clone()),
            _ => unit.find_staged(&place).await?,
        };
        let stage = match staged {
            Some(staged) if usize::from(staged.id_length) != block_id.len() => {
                return Err(ErrorCode::InvalidBlobOrBlock.into());
            }
            Some(mut staged) => {
                staged.encryption().admits(new.encryption())?;
                let stage = staged.stage;
                if staged.is_behind(unit.now()) {
                    staged.touched = unit.now();
                    unit.put(place.staged_key(), staged.encode());
                }
                stage
            }
            None => {
                unit.give_up_expired_stage(&place).await?;
                let stage = ContentId::fresh(unit.now());
                let id_length = u8::try_from(block_id.len()).unwrap_or(u8::MAX);
                let record = StagedRecord {
                    stage,
                    id_length,
                    created: unit.now(),
                    touched: unit.now(),
                    lease: None,
                    customer_key: new.encryption().customer_key(),
                    encryption_scope: new.encryption().scope().map(str::to_owned),
                };
                unit.put(place.staged_key(), record.encode());
                stage
            }
        };
        let block_key = key::block(stage, block_id);
        let reader = unit.reader().clone();
        let is_new = match reader.get(block_key.clone()).await? {
            // No reader can need the bytes that are replaced: a list never named them.
            Some(entry) => {
                content::discard(&mut unit, &BlockRecord::decode(&entry.value)?.content);
                false
            }
            None if services.stage_counts().is_full(&reader, stage).await? => {
                return Err(ErrorCode::BlockCountExceedsLimit.into());
            }
            None => true,
        };
        new.publish(&mut unit).await?;
        let block = BlockRecord { content: new.content.clone(), staged_at: unit.now() };
        unit.put(block_key, block.encode());
        Ok(is_new.then_some(Stage(stage)))
    }
}
