//! Set Blob Metadata.

use lazuli_model::error::Failure;
use lazuli_service::blob::SetBlobMetadata;

use super::properties::{customer_key, encryption_of, show_encryption};
use crate::call::Call;
use crate::decode;
use crate::headers;
use crate::reply::Reply;

pub async fn set_blob_metadata(call: Call) -> Result<Reply, Failure> {
    let key = customer_key(&call.head)?;
    let encryption = encryption_of(&call, key.as_ref()).await?;
    let input = SetBlobMetadata {
        at: call.blob(),
        preconditions: call.preconditions()?,
        metadata: decode::metadata(&call.head)?,
        customer_key: key,
    };
    let stamped = input.execute(&call.services, &call.context).await?;
    let reply = Reply::of(call.row).stamped(stamped).header(headers::X_MS_REQUEST_SERVER_ENCRYPTED, true);
    Ok(show_encryption(reply, &encryption))
}
