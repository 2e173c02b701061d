//! The File service.

pub mod address;
pub mod content_headers;
pub(crate) mod get_file_service_properties;
pub mod handle_headers;
pub mod handles_document;
pub mod posix_headers;
pub mod range_headers;
pub mod ranges_document;
pub mod rename_source;
pub(crate) mod set_file_service_properties;
pub mod share_headers;
pub mod shares_document;
pub mod smb_headers;
pub mod tree_document;

/// The longest document of settings that a request may carry.
const XML_LIMIT: usize = 1024 * 1024;
