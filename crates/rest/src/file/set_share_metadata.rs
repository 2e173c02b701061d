//! Set Share Metadata.

use lazuli_model::error::Failure;
use lazuli_service::file::SetShareMetadata;

use crate::call::Call;
use crate::decode;
use crate::reply::Reply;

pub async fn set_share_metadata(call: Call) -> Result<Reply, Failure> {
    let input = SetShareMetadata {
        at: call.share(),
        preconditions: call.preconditions()?,
        metadata: decode::metadata(&call.head)?,
    };
    let stamped = input.execute(&call.services, &call.context).await?;
    Ok(Reply::of(call.row).stamped(stamped))
}
