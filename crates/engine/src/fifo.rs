//! Turns on hot keys: who keeps losing a race on a key stops racing and waits in line for it.

use crate::key::Key;
use parking_lot::Mutex;
use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;
use tokio::sync::{Mutex as FairMutex, OwnedMutexGuard};

#[derive(Default)]
pub(crate) struct Fifo {
    lines: Mutex<HashMap<Key, Line>>,
    /// Lines that exist; lets everybody else skip the map.
    open: AtomicUsize,
}

struct Line {
    /// Fair: the turn goes to who waited longest.
    turn: Arc<FairMutex<()>>,
    people: usize,
}

/// A place in a key's line; with `guard`, the turn itself. Leaving is dropping.
pub(crate) struct Turn {
    fifo: Arc<Fifo>,
    key: Key,
    guard: Option<OwnedMutexGuard<()>>,
}

impl Fifo {
    /// One of these keys that others stand in line for.
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
                Line { turn: Arc::default(), people: 0 }
            });
            line.people += 1;
            line.turn.clone()
        };
        let mut place = Turn { fifo: self.clone(), key, guard: None };
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
        let mut lines = self.fifo.lines.lock();
        if let Some(line) = lines.get_mut(&self.key) {
            line.people -= 1;
            if line.people == 0 {
                lines.remove(&self.key);
                self.fifo.open.fetch_sub(1, Ordering::Relaxed);
            }
        }
    }
}
