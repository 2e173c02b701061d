//! List Shares.

use lazuli_model::blob::SoftDeletion;
use lazuli_model::time::Timestamp;

use super::ShareRecord;
use crate::fault::Answer;
use crate::shared::marker::Position;
use crate::{Context, Services};

#[derive(Clone, Debug)]
pub struct ListShares {
    pub prefix: String,
    /// The snapshots of the shares too.
    pub snapshots: bool,
    /// Soft-deleted shares too.
    pub deleted: bool,
    pub marker: Option<Position>,
    pub max_results: usize,
    /// What the page may take in memory.
    pub max_bytes: usize,
}

#[derive(Clone, Debug)]
pub struct ListedShare {
    pub name: String,
    pub state: ShareState,
    pub share: ShareRecord,
}

/// Which of those that have a name in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ShareState {
    Present,
    Snapshot(Timestamp),
    /// A soft-deleted one: when it was deleted, and until when it can be restored.
    Deleted {
        version: Timestamp,
        deletion: SoftDeletion,
    },
}

/// In a [`Position`], moments of snapshots have this bit: they come behind deleted shares of the name, whose deletion may
/// have been at the same moment.
const SNAPSHOT: u64 = 1 << 63;

impl ListedShare {
    /// Of one name the deleted ones come first, then the snapshots, then the share itself (recorded of the last two).
    pub(crate) fn order(&self) -> (&str, u64) {
        let place = match self.state {
            ShareState::Present => u64::MAX,
            ShareState::Snapshot(moment) => moment.0 | SNAPSHOT,
            ShareState::Deleted { version, .. } => version.0,
        };
        (&self.name, place)
    }

    /// Where a page that ends with this goes on.
    pub fn position(&self) -> Position {
        let (name, ticks) = self.order();
        Position::Name { name: name.to_owned(), ticks }
    }
}

#[derive(Clone, Debug)]
pub struct ShareList {
    pub items: Vec<ListedShare>,
    pub next: Option<Position>,
    /// The moment at which leases are to be judged.
    pub now: Timestamp,
}

impl ListShares {
    pub async fn execute(self, services: &Services, context: &Context) -> Answer<ShareList> {
        let view = services.view(context).await?;
        let (items, next) = view.shares(&self).await?;
        Ok(ShareList { items, next, now: view.now() })
    }

    /// The snapshot of this share behind which the page begins.
    pub(crate) fn snapshots_after(&self, name: &str) -> Option<u64> {
        match &self.marker {
            Some(Position::Name { name: own, ticks }) if own == name && ticks & SNAPSHOT != 0 => {
                Some(ticks & !SNAPSHOT)
            }
            _ => None,
        }
    }
}
