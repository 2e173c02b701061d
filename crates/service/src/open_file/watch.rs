//! What changes in a directory that is watched, by SMB or REST.

use std::sync::Arc;

use super::{AccessMask, OpenFile, Outcome, Refusal};
use crate::Members;
use crate::store::desk::{News, Watcher};

/// [MS-SMB2] section 2.2.35, `CompletionFilter`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct ChangeFilter(pub u32);

impl ChangeFilter {
    pub const FILE_NAME: Self = Self(0x001);
    pub const DIRECTORY_NAME: Self = Self(0x002);
    pub const ATTRIBUTES: Self = Self(0x004);
    pub const SIZE: Self = Self(0x008);
    pub const LAST_WRITE: Self = Self(0x010);
    pub const LAST_ACCESS: Self = Self(0x020);
    pub const CREATION: Self = Self(0x040);
    pub const SECURITY: Self = Self(0x100);
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ChangeAction {
    Added,
    Removed,
    Modified,
    RenamedOldName,
    RenamedNewName,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    pub action: ChangeAction,
    /// From the watched directory on, with backslashes.
    pub path: String,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Changes {
    These(Vec<Change>),
    /// More than are kept: the client lists the directory anew (`STATUS_NOTIFY_ENUM_DIR`).
    TooMany,
    /// The open was closed (`STATUS_NOTIFY_CLEANUP`).
    Closed,
    /// The directory is pending deletion (`STATUS_DELETE_PENDING`).
    Deleted,
}

impl OpenFile {
    /// What has changed since the last time; waits until something has. The first call says what counts, and whether below
    /// the directory too; changes are kept for later calls from then on. To drop the future is to cancel it.
    pub async fn changes(&self, filter: ChangeFilter, below: bool) -> Outcome<Changes> {
        if !self.is_directory() {
            return Err(Refusal::InvalidParameter);
        }
        self.needs(AccessMask::READ_DATA)?;
        let watcher = self.watch(filter, below).await?;
        loop {
            let news = watcher.news();
            match watcher.take() {
                News::These(changes) => return Ok(Changes::These(changes)),
                News::TooMany => return Ok(Changes::TooMany),
                News::Closed => return Ok(Changes::Closed),
                News::Deleted => return Ok(Changes::Deleted),
                News::Nothing => news.await,
            }
        }
    }

    /// The watcher of this open; the first call makes it.
    async fn watch(&self, filter: ChangeFilter, below: bool) -> Outcome<Arc<Watcher>> {
        if let Some(watcher) = &*self.watcher().lock() {
            return Ok(Arc::clone(watcher));
        }
        let (services, key) = (self.client().services(), self.key());
        // What others change is told to this server from the commit on.
        let watcher = services.opens().watch(key.node(), filter, below);
        services.read_mail();
        let joined = services
            .commit(self.client().context(), |mut unit| async move {
                unit.opened(key).await?;
                Ok::<_, Refusal>(unit.join_watchers(key.generation).await?)
            })
            .await;
        if let Err(refusal) = joined {
            services.opens().unwatch(&watcher);
            return Err(refusal);
        }
        let mut own = self.watcher().lock();
        match &*own {
            // Two first calls at a time.
            Some(first) => {
                services.opens().unwatch(&watcher);
                Ok(Arc::clone(first))
            }
            None => Ok(Arc::clone(own.insert(watcher))),
        }
    }

    pub(super) async fn stop_watching(&self) {
        let Some(watcher) = self.watcher().lock().take() else { return };
        let (services, generation) = (self.client().services(), self.key().generation);
        services.opens().unwatch(&watcher);
        if services.members() == Members::Several && !services.opens().is_watched(generation) {
            let left = services.commit(self.client().context(), |mut unit| async move {
                Ok::<_, Refusal>(unit.leave_watchers(generation).await?)
            });
            if let Err(refusal) = left.await {
                tracing::debug!(
                    ?refusal,
                    "the last watch of a share here has ended, and its row still stands"
                );
            }
        }
    }
}
