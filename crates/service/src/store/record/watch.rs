//! Who watches a share, and what is told of it.

use super::{Record, stored};
use crate::open_file::{ChangeAction, ChangeFilter};
use crate::store::key::{Generation, Incarnation};
use crate::store::tree::NodeId;

/// What happened to an entry of a directory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Changed {
    pub generation: Generation,
    /// The directories that it stands in, the nearest first, each with the path of the entry from there.
    pub seen_from: Vec<(NodeId, String)>,
    pub action: ChangeAction,
    /// What counts as such a change.
    pub filter: ChangeFilter,
}

impl Record for Changed {
    const NAME: &'static str = "change";
    type Newest = stored::watch::ChangedV1;
}

/// The servers on which directories of a share are watched.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Watchers {
    pub servers: Vec<Incarnation>,
}

impl Record for Watchers {
    const NAME: &'static str = "watchers";
    type Newest = stored::watch::WatchersV1;
}
