//! Delete Directory.

use lazuli_model::error::Failure;
use lazuli_service::file::DeleteDirectory;

use crate::call::Call;
use crate::reply::Reply;

pub async fn delete_directory(call: Call) -> Result<Reply, Failure> {
    let input = DeleteDirectory { at: call.path()?, preconditions: call.preconditions()? };
    input.execute(&call.services, &call.context).await?;
    Ok(Reply::of(call.row))
}
