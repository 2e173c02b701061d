//! Append Blob Seal.

use lazuli_model::error::Failure;
use lazuli_service::blob::AppendBlobSeal;

use crate::call::Call;
use crate::headers::name;
use crate::reply::Reply;

pub async fn append_blob_seal(call: Call) -> Result<Reply, Failure> {
    let input = AppendBlobSeal { at: call.blob(), preconditions: call.preconditions()? };
    let stamped = input.execute(&call.services, &call.context).await?;
    Ok(Reply::of(call.row).stamped(stamped).header(name::X_MS_BLOB_SEALED, true))
}
