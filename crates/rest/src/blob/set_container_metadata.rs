//! Set Container Metadata.

use lazuli_model::error::Failure;
use lazuli_service::blob::SetContainerMetadata;

use crate::call::Call;
use crate::decode;
use crate::reply::Reply;

pub async fn set_container_metadata(call: Call) -> Result<Reply, Failure> {
    let input = SetContainerMetadata {
        container: call.container(),
        metadata: decode::metadata(&call.head)?,
        preconditions: call.preconditions()?,
    };
    let stamped = input.execute(&call.services, &call.context).await?;
    Ok(Reply::of(call.row).stamped(stamped))
}
