//! A writer of any of the services.

use super::blobs::Blobs;
use super::log::Log;
use super::pages::Pages;
use super::queue::Queue;
use super::table::Table;
use super::tree::Tree;
use super::versions::Versions;
use crate::Trial;
use crate::server::Doors;

pub enum Writer {
    Blobs(Blobs),
    Queue(Queue),
    Table(Table),
    Log(Log),
    Pages(Pages),
    Tree(Tree),
    Versions(Versions),
}

impl Writer {
    /// Writes until the server is gone. An answer that contradicts what this writer knows is an error.
    pub async fn write(&mut self, doors: Doors) -> Trial {
        match self {
            Self::Blobs(blobs) => blobs.write(doors.blob).await,
            Self::Queue(queue) => queue.write(doors.queue).await,
            Self::Table(table) => table.write(doors.table).await,
            Self::Log(log) => log.write(doors.blob).await,
            Self::Pages(pages) => pages.write(doors.blob).await,
            Self::Tree(tree) => tree.write(doors.file).await,
            Self::Versions(versions) => versions.write(doors.blob).await,
        }
    }

    /// Compares everything with what must be there. `thorough`: reads the blobs written once, too.
    pub async fn check(&mut self, doors: Doors, thorough: bool) -> Trial {
        match self {
            Self::Blobs(blobs) => blobs.check(doors.blob, thorough).await,
            Self::Queue(queue) => queue.check(doors.queue).await,
            Self::Table(table) => table.check(doors.table).await,
            Self::Log(log) => log.check(doors.blob, thorough).await,
            Self::Pages(pages) => pages.check(doors.blob).await,
            Self::Tree(tree) => tree.check(doors.file).await,
            Self::Versions(versions) => versions.check(doors.blob).await,
        }
    }

    pub fn acknowledged(&self) -> u64 {
        match self {
            Self::Blobs(blobs) => blobs.acknowledged,
            Self::Queue(queue) => queue.acknowledged,
            Self::Table(table) => table.acknowledged,
            Self::Log(log) => log.acknowledged,
            Self::Pages(pages) => pages.acknowledged,
            Self::Tree(tree) => tree.acknowledged,
            Self::Versions(versions) => versions.acknowledged,
        }
    }

    pub fn unanswered(&self) -> u64 {
        match self {
            Self::Blobs(blobs) => blobs.open,
            Self::Queue(queue) => queue.unanswered,
            Self::Table(table) => table.unanswered,
            Self::Log(log) => log.open,
            Self::Pages(pages) => pages.open,
            Self::Tree(tree) => tree.open,
            Self::Versions(versions) => versions.open,
        }
    }
}
