//! The HTTP wire: bytes, headers and XML to the meaning in `service`, and back.

mod address;
pub mod auth;
pub mod authorize;
pub mod blob;
pub mod call;
pub mod copy;
pub mod cors;
pub mod decode;
mod dfs;
mod error;
pub mod file;
pub mod head;
mod header_case;
pub mod headers;
mod later;
pub mod multipart;
mod not_built;
mod operations;
mod part_head;
pub mod preconditions;
pub mod query;
pub mod queue;
pub mod reply;
mod request_body;
pub mod request_head;
mod request_headers;
mod response_body;
mod response_head;
pub mod serve;
pub mod service_properties;
pub mod signed_identifiers;
pub mod structured;
pub mod table;
pub mod target;
#[cfg(test)]
mod testing;
mod web;
pub mod webhook;
pub mod xml;

pub use call::Call;
pub use operations::is_built;
pub use reply::Reply;
pub use request_head::Malformed;
pub use response_body::ResponseBody;
pub use serve::{Gateway, Served};
pub use web::WebAddress;
