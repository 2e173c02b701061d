//! Which commits are taken when little space is left.

use crate::error::EngineError;
use crate::extent::Extents;
use crate::store::Snapshot;
use crate::txn::{Txn, Write};

/// What a row takes beside its key and value.
const ROW: usize = 32;

/// What a commit does to the space.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Balance {
    /// More is written than goes.
    Grows,
    /// Less is written than goes, but not much less: so many bytes.
    Shrinks(u64),
    /// At least twice as much goes as is written.
    GivesBack,
}

/// What is written takes space at once, in the log and in tables; what goes is given back by merges to come. So a row that
/// replaces one of its own length gives nothing back, whatever else is deleted with it.
pub(crate) fn balance(txn: &Txn, newest: &Snapshot, extents: &Extents) -> Result<Balance, EngineError> {
    let chunks = |ids: &[_]| ids.iter().map(|id| extents.len_of(*id)).sum::<usize>();
    let puts = txn.writes.iter().filter(|write| matches!(write, Write::Put(..)));
    let comes = chunks(&txn.publish) + puts.map(|put| put.len() + ROW).sum::<usize>();
    if comes == 0 {
        return Ok(Balance::GivesBack);
    }
    let mut goes = chunks(&txn.release);
    for write in &txn.writes {
        if let Some((_, value)) = newest.get(write.key())? {
            goes += write.key().len() + value.len() + ROW;
        }
    }
    Ok(match goes {
        goes if comes * 2 <= goes => Balance::GivesBack,
        goes if comes < goes => Balance::Shrinks(comes as u64),
        _ => Balance::Grows,
    })
}
