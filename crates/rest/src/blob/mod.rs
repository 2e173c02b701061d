//! The Blob service on the wire, one file an operation: decode, call, encode.

mod create_container;
mod delete_blob;
mod delete_container;
mod get_account_information;
mod get_blob;
mod get_blob_service_properties;
mod get_blob_service_stats;
mod get_block_list;
mod get_container_acl;
mod get_container_properties;
mod get_user_delegation_key;
mod lease_blob;
mod lease_container;
pub(crate) mod list;
mod list_blobs;
mod list_containers;
mod properties;
mod put_blob;
mod put_block;
mod put_block_list;
mod set_blob_metadata;
mod set_blob_properties;
mod set_blob_service_properties;
mod set_container_acl;
mod set_container_metadata;
mod snapshot_blob;

pub(crate) use get_blob_service_stats::get_blob_service_stats;
pub(crate) use get_user_delegation_key::get_user_delegation_key;

use lazuli_model::error::{ErrorCode, Failure};
use lazuli_model::operation::Op;

use crate::call::Call;
use crate::reply::Reply;

/// The encryption scope of what has no other.
const ACCOUNT_SCOPE: &str = "$account-encryption-key";
/// The longest XML document that is read, block lists aside.
const XML_LIMIT: usize = 1024 * 1024;

/// From the row of a request to the operation that it means.
pub async fn dispatch(call: Call) -> Result<Reply, Failure> {
    match call.row.op {
        Op::ListContainers => list_containers::list_containers(call).await,
        Op::GetBlobServiceProperties => get_blob_service_properties::get_blob_service_properties(call).await,
        Op::SetBlobServiceProperties => set_blob_service_properties::set_blob_service_properties(call).await,
        Op::GetBlobServiceStats => get_blob_service_stats::get_blob_service_stats(call).await,
        Op::GetAccountInformation
        | Op::GetAccountInformationOfContainer
        | Op::GetAccountInformationOfBlob => get_account_information::get_account_information(call).await,
        Op::GetUserDelegationKey => get_user_delegation_key::get_user_delegation_key(call).await,
        Op::CreateContainer => create_container::create_container(call).await,
        Op::GetContainerProperties => get_container_properties::get_container_properties(call).await,
        Op::GetContainerMetadata => get_container_properties::get_container_metadata(call).await,
        Op::SetContainerMetadata => set_container_metadata::set_container_metadata(call).await,
        Op::GetContainerAcl => get_container_acl::get_container_acl(call).await,
        Op::SetContainerAcl => set_container_acl::set_container_acl(call).await,
        Op::AcquireContainerLease
        | Op::RenewContainerLease
        | Op::ChangeContainerLease
        | Op::ReleaseContainerLease
        | Op::BreakContainerLease => lease_container::lease_container(call).await,
        Op::DeleteContainer => delete_container::delete_container(call).await,
        Op::ListBlobs => list_blobs::list_blobs(call).await,
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
