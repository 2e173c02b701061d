//! Set Directory Metadata.

use lazuli_model::error::Failure;
use lazuli_service::file::SetDirectoryMetadata;

use super::path_headers::encrypted;
use crate::call::Call;
use crate::decode;
use crate::reply::Reply;

pub async fn set_directory_metadata(call: Call) -> Result<Reply, Failure> {
    let input = SetDirectoryMetadata {
        at: call.path()?,
        preconditions: call.preconditions()?,
        metadata: decode::metadata(&call.head)?,
    };
    let stamped = input.execute(&call.services, &call.context).await?;
    Ok(encrypted(Reply::of(call.row).stamped(stamped)))
}
