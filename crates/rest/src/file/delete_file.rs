//! Delete File.

use lazuli_model::error::Failure;
use lazuli_service::file::DeleteFile;

use crate::call::Call;
use crate::headers;
use crate::reply::Reply;

pub async fn delete_file(call: Call) -> Result<Reply, Failure> {
    let input = DeleteFile { at: call.path()?, preconditions: call.preconditions()? };
    let names_left = input.execute(&call.services, &call.context).await?;
    Ok(Reply::of(call.row).maybe(headers::X_MS_LINK_COUNT, names_left))
}
