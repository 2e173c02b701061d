//! Set Blob Immutability Policy, Delete Blob Immutability Policy.

use lazuli_model::error::Failure;
use lazuli_service::blob::{DeleteBlobImmutabilityPolicy, SetBlobImmutabilityPolicy};

use super::hold;
use crate::call::Call;
use crate::headers;
use crate::reply::Reply;

pub async fn set_blob_immutability_policy(call: Call) -> Result<Reply, Failure> {
    const UNTIL: &str = headers::X_MS_IMMUTABILITY_POLICY_UNTIL_DATE;
    let preconditions = call.preconditions()?;
    let policy = hold::immutability_policy(&call.head)?.ok_or_else(|| Failure::missing_header(UNTIL))?;
    hold::refuse_on_plain_account(&call, UNTIL)?;
    let input = SetBlobImmutabilityPolicy { at: call.blob(), state: call.state(), preconditions, policy };
    input.execute(&call.services, &call.context).await?;
    Ok(hold::show_policy(Reply::of(call.row), Some(&policy)))
}

/// Also where policies are no longer set: what protects a blob can be lifted as it could before.
pub async fn delete_blob_immutability_policy(call: Call) -> Result<Reply, Failure> {
    let input = DeleteBlobImmutabilityPolicy {
        at: call.blob(),
        state: call.state(),
        preconditions: call.preconditions()?,
    };
    input.execute(&call.services, &call.context).await?;
    Ok(Reply::of(call.row))
}
