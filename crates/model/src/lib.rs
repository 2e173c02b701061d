//! What Azure Storage means by its words, with no I/O, no async and no clock: names, times, ETags, versions,
//! the table of operations, the table of errors, and admission (who may act on what, and when).

pub mod access;
pub mod account;
pub mod admission;
pub mod blob;
pub mod checksum;
pub mod encryption;
pub mod error;
pub mod etag;
pub mod event;
pub mod metadata;
pub mod name;
pub mod odata;
pub mod operation;
pub mod query;
pub mod range;
pub mod sddl;
pub mod service_properties;
pub mod smb;
pub mod tags;
pub mod time;
pub mod version;

pub use access::Access;
pub use admission::{Admitted, Kind, Preconditions, Subject, Target, admit};
pub use error::{ErrorCode, Failure};
pub use etag::{ETag, ETagCondition, ETagToken};
pub use metadata::Metadata;
pub use operation::{Method, Op, Resource, Row, Service, route, rows};
pub use range::ByteRange;
pub use tags::Tags;
pub use time::Timestamp;
pub use version::{ApiVersion, Feature};
