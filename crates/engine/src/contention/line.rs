//! Turns on hot keys: a transaction that keeps losing races for a key stops racing and waits in line for it.

use crate::key::Key;
use parking_lot::Mutex;
use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;
use tokio::sync::{Mutex as FairMutex, OwnedMutexGuard};

#[derive(Default)]
pub(super) struct Lines {
    lines: Mutex<HashMap<Key, Line>>,
    /// How many lines there are: while there are none, the map is not locked.
    open: AtomicUsize,
}

struct Line {
    /// Fair: the longest-waiting transaction gets the turn.
    turn: Arc<FairMutex<()>>,
    members: usize,
}

/// A place in a key's line; with `guard`, the turn itself. Dropping it leaves the line.
pub(super) struct Turn {
    lines: Arc<Lines>,
    key: Key,
    guard: Option<OwnedMutexGuard<()>>,
}

impl Lines {
    /// One of these keys that other transactions stand in line for.
    pub fn line_for<'a>(&self, mut keys: impl Iterator<Item = &'a Key>) -> Option<Key> {
        if self.open.load(Ordering::Relaxed) == 0 {
            return None;
        }
        let lines = self.lines.lock();
        keys.find(|key| lines.contains_key(*key)).cloned()
    }

    /// Waits for the turn on this key; `None` when the deadline comes first.
    pub async fn turn(self: &Arc<Self>, key: Key, deadline: Option<Instant>) -> Option<Turn> {
        let turn = {
            let mut lines = self.lines.lock();
            let line = lines.entry(key.clone()).or_insert_with(|| {
                self.open.fetch_add(1, Ordering::Relaxed);
                Line { turn: Arc::default(), members: 0 }
            });
            line.members += 1;
            line.turn.clone()
        };
        let mut place = Turn { lines: self.clone(), key, guard: None };
        let guard = match deadline {
            None => turn.lock_owned().await,
            Some(deadline) => tokio::time::timeout_at(deadline.into(), turn.lock_owned()).await.ok()?,
        };
        place.guard = Some(guard);
        Some(place)
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        self.guard = None;
        let mut lines = self.lines.lines.lock();
        if let Some(line) = lines.get_mut(&self.key) {
            line.members -= 1;
            if line.members == 0 {
                lines.remove(&self.key);
                self.lines.open.fetch_sub(1, Ordering::Relaxed);
            }
        }
    }
}
