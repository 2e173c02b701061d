//! The bytes of a move.

use std::collections::{BTreeMap, HashMap};

use lazuli_engine::{ChunkId, Key, Txn, Value, Write, Written};

use super::renamed::{self, Named};
use super::{Done, Move, MoveError};
use crate::store::key;

/// Chunks that are published by one commit: memory for so many is needed while they are on their way.
const TOGETHER: usize = 8;

impl Move<'_> {
    /// What the chunks that these rows name are called where they are moved to; those that are not there yet are copied.
    pub(super) async fn chunks_of(&mut self, rows: &[(Key, Value)]) -> Done<HashMap<u128, u128>> {
        let mut wanted: BTreeMap<u128, Option<u32>> = BTreeMap::new();
        for (key, value) in rows {
            renamed::row(key, value, &self.bodies, &mut |Named { id, len }| {
                let known = wanted.entry(id).or_default();
                *known = known.or(len);
                None
            })?;
        }
        let keys: Vec<Key> = wanted.keys().map(|id| key::moved_chunk(*id)).collect();
        let mut known = HashMap::new();
        let found = match keys.is_empty() {
            true => Vec::new(),
            false => self.to.reader().await?.get_untracked_many(keys).await?,
        };
        let mut missing = Vec::new();
        for ((id, len), found) in wanted.into_iter().zip(found) {
            match (found, len) {
                (Some(entry), _) => drop(known.insert(id, named(&entry.value)?.0)),
                (None, Some(len)) => missing.push((id, len)),
                // A count of fragments of a chunk that no interval names: it counts nothing.
                (None, None) => {}
            }
        }
        for some in missing.chunks(TOGETHER) {
            self.copy_chunks(some, &mut known).await?;
        }
        Ok(known)
    }

    async fn copy_chunks(&mut self, some: &[(u128, u32)], known: &mut HashMap<u128, u128>) -> Done<()> {
        let mut written: Vec<(u128, Written)> = Vec::new();
        for (id, len) in some {
            let bytes = self.from.extents().read(ChunkId(*id), 0..*len).await?;
            let copy = self.to.extents().write(bytes).await?;
            let was = self.from.extents().crc64(ChunkId(*id)).await?;
            if was != copy.crc64 {
                return Err(MoveError::Refused(format!("the chunk {id:032x} is not what was written")));
            }
            self.moved.bytes += u64::from(*len);
            written.push((*id, copy));
        }
        let mut txn = Txn::new(self.to.new_txn_id());
        for (id, copy) in &written {
            txn.publish.push(copy.id);
            let note = [&copy.id.0.to_be_bytes()[..], &copy.len.to_be_bytes()].concat();
            txn.writes.push(Write::Put(key::moved_chunk(*id), note.into()));
            known.insert(*id, copy.id.0);
        }
        self.to.commit(txn).await?;
        self.moved.chunks += some.len() as u64;
        (self.tell)(self.moved);
        Ok(())
    }
}

/// The name that a note gives, and the length.
pub(super) fn named(note: &[u8]) -> Done<(u128, u32)> {
    let read = note
        .split_first_chunk::<16>()
        .and_then(|(id, len)| Some((u128::from_be_bytes(*id), u32::from_be_bytes(len.try_into().ok()?))));
    read.ok_or_else(|| MoveError::Refused("a note of an earlier try is damaged".into()))
}
