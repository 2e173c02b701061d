//! Memory to read into, used again.
//!
//! The kernel reads without waiting only into memory that is already there. To clear a large piece of it for each
//! reading costs as much as the reading itself.

use bytes::Bytes;
use parking_lot::Mutex;

/// Shorter ones cost little.
const SHORTEST: usize = 16 << 10;
/// A sub-block with what stands before it, and four of them.
const SIZES: [usize; 2] = [68 << 10, 260 << 10];
/// Those waiting to be used again, of each size: as many as a few dozen downloads have in hand.
const KEPT: usize = 24;

static WAITING: [Mutex<Vec<Vec<u8>>>; SIZES.len()] = [Mutex::new(Vec::new()), Mutex::new(Vec::new())];

/// Bytes that hold whatever was read into them before.
pub(super) struct Buffer {
    bytes: Vec<u8>,
    len: usize,
    size: Option<usize>,
}

impl Buffer {
    pub fn of(len: usize) -> Self {
        let size = SIZES.iter().position(|size| (SHORTEST..=*size).contains(&len));
        let bytes = match size {
            None => vec![0; len],
            Some(size) => {
                let used = WAITING[size].lock().pop();
                used.unwrap_or_else(|| vec![0; SIZES[size]])
            }
        };
        Self { bytes, len, size }
    }

    pub fn filled(self) -> Bytes {
        Bytes::from_owner(self)
    }
}

impl AsRef<[u8]> for Buffer {
    fn as_ref(&self) -> &[u8] {
        &self.bytes[..self.len]
    }
}

impl AsMut<[u8]> for Buffer {
    fn as_mut(&mut self) -> &mut [u8] {
        &mut self.bytes[..self.len]
    }
}

impl Drop for Buffer {
    fn drop(&mut self) {
        let Some(size) = self.size else { return };
        let mut waiting = WAITING[size].lock();
        if waiting.len() < KEPT {
            waiting.push(std::mem::take(&mut self.bytes));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Memory in use is given to no other caller, and the length is what was asked for, not what the memory has.
    #[test]
    fn each_is_its_owners_alone_and_as_long_as_asked() {
        let lengths = [0, 1, SHORTEST - 1, SHORTEST, SIZES[0], SIZES[0] + 1, SIZES[1], SIZES[1] + 1];
        for turn in 0..3u8 {
            let made: Vec<Bytes> = (0..2 * KEPT)
                .map(|number| {
                    let mut buffer = Buffer::of(lengths[number % lengths.len()]);
                    buffer.as_mut().fill(number as u8 ^ turn);
                    buffer.filled()
                })
                .collect();
            for (number, bytes) in made.iter().enumerate() {
                assert_eq!(bytes.len(), lengths[number % lengths.len()]);
                assert!(bytes.iter().all(|byte| *byte == number as u8 ^ turn), "{number} was written over");
            }
        }
        for waiting in &WAITING {
            assert!(waiting.lock().len() <= KEPT);
        }
    }
}
