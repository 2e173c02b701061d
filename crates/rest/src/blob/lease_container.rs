//! Lease Container.

use lazuli_model::error::Failure;
use lazuli_service::blob::LeaseContainer;

use crate::call::Call;
use crate::decode;
use crate::headers;
use crate::reply::Reply;

pub async fn lease_container(call: Call) -> Result<Reply, Failure> {
    let action = decode::lease_action(&call.head, call.row)?;
    let input = LeaseContainer { container: call.container(), preconditions: call.preconditions()?, action };
    let (stamped, change) = input.execute(&call.services, &call.context, call.writing()?).await?;
    Ok(Reply::of(call.row)
        .stamped(stamped)
        .maybe(headers::X_MS_LEASE_ID, change.id)
        .maybe(headers::X_MS_LEASE_TIME, change.time))
}
