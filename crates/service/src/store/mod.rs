//! The room that knows the engine: keys, stored shapes, contents, and the unit of work through which operations come to
//! them. Outside of it no key is built, no plan is written and no stored value is decoded.

mod append;
mod blob;
mod block_list;
mod blocks;
pub(crate) mod by_name;
mod container;
pub(crate) mod content;
pub mod download;
mod found;
pub mod key;
mod list_blobs;
pub(crate) mod manifest;
mod new_content;
pub mod queue;
pub(crate) mod readers;
pub mod record;
mod service_properties;
mod snapshot;
mod stage;
pub mod table;
mod unit;
pub mod upkeep;
pub mod upload;

pub use append::AppendedBlock;
pub(crate) use blob::decode_blob;
pub use blob::{BlobPlace, Bytes};
pub use block_list::BlockListPlan;
pub use blocks::CommittedBlocks;
pub use container::ContainerPlace;
pub use found::{Admitted, Found, Present, Resource};
pub use new_content::NewContent;
pub use stage::Stage;
pub use unit::{Unit, View};

/// The clock at the reader's snapshot.
pub(crate) fn now(reader: &lazuli_engine::Reader) -> lazuli_model::Timestamp {
    lazuli_model::Timestamp::from_unix_ticks(reader.stamp().now.0)
}
