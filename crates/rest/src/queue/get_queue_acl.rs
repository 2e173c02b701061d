//! Get Queue ACL.

use lazuli_model::error::Failure;
use lazuli_service::queue::GetQueueAcl;

use super::uncached;
use crate::call::Call;
use crate::reply::Reply;
use crate::signed_identifiers;

pub async fn get_queue_acl(call: Call) -> Result<Reply, Failure> {
    let input = GetQueueAcl { queue: call.container() };
    let policies = input.execute(&call.services, &call.context).await?;
    Ok(uncached(Reply::of(call.row).xml(signed_identifiers::write(&policies))))
}
