//! Lease Share.

use lazuli_model::error::Failure;
use lazuli_model::operation::Op;
use lazuli_service::file::LeaseShare;

use crate::call::Call;
use crate::reply::Reply;
use crate::{decode, headers};

pub async fn lease_share(call: Call) -> Result<Reply, Failure> {
    let action = decode::lease_action(&call.head, call.row)?;
    let input = LeaseShare { at: call.share(), preconditions: call.preconditions()?, action };
    let (stamped, change) = input.execute(&call.services, &call.context, call.writing()?).await?;
    // What is released tells no time left, of shares alone (recorded).
    let released = (call.row.op == Op::ReleaseShareLease).then_some(0_u32);
    Ok(Reply::of(call.row)
        .stamped(stamped)
        .maybe(headers::X_MS_LEASE_ID, change.id)
        .maybe(headers::X_MS_LEASE_TIME, change.time.or(released)))
}
