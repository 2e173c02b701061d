//! Blocks that say who wrote them and how long they are, and what a log of them must hold.

use std::collections::BTreeMap;

use crate::Trial;
use crate::blob;

/// Writer, sequence and length, eight bytes each.
const HEAD: usize = 24;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Block {
    pub writer: u64,
    pub sequence: u64,
    /// Of the bytes behind the head.
    pub length: u64,
}

impl Block {
    pub fn bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(HEAD + self.length as usize);
        for word in [self.writer, self.sequence, self.length] {
            bytes.extend_from_slice(&word.to_le_bytes());
        }
        bytes.extend_from_slice(&blob::content(self.writer << 40 | self.sequence, self.length as usize));
        bytes
    }
}

/// The blocks of a log by their offsets. Every byte must be one of a whole block.
pub fn parse(log: &[u8]) -> Trial<Vec<(u64, Block)>> {
    let mut blocks = Vec::new();
    let mut rest = log;
    while !rest.is_empty() {
        let offset = log.len() - rest.len();
        let word =
            |at: usize| -> Option<u64> { Some(u64::from_le_bytes(rest.get(at..at + 8)?.try_into().ok()?)) };
        let (Some(writer), Some(sequence), Some(length)) = (word(0), word(8), word(16)) else {
            return Err(format!("a torn head at {offset}"));
        };
        let block = Block { writer, sequence, length };
        // No length that the log cannot have is allocated.
        let whole = usize::try_from(length).ok().filter(|length| *length <= rest.len() - HEAD);
        let Some(after) = whole.and_then(|_| rest.strip_prefix(&block.bytes()[..])) else {
            return Err(format!("at {offset} is no whole block of {length} bytes"));
        };
        blocks.push((offset as u64, block));
        rest = after;
    }
    Ok(blocks)
}

/// What a writer knows of its own blocks in one log.
#[derive(Clone, Debug, Default)]
pub struct Placed {
    /// Sequence to offset.
    acknowledged: BTreeMap<u64, u64>,
    /// The one that was never answered.
    pub open: Option<u64>,
}

impl Placed {
    pub fn acknowledge(&mut self, sequence: u64, offset: u64) {
        self.acknowledged.insert(sequence, offset);
    }

    /// Takes what is there for the truth, if it may be there.
    pub fn settle(&mut self, found: &BTreeMap<u64, Block>) -> Trial {
        let mut found: Vec<(u64, u64)> =
            found.iter().map(|(offset, block)| (block.sequence, *offset)).collect();
        let open = self.open.take();
        if let Some(&(sequence, offset)) = found.last()
            && open == Some(sequence)
        {
            self.acknowledged.insert(sequence, offset);
        }
        found.sort_unstable();
        let wanted: Vec<(u64, u64)> =
            self.acknowledged.iter().map(|(sequence, at)| (*sequence, *at)).collect();
        if found == wanted {
            return Ok(());
        }
        let differs = wanted.iter().find(|pair| !found.contains(pair));
        let extra = found.iter().find(|pair| !wanted.contains(pair));
        Err(format!(
            "{} blocks instead of {}; missing {differs:?}, not expected {extra:?}, open {open:?}",
            found.len(),
            wanted.len()
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ONE: Block = Block { writer: 1, sequence: 1, length: 50 };
    const TWO: Block = Block { writer: 2, sequence: 1, length: 30 };

    #[test]
    fn a_log_of_whole_blocks_is_read() {
        let log = [ONE.bytes(), TWO.bytes()].concat();
        assert_eq!(parse(&log), Ok(vec![(0, ONE), (74, TWO)]));
        assert_eq!(parse(b""), Ok(vec![]));
    }

    #[test]
    fn torn_and_mixed_blocks_are_seen() {
        let (one, two) = (ONE.bytes(), TWO.bytes());
        let mixed = [&one[..40], &two[..], &one[40..]].concat();
        for bad in [&one[..60], &one[..10], &one[1..], &mixed[..]] {
            assert!(parse(bad).is_err());
        }
        let mut flipped = [one, two].concat();
        flipped[100] ^= 1;
        assert!(parse(&flipped).is_err());
    }

    #[test]
    fn lost_doubled_and_moved_blocks_are_seen() {
        let at = |pairs: &[(u64, u64)]| -> BTreeMap<u64, Block> {
            pairs.iter().map(|(sequence, offset)| (*offset, Block { sequence: *sequence, ..ONE })).collect()
        };
        let known = Placed { acknowledged: BTreeMap::from([(1, 0), (2, 100)]), open: Some(3) };
        let settle = |pairs: &[(u64, u64)]| known.clone().settle(&at(pairs));
        assert_eq!(settle(&[(1, 0), (2, 100)]), Ok(()));
        assert_eq!(settle(&[(1, 0), (2, 100), (3, 300)]), Ok(()), "it was carried out");
        for bad in [
            &[(1, 0)][..],
            &[(1, 0), (2, 50)],
            &[(1, 0), (2, 100), (2, 200)],
            &[(1, 0), (2, 100), (4, 300)],
            &[(1, 0), (2, 100), (3, 300), (3, 400)],
            &[(1, 0), (3, 50), (2, 100)],
        ] {
            assert!(settle(bad).is_err(), "{bad:?}");
        }
    }
}
