//! Set Queue ACL.

use lazuli_model::error::Failure;
use lazuli_service::queue::SetQueueAcl;

use super::XML_LIMIT;
use crate::call::Call;
use crate::reply::Reply;
use crate::signed_identifiers;

/// Every permission that a queue's token can carry.
const LETTERS: &str = "raup";

pub async fn set_queue_acl(call: Call) -> Result<Reply, Failure> {
    let queue = call.container();
    let document = call.body.collect(XML_LIMIT, &call.services).await?;
    let policies = signed_identifiers::read_aside(&call.services, document, LETTERS).await?;
    let input = SetQueueAcl { queue, policies };
    input.execute(&call.services, &call.context).await?;
    Ok(Reply::of(call.row))
}
