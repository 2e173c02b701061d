//! The Blob service on the wire, one file an operation: decode, call, encode.

pub(crate) mod create_container;
pub(crate) mod delete_blob;
pub(crate) mod delete_container;
pub(crate) mod get_account_information;
pub(crate) mod get_blob;
pub(crate) mod get_blob_service_properties;
pub(crate) mod get_blob_service_stats;
pub(crate) mod get_block_list;
pub(crate) mod get_container_acl;
pub(crate) mod get_container_properties;
pub(crate) mod get_user_delegation_key;
pub(crate) mod lease_blob;
pub(crate) mod lease_container;
pub(crate) mod list;
pub(crate) mod list_blobs;
pub(crate) mod list_containers;
pub(crate) mod properties;
pub(crate) mod put_blob;
pub(crate) mod put_block;
pub(crate) mod put_block_list;
pub(crate) mod set_blob_metadata;
pub(crate) mod set_blob_properties;
pub(crate) mod set_blob_service_properties;
pub(crate) mod set_container_acl;
pub(crate) mod set_container_metadata;
pub(crate) mod snapshot_blob;

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
    let operation: Operation = match call.row.op {
        Op::ListContainers => Box::pin(list_containers::list_containers(call)),
        Op::GetBlobServiceProperties => {
            Box::pin(get_blob_service_properties::get_blob_service_properties(call))
        }
        Op::SetBlobServiceProperties => {
            Box::pin(set_blob_service_properties::set_blob_service_properties(call))
        }
        Op::GetBlobServiceStats => Box::pin(get_blob_service_stats::get_blob_service_stats(call)),
        Op::GetAccountInformation
        | Op::GetAccountInformationOfContainer
        | Op::GetAccountInformationOfBlob => Box::pin(get_account_information::get_account_information(call)),
        Op::GetUserDelegationKey => Box::pin(get_user_delegation_key::get_user_delegation_key(call)),
        Op::CreateContainer => Box::pin(create_container::create_container(call)),
        Op::GetContainerProperties => Box::pin(get_container_properties::get_container_properties(call)),
        Op::GetContainerMetadata => Box::pin(get_container_properties::get_container_metadata(call)),
        Op::SetContainerMetadata => Box::pin(set_container_metadata::set_container_metadata(call)),
        Op::GetContainerAcl => Box::pin(get_container_acl::get_container_acl(call)),
        Op::SetContainerAcl => Box::pin(set_container_acl::set_container_acl(call)),
        Op::AcquireContainerLease
        | Op::RenewContainerLease
        | Op::ChangeContainerLease
        | Op::ReleaseContainerLease
        | Op::BreakContainerLease => Box::pin(lease_container::lease_container(call)),
        Op::DeleteContainer => Box::pin(delete_container::delete_container(call)),
        Op::ListBlobs => Box::pin(list_blobs::list_blobs(call)),
        Op::PutBlockBlob => Box::pin(put_blob::put_block_blob(call)),
        Op::GetBlob => Box::pin(get_blob::get_blob(call)),
        Op::GetBlobProperties => Box::pin(get_blob::get_blob_properties(call)),
        Op::GetBlobMetadata => Box::pin(get_blob::get_blob_metadata(call)),
        Op::SetBlobProperties => Box::pin(set_blob_properties::set_blob_properties(call)),
        Op::SetBlobMetadata => Box::pin(set_blob_metadata::set_blob_metadata(call)),
        Op::AcquireBlobLease
        | Op::RenewBlobLease
        | Op::ChangeBlobLease
        | Op::ReleaseBlobLease
        | Op::BreakBlobLease => Box::pin(lease_blob::lease_blob(call)),
        Op::DeleteBlob => Box::pin(delete_blob::delete_blob(call)),
        Op::SnapshotBlob => Box::pin(snapshot_blob::snapshot_blob(call)),
        Op::PutBlock => Box::pin(put_block::put_block(call)),
        Op::PutBlockList => Box::pin(put_block_list::put_block_list(call)),
        Op::GetBlockList => Box::pin(get_block_list::get_block_list(call)),
        _ => return Err(ErrorCode::NotImplemented.into()),
    };
    operation.await
}
