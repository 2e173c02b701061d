//! What flushes and merges to come will write.

use super::super::{Spaces, TABLE};
use crate::local::space::Needs;
use fjall::{AbstractTree, Keyspace};

/// A table of one level lies over about ten of the next, and fjall takes the smallest merge there is.
const TABLES_IN_MERGE: u64 = 12;

pub(super) fn needs(spaces: &Spaces) -> Needs {
    let mut needs = Needs::default();
    for (keyspace, most) in spaces.all().into_iter().zip(spaces.memtable_bytes) {
        // The size of a memtable counts more for each row than a table takes.
        let active = keyspace.tree.active_memtable().size();
        let sealed = keyspace.sealed_memtable_count() as u64;
        // Those of earlier versions are among the sum.
        let flush = match sealed {
            0 => active,
            _ => (active + sealed * most).min(keyspace.tree.version_memtable_size_sum()),
        };
        needs.flush += flush;
        needs.flushes_soon |= sealed > 0 || active > most / 8 * 7;
        needs.merge = needs.merge.max(flush + merge(keyspace));
    }
    needs
}

/// The largest merge of what is in tables: the new ones with the first level below, or a part of two levels.
pub(super) fn merge(keyspace: &Keyspace) -> u64 {
    let levels: Vec<u64> = keyspace.tree.current_version().iter_levels().map(|level| level.size()).collect();
    let Some((new, levels)) = levels.split_first() else { return 0 };
    let first = levels.iter().find(|size| **size > 0);
    let between = levels.windows(2).filter(|pair| pair[0] > 0 && pair[1] > 0);
    let between = between.map(|pair| (pair[0] + pair[1]).min(TABLES_IN_MERGE * TABLE)).max();
    (new + first.unwrap_or(&0)).max(between.unwrap_or(0))
}
