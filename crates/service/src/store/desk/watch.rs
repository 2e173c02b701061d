//! Directories that are watched through this server, and the changes that their clients have not heard of.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use parking_lot::Mutex;
use tokio::sync::Notify;

use super::{Desk, Node};
use crate::open_file::{Change, ChangeAction, ChangeFilter};
use crate::store::key::Generation;
use crate::store::record::watch::Changed;

/// Changes that are kept for a client that does not ask for them.
const KEPT: usize = 1_000;
const KEPT_BYTES: usize = 64 * 1024;

pub(crate) struct Watcher {
    node: Node,
    filter: ChangeFilter,
    below: bool,
    kept: Mutex<Kept>,
    news: Notify,
    closed: AtomicBool,
    /// The directory goes when it is closed.
    deleted: AtomicBool,
}

#[derive(Default)]
struct Kept {
    changes: Vec<Change>,
    bytes: usize,
    too_many: bool,
}

/// What a watcher has.
pub(crate) enum News {
    Nothing,
    These(Vec<Change>),
    TooMany,
    Closed,
    Deleted,
}

impl Desk {
    pub fn watch(&self, node: Node, filter: ChangeFilter, below: bool) -> Arc<Watcher> {
        let watcher = Arc::new(Watcher {
            node,
            filter,
            below,
            kept: Mutex::default(),
            news: Notify::new(),
            closed: AtomicBool::new(false),
            deleted: AtomicBool::new(false),
        });
        self.0.lock().watchers.entry(node.0).or_default().push(Arc::clone(&watcher));
        watcher
    }

    pub fn unwatch(&self, watcher: &Arc<Watcher>) {
        let mut state = self.0.lock();
        if let Some(watchers) = state.watchers.get_mut(&watcher.node.0) {
            watchers.retain(|other| !Arc::ptr_eq(other, watcher));
            if watchers.is_empty() {
                state.watchers.remove(&watcher.node.0);
            }
        }
        drop(state);
        watcher.closed.store(true, Ordering::Release);
        watcher.news.notify_waiters();
    }

    pub fn is_watched(&self, generation: Generation) -> bool {
        self.0.lock().watchers.contains_key(&generation)
    }

    /// Tells the watches of a directory whether it is pending deletion.
    pub(super) fn tell_pending(&self, node: Node, pending: bool) {
        let watchers = self.0.lock().watchers.get(&node.0).cloned().unwrap_or_default();
        for watcher in watchers.iter().filter(|watcher| watcher.node == node) {
            if watcher.deleted.swap(pending, Ordering::AcqRel) != pending {
                watcher.news.notify_waiters();
            }
        }
    }

    pub(super) fn deliver(&self, change: &Changed) {
        let watchers = self.0.lock().watchers.get(&change.generation).cloned().unwrap_or_default();
        for watcher in watchers {
            watcher.hear(change);
        }
    }
}

impl Watcher {
    fn hear(&self, change: &Changed) {
        if self.filter.0 & change.filter.0 == 0 {
            return;
        }
        let place = change.seen_from.iter().position(|(node, _)| *node == self.node.1);
        let Some(place) = place.filter(|place| *place == 0 || self.below) else { return };
        let Some((_, path)) = change.seen_from.get(place) else { return };
        let mut kept = self.kept.lock();
        kept.bytes += path.len() * 2 + 12;
        if kept.changes.len() >= KEPT || kept.bytes > KEPT_BYTES {
            kept.too_many = true;
            kept.changes.clear();
        }
        if !kept.too_many {
            let change = Change { action: change.action, path: path.clone() };
            // A file that is written to again and again is told of once.
            if change.action != ChangeAction::Modified || kept.changes.last() != Some(&change) {
                kept.changes.push(change);
            }
        }
        drop(kept);
        self.news.notify_waiters();
    }

    /// What was not heard of yet; it is then.
    pub fn take(&self) -> News {
        if self.closed.load(Ordering::Acquire) {
            return News::Closed;
        }
        if self.deleted.load(Ordering::Acquire) {
            return News::Deleted;
        }
        let Kept { changes, too_many, .. } = std::mem::take(&mut *self.kept.lock());
        match (too_many, changes.is_empty()) {
            (true, _) => News::TooMany,
            (false, false) => News::These(changes),
            (false, true) => News::Nothing,
        }
    }

    /// To be made before [`Self::take`].
    pub fn news(&self) -> tokio::sync::futures::Notified<'_> {
        self.news.notified()
    }
}
