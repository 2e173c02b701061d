//! Chunks behind a network are fetched before they are read. Local ones are not: their files are read ahead by the system.

use std::collections::VecDeque;
use std::ops::Range;

use lazuli_engine::{ChunkId, Extents, ReadAhead};

use super::Next;
use crate::store::record::content::Piece;

/// Chunks that are announced at a time, with the one that is being read.
const CHUNKS: usize = 4;
/// Entries that are looked at for them: small pieces may stand between chunks.
const LOOKED_AT: usize = 16;

#[derive(Default)]
pub(super) struct Ahead(Vec<(ChunkId, ReadAhead)>);

impl Ahead {
    /// This part of a piece is read now, and what is in `next` afterwards.
    pub fn announce(&mut self, extents: &Extents, now: (&Piece, &Range<u32>), next: &VecDeque<Next>) {
        if !extents.reads_ahead() {
            return;
        }
        let later = next.iter().take(LOOKED_AT).filter_map(|next| match next {
            Next::Piece(piece, wanted) => Some((piece, wanted)),
            _ => None,
        });
        let chunks = std::iter::once(now)
            .chain(later)
            .filter_map(|(piece, wanted)| Some((piece.chunk()?, wanted.end.saturating_sub(wanted.start))))
            .take(CHUNKS);
        // What is announced already stays as it is: one that is left behind is let go.
        let mut known = std::mem::take(&mut self.0);
        for (id, wanted) in chunks {
            let there = known.iter().position(|(announced, _)| *announced == id);
            let announced = match there {
                Some(at) => known.swap_remove(at),
                None => (id, extents.read_ahead(id, wanted)),
            };
            self.0.push(announced);
        }
    }
}
