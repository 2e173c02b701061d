//! Get Share ACL.

use lazuli_model::error::Failure;

use super::get_share_properties::find;
use crate::call::Call;
use crate::reply::Reply;
use crate::signed_identifiers;

pub async fn get_share_acl(call: Call) -> Result<Reply, Failure> {
    let row = call.row;
    let (share, _) = find(call).await?;
    Ok(Reply::of(row).xml(signed_identifiers::write(&share.policies)).stamped(share.stamped()))
}
