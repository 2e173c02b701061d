//! Set Blob Tier.

use lazuli_model::blob::RehydratePriority;
use lazuli_model::error::Failure;
use lazuli_service::blob::{SetBlobTier, TierSet};

use crate::call::Call;
use crate::decode;
use crate::head::Head;
use crate::headers;
use crate::reply::Reply;

pub async fn set_blob_tier(call: Call) -> Result<Reply, Failure> {
    let tier = decode::tier(&call.head)?;
    let input = SetBlobTier {
        at: call.blob(),
        state: call.state(),
        preconditions: call.preconditions()?,
        tier: tier.ok_or_else(|| Failure::missing_header(headers::X_MS_ACCESS_TIER))?,
        priority: rehydrate_priority(&call.head)?,
    };
    let reply = Reply::of(call.row);
    Ok(match input.execute(&call.services, &call.context).await? {
        TierSet::Done => reply,
        TierSet::Rehydrating => reply.otherwise(call.row),
    })
}

/// How soon a blob is to leave the archive; checked also where it does not matter (recorded).
pub fn rehydrate_priority(head: &Head) -> Result<Option<RehydratePriority>, Failure> {
    let Some(text) = head.header(headers::X_MS_REHYDRATE_PRIORITY) else { return Ok(None) };
    let known = [RehydratePriority::Standard, RehydratePriority::High];
    let found = known.into_iter().find(|known| known.as_str().eq_ignore_ascii_case(text));
    found.map(Some).ok_or_else(|| Failure::invalid_header(headers::X_MS_REHYDRATE_PRIORITY, text))
}
