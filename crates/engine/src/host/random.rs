//! Random numbers for names and jitter. Not for secrets.

use parking_lot::Mutex;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::sync::Arc;

/// A counter run through a mixing function (SplitMix64): every state gives a different number.
#[derive(Clone, Debug)]
pub struct Random {
    state: Arc<Mutex<[u64; 2]>>,
}

impl Random {
    /// Seeded from the operating system, differently in each process.
    pub fn from_os() -> Self {
        // `RandomState` draws its keys from the operating system.
        let word = || RandomState::new().build_hasher().finish();
        let time = std::time::SystemTime::now()
            .duration_since(std::time::UNIX_EPOCH)
            .map_or(0, |since| since.as_nanos() as u64);
        Self { state: Arc::new(Mutex::new([word() ^ time, word() ^ u64::from(std::process::id())])) }
    }

    pub fn seeded(seed: u64) -> Self {
        Self { state: Arc::new(Mutex::new([seed, !seed])) }
    }

    pub fn u128(&self) -> u128 {
        let mut state = self.state.lock();
        let [high, low] = &mut *state;
        (u128::from(next(high)) << 64) | u128::from(next(low))
    }

    /// Uniform enough in `0..bound`; 0 when the bound is 0.
    pub fn below(&self, bound: u64) -> u64 {
        let word = next(&mut self.state.lock()[0]);
        ((u128::from(word) * u128::from(bound)) >> 64) as u64
    }
}

fn next(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
    let mut word = *state;
    word = (word ^ (word >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    word = (word ^ (word >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    word ^ (word >> 31)
}
