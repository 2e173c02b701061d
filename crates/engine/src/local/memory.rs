//! The reference engine: every version of every key in one ordered map, nothing on disk.

use crate::key::{Key, KeyRange, Value};
use crate::local::store::{Group, Row, Step};
use crate::txn::Write;
use parking_lot::{Mutex, RwLock};
use std::collections::{BTreeMap, VecDeque};
use std::ops::Bound;
use std::sync::Arc;

#[derive(Debug, Default)]
pub(crate) struct Memory {
    rows: RwLock<Rows>,
    /// Open snapshots: sequence number, how many.
    readers: Mutex<BTreeMap<u64, usize>>,
    /// Makes the next commits fail as a disk would.
    #[cfg(test)]
    pub fails: std::sync::atomic::AtomicBool,
}

#[derive(Debug, Default)]
struct Rows {
    /// Versions in ascending order; `None` is a deletion.
    map: BTreeMap<Key, Vec<(u64, Option<Value>)>>,
    /// Writes that made an older version, or themselves, superfluous once no reader is older.
    garbage: VecDeque<(u64, Key)>,
}

impl Memory {
    pub fn apply(&self, group: &Group) {
        let mut rows = self.rows.write();
        for (seq, write) in group.writes.iter().cloned() {
            let (key, value) = match write {
                Write::Put(key, value) => (key, Some(value)),
                Write::Delete(key) | Write::DeleteWithoutTrace(key) => (key, None),
            };
            let deletion = value.is_none();
            let versions = rows.map.entry(key.clone()).or_default();
            versions.push((seq, value));
            if versions.len() > 1 || deletion {
                rows.garbage.push_back((seq, key));
            }
        }
        let oldest = self.readers.lock().first_key_value().map_or(group.last, |(seq, _)| *seq);
        rows.prune(oldest);
    }

    #[cfg(test)]
    pub fn stored_versions(&self) -> usize {
        self.rows.read().map.values().map(Vec::len).sum()
    }

    pub fn snapshot(self: &Arc<Self>, seq: u64) -> MemorySnapshot {
        *self.readers.lock().entry(seq).or_default() += 1;
        MemorySnapshot { memory: self.clone(), seq }
    }
}

impl Rows {
    /// Drops what no snapshot at `oldest` or later can see.
    fn prune(&mut self, oldest: u64) {
        while self.garbage.front().is_some_and(|(seq, _)| *seq <= oldest) {
            let Some((_, key)) = self.garbage.pop_front() else { return };
            let Some(versions) = self.map.get_mut(&key) else { continue };
            let visible = versions.iter().rposition(|(seq, _)| *seq <= oldest).unwrap_or(0);
            versions.drain(..visible);
            if let [(seq, None)] = versions[..]
                && seq <= oldest
            {
                self.map.remove(&key);
            }
        }
    }
}

pub(crate) struct MemorySnapshot {
    memory: Arc<Memory>,
    seq: u64,
}

impl Drop for MemorySnapshot {
    fn drop(&mut self) {
        let mut readers = self.memory.readers.lock();
        if let Some(count) = readers.get_mut(&self.seq) {
            *count -= 1;
            if *count == 0 {
                readers.remove(&self.seq);
            }
        }
    }
}

impl MemorySnapshot {
    pub fn seq(&self) -> u64 {
        self.seq
    }

    pub fn get(&self, key: &[u8]) -> Option<(u64, Value)> {
        self.visible(self.memory.rows.read().map.get(key)?)
    }

    fn visible(&self, versions: &[(u64, Option<Value>)]) -> Option<(u64, Value)> {
        let (seq, value) = versions.iter().rev().find(|(seq, _)| *seq <= self.seq)?;
        Some((*seq, value.clone()?))
    }

    pub fn walk(&self, range: &KeyRange, reverse: bool, visit: &mut dyn FnMut(Row) -> Step) {
        if range.end.as_ref().is_some_and(|end| *end <= range.start) {
            return;
        }
        let rows = self.memory.rows.read();
        let end = range.end.clone().map_or(Bound::Unbounded, Bound::Excluded);
        if reverse {
            for (key, versions) in rows.map.range((Bound::Included(range.start.clone()), end)).rev() {
                let Some((seq, value)) = self.visible(versions) else { continue };
                if !matches!(visit(Row { key: key.clone(), seq, value }), Step::Next) {
                    return;
                }
            }
            return;
        }
        let mut start = range.start.clone();
        'seek: loop {
            if range.end.as_ref().is_some_and(|end| *end <= start) {
                return;
            }
            for (key, versions) in rows.map.range((Bound::Included(start.clone()), end.clone())) {
                let Some((seq, value)) = self.visible(versions) else { continue };
                match visit(Row { key: key.clone(), seq, value }) {
                    Step::Next => {}
                    Step::Stop => return,
                    Step::Seek(key) => {
                        start = key;
                        continue 'seek;
                    }
                }
            }
            return;
        }
    }
}
