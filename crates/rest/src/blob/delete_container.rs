//! Delete Container.

use lazuli_model::error::Failure;
use lazuli_service::blob::DeleteContainer;

use crate::call::Call;
use crate::reply::Reply;

pub async fn delete_container(call: Call) -> Result<Reply, Failure> {
    let input = DeleteContainer { container: call.container(), preconditions: call.preconditions()? };
    input.execute(&call.services, &call.context).await?;
    Ok(Reply::of(call.row))
}
