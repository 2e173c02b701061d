//! A chunk as a record: what stands before its bytes, so that they can be told from others and verified in part.
//!
//! ```text
//!    0  u32   magic "LzCh"
//!    4  u32   format, 1
//!    8  u128  chunk id
//!   24  u32   length of the payload
//!   28  u32   n: number of sub-blocks of 64 KiB, the last one shorter
//!   32  u64*n CRC-64/NVME of the payload from its start to the end of each sub-block
//!        u64   CRC-64/NVME of all header bytes before
//!        payload
//! ```
//! Numbers are little-endian. Because the CRCs run on from the start, the last one is that of the whole
//! payload, and a sub-block is verified by running on from the one before: one pass, no second algorithm.

use std::ops::Range;

use bytes::Bytes;

use crate::extents::MAX_CHUNK;
use crate::{crc::Crc64, txn::ChunkId};

pub(crate) const SUB_BLOCK: usize = 64 << 10;
const MAGIC: u32 = u32::from_le_bytes(*b"LzCh");
const FORMAT: u32 = 1;
const FIXED: usize = 32;
/// The header of the longest chunk.
pub(crate) const MAX_HEADER: usize = header_len(MAX_CHUNK as u32);

pub(crate) const fn header_len(payload: u32) -> usize {
    FIXED + 8 * (payload as usize).div_ceil(SUB_BLOCK) + 8
}

/// The running CRCs of a payload that comes in parts.
pub(crate) fn running_crcs(parts: &[Bytes]) -> Vec<u64> {
    let mut crcs = Vec::new();
    let mut crc = Crc64::new();
    let mut room = SUB_BLOCK;
    for part in parts {
        let mut rest: &[u8] = part;
        while !rest.is_empty() {
            let (now, later) = rest.split_at(rest.len().min(room));
            crc.update(now);
            room -= now.len();
            rest = later;
            if room == 0 {
                crcs.push(crc.value());
                room = SUB_BLOCK;
            }
        }
    }
    if room < SUB_BLOCK {
        crcs.push(crc.value());
    }
    crcs
}

pub(crate) fn encode_header(id: ChunkId, len: u32, crcs: &[u64]) -> Vec<u8> {
    let mut header = Vec::with_capacity(header_len(len));
    header.extend_from_slice(&MAGIC.to_le_bytes());
    header.extend_from_slice(&FORMAT.to_le_bytes());
    header.extend_from_slice(&id.0.to_le_bytes());
    header.extend_from_slice(&len.to_le_bytes());
    header.extend_from_slice(&(crcs.len() as u32).to_le_bytes());
    for crc in crcs {
        header.extend_from_slice(&crc.to_le_bytes());
    }
    let crc = crate::crc::crc64(&header);
    header.extend_from_slice(&crc.to_le_bytes());
    header
}

/// A header that was found whole.
#[derive(Debug)]
pub(crate) struct Header {
    pub id: ChunkId,
    pub len: u32,
    crcs: Vec<u64>,
}

/// The header at the start of `bytes`, which may hold more; `None` when there is none or it is damaged.
pub(crate) fn decode_header(bytes: &[u8]) -> Option<Header> {
    let u32_at = |at: usize| Some(u32::from_le_bytes(bytes.get(at..at + 4)?.try_into().ok()?));
    let u64_at = |at: usize| Some(u64::from_le_bytes(bytes.get(at..at + 8)?.try_into().ok()?));
    if u32_at(0)? != MAGIC || u32_at(4)? != FORMAT {
        return None;
    }
    let len = u32_at(24)?;
    let count = u32_at(28)? as usize;
    if len as usize > MAX_CHUNK || count != (len as usize).div_ceil(SUB_BLOCK) {
        return None;
    }
    let end = header_len(len) - 8;
    if crate::crc::crc64(bytes.get(..end)?) != u64_at(end)? {
        return None;
    }
    let id = ChunkId(u128::from_le_bytes(bytes.get(8..24)?.try_into().ok()?));
    let crcs = (0..count).map(|n| u64_at(FIXED + 8 * n)).collect::<Option<_>>()?;
    Some(Header { id, len, crcs })
}

/// The whole sub-blocks around a range of the payload.
pub(crate) fn cover(range: &Range<u32>, len: u32) -> Range<u32> {
    let block = SUB_BLOCK as u32;
    let start = range.start / block * block;
    let end = range.end.div_ceil(block).saturating_mul(block).min(len);
    start..end.max(start)
}

impl Header {
    /// The CRC-64 of the whole payload.
    pub fn crc64(&self) -> u64 {
        self.crcs.last().copied().unwrap_or(0)
    }

    /// True when `bytes` are what was written to `covered`, which [`cover`] made.
    pub fn verify(&self, covered: &Range<u32>, bytes: &[u8]) -> bool {
        if bytes.len() != covered.len() {
            return false;
        }
        let first = covered.start as usize / SUB_BLOCK;
        let before = first.checked_sub(1).and_then(|n| self.crcs.get(n)).copied().unwrap_or(0);
        let mut crc = Crc64::resume(before);
        for (n, block) in bytes.chunks(SUB_BLOCK).enumerate() {
            crc.update(block);
            if self.crcs.get(first + n) != Some(&crc.value()) {
                return false;
            }
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn payload(len: usize) -> Bytes {
        (0..len).map(|i| (i * 31 + i / 251) as u8).collect::<Vec<_>>().into()
    }

    #[test]
    fn any_cut_into_parts_gives_the_same_crcs() {
        let whole = payload(200_000);
        let expected = running_crcs(std::slice::from_ref(&whole));
        assert_eq!(expected.len(), 4);
        assert_eq!(expected.last(), Some(&crate::crc::crc64(&whole)));
        for step in [1_000, 65_536, 65_537, 199_999] {
            let parts: Vec<Bytes> = whole.chunks(step).map(Bytes::copy_from_slice).collect();
            assert_eq!(running_crcs(&parts), expected);
        }
    }

    #[test]
    fn every_flipped_bit_of_a_header_is_noticed() {
        let id = ChunkId(77 << 64);
        let bytes = payload(70_000);
        let header = encode_header(id, 70_000, &running_crcs(&[bytes]));
        assert_eq!(header.len(), header_len(70_000));
        assert_eq!(decode_header(&header).map(|header| (header.id, header.len)), Some((id, 70_000)));
        for bit in 0..header.len() * 8 {
            let mut damaged = header.clone();
            damaged[bit / 8] ^= 1 << (bit % 8);
            assert!(decode_header(&damaged).is_none(), "bit {bit}");
        }
        for len in 0..header.len() {
            assert!(decode_header(&header[..len]).is_none(), "cut at {len}");
        }
    }

    #[test]
    fn a_range_is_verified_by_its_own_sub_blocks_only() {
        let mut bytes = payload(200_000).to_vec();
        let header = encode_header(ChunkId(1), 200_000, &running_crcs(&[Bytes::from(bytes.clone())]));
        let header = decode_header(&header).unwrap();
        let covered = cover(&(70_000..70_001), 200_000);
        assert_eq!(covered, 65_536..131_072);
        bytes[0] ^= 1;
        assert!(header.verify(&covered, &bytes[65_536..131_072]));
        bytes[131_071] ^= 0x80;
        assert!(!header.verify(&covered, &bytes[65_536..131_072]));
        let tail = cover(&(131_072..200_000), 200_000);
        assert!(header.verify(&tail, &bytes[131_072..200_000]));
        assert!(!header.verify(&tail, &bytes[131_072..199_999]), "short");
    }
}
