//! Scans and skip scans over a snapshot, the same for every engine.

use crate::bounds::{group, narrowed, resumed, visible};
use crate::error::EngineError;
use crate::key::{Key, Value, after_prefix};
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
    let range = narrowed(scan);
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
    let Some(range) = resumed(scan) else { return Ok(SkipPage::default()) };
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
