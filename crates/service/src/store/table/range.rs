//! From what a filter, a SAS and a continuation say about keys to the ranges of keys that a query reads.

use lazuli_engine::{Key, KeyRange};
use lazuli_model::odata::{Bound, Filter, KeyBox, Span, compare_ordinal};
use std::cmp::Ordering;

use super::utf16_order;
use crate::store::key::{self, Generation};
use crate::table::{PARTITION_KEY, ROW_KEY};

/// The keys that a SAS is limited to, both ends included; rows limit only the partition they are given with.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KeyLimits {
    pub start_partition: Option<String>,
    pub start_row: Option<String>,
    pub end_partition: Option<String>,
    pub end_row: Option<String>,
}

impl KeyLimits {
    pub fn contains(&self, partition: &str, row: &str) -> bool {
        let Self { start_partition, start_row, end_partition, end_row } = self;
        let side = |limit: &Option<String>, limit_row: &Option<String>, outside: Ordering| {
            let Some(limit) = limit else { return true };
            match compare_ordinal(partition, limit) {
                Ordering::Equal => {
                    limit_row.as_ref().is_none_or(|limit| compare_ordinal(row, limit) != outside)
                }
                ordering => ordering != outside,
            }
        };
        side(start_partition, start_row, Ordering::Less) && side(end_partition, end_row, Ordering::Greater)
    }
}

/// Disjoint ranges, in order, that hold every entity that can be wanted.
pub fn ranges(
    generation: Generation,
    filter: Option<&Filter>,
    limits: &KeyLimits,
    from: Option<(&str, &str)>,
) -> Vec<KeyRange> {
    let space = key::entities(generation);
    let boxes = filter.map_or_else(|| vec![KeyBox::default()], |it| it.key_boxes(PARTITION_KEY, ROW_KEY));
    let mut ranges: Vec<KeyRange> = boxes.iter().map(|keys| range_of(&space, keys)).collect();
    ranges.sort_by(|a, b| a.start.cmp(&b.start));
    let mut joined: Vec<KeyRange> = Vec::with_capacity(ranges.len());
    for range in ranges {
        match joined.last_mut() {
            Some(last) if last.end.as_ref().is_none_or(|end| range.start <= *end) => {
                last.end = match (last.end.take(), range.end) {
                    (Some(a), Some(b)) => Some(a.max(b)),
                    _ => None,
                };
            }
            _ => joined.push(range),
        }
    }
    let allowed = range_of(&space, &limit_box(limits));
    let continued = from.map(|(partition, row)| key::entity(generation, partition, row));
    for range in &mut joined {
        range.start = range.start.clone().max(allowed.start.clone());
        if let Some(continued) = &continued {
            range.start = range.start.clone().max(continued.clone());
        }
        range.end = match (range.end.take(), &allowed.end) {
            (Some(a), Some(b)) => Some(a.min(b.clone())),
            (a, b) => a.or_else(|| b.clone()),
        };
    }
    joined.retain(|range| range.end.as_ref().is_none_or(|end| range.start < *end));
    joined
}

fn limit_box(limits: &KeyLimits) -> KeyBox {
    let including =
        |key: &Option<String>| key.as_deref().map_or(Bound::Open, |key| Bound::Including(key.into()));
    KeyBox {
        partition: Span { low: including(&limits.start_partition), high: including(&limits.end_partition) },
        row: Span { low: including(&limits.start_row), high: including(&limits.end_row) },
    }
}

/// From the lowest pair of keys in the box to the highest.
fn range_of(space: &Key, keys: &KeyBox) -> KeyRange {
    let whole = KeyRange::prefix(space.clone());
    let start = match &keys.partition.low {
        Bound::Open => whole.start,
        Bound::Including(partition) if is_plain(partition) => {
            let mut start = join(space, partition, &[0]).to_vec();
            if let Bound::Including(row) | Bound::Excluding(row) = &keys.row.low {
                start.extend_from_slice(&utf16_order::encode(plain(row)));
                // Behind the row itself, when it is excluded or stands before the bound that it begins.
                if !matches!(&keys.row.low, Bound::Including(row) if is_plain(row)) {
                    start.push(0);
                }
            }
            start.into()
        }
        // Behind the partition, for the same reasons.
        Bound::Including(partition) | Bound::Excluding(partition) => join(space, plain(partition), &[1]),
    };
    let end = match &keys.partition.high {
        Bound::Open => whole.end,
        Bound::Excluding(partition) if is_plain(partition) => Some(join(space, partition, &[])),
        Bound::Including(partition) if is_plain(partition) => Some(match &keys.row.high {
            Bound::Excluding(row) if is_plain(row) => {
                join(space, partition, &[&[0], &utf16_order::encode(row)[..]].concat())
            }
            Bound::Including(row) | Bound::Excluding(row) => {
                join(space, partition, &[&[0], &utf16_order::encode(plain(row))[..], &[0]].concat())
            }
            Bound::Open => join(space, partition, &[1]),
        }),
        Bound::Including(partition) | Bound::Excluding(partition) => {
            Some(join(space, plain(partition), &[1]))
        }
    };
    KeyRange { start, end }
}

fn join(space: &Key, partition: &str, rest: &[u8]) -> Key {
    [&space[..], &utf16_order::encode(partition), rest].concat().into()
}

/// Stored keys hold no control characters; a bound may. What stands before the first one bounds as well: it is less
/// than the bound, and every stored key that goes on behind it is greater.
fn plain(bound: &str) -> &str {
    bound.find(|c| c < ' ').and_then(|at| bound.get(..at)).unwrap_or(bound)
}

fn is_plain(bound: &str) -> bool {
    plain(bound).len() == bound.len()
}
