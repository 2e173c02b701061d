//! TREE_DISCONNECT (MS-SMB2 2.2.11).

use crate::server::answer::{Failure, Reply};
use crate::server::call::Call;
use crate::status::NtStatus;

pub async fn perform(call: &Call) -> Result<Reply, Failure> {
    call.body(4)?;
    let ended = call.session()?.end_tree(call.header.tree_id).await;
    ended.ok_or(NtStatus::NETWORK_NAME_DELETED)?;
    Ok(Reply::done())
}
