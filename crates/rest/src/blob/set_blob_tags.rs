//! Set Blob Tags.

use lazuli_model::error::Failure;
use lazuli_service::blob::SetBlobTags;

use super::{XML_LIMIT, tags};
use crate::call::Call;
use crate::decode;
use crate::reply::Reply;

pub async fn set_blob_tags(call: Call) -> Result<Reply, Failure> {
    let digests = decode::digests(&call.head)?;
    let (at, state, preconditions) = (call.blob(), call.state(), call.preconditions()?);
    let document = call.body.collect(XML_LIMIT, &call.services).await?;
    let length = document.len();
    let read = move || {
        digests.verify_bytes(&document)?;
        tags::read(&document)
    };
    let tags = call.services.compute(length, read).await??;
    SetBlobTags { at, state, preconditions, tags }.execute(&call.services, &call.context).await?;
    Ok(Reply::of(call.row))
}
