//! Set Blob Tier: of a block blob, or of a snapshot or version of one. The ETag stays, as the policy says.

use std::time::Duration;

use lazuli_model::admission::Preconditions;
use lazuli_model::blob::{BlobType, ExplicitTier, RehydratePriority, Rehydration, Tier};
use lazuli_model::error::{ErrorCode, Failure};
use lazuli_model::operation::policy;
use lazuli_model::time::Timestamp;

use super::{BlobAddress, BlobState};
use crate::fault::Answer;
use crate::store::BlobRecord;
use crate::{Context, Services};

#[derive(Clone, Debug)]
pub struct SetBlobTier {
    pub at: BlobAddress,
    pub state: BlobState,
    pub preconditions: Preconditions,
    pub tier: Tier,
    pub priority: Option<RehydratePriority>,
}

/// How far a change of tier has come with its answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TierSet {
    Done,
    /// The blob leaves the archive, which takes its time.
    Rehydrating,
}

/// Rehydration of high priority takes this part of the time that the standard one does.
const HIGH_TAKES_A: u32 = 10;

impl SetBlobTier {
    pub async fn execute(self, services: &Services, context: &Context) -> Answer<TierSet> {
        let (input, takes) = (&self, services.options().rehydration_time);
        services
            .commit(context, |unit| async move {
                let now = unit.now();
                let found = unit.committed_blob(&input.at, input.state).await?;
                let mut blob = found.admit(policy::SetBlobTier, &input.preconditions)?.present()?;
                let set = input.change(&mut blob, now, takes)?;
                blob.put();
                Ok(set)
            })
            .await
    }

    fn change(&self, blob: &mut BlobRecord, now: Timestamp, takes: Duration) -> Result<TierSet, Failure> {
        if blob.kind != BlobType::Block {
            return Err(ErrorCode::InvalidBlobTier.into());
        }
        let is_archived = blob.tier.is_some_and(|explicit| explicit.tier == Tier::Archive);
        if !is_archived {
            if blob.tier.is_none_or(|explicit| explicit.tier != self.tier) {
                blob.tier = Some(ExplicitTier { tier: self.tier, changed: now });
            }
            return Ok(TierSet::Done);
        }
        let pending = blob.extras().rehydration;
        if pending.is_none() && self.tier == Tier::Archive {
            return Ok(TierSet::Done);
        }
        // A snapshot in the archive stays there (recorded).
        if self.state.snapshot().is_some() {
            return Err(ErrorCode::BlobOperationNotSupported.into());
        }
        let asked = self.priority.unwrap_or_default();
        let due = now.plus_seconds(i64::try_from(time_for(asked, takes).as_secs()).unwrap_or(i64::MAX));
        let rehydration = match pending {
            None => Rehydration { to: self.tier, priority: asked, due },
            // What is on its way is not called back or sent elsewhere; it can only be hurried.
            Some(pending) if pending.to != self.tier => return Err(ErrorCode::BlobBeingRehydrated.into()),
            Some(pending) if asked == RehydratePriority::High && asked != pending.priority => {
                Rehydration { priority: asked, due: due.min(pending.due), ..pending }
            }
            Some(pending) => pending,
        };
        blob.extras_mut().rehydration = Some(rehydration);
        Ok(TierSet::Rehydrating)
    }
}

fn time_for(priority: RehydratePriority, standard: Duration) -> Duration {
    match priority {
        RehydratePriority::Standard => standard,
        RehydratePriority::High => standard / HIGH_TAKES_A,
    }
}
