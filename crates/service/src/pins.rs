//! Who is reading, so that bytes are given back only when nobody can still reach them.
//!
//! A reader enters before it looks up a record and leaves when its last byte is out. The sweeper lists what is
//! dead, begins a new epoch, and touches what it listed only when everybody who entered before has left: a
//! content that died, or whose blocks moved to another, after a reader had found it, is never released under it.

use std::collections::BTreeMap;
use std::sync::Arc;

use parking_lot::Mutex;

#[derive(Clone, Default)]
pub struct Pins(Arc<Mutex<State>>);

#[derive(Default)]
struct State {
    epoch: u64,
    entered: BTreeMap<u64, usize>,
}

impl Pins {
    /// To be called before the record is read.
    pub fn enter(&self) -> Entered {
        let mut state = self.0.lock();
        let epoch = state.epoch;
        *state.entered.entry(epoch).or_default() += 1;
        Entered { pins: self.clone(), epoch }
    }

    /// Begins a new epoch and names the one that ended.
    pub fn turn(&self) -> u64 {
        let mut state = self.0.lock();
        state.epoch += 1;
        state.epoch - 1
    }

    /// Everybody who entered in this epoch or before has left.
    pub fn is_past(&self, epoch: u64) -> bool {
        self.0.lock().entered.first_key_value().is_none_or(|(&oldest, _)| oldest > epoch)
    }
}

/// A reader under way.
pub struct Entered {
    pins: Pins,
    epoch: u64,
}

impl Drop for Entered {
    fn drop(&mut self) {
        let mut state = self.pins.0.lock();
        if let Some(count) = state.entered.get_mut(&self.epoch) {
            *count -= 1;
            if *count == 0 {
                state.entered.remove(&self.epoch);
            }
        }
    }
}
