//! Get Table ACL.

use lazuli_model::error::{ErrorCode, Failure};
use lazuli_service::table::table_access;

use super::address;
use crate::call::Call;
use crate::reply::Reply;
use crate::signed_identifiers;

pub async fn get_table_acl(call: Call) -> Result<Reply, Failure> {
    let table = address::table(&call.head.target)?;
    let found = table_access(&call.services, &call.context.account, &table).await?;
    let access = found.ok_or(ErrorCode::TableNotFound)?;
    Ok(Reply::of(call.row).xml(signed_identifiers::write(&access.policies)))
}
