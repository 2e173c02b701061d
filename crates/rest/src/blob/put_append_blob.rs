//! Put Blob, for append blobs.

use lazuli_model::error::{ErrorCode, Failure};
use lazuli_service::blob::PutAppendBlob;

use super::properties::{blob_properties, encryption_of, refuse_headers, show_encryption};
use crate::call::Call;
use crate::headers::{self, name};
use crate::reply::Reply;

pub async fn put_append_blob(call: Call) -> Result<Reply, Failure> {
    // An append blob begins empty, and grows by its blocks.
    if let Some(length) = call.head.content_length()?.filter(|length| *length > 0) {
        return Err(Failure::invalid_header("Content-Length", &length.to_string()));
    }
    refuse_headers(&call.head, &[headers::X_MS_BLOB_CONTENT_LENGTH])?;
    let properties = blob_properties(&call, true)?;
    if properties.tier.is_some() {
        return Err(ErrorCode::AccessTierNotSupportedForBlobType.into());
    }
    let encryption = encryption_of(&call, properties.customer_key.as_ref()).await?;
    let input = PutAppendBlob { at: call.blob(), preconditions: call.preconditions()?, properties };
    let stamped = input.execute(&call.services, &call.context).await?;
    let reply = Reply::of(call.row).stamped(stamped).header(name::X_MS_REQUEST_SERVER_ENCRYPTED, true);
    Ok(show_encryption(reply, &encryption))
}
