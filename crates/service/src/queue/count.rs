//! How many messages a queue holds that have not expired, without a counter that every Put would have to write.

use std::collections::BTreeMap;

use lazuli_model::time::Timestamp;

const TICKS_PER_SECOND: u64 = 10_000_000;

/// Messages by the second in which they expire, so that the count falls as time passes.
#[derive(Debug, Default)]
pub struct Count {
    total: u64,
    by_second: BTreeMap<u64, u64>,
}

impl Count {
    pub fn add(&mut self, expires: u64) {
        self.total += 1;
        *self.by_second.entry(second(expires)).or_default() += 1;
    }

    /// Without effect on a message that expired and is no longer counted.
    pub fn remove(&mut self, expires: u64) {
        let second = second(expires);
        let Some(count) = self.by_second.get_mut(&second) else { return };
        *count -= 1;
        if *count == 0 {
            self.by_second.remove(&second);
        }
        self.total -= 1;
    }

    pub fn at(&mut self, now: Timestamp) -> u64 {
        while let Some(first) = self.by_second.first_entry()
            && first.key().saturating_mul(TICKS_PER_SECOND) <= now.0
        {
            self.total -= first.remove();
        }
        self.total
    }
}

/// The end of the second, so that nothing is left out that can still be got.
fn second(expires: u64) -> u64 {
    expires.div_ceil(TICKS_PER_SECOND)
}

#[cfg(test)]
mod tests;
