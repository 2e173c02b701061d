//! Set Container ACL.

use lazuli_model::error::Failure;
use lazuli_service::blob::SetContainerAcl;

use super::XML_LIMIT;
use crate::call::Call;
use crate::reply::Reply;
use crate::{decode, signed_identifiers};

/// Every permission that a container's token can carry.
const LETTERS: &str = "racwdxyltfmeopi";

pub async fn set_container_acl(call: Call) -> Result<Reply, Failure> {
    let public_access = decode::public_access(&call.head)?;
    let preconditions = call.preconditions()?;
    let container = call.container();
    let document = call.body.collect(XML_LIMIT, &call.services).await?;
    let policies = signed_identifiers::read_aside(&call.services, document, LETTERS).await?;
    let input = SetContainerAcl { container, preconditions, public_access, policies };
    let stamped = input.execute(&call.services, &call.context).await?;
    Ok(Reply::of(call.row).stamped(stamped))
}
