//! How a chunk lies in an extent: a [record](crate::record) at a multiple of 4,096 bytes, then zeros up to the next one.
//! Records fill whole pages, so writing one never has to read, and never touches a synced neighbour.

use crate::txn::ChunkId;

pub(super) use crate::record::*;

pub(super) const PAGE: usize = 4_096;
pub(super) const EXTENT_MAGIC: &[u8; 8] = b"LzExtent";

/// Which extent, and which page of it. A number is never given to two extents.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Location {
    pub extent: u64,
    pub page: u32,
}

/// What an id says: where the chunk was written first, and how long it is. The salt differs from one
/// opening of the store to the next, so that bytes lost in a crash never come back under a new chunk's id.
///
/// Bits from the top: extent 40, page 24, length 24, salt 40.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct IdParts {
    pub home: Location,
    pub len: u32,
    pub salt: u64,
}

const SALT_MASK: u64 = (1 << 40) - 1;
pub(super) const MAX_EXTENT_NUMBER: u64 = (1 << 40) - 1;
pub(super) const MAX_EXTENT_PAGES: u64 = 1 << 24;

impl IdParts {
    pub fn pack(self) -> ChunkId {
        let high = (self.home.extent << 24) | u64::from(self.home.page);
        let low = (u64::from(self.len) << 40) | (self.salt & SALT_MASK);
        ChunkId((u128::from(high) << 64) | u128::from(low))
    }

    pub fn unpack(id: ChunkId) -> Self {
        let (high, low) = ((id.0 >> 64) as u64, id.0 as u64);
        let home = Location { extent: high >> 24, page: (high & 0xFF_FFFF) as u32 };
        Self { home, len: (low >> 40) as u32, salt: low & SALT_MASK }
    }
}

/// Pages of a record with a payload of this length.
pub(super) const fn pages(payload: u32) -> u32 {
    (header_len(payload) + payload as usize).div_ceil(PAGE) as u32
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::extents::MAX_CHUNK;

    #[test]
    fn id_keeps_its_parts() {
        let parts = IdParts {
            home: Location { extent: MAX_EXTENT_NUMBER, page: 0xFF_FFFE },
            len: MAX_CHUNK as u32,
            salt: SALT_MASK - 1,
        };
        assert_eq!(IdParts::unpack(parts.pack()), parts);
    }
}
