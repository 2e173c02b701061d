//! What a chunk is called where it is kept. A name is never used twice: the incarnation is drawn once by one server from
//! the database, and that server counts.

use crate::txn::ChunkId;
use object_store::path::Path;

/// Bits of an id from the top: hour 24, length 24, incarnation 32, counter 48.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Name {
    /// Hours since 1970, as the server that wrote the chunk had announced them. Orphans are looked for hour by hour.
    pub hour: u32,
    pub len: u32,
    pub incarnation: u32,
    pub counter: u64,
}

pub(crate) const COUNTER_MASK: u64 = (1 << 48) - 1;
const BITS_24: u32 = (1 << 24) - 1;
/// The first part of a path: a bucket that is cut up by names is used evenly.
pub(crate) const SPREAD: u32 = 256;

impl Name {
    pub fn pack(self) -> ChunkId {
        let high = u64::from(self.hour & BITS_24) << 40
            | u64::from(self.len & BITS_24) << 16
            | u64::from(self.incarnation >> 16);
        let low = u64::from(self.incarnation & 0xFFFF) << 48 | self.counter & COUNTER_MASK;
        ChunkId(u128::from(high) << 64 | u128::from(low))
    }

    pub fn unpack(id: ChunkId) -> Self {
        let (high, low) = ((id.0 >> 64) as u64, id.0 as u64);
        Self {
            hour: (high >> 40) as u32,
            len: (high >> 16) as u32 & BITS_24,
            incarnation: (high as u32 & 0xFFFF) << 16 | (low >> 48) as u32,
            counter: low & COUNTER_MASK,
        }
    }
}

pub(crate) fn path(id: ChunkId) -> Path {
    let name = Name::unpack(id);
    Path::from(format!("c/{:02x}/{:06x}/{:032x}", name.counter as u32 % SPREAD, name.hour, id.0))
}

/// Where the chunks of an hour are that have this first part.
pub(crate) fn bucket(spread: u32, hour: u32) -> Path {
    Path::from(format!("c/{spread:02x}/{hour:06x}"))
}

/// `None` for what is not a chunk of ours.
pub(crate) fn id_of(found: &Path) -> Option<ChunkId> {
    let id = id_of_name(found.as_ref())?;
    (path(id) == *found).then_some(id)
}

/// By the last part of the path alone.
pub(crate) fn id_of_name(found: &str) -> Option<ChunkId> {
    let text = found.rsplit('/').next().filter(|text| text.len() == 32)?;
    u128::from_str_radix(text, 16).ok().map(ChunkId)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_keeps_its_parts_and_gives_one_path() {
        for name in [
            Name { hour: 0, len: 0, incarnation: 0, counter: 0 },
            Name { hour: 498_765, len: 4 << 20, incarnation: 0xDEAD_BEEF, counter: COUNTER_MASK - 254 },
            Name { hour: BITS_24, len: BITS_24, incarnation: u32::MAX, counter: COUNTER_MASK },
        ] {
            let id = name.pack();
            assert_eq!(Name::unpack(id), name);
            assert_eq!(id_of(&path(id)), Some(id));
            assert!(path(id).prefix_matches(&bucket(name.counter as u32 % SPREAD, name.hour)));
        }
    }

    #[test]
    fn what_is_not_ours_is_left_alone() {
        let id = Name { hour: 7, len: 9, incarnation: 3, counter: 1 }.pack();
        let elsewhere = path(id).to_string().replace("c/01/", "c/02/");
        for other in ["c", "c/01/000007/readme", "lazuli-cluster", &elsewhere, &format!("{}x", path(id))] {
            assert_eq!(id_of(&Path::from(other)), None, "{other}");
        }
    }
}
