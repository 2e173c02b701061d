//! The keys of trees. Each begins with a byte of the entry's [`Space`].

use lazuli_engine::{Key, KeyRange};

use super::{NodeId, Slot, Space};
use crate::store::key::Generation;

fn join(tag: u8, parts: &[&[u8]]) -> Key {
    let mut key = Vec::with_capacity(1 + parts.iter().map(|part| part.len()).sum::<usize>());
    key.push(tag);
    for part in parts {
        key.extend_from_slice(part);
    }
    key.into()
}

/// What follows in the key of an entry is the folded name.
pub const NAME_AT: usize = 17;

pub fn entry(space: Space, parent: NodeId, folded: &str) -> Key {
    join(space.entry, &[&parent.0.to_be_bytes(), folded.as_bytes()])
}

/// The entries of a directory whose folded names begin so.
pub fn entries(space: Space, parent: NodeId, prefix: &str) -> KeyRange {
    KeyRange::prefix(entry(space, parent, prefix))
}

/// What an entry was up to the snapshot of this moment.
pub fn earlier(space: Space, slot: &Slot, moment: u64) -> Key {
    join(space.earlier, &[&slot.parent.0.to_be_bytes(), slot.folded.as_bytes(), &[0], &moment.to_be_bytes()])
}

/// What an entry was at this moment and later.
pub fn earlier_from(space: Space, slot: &Slot, moment: u64) -> KeyRange {
    let end = join(space.earlier, &[&slot.parent.0.to_be_bytes(), slot.folded.as_bytes(), &[1]]);
    KeyRange::new(earlier(space, slot, moment), end)
}

/// What all the entries of a directory were, of names that begin so.
pub fn earlier_entries(space: Space, parent: NodeId, prefix: &str) -> KeyRange {
    KeyRange::prefix(join(space.earlier, &[&parent.0.to_be_bytes(), prefix.as_bytes()]))
}

/// Behind everything that an entry was.
pub fn behind_earlier(space: Space, parent: NodeId, folded: &str) -> Key {
    join(space.earlier, &[&parent.0.to_be_bytes(), folded.as_bytes(), &[1]])
}

/// The folded name and the moment of a key of [`earlier_entries`].
pub fn earlier_of(key: &[u8]) -> Option<(&str, u64)> {
    let (rest, moment) = key.get(NAME_AT..)?.split_last_chunk::<8>()?;
    let name = std::str::from_utf8(rest.strip_suffix(&[0])?).ok()?;
    Some((name, u64::from_be_bytes(*moment)))
}

pub fn by_moment(space: Space, generation: Generation, moment: u64, slot: &Slot) -> Key {
    let parent = slot.parent.0.to_be_bytes();
    join(space.by_moment, &[&generation.0, &moment.to_be_bytes(), &parent, slot.folded.as_bytes()])
}

/// What is kept of the entries of a tree, from this moment on.
pub fn kept_from(space: Space, generation: Generation, moment: u64) -> KeyRange {
    let mut range = KeyRange::prefix(join(space.by_moment, &[&generation.0]));
    range.start = join(space.by_moment, &[&generation.0, &moment.to_be_bytes()]);
    range
}

/// The moment and the place that a key of [`kept_from`] names.
pub fn kept_of(key: &[u8]) -> Option<(u64, Slot)> {
    let (moment, rest) = key.get(13..)?.split_first_chunk::<8>()?;
    let (parent, folded) = rest.split_first_chunk::<16>()?;
    let folded = std::str::from_utf8(folded).ok()?.to_owned();
    Some((u64::from_be_bytes(*moment), Slot { parent: NodeId(u128::from_be_bytes(*parent)), folded }))
}

pub fn snapshot(space: Space, generation: Generation, moment: u64) -> Key {
    join(space.snapshot, &[&generation.0, &moment.to_be_bytes()])
}

/// The snapshots of a tree; what follows in a key is the moment.
pub fn snapshots(space: Space, generation: Generation) -> KeyRange {
    KeyRange::prefix(join(space.snapshot, &[&generation.0]))
}

/// The snapshots after one moment and up to another.
pub fn snapshots_within(space: Space, generation: Generation, after: u64, up_to: u64) -> KeyRange {
    let at = |moment: u64| snapshot(space, generation, moment.saturating_add(1));
    KeyRange::new(at(after), at(up_to.max(after)))
}

/// The moment of a key of [`snapshots`].
pub fn moment_of(key: &[u8]) -> Option<u64> {
    Some(u64::from_be_bytes(key.get(13..)?.try_into().ok()?))
}

pub fn place(tag: u8, node: NodeId) -> Key {
    join(tag, &[&node.0.to_be_bytes()])
}

/// Where a node stood up to the snapshot of this moment, at which something is kept of it.
pub fn earlier_place(tag: u8, node: NodeId, moment: u64) -> Key {
    join(tag, &[&node.0.to_be_bytes(), &moment.to_be_bytes()])
}

/// Where a node stood at this moment and later.
pub fn earlier_places_from(tag: u8, node: NodeId, moment: u64) -> KeyRange {
    let mut range = KeyRange::prefix(place(tag, node));
    range.start = earlier_place(tag, node, moment);
    range
}

/// How many directories stand below a directory, one in the other.
pub fn depth(tag: &[u8], node: NodeId) -> Key {
    [tag, &node.0.to_be_bytes()].concat().into()
}

pub fn dead(space: Space, node: NodeId) -> Key {
    join(space.dead, &[&node.0.to_be_bytes()])
}

pub fn all_dead(space: Space) -> KeyRange {
    KeyRange::prefix(vec![space.dead])
}

/// The node that a key of one byte and a node names.
pub fn node_of(key: &[u8]) -> Option<NodeId> {
    Some(NodeId(u128::from_be_bytes(key.get(1..17)?.try_into().ok()?)))
}
