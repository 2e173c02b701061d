//! Set Table ACL.

use lazuli_model::error::Failure;
use lazuli_service::table::SetTableAcl;

use super::{XML_LIMIT, address};
use crate::call::Call;
use crate::reply::Reply;
use crate::signed_identifiers;

/// Every permission that a table's token can carry.
const LETTERS: &str = "raud";

pub async fn set_table_acl(call: Call) -> Result<Reply, Failure> {
    let table = address::table(&call.head.target)?;
    let document = call.body.collect(XML_LIMIT, &call.services).await?;
    let policies = signed_identifiers::read_aside(&call.services, document, LETTERS).await?;
    SetTableAcl { table, policies }.execute(&call.services, &call.context).await?;
    Ok(Reply::of(call.row))
}
