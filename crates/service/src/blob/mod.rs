//! The Blob service, one file an operation.

mod abort_copy_blob;
mod access;
mod append_blob_seal;
mod append_block;
mod append_block_from_url;
mod copy_blob;
mod copy_form;
pub(crate) mod copy_job;
mod copy_source;
mod create_container;
mod delete_blob;
mod delete_container;
mod find_blobs_by_tags;
mod get_blob;
mod get_blob_tags;
mod get_block_list;
mod get_container_properties;
mod get_page_ranges;
mod incremental_copy_blob;
mod lease_blob;
mod lease_container;
mod list_blobs;
mod list_containers;
mod put_append_blob;
mod put_blob;
mod put_block;
mod put_block_from_url;
mod put_block_list;
mod put_page;
mod put_page_blob;
mod put_page_from_url;
mod query_blob_contents;
mod restore_container;
mod set_blob_expiry;
mod set_blob_immutability_policy;
mod set_blob_legal_hold;
mod set_blob_metadata;
mod set_blob_properties;
mod set_blob_tags;
mod set_blob_tier;
mod set_container_acl;
mod set_container_metadata;
mod snapshot_blob;
mod source_bytes;
mod state;
mod undelete_blob;
mod write;

pub(crate) use write::{check_customer_key, refuse_archived};

pub use abort_copy_blob::AbortCopyBlob;
pub use access::container_access;
pub use append_blob_seal::AppendBlobSeal;
pub use append_block::{AppendBlock, Appended};
pub use append_block_from_url::AppendBlockFromUrl;
pub use copy_blob::{Copied, CopiedTags, CopyBlob, GivenProperties};
pub use copy_job::{Abroad, take_up_copies, take_up_copies_forever};
pub use copy_source::{CopySource, FileSource, ForeignAddress, ForeignSource, OwnSource, SourceType};
pub use create_container::CreateContainer;
pub use delete_blob::{DeleteBlob, DeleteSnapshots, Deleted};
pub use delete_container::DeleteContainer;
pub use find_blobs_by_tags::{FindBlobsByTags, FoundAt, TaggedBlob, TaggedBlobs};
pub use get_blob::{Found, GetBlob, GetBlobProperties};
pub use get_blob_tags::GetBlobTags;
pub use get_block_list::{BlockListKind, BlockLists, GetBlockList};
pub use get_container_properties::GetContainerProperties;
pub use get_page_ranges::{GetPageRanges, PageRange, PageRanges};
pub use incremental_copy_blob::IncrementalCopyBlob;
pub use lease_blob::LeaseBlob;
pub use lease_container::LeaseContainer;
pub use list_blobs::{BlobList, BlobListItem, ListBlobs};
pub use list_containers::{ContainerList, ListContainers, ListedContainer};
pub use put_append_blob::PutAppendBlob;
pub use put_blob::{BlobProperties, PutBlockBlob, Stored};
pub use put_block::{BlockStored, PutBlock};
pub use put_block_from_url::PutBlockFromUrl;
pub use put_block_list::{BlockSource, PutBlockList};
pub use put_page::{ClearPages, PageStored, PutPage};
pub use put_page_blob::PutPageBlob;
pub use put_page_from_url::PutPageFromUrl;
pub use query_blob_contents::QueryBlobContents;
pub use restore_container::RestoreContainer;
pub use set_blob_expiry::SetBlobExpiry;
pub use set_blob_immutability_policy::{DeleteBlobImmutabilityPolicy, SetBlobImmutabilityPolicy};
pub use set_blob_legal_hold::SetBlobLegalHold;
pub use set_blob_metadata::SetBlobMetadata;
pub use set_blob_properties::{SequenceNumberAction, SetBlobProperties};
pub use set_blob_tags::SetBlobTags;
pub use set_blob_tier::{SetBlobTier, TierSet};
pub use set_container_acl::SetContainerAcl;
pub use set_container_metadata::SetContainerMetadata;
pub use snapshot_blob::{SnapshotBlob, Snapshotted};
pub(crate) use source_bytes::source_bytes;
pub use state::BlobState;
pub use undelete_blob::UndeleteBlob;
pub use write::Digests;

pub use crate::store::BlobRecord;
pub use crate::store::ContainerRecord;

use lazuli_model::etag::ETag;
use lazuli_model::time::Timestamp;

/// Which blob an operation is about.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct BlobAddress {
    pub container: String,
    pub blob: String,
}

/// ETag and Last-Modified, as most answers carry them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stamped {
    pub etag: ETag,
    pub last_modified: Timestamp,
    /// The version that a write has made.
    pub version: Option<Timestamp>,
}

impl Stamped {
    pub fn new(etag: ETag, last_modified: Timestamp) -> Self {
        Self { etag, last_modified, version: None }
    }
}
