//! Abort Copy Blob.

use lazuli_model::admission::LeaseId;
use lazuli_model::error::Failure;
use lazuli_service::blob::AbortCopyBlob;

use crate::call::Call;
use crate::reply::Reply;

pub async fn abort_copy_blob(call: Call) -> Result<Reply, Failure> {
    let text = call.head.query("copyid").unwrap_or_default();
    // Copy ids are GUIDs, written in any of the forms that lease ids may have.
    let id = LeaseId::parse(text)
        .ok_or_else(|| Failure::invalid_query("copyid", text, "copyid needs to be valid Guid."))?;
    let input = AbortCopyBlob { at: call.blob(), preconditions: call.preconditions()?, id: id.0 };
    input.execute(&call.services, &call.context).await?;
    Ok(Reply::of(call.row))
}
