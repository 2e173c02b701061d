//! Set Blob Properties: content headers. Size and sequence number belong to page blobs, which are not built.

use lazuli_model::error::{ErrorCode, Failure};
use lazuli_service::blob::SetBlobProperties;

use crate::call::Call;
use crate::decode;
use crate::headers;
use crate::reply::Reply;

pub async fn set_blob_properties(call: Call) -> Result<Reply, Failure> {
    let page_only = [headers::X_MS_BLOB_CONTENT_LENGTH, headers::X_MS_SEQUENCE_NUMBER_ACTION];
    if page_only.iter().any(|name| call.head.header(name).is_some()) {
        return Err(ErrorCode::InvalidBlobType.into());
    }
    let input = SetBlobProperties {
        at: call.blob(),
        preconditions: call.preconditions()?,
        headers: decode::content_headers(&call.head, false)?,
    };
    let stamped = input.execute(&call.services, &call.context).await?;
    Ok(Reply::of(call.row).stamped(stamped))
}
