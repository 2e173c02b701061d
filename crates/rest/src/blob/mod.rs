//! The Blob service on the wire, one file an operation: decode, call, encode.

pub(crate) mod abort_copy_blob;
pub(crate) mod append_blob_seal;
pub(crate) mod append_block;
pub(crate) mod append_block_from_url;
pub(crate) mod blob_batch;
pub(crate) mod copy_blob;
pub(crate) mod copy_state;
pub(crate) mod create_container;
pub(crate) mod delete_blob;
pub(crate) mod delete_container;
pub(crate) mod find_blobs_by_tags;
pub(crate) mod get_account_information;
pub(crate) mod get_blob;
pub(crate) mod get_blob_service_properties;
pub(crate) mod get_blob_service_stats;
pub(crate) mod get_blob_tags;
pub(crate) mod get_block_list;
pub(crate) mod get_container_acl;
pub(crate) mod get_container_properties;
pub(crate) mod get_page_ranges;
pub(crate) mod get_user_delegation_key;
pub(crate) mod incremental_copy_blob;
pub(crate) mod lease_blob;
pub(crate) mod lease_container;
pub(crate) mod list;
pub(crate) mod list_blobs;
pub(crate) mod list_containers;
pub(crate) mod pages;
pub(crate) mod properties;
pub(crate) mod put_append_blob;
pub(crate) mod put_blob;
pub(crate) mod put_block;
pub(crate) mod put_block_from_url;
pub(crate) mod put_block_list;
pub(crate) mod put_page;
pub(crate) mod put_page_blob;
pub(crate) mod put_page_from_url;
pub mod query_blob_contents;
pub(crate) mod restore_container;
pub(crate) mod set_blob_metadata;
pub(crate) mod set_blob_properties;
pub(crate) mod set_blob_service_properties;
pub(crate) mod set_blob_tags;
pub(crate) mod set_blob_tier;
pub(crate) mod set_container_acl;
pub(crate) mod set_container_metadata;
pub(crate) mod snapshot_blob;
pub(crate) mod tags;
pub(crate) mod undelete_blob;

pub(crate) use get_blob_service_stats::get_blob_service_stats;
pub(crate) use get_user_delegation_key::get_user_delegation_key;

use lazuli_model::encryption::ACCOUNT_SCOPE;
/// The longest XML document that is read, block lists aside.
const XML_LIMIT: usize = 1024 * 1024;
