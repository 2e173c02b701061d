//! Incremental Copy Blob.

use lazuli_model::error::{ErrorCode, Failure};
use lazuli_service::blob::{CopySource, IncrementalCopyBlob};

use crate::call::Call;
use crate::copy;
use crate::headers::name;
use crate::reply::Reply;

pub async fn incremental_copy_blob(call: Call) -> Result<Reply, Failure> {
    let preconditions = call.preconditions()?;
    let asked = copy::source(&call, false).await?;
    let CopySource::Own(source) = asked.source else {
        return Err(ErrorCode::InvalidSourceBlobUrl.into());
    };
    let input = IncrementalCopyBlob { at: call.blob(), preconditions, source, shown_source: asked.shown };
    let copied = input.execute(&call.services, &call.context).await?;
    Ok(Reply::of(call.row)
        .stamped(copied.stamped)
        .header(name::X_MS_COPY_ID, copied.id.to_string())
        .header(name::X_MS_COPY_STATUS, copied.status.as_str()))
}
