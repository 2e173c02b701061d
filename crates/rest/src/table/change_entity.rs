//! Update, Merge, Insert Or Replace, Insert Or Merge and Delete Entity: alike on the wire but for the row.

use lazuli_model::error::Failure;
use lazuli_model::operation::Op;
use lazuli_model::time::Timestamp;
use lazuli_service::table::EntityGroupTransaction;

use super::{address, data, insert_entity, sas_scope};
use crate::call::Call;
use crate::reply::Reply;

pub async fn change_entity(mut call: Call) -> Result<Reply, Failure> {
    let table = address::table(&call.head.target)?;
    sas_scope::check_table(&call.grant, &table)?;
    let change = insert_entity::change(&mut call, &table).await?;
    let op = change.op;
    let input = EntityGroupTransaction { table, changes: vec![change] };
    let timestamps = input.execute(&call.services, &call.context).await.map_err(|refused| refused.fault)?;
    Ok(changed(op, timestamps.first().copied()))
}

/// The answer to a change that is no insert. A deleted entity has no ETag any more, as its row says.
pub fn changed(op: Op, timestamp: Option<Timestamp>) -> Reply {
    let reply = data(op.row());
    match timestamp {
        Some(timestamp) => reply.stamped_entity(timestamp),
        None => reply,
    }
}
