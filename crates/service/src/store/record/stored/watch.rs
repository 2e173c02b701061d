//! Who watches a share, and what is told of it.

use serde::{Deserialize, Serialize};

use super::{first_shape, same_variants};
use crate::open_file::{ChangeAction, ChangeFilter};
use crate::store::key::{Generation, Incarnation};
use crate::store::record::watch::{Changed, Watchers};
use crate::store::tree::NodeId;

#[derive(Serialize, Deserialize)]
pub struct WatchersV1 {
    servers: Vec<Incarnation>,
}

#[derive(Serialize, Deserialize)]
pub struct ChangedV1 {
    generation: Generation,
    seen_from: Vec<(NodeId, String)>,
    action: ActionV1,
    filter: u32,
}

first_shape!(WatchersV1, ChangedV1);

#[derive(Serialize, Deserialize)]
enum ActionV1 {
    Added,
    Removed,
    Modified,
    RenamedOldName,
    RenamedNewName,
}

same_variants!(ActionV1, ChangeAction { Added, Removed, Modified, RenamedOldName, RenamedNewName });

impl From<&Watchers> for WatchersV1 {
    fn from(Watchers { servers }: &Watchers) -> Self {
        Self { servers: servers.clone() }
    }
}

impl From<WatchersV1> for Watchers {
    fn from(WatchersV1 { servers }: WatchersV1) -> Self {
        Self { servers }
    }
}

impl From<&Changed> for ChangedV1 {
    fn from(Changed { generation, seen_from, action, filter }: &Changed) -> Self {
        Self {
            generation: *generation,
            seen_from: seen_from.clone(),
            action: (*action).into(),
            filter: filter.0,
        }
    }
}

impl From<ChangedV1> for Changed {
    fn from(ChangedV1 { generation, seen_from, action, filter }: ChangedV1) -> Self {
        Self { generation, seen_from, action: action.into(), filter: ChangeFilter(filter) }
    }
}
