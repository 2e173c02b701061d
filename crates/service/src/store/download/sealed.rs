//! Pieces that are encrypted, opened frame by frame as they go out.

use std::ops::Range;

use bytes::Bytes;
use lazuli_engine::{Corrupt, EngineError};

use super::{Download, Next, SMALL_UNIT, UNIT, inline, lost, part};
use crate::fault::{Answer, Fault};
use crate::outgoing::held;
use crate::store::record::content::Piece;
use crate::store::seal::{self, FRAME_BYTES, Seal, SealingKey};

impl Download {
    /// Reads some of a sealed piece; the rest comes next.
    pub(super) async fn read_sealed(&mut self, piece: Piece, mut wanted: Range<u32>) -> Answer<Bytes> {
        match piece {
            Piece::Inline { id, len, seal } => {
                let reader = self.services.engine().reader().await?;
                let bytes = self.opened(inline(&reader, id).await?, len, seal).await?;
                part(&bytes, &(u64::from(wanted.start)..u64::from(wanted.end)))
            }
            Piece::Chunk { len, seal, .. } => {
                let (Some(chunk), Some(seal)) = (piece.chunk(), seal) else { return Err(lost()) };
                // Units end where frames do, so that no frame is opened twice.
                let frames = |count: u32| wanted.end.min((wanted.start / FRAME_BYTES + count) * FRAME_BYTES);
                let whole = frames(UNIT / SMALL_UNIT);
                let share = match whole - wanted.start {
                    ..=FRAME_BYTES => None,
                    length => self.services.outgoing().ahead(length as usize),
                };
                let end = if share.is_some() { whole } else { frames(1) };
                if end < wanted.end {
                    self.next.push_front(Next::Piece(piece, end..wanted.end));
                }
                wanted.end = end;
                let key = self.key_of(seal).await?;
                let extents = self.services.engine().extents();
                Ok(held(seal::read_chunk(extents, &key, chunk, len, seal, wanted).await?, share))
            }
        }
    }

    /// The bytes of an inline piece, sealed or not.
    pub(super) async fn opened(&self, bytes: Bytes, len: u32, seal: Option<Seal>) -> Answer<Bytes> {
        match seal {
            None => Ok(bytes),
            Some(seal) => seal::read_inline(&self.key_of(seal).await?, bytes, len, seal, 0..len),
        }
    }

    /// The key that a piece was sealed with: the customer's, or one of the server's own.
    async fn key_of(&self, seal: Seal) -> Answer<SealingKey> {
        match &self.key {
            Some(key) if key.name() == seal.key => Ok(key.clone()),
            _ => self.services.known_scope_key(seal.key).await?.ok_or_else(lost_key),
        }
    }
}

fn lost_key() -> Fault {
    EngineError::Corrupt(Corrupt("the key of encrypted bytes is missing".into())).into()
}
