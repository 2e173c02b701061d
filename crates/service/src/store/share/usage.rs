//! How much a share holds: the lengths of its files, counted by the commits that change them, and kept within the quota
//! (decision 0040).
//!
//! A file is counted in one of [`PARTS`] rows, by its id, so that writers of different files seldom meet. Each part may
//! come to some bytes of the quota; to grow within them it needs no other row. At first half of the quota is divided
//! among them. One row knows what all of them are allowed together: a part that needs more takes it from what is left,
//! and some for later. When nothing is left, the parts that are allowed more than they use are cut back, with all of
//! them as checks of the commit. So what the parts use is never more than the quota, on however many servers they grow.
//!
//! A new quota is divided by the commit that sets it. The share's record, and the quota in it, is a check of every commit.

use lazuli_engine::{Key, KeyRange, Reader, Scan};
use lazuli_model::error::ErrorCode;
use lazuli_model::operation::Mode;

use super::key;
use crate::fault::Answer;
use crate::store::key::Generation;
use crate::store::record::Record as _;
use crate::store::record::share::ShareRecord;
use crate::store::record::usage::{UsageAllowed, UsagePart};
use crate::store::tree::NodeId;
use crate::store::unit::{Changes, Unit};

const GIB: u64 = 1 << 30;
/// A commit that has to look at all of them checks and writes so many small rows.
pub const PARTS: u64 = 256;

/// The quota in bytes.
pub(super) fn most(share: &ShareRecord) -> u64 {
    u64::from(share.settings.quota()) * GIB
}

/// What each part is allowed at first.
fn first(share: &ShareRecord) -> u64 {
    most(share) / (2 * PARTS)
}

/// The part that counts a file.
fn key_of(generation: Generation, node: NodeId) -> Key {
    key::usage_part(generation, node.number() as u8)
}

/// Counts that a file has another length; refuses what the quota has no room for. Once in a commit: a second call would
/// read what the first has not written yet.
pub(in crate::store) async fn count<W: Changes>(
    reader: &Reader,
    changes: &mut W,
    share: &ShareRecord,
    node: NodeId,
    before: u64,
    after: u64,
) -> Answer<()> {
    if before == after {
        return Ok(());
    }
    let at = key_of(share.generation, node);
    let mut part = match reader.get(at.clone()).await? {
        Some(entry) => UsagePart::decode(&entry.value)?,
        None => UsagePart { used: 0, allowed: first(share) },
    };
    part.used = part.used.saturating_sub(before).saturating_add(after);
    // What a part was allowed stays with it while its files are shorter.
    if part.used > part.allowed && after > before {
        part.allowed = allow(reader, changes, share, &at, part).await?;
    }
    changes.put(at, part.encode());
    Ok(())
}

/// What a part is allowed that is to use more than it was.
async fn allow<W: Changes>(
    reader: &Reader,
    changes: &mut W,
    share: &ShareRecord,
    at: &Key,
    part: UsagePart,
) -> Answer<u64> {
    let most = most(share);
    let all = match reader.get(key::usage_allowed(share.generation)).await? {
        Some(entry) => UsageAllowed::decode(&entry.value)?.bytes,
        None => PARTS * first(share),
    };
    let mut needed = all.saturating_add(part.used - part.allowed);
    if needed > most {
        needed = part.used;
        for (other, used) in read_parts(reader, share).await? {
            if other != *at {
                needed = needed.saturating_add(used);
                changes.put(other, UsagePart { used, allowed: used }.encode());
            }
        }
    }
    if needed > most {
        return Err(ErrorCode::ShareSizeLimitReached.into());
    }
    // The more is left, the longer the part needs to ask for no more.
    let spare = (most - needed) / (4 * PARTS);
    changes.put(key::usage_allowed(share.generation), UsageAllowed { bytes: needed + spare }.encode());
    Ok(part.used + spare)
}

/// Divides a quota that was changed, once it is in the record. What is used already stays, even if it is more; then no
/// part is allowed anything, and whatever is to grow looks at all of them.
pub(super) async fn divide<W: Changes>(reader: &Reader, changes: &mut W, share: &ShareRecord) -> Answer<()> {
    let parts = read_parts(reader, share).await?;
    let filled = |first: u64| parts.iter().map(|(_, used)| first.max(*used)).fold(0, u64::saturating_add);
    let fits = |first: &u64| filled(*first) <= most(share);
    let first = [first(share), 0].into_iter().find(fits);
    for (at, used) in &parts {
        let allowed = first.map_or(0, |first| first.max(*used));
        changes.put(at.clone(), UsagePart { used: *used, allowed }.encode());
    }
    let bytes = first.map_or(u64::MAX, filled);
    changes.put(key::usage_allowed(share.generation), UsageAllowed { bytes }.encode());
    Ok(())
}

/// What each part uses, as checks of the commit.
async fn read_parts(reader: &Reader, share: &ShareRecord) -> Answer<Vec<(Key, u64)>> {
    let keys: Vec<Key> = (0..=u8::MAX).map(|part| key::usage_part(share.generation, part)).collect();
    let mut parts = Vec::with_capacity(keys.len());
    for (key, entry) in keys.iter().zip(reader.get_many(keys.clone()).await?) {
        let used = match entry {
            Some(entry) => UsagePart::decode(&entry.value)?.used,
            None => 0,
        };
        parts.push((key.clone(), used));
    }
    Ok(parts)
}

impl<M: Mode> Unit<M> {
    /// The lengths of all files of a share together. Its snapshots do not count.
    pub async fn share_usage(&self, share: &ShareRecord) -> Answer<u64> {
        let range = KeyRange::prefix(key::usage_parts(share.generation));
        let page = self.reader().scan(Scan { limit: PARTS as usize, ..Scan::of(range) }).await?;
        let mut bytes = 0_u64;
        for (_, entry) in &page.items {
            bytes = bytes.saturating_add(UsagePart::decode(&entry.value)?.used);
        }
        Ok(bytes)
    }
}
