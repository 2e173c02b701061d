//! A short life of a store, with every kind of disk call in it, and what must be true after it ended early.

use std::collections::HashMap;

use super::*;
use crate::local::extent::{CHUNK_ROWS, rows::chunk_key};

/// What was acknowledged, and what the bytes of every chunk are.
#[derive(Default)]
pub struct Journal {
    pub bytes: HashMap<ChunkId, Vec<u8>>,
    pub acknowledged: Vec<ChunkId>,
}

pub const CHUNK: usize = 7_000;

impl Journal {
    fn put(&mut self, store: &Store, seed: u64) -> Result<ChunkId, EngineError> {
        let bytes = payload(seed, CHUNK);
        let written = store.write(&bytes)?;
        self.bytes.insert(written.id, bytes);
        store.commit(&[written.id], &[])?;
        self.acknowledged.push(written.id);
        Ok(written.id)
    }

    fn release(&mut self, store: &Store, ids: &[ChunkId]) -> Result<(), EngineError> {
        // Not owed from here on, whether or not the commit comes to its end.
        self.acknowledged.retain(|id| !ids.contains(id));
        store.commit(&[], ids)
    }

    /// One step of the life; `None` behind the last one.
    pub fn step(&mut self, store: &Store, number: u64) -> Option<Result<(), EngineError>> {
        Some(match number {
            // The first commits, and the switch to a second and a third extent.
            0..=19 => self.put(store, number).map(drop),
            // Two chunks in one commit; a third one that no commit publishes.
            20 => self.pair(store, number),
            // All but every fifth go.
            21 => {
                let old: Vec<_> = self
                    .acknowledged
                    .iter()
                    .enumerate()
                    .filter(|(n, _)| n % 5 != 0)
                    .map(|(_, id)| *id)
                    .collect();
                self.release(store, &old)
            }
            22 => store.collect(),
            // Into recycled extents.
            23..=40 => self.put(store, number).map(drop),
            41 => {
                let old: Vec<_> = self.acknowledged.iter().copied().skip(3).take(14).collect();
                self.release(store, &old)
            }
            42 => store.collect(),
            43..=46 => self.put(store, number).map(drop),
            _ => return None,
        })
    }

    fn pair(&mut self, store: &Store, seed: u64) -> Result<(), EngineError> {
        let (one, two) = (payload(seed, CHUNK), payload(seed + 1_000, 90_000));
        let (first, second) = (store.write(&one)?, store.write(&two)?);
        let _orphan = store.write(&payload(seed + 2_000, CHUNK))?;
        self.bytes.insert(first.id, one);
        self.bytes.insert(second.id, two);
        store.commit(&[first.id, second.id], &[])?;
        self.acknowledged.extend([first.id, second.id]);
        Ok(())
    }

    /// Every acknowledged chunk has its row, and every row its bytes.
    pub fn check(&self, store: &Store, context: &str) {
        for id in &self.acknowledged {
            assert!(store.kv.get(&chunk_key(*id)).unwrap().is_some(), "{context}: no row");
        }
        let rows = store.kv.0.lock().clone();
        for key in rows.keys().filter(|key| key.starts_with(CHUNK_ROWS)) {
            let id = ChunkId(u128::from_be_bytes(key[CHUNK_ROWS.len()..].try_into().unwrap()));
            let bytes = &self.bytes[&id];
            match store.read(id, 0..bytes.len() as u32) {
                Ok(read) => assert_eq!(read, bytes, "{context}: wrong bytes"),
                Err(error) => panic!("{context}: {error}"),
            }
        }
        store.check_counts();
    }

    /// Opens what is left and lives on: nothing that was there is lost by it.
    pub fn check_image(&mut self, image: SimDisk, kv: &Kv, context: &str) {
        let store = Store::open(image, kv.copy(), 77, small()).unwrap();
        self.check(&store, context);
        let before = self.acknowledged.len();
        for seed in 100..112 {
            self.put(&store, seed).unwrap_or_else(|error| panic!("{context}: {error}"));
        }
        let fresh = self.acknowledged.split_off(before);
        store.commit(&[], &fresh[..10]).unwrap();
        store.collect().unwrap();
        self.check(&store, context);
        assert_eq!(store.extents.stats().damaged_extents, 0, "{context}");
        // They belong to this image alone.
        fresh.iter().for_each(|id| drop(self.bytes.remove(id)));
    }
}
