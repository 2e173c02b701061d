//! An interval of a layer, and how it is stored. All but its bytes stands in its key, so that ranges are listed without
//! reading what lies in them.

use bytes::{Buf as _, BufMut as _, Bytes, BytesMut};
use lazuli_engine::{EngineError, Key, KeyRange, Value};

use super::super::key::{self, ContentId};
use super::super::record::corrupt;
use super::super::seal::{KeyName, Seal};

const NAME: &str = "interval";
/// The one shape that there is.
const SHAPE: u8 = 1;

const ZERO: u8 = 0;
const INLINE: u8 = 1;
const CHUNK: u8 = 2;
const SEALED: u8 = 3;

/// Lengths of values that name a chunk: shape, id, length, offset, and then the seal.
const CHUNK_VALUE: usize = 1 + 16 + 4 + 4;
const SEALED_VALUE: usize = CHUNK_VALUE + 8 + 16;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Interval {
    pub start: u64,
    pub end: u64,
    pub data: Data,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Data {
    /// Cleared: what the parent has here does not show.
    Zero,
    /// As many bytes as the interval is long. Sealed bytes are never inline: they could not be cut.
    Inline(Bytes),
    /// A part of a chunk, beginning at `from`. Chunk, offset and lengths count the bytes, sealed or not.
    Chunk { id: u128, len: u32, from: u32, seal: Option<Seal> },
    /// Bytes that a listing of ranges did not read.
    Unread,
}

impl Data {
    fn kind(&self) -> u8 {
        match self {
            Self::Zero => ZERO,
            Self::Inline(_) | Self::Unread => INLINE,
            Self::Chunk { seal: None, .. } => CHUNK,
            Self::Chunk { seal: Some(_), .. } => SEALED,
        }
    }

    /// What of it remains when so much is cut off its front and it is so long.
    pub fn part(&self, skip: u64, length: u64) -> Self {
        match self {
            Self::Zero => Self::Zero,
            Self::Unread => Self::Unread,
            Self::Inline(bytes) => {
                let end = bytes.len().min((skip + length) as usize);
                Self::Inline(bytes.slice((skip as usize).min(end)..end))
            }
            Self::Chunk { id, len, from, seal } => {
                Self::Chunk { id: *id, len: *len, from: from + skip as u32, seal: *seal }
            }
        }
    }
}

impl Interval {
    /// Cleared.
    pub fn zero(range: std::ops::Range<u64>) -> Self {
        Self { start: range.start, end: range.end, data: Data::Zero }
    }

    pub fn key(&self, layer: ContentId) -> Key {
        key::interval(layer, self.end, self.start, self.data.kind())
    }

    /// Whether both have one key: of the same range, and of one kind.
    pub fn stands_for(&self, other: &Self) -> bool {
        (self.start, self.end, self.data.kind()) == (other.start, other.end, other.data.kind())
    }

    pub fn value(&self) -> Value {
        let mut value = BytesMut::with_capacity(32);
        value.put_u8(SHAPE);
        match &self.data {
            Data::Zero | Data::Unread => {}
            Data::Inline(bytes) => value.put_slice(bytes),
            Data::Chunk { id, len, from, seal } => {
                value.put_u128(*id);
                value.put_u32(*len);
                value.put_u32(*from);
                if let Some(Seal { key: KeyName(key), salt }) = seal {
                    value.put_u64(*key);
                    value.put_u128(*salt);
                }
            }
        }
        value.freeze()
    }

    /// `value` is `None` where only keys were read.
    pub fn decode(key: &[u8], value: Option<&Value>) -> Result<Self, EngineError> {
        let damaged = || corrupt(NAME, "damaged");
        let (start, end, kind) = key::interval_of(key).ok_or_else(damaged)?;
        if start >= end {
            return Err(damaged());
        }
        let data = match (kind, value) {
            (ZERO, _) => Data::Zero,
            (INLINE | CHUNK | SEALED, None) => Data::Unread,
            (INLINE, Some(value)) => {
                let bytes = value.slice(1.min(value.len())..);
                if bytes.len() as u64 != end - start {
                    return Err(damaged());
                }
                Data::Inline(bytes)
            }
            (CHUNK | SEALED, Some(value)) => {
                let expected = if kind == SEALED { SEALED_VALUE } else { CHUNK_VALUE };
                if value.len() != expected {
                    return Err(damaged());
                }
                let mut fields = value.slice(1..);
                let (id, len, from) = (fields.get_u128(), fields.get_u32(), fields.get_u32());
                let seal = (kind == SEALED)
                    .then(|| Seal { key: KeyName(fields.get_u64()), salt: fields.get_u128() });
                Data::Chunk { id, len, from, seal }
            }
            _ => return Err(damaged()),
        };
        Ok(Self { start, end, data })
    }

    pub fn length(&self) -> u64 {
        self.end - self.start
    }

    /// The part of it that lies in the range, which must not be empty.
    pub fn within(&self, start: u64, end: u64) -> Self {
        let (from, to) = (self.start.max(start), self.end.min(end));
        Self { start: from, end: to, data: self.data.part(from - self.start, to.saturating_sub(from)) }
    }
}

/// The intervals of a layer that end behind an offset. They are disjoint, so they come in the order of their starts too.
pub fn behind(layer: ContentId, offset: u64) -> KeyRange {
    let mut range = key::intervals(layer);
    range.start = key::interval(layer, offset.saturating_add(1), 0, 0);
    range
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn intervals_are_read_as_they_were_written() {
        let seal = Some(Seal { key: KeyName(6), salt: 7 });
        let chunk = |seal| Data::Chunk { id: 3, len: 4096, from: 512, seal };
        for data in [Data::Zero, Data::Inline(Bytes::from_static(&[1; 512])), chunk(None), chunk(seal)] {
            let interval = Interval { start: 512, end: 1024, data };
            let (key, value) = (interval.key(ContentId(5)), interval.value());
            assert_eq!(Interval::decode(&key, Some(&value)).expect("read"), interval);
            let short = value.slice(..value.len() - 1);
            assert_eq!(Interval::decode(&key, Some(&short)).is_ok(), interval.data == Data::Zero, "cut off");
        }
    }
}
