//! The Table service on the wire, one file an operation: decode, call, encode.

mod address;
mod change_entity;
mod continuation;
mod create_table;
mod delete_table;
mod entity_group_transaction;
mod entity_json;
mod format;
mod get_table_acl;
mod insert_entity;
mod members;
pub mod multipart;
mod part;
mod query_entities;
mod query_tables;
pub mod read_entity;
mod scope;
pub mod select;
mod service_properties;
mod set_table_acl;
mod tunnel;

pub(crate) use format::Level;
pub(crate) use tunnel::method;

use bytes::Bytes;
use lazuli_model::error::{ErrorCode, Failure};
use lazuli_model::operation::Op;

use crate::call::{Call, Operation};
use crate::headers;
use crate::reply::Reply;

/// The most that one request may carry, batches too.
const BODY_LIMIT: usize = 4 * 1024 * 1024;
/// The longest XML document that is read.
const XML_LIMIT: usize = 1024 * 1024;

/// From the row of a request to the operation that it means. A refusal tells which preference it would have kept.
pub async fn dispatch(call: Call) -> Result<Reply, Failure> {
    let (prefer, op) = (format::Preference::of(&call.head), call.row.op);
    match act(call).await {
        Ok(reply) => Ok(reply),
        Err(failure) if !is_early(&failure, Some(op)) => Ok(prefer.applied(Reply::refused(failure))),
        Err(failure) => Err(failure),
    }
}

async fn act(call: Call) -> Result<Reply, Failure> {
    let operation: Operation = match call.row.op {
        Op::GetTableServiceProperties => Box::pin(service_properties::get_table_service_properties(call)),
        Op::SetTableServiceProperties => Box::pin(service_properties::set_table_service_properties(call)),
        Op::GetTableServiceStats => Box::pin(service_properties::get_table_service_stats(call)),
        Op::QueryTables => Box::pin(query_tables::query_tables(call)),
        Op::GetTable => Box::pin(query_tables::get_table(call)),
        Op::CreateTable => Box::pin(create_table::create_table(call)),
        Op::DeleteTable => Box::pin(delete_table::delete_table(call)),
        Op::GetTableAcl => Box::pin(get_table_acl::get_table_acl(call)),
        Op::SetTableAcl => Box::pin(set_table_acl::set_table_acl(call)),
        Op::QueryEntities => Box::pin(query_entities::query_entities(call)),
        Op::GetEntity => Box::pin(query_entities::get_entity(call)),
        Op::InsertEntity => Box::pin(insert_entity::insert_entity(call)),
        Op::UpdateEntity
        | Op::MergeEntity
        | Op::InsertOrReplaceEntity
        | Op::InsertOrMergeEntity
        | Op::DeleteEntity => Box::pin(change_entity::change_entity(call)),
        Op::EntityGroupTransaction => Box::pin(entity_group_transaction::entity_group_transaction(call)),
        _ => return Err(ErrorCode::NotImplemented.into()),
    };
    operation.await
}

/// Refused before the request reached the data: such answers have neither Cache-Control nor a preference (recorded).
pub(crate) fn is_early(failure: &Failure, op: Option<Op>) -> bool {
    match failure.code {
        ErrorCode::TableNotFound
        | ErrorCode::InvalidInput
        | ErrorCode::AuthenticationFailed
        | ErrorCode::NoAuthenticationInformation => true,
        ErrorCode::InvalidResourceName | ErrorCode::OutOfRangeInput => op != Some(Op::CreateTable),
        _ => false,
    }
}

/// What every answer about data carries.
fn data(status: u16) -> Reply {
    Reply::new(status)
        .header(headers::CACHE_CONTROL, "no-cache")
        .header(headers::X_CONTENT_TYPE_OPTIONS, "nosniff")
}

fn json(status: u16, level: format::Level, body: impl Into<Bytes>) -> Reply {
    data(status).header(headers::CONTENT_TYPE, level.content_type()).bytes(body.into())
}

#[cfg(test)]
mod tests;
