//! The Blob service on the wire, one file an operation: decode, call, encode.

use lazuli_model::error::{ErrorCode, Failure};

use crate::call::Call;
use crate::reply::Reply;

/// From the row of a request to the operation that it means.
pub async fn dispatch(call: Call) -> Result<Reply, Failure> {
    match call.row.op {
        _ => Err(ErrorCode::NotImplemented.into()),
    }
}
