//! Undelete Blob.

use lazuli_model::error::Failure;
use lazuli_service::blob::UndeleteBlob;

use crate::call::Call;
use crate::reply::Reply;

pub async fn undelete_blob(call: Call) -> Result<Reply, Failure> {
    let input = UndeleteBlob { at: call.blob(), preconditions: call.preconditions()? };
    input.execute(&call.services, &call.context).await?;
    Ok(Reply::of(call.row))
}
