//! Rows with other names of their chunks.

use std::collections::HashSet;

use lazuli_engine::{EngineError, Key, Value};

use crate::store::key;
use crate::store::record::Record;
use crate::store::record::blob::BlobRecord;
use crate::store::record::block::BlockRecord;
use crate::store::record::content::{Content, DeadContent, Piece, Segment, Shape};
use crate::store::record::path::PathRecord;
use crate::store::seal::stored_length;
use crate::store::sparse::{Data, Interval};

/// A chunk as a row names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Named {
    pub id: u128,
    /// Of its bytes as they are stored; `None` where the row does not tell.
    pub len: Option<u32>,
}

/// `name` gives the new name of a chunk; `None` keeps the old one.
pub type Names<'a> = &'a mut dyn FnMut(Named) -> Option<u128>;

/// The row with other names; `None` when it names no chunk.
pub fn row(
    key: &Key,
    value: &Value,
    bodies: &HashSet<u128>,
    name: Names<'_>,
) -> Result<Option<(Key, Value)>, EngineError> {
    let mut any = false;
    let mut named = |piece: Named| {
        any = true;
        name(piece)
    };
    let renamed = match key.first() {
        Some(b'b' | b's' | b'V' | b'D') => {
            let mut blob = BlobRecord::decode(value)?;
            content(&mut blob.content, &mut named);
            (key.clone(), blob.encode())
        }
        Some(b'u') => {
            let mut block = BlockRecord::decode(value)?;
            content(&mut block.content, &mut named);
            (key.clone(), block.encode())
        }
        Some(b'n') => {
            let mut parent = Content::decode(value)?;
            content(&mut parent, &mut named);
            (key.clone(), parent.encode())
        }
        Some(b'm') if is_body(key, bodies) => return Ok(None),
        Some(b'm') => {
            // What is left of the body of an entity that is gone is not read any more.
            let Ok(mut segment) = Segment::decode(value) else { return Ok(None) };
            segment.blocks.iter_mut().for_each(|block| content(&mut block.content, &mut named));
            (key.clone(), segment.encode())
        }
        Some(b'g') => {
            let mut dead = DeadContent::decode(value)?;
            if let DeadContent::Pieces(pieces) | DeadContent::Replaced { pieces, .. } = &mut dead {
                pieces.iter_mut().for_each(|each| piece(each, &mut named));
            }
            (key.clone(), dead.encode())
        }
        Some(b'F' | b'P') => {
            let mut path = PathRecord::decode(value)?;
            if let Some(file) = path.file_mut() {
                content(&mut file.content, &mut named);
            }
            (key.clone(), path.encode())
        }
        Some(b'x') => {
            let mut interval = Interval::decode(key, Some(value))?;
            if let Data::Chunk { id, len, seal, .. } = &mut interval.data {
                let stored = if seal.is_some() { stored_length(*len) } else { *len };
                *id = named(Named { id: *id, len: Some(stored) }).unwrap_or(*id);
            }
            (key.clone(), interval.value())
        }
        Some(b'f') => match key.get(1..).and_then(|id| id.try_into().ok()).map(u128::from_be_bytes) {
            Some(id) => {
                let new = named(Named { id, len: None }).unwrap_or(id);
                (key::fragments(new), value.clone())
            }
            None => return Ok(None),
        },
        _ => return Ok(None),
    };
    Ok(any.then_some(renamed))
}

fn is_body(key: &Key, bodies: &HashSet<u128>) -> bool {
    let content = key.get(1..17).and_then(|content| content.try_into().ok()).map(u128::from_be_bytes);
    content.is_some_and(|content| bodies.contains(&content))
}

fn content(content: &mut Content, name: Names<'_>) {
    if let Shape::Pieces(pieces) = &mut content.shape {
        pieces.iter_mut().for_each(|each| piece(each, name));
    }
}

fn piece(piece: &mut Piece, name: Names<'_>) {
    if let Piece::Chunk { id, len, seal } = piece {
        let stored = if seal.is_some() { stored_length(*len) } else { *len };
        *id = name(Named { id: *id, len: Some(stored) }).unwrap_or(*id);
    }
}
