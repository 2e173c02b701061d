//! Which contents are being read, so that no sweeper gives back bytes that a download still needs.
//!
//! A download enters before it looks up its record, says which content it found, and leaves when its last byte is
//! out. A sweeper lists what is dead and waits until the downloads of older epochs have said what they read (they are
//! reading a few rows, so the wait is short). It then leaves alone only the contents that are being read: a slow
//! download delays its own content and nothing else.
//!
//! The sweeper of this process asks here. Sweepers of other servers read what the heartbeat publishes of it
//! (`members`).

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use std::time::{Duration, Instant};

use parking_lot::Mutex;

use crate::store::key::ContentId;

/// A server whose last heartbeat was sent so long ago stops reading: soon the others may take it for dead.
pub const FENCE: Duration = Duration::from_secs(20);
/// So many contents are named in a heartbeat. When more are read for long, the readers of the others hold their epoch.
const LISTED: usize = 1_024;

#[derive(Clone, Default)]
pub struct Readers(Arc<Mutex<State>>);

#[derive(Default)]
struct State {
    epoch: u64,
    /// How many entered in an epoch and have not said yet what they read.
    undecided: BTreeMap<u64, usize>,
    /// The others, by the epoch that they entered in.
    decided: BTreeMap<(u64, ContentId), usize>,
    reading: HashMap<ContentId, usize>,
    /// None when there are no other servers.
    fence: Option<Fence>,
}

struct Fence {
    /// Grows when the other servers took this one for dead: no reader from before may go on.
    life: u64,
    /// When the last heartbeat that was written was sent.
    beaten: Option<Instant>,
}

/// What a heartbeat says of the readers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Published {
    pub epoch: u64,
    /// Every reader of an older epoch has left, or reads one of `reading`.
    pub drained: u64,
    pub reading: Vec<ContentId>,
}

impl Readers {
    /// With other servers over the same engine. Nothing is read before the first heartbeat.
    pub fn fenced() -> Self {
        let state = State { fence: Some(Fence { life: 0, beaten: None }), ..State::default() };
        Self(Arc::new(Mutex::new(state)))
    }

    /// To be called before the record is read.
    pub fn enter(&self) -> ActiveReader {
        let mut state = self.0.lock();
        let epoch = state.epoch;
        let life = state.fence.as_ref().map_or(0, |fence| fence.life);
        *state.undecided.entry(epoch).or_default() += 1;
        ActiveReader { readers: self.clone(), epoch, life, reads: None }
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

    /// What the next heartbeat says. It stays true while the heartbeat is being written: readers that enter meanwhile
    /// are of this epoch.
    pub fn publish(&self) -> Published {
        let state = self.0.lock();
        let oldest_undecided = state.undecided.keys().next().copied();
        let mut drained = state.epoch.min(oldest_undecided.unwrap_or(u64::MAX));
        let mut reading: Vec<ContentId> = Vec::new();
        for &(epoch, content) in state.decided.keys().take_while(|(epoch, _)| *epoch < state.epoch) {
            if reading.len() == LISTED {
                drained = drained.min(epoch);
                break;
            }
            reading.push(content);
        }
        Published { epoch: state.epoch, drained, reading }
    }

    /// A heartbeat that was sent then was written.
    pub fn beat(&self, sent: Instant) {
        if let Some(fence) = &mut self.0.lock().fence {
            fence.beaten = Some(sent);
        }
    }

    /// The other servers took this one for dead, and may have given back what its readers need.
    pub fn begin_life(&self) {
        if let Some(fence) = &mut self.0.lock().fence {
            fence.life += 1;
            fence.beaten = None;
        }
    }

    /// Whether the heartbeats are so late that this server must not read.
    pub fn is_late(&self) -> bool {
        self.0.lock().fence.as_ref().is_some_and(Fence::is_late)
    }
}

impl Fence {
    fn is_late(&self) -> bool {
        self.beaten.is_none_or(|beaten| beaten.elapsed() >= FENCE)
    }
}

/// A reader under way.
pub struct ActiveReader {
    readers: Readers,
    epoch: u64,
    life: u64,
    /// What it has decided to read.
    reads: Option<ContentId>,
}

impl ActiveReader {
    /// From now on this reader needs the bytes of this content alone. What the content borrows from older ones stays
    /// with it: the sweeper takes nothing apart that a manifest in use holds.
    pub fn decide(&mut self, content: ContentId) {
        let mut state = self.readers.0.lock();
        *state.reading.entry(content).or_default() += 1;
        *state.decided.entry((self.epoch, content)).or_default() += 1;
        state.leave(self.epoch, self.reads);
        self.reads = Some(content);
    }

    /// Whether the other servers still leave alone what it reads.
    pub fn may_go_on(&self) -> bool {
        let state = self.readers.0.lock();
        state.fence.as_ref().is_none_or(|fence| fence.life == self.life && !fence.is_late())
    }
}

impl State {
    fn leave(&mut self, epoch: u64, reads: Option<ContentId>) {
        match reads {
            None => {
                if self.undecided.get_mut(&epoch).is_some_and(one_fewer) {
                    self.undecided.remove(&epoch);
                }
            }
            Some(content) => {
                if self.reading.get_mut(&content).is_some_and(one_fewer) {
                    self.reading.remove(&content);
                }
                if self.decided.get_mut(&(epoch, content)).is_some_and(one_fewer) {
                    self.decided.remove(&(epoch, content));
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
        self.readers.0.lock().leave(self.epoch, self.reads);
    }
}

#[cfg(test)]
mod tests;
