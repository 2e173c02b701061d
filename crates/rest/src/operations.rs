//! From the row of a request to the code that carries it out. The match has an arm for every operation of the table:
//! one without does not compile.

use lazuli_model::operation::Op;

use crate::call::{Call, Operation};
use crate::{blob, cors, file, queue, table};

/// Decodes, acts and encodes.
pub(crate) type Handler = fn(Call) -> Operation;

macro_rules! handlers {
    (built: { $($($op:ident)|+ => $path:path,)* } unbuilt: { $($unbuilt:ident,)* }) => {
        /// The operation's code; `None` for what is recognised and answered 501.
        pub(crate) fn handler(op: Op) -> Option<Handler> {
            match op {
                $($(Op::$op)|+ => Some(|call| Box::pin($path(call))),)*
                $(Op::$unbuilt)|* => None,
            }
        }
    };
}

handlers! {
    built: {
    // Blob.
    ListContainers => blob::list_containers::list_containers,
    GetBlobServiceProperties => blob::get_blob_service_properties::get_blob_service_properties,
    SetBlobServiceProperties => blob::set_blob_service_properties::set_blob_service_properties,
    GetBlobServiceStats => blob::get_blob_service_stats::get_blob_service_stats,
    GetAccountInformation | GetAccountInformationOfContainer | GetAccountInformationOfBlob => blob::get_account_information::get_account_information,
    GetUserDelegationKey => blob::get_user_delegation_key::get_user_delegation_key,
    FindBlobsByTags | FindBlobsByTagsInContainer => blob::find_blobs_by_tags::find_blobs_by_tags,
    BlobBatch | ContainerBatch => blob::blob_batch::blob_batch,
    CreateContainer => blob::create_container::create_container,
    GetContainerProperties => blob::get_container_properties::get_container_properties,
    GetContainerMetadata => blob::get_container_properties::get_container_metadata,
    SetContainerMetadata => blob::set_container_metadata::set_container_metadata,
    GetContainerAcl => blob::get_container_acl::get_container_acl,
    SetContainerAcl => blob::set_container_acl::set_container_acl,
    AcquireContainerLease | RenewContainerLease | ChangeContainerLease | ReleaseContainerLease | BreakContainerLease => blob::lease_container::lease_container,
    DeleteContainer => blob::delete_container::delete_container,
    RestoreContainer => blob::restore_container::restore_container,
    ListBlobs => blob::list_blobs::list_blobs,
    PutBlockBlob => blob::put_blob::put_block_blob,
    PutAppendBlob => blob::put_append_blob::put_append_blob,
    GetBlob => blob::get_blob::get_blob,
    GetBlobProperties => blob::get_blob::get_blob_properties,
    GetBlobMetadata => blob::get_blob::get_blob_metadata,
    SetBlobProperties => blob::set_blob_properties::set_blob_properties,
    SetBlobMetadata => blob::set_blob_metadata::set_blob_metadata,
    AcquireBlobLease | RenewBlobLease | ChangeBlobLease | ReleaseBlobLease | BreakBlobLease => blob::lease_blob::lease_blob,
    GetBlobTags => blob::get_blob_tags::get_blob_tags,
    SetBlobTags => blob::set_blob_tags::set_blob_tags,
    SetBlobTier => blob::set_blob_tier::set_blob_tier,
    SetBlobExpiry => blob::set_blob_expiry::set_blob_expiry,
    SetBlobImmutabilityPolicy => blob::set_blob_immutability_policy::set_blob_immutability_policy,
    DeleteBlobImmutabilityPolicy => blob::set_blob_immutability_policy::delete_blob_immutability_policy,
    SetBlobLegalHold => blob::set_blob_legal_hold::set_blob_legal_hold,
    DeleteBlob => blob::delete_blob::delete_blob,
    UndeleteBlob => blob::undelete_blob::undelete_blob,
    SnapshotBlob => blob::snapshot_blob::snapshot_blob,
    PutPageBlob => blob::put_page_blob::put_page_blob,
    QueryBlobContents => blob::query_blob_contents::query_blob_contents,
    PutPage => blob::put_page::put_page,
    ClearPages => blob::put_page::clear_pages,
    GetPageRanges => blob::get_page_ranges::get_page_ranges,
    PutBlock => blob::put_block::put_block,
    PutBlockList => blob::put_block_list::put_block_list,
    CopyBlob | CopyBlobFromUrl | PutBlobFromUrl => blob::copy_blob::copy_blob,
    IncrementalCopyBlob => blob::incremental_copy_blob::incremental_copy_blob,
    AbortCopyBlob => blob::abort_copy_blob::abort_copy_blob,
    PutBlockFromUrl => blob::put_block_from_url::put_block_from_url,
    GetBlockList => blob::get_block_list::get_block_list,
    AppendBlock => blob::append_block::append_block,
    AppendBlockFromUrl => blob::append_block_from_url::append_block_from_url,
    PutPageFromUrl => blob::put_page_from_url::put_page_from_url,
    AppendBlobSeal => blob::append_blob_seal::append_blob_seal,
    // Queue.
    ListQueues => queue::list_queues::list_queues,
    GetQueueServiceProperties => queue::get_queue_service_properties::get_queue_service_properties,
    SetQueueServiceProperties => queue::set_queue_service_properties::set_queue_service_properties,
    GetQueueServiceStats => queue::get_queue_service_stats,
    GetQueueUserDelegationKey => blob::get_user_delegation_key,
    CreateQueue => queue::create_queue::create_queue,
    DeleteQueue => queue::delete_queue::delete_queue,
    GetQueueMetadata => queue::get_queue_metadata::get_queue_metadata,
    SetQueueMetadata => queue::set_queue_metadata::set_queue_metadata,
    GetQueueAcl => queue::get_queue_acl::get_queue_acl,
    SetQueueAcl => queue::set_queue_acl::set_queue_acl,
    PutMessage => queue::put_message::put_message,
    GetMessages => queue::get_messages::get_messages,
    PeekMessages => queue::peek_messages::peek_messages,
    ClearMessages => queue::clear_messages::clear_messages,
    UpdateMessage => queue::update_message::update_message,
    DeleteMessage => queue::delete_message::delete_message,
    // Table.
    GetTableServiceProperties => table::service_properties::get_table_service_properties,
    SetTableServiceProperties => table::service_properties::set_table_service_properties,
    GetTableServiceStats => table::service_properties::get_table_service_stats,
    QueryTables => table::query_tables::query_tables,
    GetTable => table::query_tables::get_table,
    CreateTable => table::create_table::create_table,
    DeleteTable => table::delete_table::delete_table,
    GetTableAcl => table::get_table_acl::get_table_acl,
    SetTableAcl => table::set_table_acl::set_table_acl,
    QueryEntities => table::query_entities::query_entities,
    GetEntity => table::query_entities::get_entity,
    InsertEntity => table::insert_entity::insert_entity,
    UpdateEntity | MergeEntity | InsertOrReplaceEntity | InsertOrMergeEntity | DeleteEntity => table::change_entity::change_entity,
    EntityGroupTransaction => table::entity_group_transaction::entity_group_transaction,
    // File.
    GetFileServiceProperties => file::get_file_service_properties::get_file_service_properties,
    SetFileServiceProperties => file::set_file_service_properties::set_file_service_properties,
    ListShares => file::list_shares::list_shares,
    CreateShare => file::create_share::create_share,
    GetShareProperties => file::get_share_properties::get_share_properties,
    GetShareMetadata => file::get_share_properties::get_share_metadata,
    SetShareMetadata => file::set_share_metadata::set_share_metadata,
    SetShareProperties => file::set_share_properties::set_share_properties,
    GetShareAcl => file::get_share_acl::get_share_acl,
    SetShareAcl => file::set_share_acl::set_share_acl,
    GetShareStats => file::get_share_stats::get_share_stats,
    SnapshotShare => file::snapshot_share::snapshot_share,
    AcquireShareLease | RenewShareLease | ChangeShareLease | ReleaseShareLease | BreakShareLease => file::lease_share::lease_share,
    RestoreShare => file::restore_share::restore_share,
    DeleteShare => file::delete_share::delete_share,
    GetFile => file::get_file::get_file,
    PutRange => file::put_range::put_range,
    ClearRange => file::put_range::clear_range,
    PutRangeFromUrl => file::put_range_from_url::put_range_from_url,
    ListRanges => file::list_ranges::list_ranges,
    CopyFile => file::copy_file::copy_file,
    AbortCopyFile => file::copy_file::abort_copy_file,
    ListHandles => file::list_handles::list_handles,
    ForceCloseHandles => file::list_handles::force_close_handles,
    GetFileUserDelegationKey => blob::get_user_delegation_key,
    CreatePermission => file::create_permission::create_permission,
    GetPermission => file::get_permission::get_permission,
    CreateDirectory => file::create_directory::create_directory,
    GetDirectoryProperties => file::get_directory_properties::get_directory_properties,
    GetDirectoryMetadata => file::get_directory_properties::get_directory_metadata,
    SetDirectoryProperties => file::set_directory_properties::set_directory_properties,
    SetDirectoryMetadata => file::set_directory_metadata::set_directory_metadata,
    DeleteDirectory => file::delete_directory::delete_directory,
    RenameDirectory | RenameFile => file::rename_file::rename_file,
    ListDirectoriesAndFiles => file::list_directories_and_files::list_directories_and_files,
    CreateFile => file::create_file::create_file,
    GetFileProperties => file::get_file_properties::get_file_properties,
    GetFileMetadata => file::get_file_properties::get_file_metadata,
    SetFileProperties => file::set_file_properties::set_file_properties,
    SetFileMetadata => file::set_file_metadata::set_file_metadata,
    DeleteFile => file::delete_file::delete_file,
    AcquireFileLease | ChangeFileLease | ReleaseFileLease | BreakFileLease => file::lease_file::lease_file,
    CreateSymbolicLink => file::create_symbolic_link::create_symbolic_link,
    GetSymbolicLink => file::get_symbolic_link::get_symbolic_link,
    CreateHardLink => file::create_hard_link::create_hard_link,
    // Every service.
    PreflightBlobRequest | PreflightQueueRequest | PreflightTableRequest | PreflightFileRequest => cors::preflight_of,
    }
    unbuilt: {
        RenameContainer,
    }
}

/// Whether an operation is carried out, or recognised and answered 501.
pub fn is_built(op: Op) -> bool {
    handler(op).is_some()
}
