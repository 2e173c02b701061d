//! Get Blob Tags.

use lazuli_model::error::Failure;
use lazuli_service::blob::GetBlobTags;

use super::tags;
use crate::call::Call;
use crate::reply::Reply;
use crate::xml::Writer;

pub async fn get_blob_tags(call: Call) -> Result<Reply, Failure> {
    let input = GetBlobTags { at: call.blob(), state: call.state(), preconditions: call.preconditions()? };
    let found = input.execute(&call.services, &call.context).await?;
    let mut writer = Writer::of(call.row);
    tags::write(&mut writer, &found);
    Ok(Reply::of(call.row).xml(writer.finish()))
}
