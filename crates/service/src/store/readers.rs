//! Which contents are being read, so that the sweeper gives back no bytes that a download still needs.
//!
//! A download enters before it looks up its record, says which content it found, and leaves when its last byte is
//! out. The sweeper lists what is dead and begins a new epoch. It then waits for the downloads of older epochs that
//! have not said yet what they read (they are reading a few rows, so the wait is short), and leaves alone only the
//! contents that are being read: a slow download delays its own content and nothing else.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use parking_lot::Mutex;

use crate::key::ContentId;

#[derive(Clone, Default)]
pub struct Readers(Arc<Mutex<State>>);

#[derive(Default)]
struct State {
    epoch: u64,
    /// How many entered in an epoch and have not said yet what they read.
    undecided: BTreeMap<u64, usize>,
    reading: HashMap<ContentId, usize>,
}

impl Readers {
    /// To be called before the record is read.
    pub fn enter(&self) -> ActiveReader {
        let mut state = self.0.lock();
        let epoch = state.epoch;
        *state.undecided.entry(epoch).or_default() += 1;
        ActiveReader { readers: self.clone(), reads: Reads::Undecided { epoch } }
    }

    /// Begins a new epoch and names the one that ended.
    pub fn next_epoch(&self) -> u64 {
        let mut state = self.0.lock();
        state.epoch += 1;
        state.epoch - 1
    }

    /// Every reader that entered in this epoch or before has said what it reads, or has left.
    pub fn is_decided(&self, epoch: u64) -> bool {
        self.0.lock().undecided.first_key_value().is_none_or(|(&oldest, _)| oldest > epoch)
    }

    pub fn is_read(&self, content: ContentId) -> bool {
        self.0.lock().reading.contains_key(&content)
    }
}

/// A reader under way.
pub struct ActiveReader {
    readers: Readers,
    reads: Reads,
}

enum Reads {
    Undecided { epoch: u64 },
    One(ContentId),
}

impl ActiveReader {
    /// From now on this reader needs the bytes of this content alone. What the content borrows from older ones stays
    /// with it: the sweeper takes nothing apart that a manifest in use holds.
    pub fn decide(&mut self, content: ContentId) {
        let mut state = self.readers.0.lock();
        *state.reading.entry(content).or_default() += 1;
        state.leave(&self.reads);
        self.reads = Reads::One(content);
    }
}

impl State {
    fn leave(&mut self, reads: &Reads) {
        match reads {
            Reads::Undecided { epoch } => {
                if self.undecided.get_mut(epoch).is_some_and(one_fewer) {
                    self.undecided.remove(epoch);
                }
            }
            Reads::One(content) => {
                if self.reading.get_mut(content).is_some_and(one_fewer) {
                    self.reading.remove(content);
                }
            }
        }
    }
}

/// True when none is left.
fn one_fewer(count: &mut usize) -> bool {
    *count = count.saturating_sub(1);
    *count == 0
}

impl Drop for ActiveReader {
    fn drop(&mut self) {
        self.readers.0.lock().leave(&self.reads);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reader_that_has_decided_holds_one_content_and_no_epoch() {
        let readers = Readers::default();
        let (one, other) = (ContentId(1), ContentId(2));
        let mut slow = readers.enter();
        let mut again = readers.enter();
        let epoch = readers.next_epoch();
        let late = readers.enter();
        assert!(!readers.is_decided(epoch));
        slow.decide(one);
        assert!(!readers.is_decided(epoch), "one of two");
        again.decide(one);
        assert!(readers.is_decided(epoch), "the one that entered later does not count");
        assert!(readers.is_read(one) && !readers.is_read(other));
        drop(slow);
        assert!(readers.is_read(one), "two read it");
        drop(again);
        assert!(!readers.is_read(one));
        let later = readers.next_epoch();
        assert!(!readers.is_decided(later));
        drop(late);
        assert!(readers.is_decided(later));
        let state = readers.0.lock();
        assert!(state.undecided.is_empty() && state.reading.is_empty(), "nothing is remembered for ever");
    }
}
