//! Caps on what may be written, so that nothing is stored that a distributed engine could not take. They are judged
//! before a transaction is queued.

use crate::error::EngineError;
use crate::txn::{Txn, Write};

pub const KEY: usize = 3_600;
pub const VALUE: usize = 90_000;
pub const TXN: usize = 1_000_000;
pub const WRITES: usize = 10_000;
/// What a chunk that is published or released counts.
pub const CHUNK: usize = 64;
/// Rows that are looked at by one count.
pub const COUNT: usize = 10_000;

/// Keys that begin with this byte are the engine's own.
pub(crate) const OWN: u8 = 0x00;
/// Keys that begin with this byte hold wide values and are stored apart.
pub const WIDE: u8 = b'~';

pub(crate) fn check_key(key: &[u8]) -> Result<(), EngineError> {
    match key.first() {
        None => Err(EngineError::TooLarge("empty key")),
        Some(&OWN) => Err(EngineError::TooLarge("reserved key")),
        Some(_) if key.len() > KEY => Err(EngineError::TooLarge("key")),
        Some(_) => Ok(()),
    }
}

/// Bytes that the transaction will add to a group; an error when it is over a cap.
pub(crate) fn check(txn: &Txn) -> Result<usize, EngineError> {
    if txn.writes.len() + txn.private_writes.len() > WRITES {
        return Err(EngineError::TooLarge("writes"));
    }
    let mut size = (txn.publish.len() + txn.release.len()) * CHUNK;
    for write in txn.all_writes() {
        let (key, value) = match write {
            Write::Put(key, value) => (key, value.len()),
            Write::Delete(key) | Write::DeleteWithoutTrace(key) => (key, 0),
        };
        check_key(key)?;
        if value > VALUE {
            return Err(EngineError::TooLarge("value"));
        }
        size += key.len() + value;
    }
    if size > TXN {
        return Err(EngineError::TooLarge("transaction"));
    }
    Ok(size)
}
