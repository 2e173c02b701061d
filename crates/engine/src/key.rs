//! Keys and values are opaque bytes; order is byte-lexicographic.

use bytes::Bytes;

pub type Key = Bytes;
pub type Value = Bytes;

/// A half-open range of keys: `start <= key < end`; `end` of `None` is unbounded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyRange {
    pub start: Key,
    pub end: Option<Key>,
}

impl KeyRange {
    pub fn new(start: impl Into<Key>, end: impl Into<Key>) -> Self {
        Self { start: start.into(), end: Some(end.into()) }
    }

    /// Every key that begins with `prefix`.
    pub fn prefix(prefix: impl Into<Key>) -> Self {
        let start: Key = prefix.into();
        let end = after_prefix(&start);
        Self { start, end }
    }

    pub fn contains(&self, key: &[u8]) -> bool {
        key >= &self.start[..] && self.end.as_ref().is_none_or(|end| key < &end[..])
    }
}

/// The smallest key greater than every key with this prefix; `None` when there is none (all 0xFF).
pub fn after_prefix(prefix: &[u8]) -> Option<Key> {
    let last = prefix.iter().rposition(|&byte| byte != 0xFF)?;
    let mut end = prefix[..=last].to_vec();
    end[last] += 1;
    Some(end.into())
}
