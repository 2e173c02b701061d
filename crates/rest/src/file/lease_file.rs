//! Lease File.

use lazuli_model::error::Failure;
use lazuli_service::file::LeaseFile;

use crate::call::Call;
use crate::decode;
use crate::headers::name;
use crate::reply::Reply;

pub async fn lease_file(call: Call) -> Result<Reply, Failure> {
    let action = decode::lease_action(&call.head, call.row)?;
    let input = LeaseFile { at: call.path()?, preconditions: call.preconditions()?, action };
    let (stamped, change) = input.execute(&call.services, &call.context, call.writing()?).await?;
    Ok(Reply::of(call.row)
        .stamped(stamped)
        .maybe(name::X_MS_LEASE_ID, change.id)
        .maybe(name::X_MS_LEASE_TIME, change.time))
}
