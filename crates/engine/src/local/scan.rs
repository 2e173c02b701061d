//! Scans and skip scans over a snapshot, the same for every engine.

use crate::caps::{self, OWN};
use crate::error::EngineError;
use crate::key::{Key, KeyRange, Value, after_prefix};
use crate::local::store::{Row, Snapshot, Step, entry};
use crate::txn::{Count, Counted, LookPage, Looks, Scan, ScanPage, SkipItem, SkipPage, SkipScan};

/// Members of a group that are stepped over before the engine seeks behind the group: for small groups
/// a few steps cost less than a seek.
const STEPS_BEFORE_SEEK: usize = 4;

pub(crate) fn scan(snapshot: &Snapshot, scan: &Scan) -> Result<ScanPage, EngineError> {
    let LookPage { items, next } =
        scan_filtered(snapshot, scan, Looks { rows: usize::MAX, bytes: usize::MAX }, &mut |_, _| true)?;
    Ok(ScanPage { items, more: next.is_some() })
}

/// Rows that are not wanted are let go where the walk finds them.
pub(crate) fn scan_filtered(
    snapshot: &Snapshot,
    scan: &Scan,
    looks: Looks,
    wanted: &mut dyn FnMut(&Key, &Value) -> bool,
) -> Result<LookPage, EngineError> {
    let mut range = scan.range.clone();
    if let Some(after) = &scan.after {
        if !scan.reverse && range.start <= *after {
            range.start = successor(after);
        } else if scan.reverse && range.end.as_ref().is_none_or(|end| end > after) {
            range.end = Some(after.clone());
        }
    }
    let range = visible(&range);
    let mut page = LookPage::default();
    let (mut bytes, mut looked) = (0, Looks { rows: 0, bytes: 0 });
    snapshot.walk(&range, scan.reverse, &mut |Row { key, seq, value }| {
        let full = page.items.len() >= scan.limit || (bytes >= scan.max_bytes && !page.items.is_empty());
        if full || looked.rows >= looks.rows || looked.bytes >= looks.bytes {
            page.next = Some(key);
            return Step::Stop;
        }
        looked.rows += 1;
        looked.bytes += key.len() + value.len();
        if wanted(&key, &value) {
            let value = if scan.keys_only { Value::new() } else { value };
            bytes += key.len() + value.len();
            page.items.push((key, entry(seq, value)));
        }
        Step::Next
    })?;
    Ok(page)
}

pub(crate) fn count(snapshot: &Snapshot, count: &Count) -> Result<Counted, EngineError> {
    let mut counted = Counted::default();
    let mut looked = 0;
    snapshot.walk(&visible(&count.range), false, &mut |Row { key, value, .. }| {
        if looked >= count.limit {
            counted.next = Some(key);
            return Step::Stop;
        }
        looked += 1;
        counted.count += usize::from(count.value_above.as_ref().is_none_or(|above| value > *above));
        Step::Next
    })?;
    Ok(counted)
}

pub(crate) fn skip_scan(snapshot: &Snapshot, scan: &SkipScan) -> Result<SkipPage, EngineError> {
    let mut range = KeyRange::prefix(scan.prefix.clone());
    if let Some(after) = &scan.after {
        let behind = match group(after, scan) {
            Some(end) if end == after.len() => after_prefix(after),
            _ => Some(successor(after)),
        };
        match behind {
            Some(behind) if behind > range.start => range.start = behind,
            Some(_) => {}
            None => return Ok(SkipPage::default()),
        }
    }
    let range = visible(&range);
    let mut page = SkipPage::default();
    let mut bytes = 0;
    let mut stepped = 0;
    snapshot.walk(&range, false, &mut |Row { key, seq, value }| {
        if let Some(SkipItem::Group(open)) = page.items.last()
            && key.starts_with(open)
        {
            stepped += 1;
            if stepped < STEPS_BEFORE_SEEK {
                return Step::Next;
            }
            return after_prefix(open).map_or(Step::Stop, Step::Seek);
        }
        if page.items.len() >= scan.limit || (bytes >= scan.max_bytes && !page.items.is_empty()) {
            page.more = true;
            return Step::Stop;
        }
        stepped = 0;
        match group(&key, scan) {
            Some(end) => {
                bytes += end;
                page.items.push(SkipItem::Group(key.slice(..end)));
            }
            None => {
                bytes += key.len() + value.len();
                page.items.push(SkipItem::Entry(key, entry(seq, value)));
            }
        }
        Step::Next
    })?;
    Ok(page)
}

/// Where the group's prefix ends in this key, when the key belongs to one.
fn group(key: &Key, scan: &SkipScan) -> Option<usize> {
    if scan.delimiter.is_empty() {
        return None;
    }
    let rest = key.strip_prefix(&scan.prefix[..])?;
    let at = rest.windows(scan.delimiter.len()).position(|window| window == scan.delimiter)?;
    Some(scan.prefix.len() + at + scan.delimiter.len())
}

/// The smallest key greater than this one.
fn successor(key: &Key) -> Key {
    [key, &[0][..]].concat().into()
}

/// The engine's own rows are never shown.
fn visible(range: &KeyRange) -> KeyRange {
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
