//! How much one sweeping commit does. A commit over the engine's cap fails, and fails again whenever it is tried, so
//! every sweeping commit is bounded by its computed size and not by a number of items.

use lazuli_engine::Plan;

/// Where a plan ends that could go on. The step that crosses it may add as much again and more: a segment, the pieces
/// of a block, the keys of an entity stay under 300 kB each, and the cap is a megabyte.
const PLAN_BYTES: usize = 300_000;
const PLAN_WRITES: usize = 1_000;

/// Whether the plan takes one more step.
pub fn has_room<T>(plan: &Plan<T>) -> bool {
    plan.size() < PLAN_BYTES && plan.writes.len() + plan.private_writes.len() < PLAN_WRITES
}

/// What dropping the hold on the content of one record adds at the most: a work item with the pieces of a record, each with
/// the name of the key that it is sealed with.
const DROPPED: usize = 1_000;

/// The same for a plan that will drop so many contents at its end.
pub fn has_room_with<T>(plan: &Plan<T>, contents: usize) -> bool {
    has_room(plan) && plan.size() + contents * DROPPED < PLAN_BYTES
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::content::discard;
    use crate::store::key::ContentId;
    use crate::store::record::content::{Content, PIECES_IN_RECORD, Piece, Shape};
    use crate::store::seal::{KeyName, Seal};

    #[test]
    fn a_dropped_content_is_no_larger_than_is_reckoned() {
        let seal = Some(Seal { key: KeyName(u64::MAX), salt: u128::MAX });
        let pieces = vec![Piece::Chunk { id: u128::MAX, len: u32::MAX, seal }; PIECES_IN_RECORD];
        let content = Content { id: ContentId(u128::MAX), length: u64::MAX, shape: Shape::Pieces(pieces) };
        let mut plan = Plan::new(());
        discard(&mut plan, &content);
        // And the key that counts its holders.
        plan.delete(crate::store::key::holders(content.id));
        assert!((DROPPED - 100..=DROPPED).contains(&plan.size()), "{}", plan.size());
    }
}
