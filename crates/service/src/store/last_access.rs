//! When a blob was last read. It is noted once a day at the most, by a small commit beside the answer: a read neither waits
//! for it nor fails with it.

use std::sync::Arc;

use lazuli_model::time::Timestamp;

use super::unit::Unit;
use crate::blob::{BlobAddress, BlobState};
use crate::fault::Answer;
use crate::store::record::blob::BlobRecord;
use crate::{Context, Services};

/// So long a noted read stands for all that follow it.
const NOTED_SECONDS: i64 = 24 * 60 * 60;
/// Notes that are taken at a time. A read for which there is no room is not noted; the next one may be.
pub(super) const NOTES: usize = 32;

impl Services {
    /// Notes that a blob, or its snapshot or version of this moment, was read, if the account remembers reads and the last one that
    /// was noted is a day ago.
    pub(crate) fn note_access(
        &self,
        context: &Context,
        at: &BlobAddress,
        state: BlobState,
        found: &BlobRecord,
        now: Timestamp,
    ) {
        if !self.options().features.of(&context.account).last_access_time || !is_to_be_noted(found, now) {
            return;
        }
        let Ok(turn) = Arc::clone(self.access_notes()).try_acquire_owned() else { return };
        let (services, context, at) = (self.clone(), context.clone(), at.clone());
        tokio::spawn(async move {
            let _turn = turn;
            let at = &at;
            let noted = services.commit(&context, |unit| async move { unit.note_access(at, state).await });
            if let Err(fault) = noted.await {
                tracing::debug!(code = ?fault.0.code, cause = ?fault.0.cause, "a read is not noted");
            }
        });
    }
}

fn is_to_be_noted(blob: &BlobRecord, now: Timestamp) -> bool {
    blob.last_access().plus_seconds(NOTED_SECONDS) <= now
}

impl Unit {
    /// Of several readers that saw the same old time, the first one's note stands.
    async fn note_access(&self, at: &BlobAddress, state: BlobState) -> Answer<()> {
        let mut place = self.place_of(at, state).await?;
        if let Some(mut record) = self.resolve(&mut place).await?
            && is_to_be_noted(&record, self.now())
        {
            record.extras_mut().last_accessed = Some(self.now());
            place.write(&mut self.clone(), &record);
        }
        Ok(())
    }
}
