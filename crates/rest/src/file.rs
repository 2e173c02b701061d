//! The File service.

pub mod address;
pub mod content_headers;
pub(crate) mod create_directory;
pub(crate) mod create_file;
pub(crate) mod create_hard_link;
pub(crate) mod create_permission;
pub(crate) mod create_share;
pub(crate) mod create_symbolic_link;
pub(crate) mod delete_directory;
pub(crate) mod delete_file;
pub(crate) mod delete_share;
pub(crate) mod file_headers;
pub(crate) mod get_directory_properties;
pub(crate) mod get_file_properties;
pub(crate) mod get_file_service_properties;
pub(crate) mod get_permission;
pub(crate) mod get_share_acl;
pub(crate) mod get_share_properties;
pub(crate) mod get_share_stats;
pub(crate) mod get_symbolic_link;
pub(crate) mod lease_file;
pub(crate) mod lease_share;
pub(crate) mod list_directories_and_files;
pub(crate) mod list_shares;
pub(crate) mod path_headers;
pub mod posix_headers;
pub(crate) mod rename_file;
pub mod rename_source;
pub(crate) mod restore_share;
pub(crate) mod set_directory_metadata;
pub(crate) mod set_directory_properties;
pub(crate) mod set_file_metadata;
pub(crate) mod set_file_properties;
pub(crate) mod set_file_service_properties;
pub(crate) mod set_share_acl;
pub(crate) mod set_share_metadata;
pub(crate) mod set_share_properties;
pub mod share_headers;
pub(crate) mod shares_document;
pub mod smb_headers;
pub(crate) mod snapshot_share;
pub mod tree_document;

// The bytes of files, copies, handles.
pub(crate) mod copy_file;
pub(crate) mod get_file;
pub mod handle_headers;
pub mod handles_document;
pub(crate) mod list_handles;
pub(crate) mod list_ranges;
pub(crate) mod put_range;
pub(crate) mod put_range_from_url;
pub mod range_headers;
pub mod ranges_document;

/// The longest document of settings that a request may carry.
const XML_LIMIT: usize = 1024 * 1024;
