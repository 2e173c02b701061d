//! Where scans begin and end, the same for every engine.

use crate::caps::{self, OWN};
use crate::key::{Key, KeyRange, after_prefix};
use crate::txn::{Scan, SkipScan};

/// What is left of a scan's range behind the key that it goes on from.
pub(crate) fn narrowed(scan: &Scan) -> KeyRange {
    let mut range = scan.range.clone();
    if let Some(after) = &scan.after {
        if !scan.reverse && range.start <= *after {
            range.start = successor(after);
        } else if scan.reverse && range.end.as_ref().is_none_or(|end| end > after) {
            range.end = Some(after.clone());
        }
    }
    visible(&range)
}

/// The same of a skip scan; `None` when nothing can be left.
pub(crate) fn resumed(scan: &SkipScan) -> Option<KeyRange> {
    let mut range = KeyRange::prefix(scan.prefix.clone());
    if let Some(after) = &scan.after {
        let behind = match group(after, scan) {
            Some(end) if end == after.len() => after_prefix(after)?,
            _ => successor(after),
        };
        if behind > range.start {
            range.start = behind;
        }
    }
    Some(visible(&range))
}

/// Where the group's prefix ends in this key, when the key belongs to one.
pub(crate) fn group(key: &Key, scan: &SkipScan) -> Option<usize> {
    if scan.delimiter.is_empty() {
        return None;
    }
    let rest = key.strip_prefix(&scan.prefix[..])?;
    let at = rest.windows(scan.delimiter.len()).position(|window| window == scan.delimiter)?;
    Some(scan.prefix.len() + at + scan.delimiter.len())
}

/// The smallest key greater than this one.
pub(crate) fn successor(key: &Key) -> Key {
    [key, &[0][..]].concat().into()
}

/// The engine's own rows are never shown.
pub(crate) fn visible(range: &KeyRange) -> KeyRange {
    let mut range = KeyRange { start: within_cap(&range.start), end: range.end.as_ref().map(within_cap) };
    if range.start.first().is_none_or(|&first| first == OWN) {
        range.start = Key::from_static(&[OWN + 1]);
    }
    range
}

/// A bound that parts the keys as this one does and that a store can take. No key is longer than the cap, so those that
/// stand before a longer bound are those up to its beginning.
fn within_cap(bound: &Key) -> Key {
    match bound.get(..caps::KEY) {
        Some(beginning) if bound.len() > caps::KEY => successor(&bound.slice_ref(beginning)),
        _ => bound.clone(),
    }
}
