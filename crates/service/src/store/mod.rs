//! The room that knows the engine: keys, stored shapes, contents, and the unit of work through which operations come to
//! them. Outside of it no key is built, no plan is written and no stored value is decoded.

mod append;
mod append_line;
mod blob;
mod block_list;
mod blocks;
mod by_name;
mod container;
mod content;
mod copy;
mod copy_content;
mod copy_destination;
mod copy_job;
mod copy_jobs;
mod deleted_snapshots;
pub(crate) mod desk;
pub mod download;
pub mod event;
mod expired;
mod find_blobs;
mod formats;
mod found;
mod generations;
mod gone;
mod hold;
mod incremental_copy;
mod indexed;
#[doc(hidden)]
pub mod key;
mod last_access;
mod list_blobs;
mod list_moments;
mod manifest;
mod members;
pub mod moving;
mod new_content;
mod pack;
mod pages;
pub mod queue;
mod readers;
#[doc(hidden)]
pub mod record;
mod restore_container;
mod retention;
mod seal;
mod sealing;
mod service_properties;
mod services;
mod settings;
pub(crate) mod share;
mod small_contents;
mod snapshot;
mod soft_delete;
mod sparse;
mod stage;
mod stage_counts;
mod standing;
pub mod table;
mod tag_index;
#[doc(hidden)]
pub mod tree;
mod undelete;
mod unit;
pub mod upkeep;
pub mod upload;
mod version;
mod workers;
mod write_line;

pub use append::{AppendedBlock, Appending, NewBlock};
pub use blob::{BlobPlace, Bytes};
pub use block_list::BlockListPlan;
pub use blocks::CommittedBlocks;
pub use container::ContainerPlace;
pub use copy::{CopyMark, CopyOf, SourceBlob};
pub use copy_job::{NewCopy, Pending};
pub(crate) use copy_jobs::AtWork;
pub use formats::Formats;
pub use found::{Admitted, Found, Present, Resource};
pub use members::Members;
pub use new_content::NewContent;
pub use readers::ActiveReader;
pub use record::blob::{BlobExtras, BlobRecord};
pub use record::block::StagedRecord;
pub use record::container::ContainerRecord;
pub use record::content::INLINE_LIMIT;
pub use record::copy_job::{CopiedFrom, CopyPlan};
pub use record::existing::Existing;
pub use sealing::Sealing;
pub use services::Services;
pub use share::{
    Attended, Earlier, Filled, Held, NewCopiedFile, NewOpen, PathPlace, SharePlace, SourceFile, Watched,
};
pub use stage::Stage;
pub use undelete::Undeleting;
pub use unit::{Unit, View};
pub(crate) use write_line::Turn;

/// The clock at the reader's snapshot.
fn now(reader: &lazuli_engine::Reader) -> lazuli_model::Timestamp {
    lazuli_model::Timestamp::from_unix_ticks(reader.stamp().now.0)
}
