//! Directories: entries under their parent's id, found by name, one level at a time (decision 0035).
//!
//! A directory is known by a [`NodeId`], not by its path, so that it moves with everything below it by one small commit.
//! The record of a file or directory stands in its entry. Shares of the File service are such trees, and hierarchical
//! accounts can be: the entry's own type says in which [`Space`] of keys it lies and how names are compared.
//!
//! To resolve a path is to read every entry on the way as a check of the commit. So nothing is written below a directory
//! that is moved or deleted at that time, and no two renames make a circle; and those that create entries in one
//! directory only read it, and do not meet.
//!
//! A snapshot of a whole tree is a moment. An entry says after which snapshot it was written; the first change after a
//! later one keeps what was there, with the moment up to which it held.

mod chain;
mod change;
mod depth;
mod earlier;
pub(in crate::store) mod key;
mod sweep;
#[cfg(test)]
mod tests;
mod walk;

pub(in crate::store) use chain::Chain;
pub(in crate::store) use sweep::{sweep_directory, sweep_earlier, sweep_moment};
pub(in crate::store) use walk::Listing;

use std::borrow::Cow;

use lazuli_engine::{EngineError, Value};
use lazuli_model::error::ErrorCode;
use lazuli_model::time::Timestamp;

use super::key::Generation;
use super::record::content::Content;

/// Names a directory or file, whatever its path. Never used again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, serde::Serialize, serde::Deserialize)]
pub struct NodeId(pub u128);

impl NodeId {
    /// What clients know the root by, and what stands above it.
    pub const NONE: Self = Self(0);

    pub fn fresh(now: Timestamp) -> Self {
        Self(crate::fresh_uuid_of(now).as_u128())
    }

    /// The number that protocols name it by: 62 bits of chance and two that are always the same.
    pub fn number(self) -> u64 {
        self.0 as u64
    }
}

/// In which keys the entries of a kind of tree lie: the first byte of each. What they are is in [`crate::store::key`].
#[derive(Clone, Copy, Debug)]
pub(in crate::store) struct Space {
    pub entry: u8,
    pub earlier: u8,
    pub by_moment: u8,
    pub snapshot: u8,
    /// None where nothing asks for the path of a node.
    pub place: Option<u8>,
    /// The same at the moments of snapshots.
    pub earlier_place: Option<u8>,
    pub dead: u8,
    /// How deep directories are. None where paths may be of any length.
    pub depth: Option<&'static [u8]>,
}

/// What stands under a name of a directory.
pub(in crate::store) trait Entry: Sized + Clone + Send + Sync {
    const SPACE: Space;
    /// What a request is told that would take away a directory in which something stands.
    const NOT_EMPTY: ErrorCode;
    /// So many names has a path at the most, where its [`Space`] has rows about depths.
    const LONGEST_PATH: usize;
    /// What a request is told that would make paths longer than that.
    const TOO_DEEP: ErrorCode;
    /// What it is told when a directory on the way is missing.
    const NO_PARENT: ErrorCode;
    /// What it is told that would put a directory below itself.
    const INTO_ITSELF: ErrorCode;

    fn to_value(&self) -> Value;

    fn from_value(value: &[u8]) -> Result<Self, EngineError>;

    /// How names are compared.
    fn fold(name: &str) -> Cow<'_, str>;

    fn node(&self) -> NodeId;

    fn is_directory(&self) -> bool;

    /// Whether entries stand under its node.
    fn holds_entries(&self) -> bool {
        self.is_directory()
    }

    /// Whether its node stands where it does, and nowhere else.
    fn is_placed(&self) -> bool {
        true
    }

    /// Gives it another name, as it is spelt.
    fn rename(&mut self, name: &str);

    /// The moment of the last snapshot before it was written. It is in every snapshot after that one.
    fn since(&self) -> u64;

    fn set_since(&mut self, moment: u64);

    /// The bytes that it holds.
    fn content(&self) -> Option<&Content>;

    fn set_content(&mut self, content: Content);
}

/// One tree: a share, later a filesystem.
#[derive(Clone, Copy, Debug)]
pub(in crate::store) struct Tree {
    pub root: NodeId,
    /// What its snapshots, and what they alone show, are filed under.
    pub generation: Generation,
    /// The moment of its last snapshot, whether that still is there or not; 0 when there was none.
    pub moment: u64,
}

/// Where an entry stands, or would.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::store) struct Slot {
    pub parent: NodeId,
    pub folded: String,
}

impl Slot {
    pub fn of<E: Entry>(parent: NodeId, name: &str) -> Self {
        Self { parent, folded: E::fold(name).into_owned() }
    }

    pub fn key<E: Entry>(&self) -> lazuli_engine::Key {
        key::entry(E::SPACE, self.parent, &self.folded)
    }
}

/// A name of a share as it is compared.
pub(crate) fn fold(name: &str) -> Cow<'_, str> {
    upper_case(name)
}

/// Compares names as SMB does: each character by the one that it is in upper case. One that becomes several stays as it
/// is, and none from beyond ASCII becomes a letter of ASCII.
pub(in crate::store) fn upper_case(name: &str) -> Cow<'_, str> {
    let upper = |letter: char| {
        let mut upper = letter.to_uppercase();
        match (upper.next(), upper.next()) {
            (Some(one), None) if letter.is_ascii() || !one.is_ascii() => one,
            _ => letter,
        }
    };
    if name.chars().all(|letter| upper(letter) == letter) {
        return Cow::Borrowed(name);
    }
    Cow::Owned(name.chars().map(upper).collect())
}
