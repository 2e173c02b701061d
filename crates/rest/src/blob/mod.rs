//! The Blob service on the wire, one file an operation: decode, call, encode.

mod delete_blob;
mod get_blob;
mod get_block_list;
mod lease_blob;
mod properties;
mod put_blob;
mod put_block;
mod put_block_list;
mod set_blob_metadata;
mod set_blob_properties;
mod snapshot_blob;

use lazuli_model::error::{ErrorCode, Failure};
use lazuli_model::operation::Op;

use crate::call::Call;
use crate::reply::Reply;

/// From the row of a request to the operation that it means.
pub async fn dispatch(call: Call) -> Result<Reply, Failure> {
    match call.row.op {
        Op::PutBlockBlob => put_blob::put_block_blob(call).await,
        Op::GetBlob => get_blob::get_blob(call).await,
        Op::GetBlobProperties => get_blob::get_blob_properties(call).await,
        Op::GetBlobMetadata => get_blob::get_blob_metadata(call).await,
        Op::SetBlobProperties => set_blob_properties::set_blob_properties(call).await,
        Op::SetBlobMetadata => set_blob_metadata::set_blob_metadata(call).await,
        Op::AcquireBlobLease
        | Op::RenewBlobLease
        | Op::ChangeBlobLease
        | Op::ReleaseBlobLease
        | Op::BreakBlobLease => lease_blob::lease_blob(call).await,
        Op::DeleteBlob => delete_blob::delete_blob(call).await,
        Op::SnapshotBlob => snapshot_blob::snapshot_blob(call).await,
        Op::PutBlock => put_block::put_block(call).await,
        Op::PutBlockList => put_block_list::put_block_list(call).await,
        Op::GetBlockList => get_block_list::get_block_list(call).await,
        _ => Err(ErrorCode::NotImplemented.into()),
    }
}
