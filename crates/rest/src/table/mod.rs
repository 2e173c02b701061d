//! The Table service on the wire, one file an operation: decode, call, encode.

pub(crate) mod address;
pub(crate) mod change_entity;
pub(crate) mod continuation;
pub(crate) mod create_table;
pub(crate) mod delete_table;
pub(crate) mod entity_change;
pub(crate) mod entity_group_transaction;
pub(crate) mod entity_json;
pub(crate) mod format;
pub(crate) mod get_table_acl;
pub(crate) mod insert_entity;
pub(crate) mod json_members;
pub(crate) mod query_entities;
pub(crate) mod query_tables;
pub mod read_entity;
pub(crate) mod sas_scope;
pub mod select;
pub(crate) mod service_properties;
pub(crate) mod set_table_acl;
pub(crate) mod x_http_method;

pub(crate) use format::Level;
pub(crate) use x_http_method::method;

use bytes::Bytes;
use lazuli_model::error::{ErrorCode, Failure};
use lazuli_model::operation::{Op, Row};

use crate::call::Call;
use crate::headers;
use crate::operations::Handler;
use crate::reply::Reply;

/// The most that one request may carry, batches too.
const BODY_LIMIT: usize = 4 * 1024 * 1024;
/// The longest XML document that is read.
const XML_LIMIT: usize = 1024 * 1024;

/// A refusal tells which preference it would have kept.
pub(crate) async fn preferred(call: Call, handler: Handler) -> Result<Reply, Failure> {
    let (prefer, op) = (format::Preference::of(&call.head), call.row.op);
    match handler(call).await {
        Ok(reply) => Ok(reply),
        Err(failure) if !is_early(&failure, Some(op)) => Ok(prefer.applied(Reply::refused(failure))),
        Err(failure) => Err(failure),
    }
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
fn data(row: &'static Row) -> Reply {
    Reply::of(row)
        .header(headers::CACHE_CONTROL, "no-cache")
        .header(headers::X_CONTENT_TYPE_OPTIONS, "nosniff")
}

fn json(row: &'static Row, level: format::Level, body: impl Into<Bytes>) -> Reply {
    data(row).header(headers::CONTENT_TYPE, level.content_type()).bytes(body.into())
}

#[cfg(test)]
mod tests;
