//! Pins keep bytes readable: what is released while a pin is held is not recycled before it is dropped.

use std::{collections::BTreeMap, sync::Arc};

use parking_lot::Mutex;

/// Counts released things and remembers the oldest count that a pin still reads at.
#[derive(Clone, Default)]
pub(crate) struct Pins(Arc<Mutex<Held>>);

#[derive(Default)]
struct Held {
    epoch: u64,
    /// Epoch -> how many pins were taken in it.
    pins: BTreeMap<u64, usize>,
}

/// While it lives, nothing released at or after its making is recycled.
pub struct Pin {
    pins: Pins,
    epoch: u64,
}

impl Pins {
    pub fn pin(&self) -> Pin {
        let mut held = self.0.lock();
        let epoch = held.epoch;
        *held.pins.entry(epoch).or_default() += 1;
        Pin { pins: self.clone(), epoch }
    }

    /// Marks something as released now; [`Pins::passed`] of the mark tells when it may be recycled.
    pub fn retire(&self) -> u64 {
        let mut held = self.0.lock();
        let mark = held.epoch;
        held.epoch += 1;
        mark
    }

    /// No pin that was alive at the mark is alive any more.
    pub fn passed(&self, mark: u64) -> bool {
        self.0.lock().pins.first_key_value().is_none_or(|(&oldest, _)| oldest > mark)
    }
}

impl Drop for Pin {
    fn drop(&mut self) {
        let mut held = self.pins.0.lock();
        if let Some(count) = held.pins.get_mut(&self.epoch) {
            *count -= 1;
            if *count == 0 {
                held.pins.remove(&self.epoch);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mark_passes_when_the_older_pins_are_gone() {
        let pins = Pins::default();
        let before = pins.pin();
        let mark = pins.retire();
        let after = pins.pin();
        assert!(!pins.passed(mark));
        drop(before);
        assert!(pins.passed(mark), "a younger pin does not hold it");
        let later = pins.retire();
        assert!(!pins.passed(later));
        drop(after);
        assert!(pins.passed(later));
    }
}
