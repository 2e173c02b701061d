//! Set Share ACL.

use lazuli_model::error::Failure;
use lazuli_service::file::SetShareAcl;

use super::XML_LIMIT;
use crate::call::Call;
use crate::reply::Reply;
use crate::signed_identifiers;

/// Every permission that a share's token can carry.
const LETTERS: &str = "rcwdl";

pub async fn set_share_acl(call: Call) -> Result<Reply, Failure> {
    let (at, preconditions) = (call.share(), call.preconditions()?);
    let document = call.body.collect(XML_LIMIT, &call.services).await?;
    let policies = signed_identifiers::read_aside(&call.services, document, LETTERS).await?;
    let input = SetShareAcl { at, preconditions, policies };
    let stamped = input.execute(&call.services, &call.context).await?;
    Ok(Reply::of(call.row).stamped(stamped))
}
