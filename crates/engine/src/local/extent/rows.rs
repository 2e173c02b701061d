//! The rows that extents keep in the ordered store.
//!
//! ```text
//! "\0c" chunk id (16, big-endian)  ->  u8 format 1, u64 extent, u32 page
//! "\0x" extent (8, big-endian)     ->  u8 format 1, u32 pages, u32 used pages, u32 live pages, u32 live chunks
//! ```
//! Values are little-endian.

use super::{CHUNK_ROWS, EXTENT_ROWS, record::Location};
use crate::{
    error::{Corrupt, EngineError},
    key::{Key, Value},
    txn::ChunkId,
};

const FORMAT: u8 = 1;

/// An extent as the last commit left it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct ExtentRow {
    pub pages: u32,
    /// Behind the last page that any published chunk ever had: what lies beyond is garbage.
    pub used: u32,
    pub live_pages: u32,
    pub live_chunks: u32,
}

pub(super) fn chunk_key(id: ChunkId) -> Key {
    [CHUNK_ROWS, &id.0.to_be_bytes()].concat().into()
}

pub(super) fn extent_key(extent: u64) -> Key {
    [EXTENT_ROWS, &extent.to_be_bytes()].concat().into()
}

pub(super) fn encode_chunk(location: Location) -> Value {
    let mut value = vec![FORMAT];
    value.extend_from_slice(&location.extent.to_le_bytes());
    value.extend_from_slice(&location.page.to_le_bytes());
    value.into()
}

pub(super) fn decode_chunk(value: &[u8]) -> Result<Location, EngineError> {
    let parse = || {
        let (&format, rest) = value.split_first()?;
        let (extent, page) = rest.split_first_chunk()?;
        let page = u32::from_le_bytes(page.try_into().ok()?);
        (format == FORMAT).then_some(Location { extent: u64::from_le_bytes(*extent), page })
    };
    parse().ok_or_else(|| damaged("chunk row"))
}

pub(super) fn encode_extent(row: ExtentRow) -> Value {
    let mut value = vec![FORMAT];
    for number in [row.pages, row.used, row.live_pages, row.live_chunks] {
        value.extend_from_slice(&number.to_le_bytes());
    }
    value.into()
}

pub(super) fn decode_extent(key: &[u8], value: &[u8]) -> Result<(u64, ExtentRow), EngineError> {
    let parse = || {
        let number = u64::from_be_bytes(key.strip_prefix(EXTENT_ROWS)?.try_into().ok()?);
        let (&format, rest) = value.split_first()?;
        let numbers: &[u8; 16] = rest.try_into().ok()?;
        let mut numbers = numbers.as_chunks().0.iter().map(|bytes| u32::from_le_bytes(*bytes));
        let mut next = || numbers.next().unwrap_or(0);
        let row = ExtentRow { pages: next(), used: next(), live_pages: next(), live_chunks: next() };
        (format == FORMAT).then_some((number, row))
    };
    parse().ok_or_else(|| damaged("extent row"))
}

fn damaged(what: &str) -> EngineError {
    EngineError::Corrupt(Corrupt(format!("{what} cannot be read")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_keep_what_they_are_given() {
        let location = Location { extent: 7, page: 9 };
        assert_eq!(decode_chunk(&encode_chunk(location)).unwrap(), location);
        let row = ExtentRow { pages: 4, used: 3, live_pages: 2, live_chunks: 1 };
        assert_eq!(decode_extent(&extent_key(5), &encode_extent(row)).unwrap(), (5, row));
    }

    #[test]
    fn short_long_and_foreign_rows_are_refused() {
        let chunk = encode_chunk(Location { extent: 7, page: 9 });
        let extent = encode_extent(ExtentRow::default());
        assert!(decode_chunk(&chunk[1..]).is_err());
        assert!(decode_chunk(&[&chunk[..], b"x"].concat()).is_err());
        assert!(decode_extent(&extent_key(5), &extent[1..]).is_err());
        assert!(decode_extent(&chunk_key(ChunkId(5)), &extent).is_err());
        let mut newer = extent.to_vec();
        newer[0] = 2;
        assert!(decode_extent(&extent_key(5), &newer).is_err());
    }
}
