//! Which generation a name had when it was last read here. With it, the record of a container, a table or a queue and what
//! stands in it are read in one batch, where reading takes a round trip; a guess that has become wrong costs the round trip.

use std::collections::HashMap;

use lazuli_engine::{Key, Reader};
use parking_lot::Mutex;

use super::key::Generation;
use crate::fault::Answer;

/// Names are forgotten all at once when there are more.
const MOST: usize = 10_000;

#[derive(Default)]
pub(super) struct Generations {
    known: Mutex<HashMap<Key, Generation>>,
}

impl Generations {
    /// Reads the record at `name` together with what `inside` says of its generation.
    pub async fn fetch(
        &self,
        reader: &Reader,
        name: impl FnOnce() -> Key,
        inside: impl FnOnce(Generation) -> Vec<Key>,
    ) -> Answer<()> {
        let keys = || {
            let name = name();
            let known = self.known.lock().get(&name).copied();
            known.map_or_else(Vec::new, inside).into_iter().chain([name]).collect()
        };
        Ok(reader.near(keys).await?)
    }

    /// What it had, if that is known.
    pub fn known(&self, name: &Key) -> Option<Generation> {
        self.known.lock().get(name).copied()
    }

    /// What the record said. Where reading takes no round trip, nothing is kept.
    pub fn learn(&self, reader: &Reader, name: impl FnOnce() -> Key, generation: Generation) {
        if reader.is_near() {
            return;
        }
        let mut known = self.known.lock();
        if known.len() >= MOST {
            known.clear();
        }
        known.insert(name(), generation);
    }
}
