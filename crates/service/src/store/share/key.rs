//! The keys of shares; those of what stands in them are of the [`tree`](crate::store::tree).

use lazuli_engine::{Key, KeyRange};

use crate::store::key::{Generation, Incarnation};
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

/// A share that can be restored, by its name and the moment of its deletion.
pub fn deleted_share(account: &str, name: &str, ticks: u64) -> Key {
    join(b"U", &[account.as_bytes(), &[0], name.as_bytes(), &[0], &ticks.to_be_bytes()])
}

/// Of one name: what follows is the moment of the deletion.
pub fn deleted_shares_of(account: &str, name: &str) -> KeyRange {
    KeyRange::prefix(join(b"U", &[account.as_bytes(), &[0], name.as_bytes(), &[0]]))
}

/// Of an account: what follows is the name, NUL and the moment of the deletion.
pub fn deleted_shares(account: &str) -> Key {
    join(b"U", &[account.as_bytes(), &[0]])
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

/// What the parts of a share's usage are allowed together.
pub fn usage_allowed(generation: Generation) -> Key {
    join(b"R", &[&generation.0])
}

pub fn usage_part(generation: Generation, part: u8) -> Key {
    join(b"R", &[&generation.0, b"p", &[part]])
}

/// Of one share; what follows is the number of the part.
pub fn usage_parts(generation: Generation) -> Key {
    join(b"R", &[&generation.0, b"p"])
}

/// A security descriptor, by the number that its bytes have.
pub fn permission(generation: Generation, number: u128) -> Key {
    join(b"B", &[&generation.0, &number.to_be_bytes()])
}

/// The security descriptors of a share.
pub fn permissions(generation: Generation) -> Key {
    join(b"B", &[&generation.0])
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

/// The node that a key about opens is of.
pub fn node_of_opens(key: &[u8]) -> Option<NodeId> {
    Some(NodeId(u128::from_be_bytes(*key.get(13..)?.first_chunk::<16>()?)))
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

/// Which node an open that outlives its connection is of, by its handle.
pub fn durable(generation: Generation, handle: u64) -> Key {
    join(b"Z", &[&generation.0, &handle.to_be_bytes()])
}

/// Of one share.
pub fn all_durable(generation: Generation) -> Key {
    join(b"Z", &[&generation.0])
}

/// The servers on which a directory of a share is watched.
pub fn watchers(generation: Generation) -> Key {
    join(b"lw", &[&generation.0])
}

/// Tells a server that the opens of a node were changed by another one.
pub fn letter_of_opens(server: Incarnation, generation: Generation, node: NodeId) -> Key {
    join(b"ls", &[&server.0.to_be_bytes(), b"o", &generation.0, &node.0.to_be_bytes()])
}

/// Tells a server of a change in a share that it watches.
pub fn letter_of_change(server: Incarnation, number: u128) -> Key {
    join(b"ls", &[&server.0.to_be_bytes(), b"c", &number.to_be_bytes()])
}

/// Everything that others tell a server.
pub fn letters(server: Incarnation) -> KeyRange {
    KeyRange::prefix(join(b"ls", &[&server.0.to_be_bytes()]))
}

/// Everything that servers tell each other.
pub fn all_letters() -> KeyRange {
    KeyRange::prefix(&b"ls"[..])
}

/// The server that a letter is for.
pub fn letter_for(key: &[u8]) -> Option<Incarnation> {
    Some(Incarnation(u128::from_be_bytes(key.get(2..18)?.try_into().ok()?)))
}

/// The node of a letter of opens; `None` for one of a change.
pub fn letter_node(key: &[u8]) -> Option<(Generation, NodeId)> {
    let (generation, node) = key.get(18..)?.strip_prefix(b"o")?.split_first_chunk::<12>()?;
    Some((Generation(*generation), NodeId(u128::from_be_bytes(node.try_into().ok()?))))
}
