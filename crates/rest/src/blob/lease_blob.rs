//! Lease Blob.

use lazuli_model::error::Failure;
use lazuli_service::blob::LeaseBlob;

use crate::call::Call;
use crate::decode;
use crate::headers::name;
use crate::reply::Reply;

pub async fn lease_blob(call: Call) -> Result<Reply, Failure> {
    let action = decode::lease_action(&call.head, call.row)?;
    let input = LeaseBlob { at: call.blob(), preconditions: call.preconditions()?, action };
    let (stamped, change) = input.execute(&call.services, &call.context, call.writing()?).await?;
    Ok(Reply::of(call.row)
        .stamped(stamped)
        .maybe(name::X_MS_LEASE_ID, change.id)
        .maybe(name::X_MS_LEASE_TIME, change.time))
}
