//! The keys of shares; those of what stands in them are of the [`tree`](crate::store::tree).

use lazuli_engine::{Key, KeyRange};

use crate::store::key::Generation;
use crate::store::tree::NodeId;

fn join(tag: &[u8], parts: &[&[u8]]) -> Key {
    [&[tag], parts].concat().concat().into()
}

pub fn share(account: &str, name: &str) -> Key {
    join(b"a", &[account.as_bytes(), &[0], name.as_bytes()])
}

/// The shares of an account; what follows is the name.
pub fn shares(account: &str) -> Key {
    join(b"a", &[account.as_bytes(), &[0]])
}

pub fn dead_share(generation: Generation) -> Key {
    join(b"X", &[&generation.0])
}

pub fn dead_shares() -> KeyRange {
    KeyRange::prefix(&b"X"[..])
}

/// A snapshot of a share that is gone, what it alone showed to be swept.
pub fn gone_snapshot(generation: Generation, moment: u64) -> Key {
    join(b"Y", &[&generation.0, &moment.to_be_bytes()])
}

pub fn gone_snapshots() -> KeyRange {
    KeyRange::prefix(&b"Y"[..])
}

/// Of one share.
pub fn gone_snapshots_of(generation: Generation) -> Key {
    join(b"Y", &[&generation.0])
}

/// The opens of a node: the row that stands for all of them.
pub fn opens(generation: Generation, node: NodeId) -> Key {
    join(b"O", &[&generation.0, &node.0.to_be_bytes()])
}

/// Every row about opens in a share.
pub fn all_opens(generation: Generation) -> Key {
    join(b"O", &[&generation.0])
}

/// Every row about opens.
pub fn every_open() -> KeyRange {
    KeyRange::prefix(&b"O"[..])
}

pub fn open(generation: Generation, node: NodeId, handle: u64) -> Key {
    join(b"O", &[&generation.0, &node.0.to_be_bytes(), &handle.to_be_bytes()])
}

/// The opens of a node one by one.
pub fn opens_of(generation: Generation, node: NodeId) -> KeyRange {
    let mut range = KeyRange::prefix(opens(generation, node));
    range.start = open(generation, node, 0);
    range
}

/// What a key of an open names; `None` for the row that stands for all opens of a node.
pub fn open_of(key: &[u8]) -> Option<(Generation, NodeId, u64)> {
    let (generation, rest) = key.get(1..)?.split_first_chunk::<12>()?;
    let (node, handle) = rest.split_first_chunk::<16>()?;
    let handle = u64::from_be_bytes(handle.try_into().ok()?);
    Some((Generation(*generation), NodeId(u128::from_be_bytes(*node)), handle))
}

/// A node that is pending deletion: it is not listed.
pub fn pending(generation: Generation, node: NodeId) -> Key {
    join(b"Q", &[&generation.0, &node.0.to_be_bytes()])
}

/// The nodes of a share that are pending deletion.
pub fn all_pending(generation: Generation) -> Key {
    join(b"Q", &[&generation.0])
}

/// The node that a key of [`all_pending`] names.
pub fn pending_of(key: &[u8]) -> Option<NodeId> {
    Some(NodeId(u128::from_be_bytes(key.get(13..)?.try_into().ok()?)))
}
