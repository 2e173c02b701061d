//! Which commits are taken when little space is left.

use crate::error::EngineError;
use crate::local::extent::LocalExtents;
use crate::local::store::Snapshot;
use crate::txn::{Txn, Write};

/// What a row takes beside its key and value.
const ROW: usize = 32;

/// So much a commit may write on the word that it gives back: marks for what is deleted later, and a record or two.
const PROMISED: usize = 64 << 10;

/// What a commit does to the space.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Balance {
    /// More is written than goes.
    Grows,
    /// Less is written than goes, but not much less: so many bytes.
    Shrinks(u64),
    /// So many bytes are written, in rows alone, and its handle gives back ([`crate::Engine::giving_back`]).
    Promises(u64),
    /// At least twice as much goes as is written.
    GivesBack,
}

/// What is written takes space at once, in the log and in tables; what goes is given back by merges to come. So a row that
/// replaces one of its own length gives nothing back, whatever else is deleted with it; unless the commit promises that
/// later ones will.
pub(crate) fn balance(
    txn: &Txn,
    newest: &Snapshot,
    extents: &LocalExtents,
    promised: bool,
) -> Result<Balance, EngineError> {
    let chunks = |ids: &[_]| ids.iter().map(|id| extents.len_of(*id)).sum::<usize>();
    let puts = txn.all_writes().filter(|write| matches!(write, Write::Put(..)));
    let comes = chunks(&txn.publish) + puts.map(|put| put.len() + ROW).sum::<usize>();
    if comes == 0 {
        return Ok(Balance::GivesBack);
    }
    let mut goes = chunks(&txn.release);
    for write in txn.all_writes() {
        if let Some((_, value)) = newest.get(write.key())? {
            goes += write.key().len() + value.len() + ROW;
        }
    }
    Ok(match goes {
        goes if comes * 2 <= goes => Balance::GivesBack,
        goes if comes < goes && !promised => Balance::Shrinks(comes as u64),
        goes if comes < goes => Balance::Promises(comes as u64),
        _ if promised && txn.publish.is_empty() && comes <= PROMISED => Balance::Promises(comes as u64),
        _ => Balance::Grows,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::key::{Key, Value};
    use crate::local::memory::Memory;
    use crate::local::store::Store;
    use crate::txn::{ChunkId, TxnId};
    use std::sync::Arc;

    fn of(bytes: usize, publish: Vec<ChunkId>, promised: bool) -> Balance {
        let put = Write::Put(Key::from("k"), Value::from(vec![0; bytes - ROW - 1]));
        let txn = Txn { writes: vec![put], publish, ..Txn::new(TxnId(0)) };
        let empty = Store::Memory(Arc::new(Memory::default())).snapshot(0);
        balance(&txn, &empty, &LocalExtents::memory(), promised).expect("is read")
    }

    #[test]
    fn a_promise_holds_for_a_few_rows_and_no_chunks() {
        assert_eq!(of(100, vec![], false), Balance::Grows);
        assert_eq!(of(100, vec![], true), Balance::Promises(100));
        assert_eq!(of(PROMISED, vec![], true), Balance::Promises(PROMISED as u64));
        assert_eq!(of(PROMISED + 1, vec![], true), Balance::Grows);
        assert_eq!(of(100, vec![ChunkId(1)], true), Balance::Grows);
    }
}
