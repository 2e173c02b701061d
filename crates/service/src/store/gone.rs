//! What a listing passes over although its keys still stand: blobs and uncommitted blocks whose time is over, soft-deleted
//! blobs that can no longer be brought back, and versions that are soft deleted where those are not asked for.
//!
//! How much one request passes over is bounded; a page that has come so far ends there, and the next one goes on.

use std::sync::atomic::{AtomicUsize, Ordering};

use lazuli_engine::{Key, KeyRange, Reader, Scan};
use lazuli_model::blob::SoftDeletion;
use lazuli_model::time::Timestamp;

use super::blob::decode_blob;
use super::key::{self, Generation};
use super::record::Record;
use super::record::blob::BlobRecord;
use super::record::block::StagedRecord;
use super::unit::View;
use crate::fault::Answer;

/// Keys that are read at a time to find one that is not gone.
const LOOKED_AT: usize = 50;
/// Keys that one request passes over: as many as the longest page has entries.
const PASSED_OVER_MAX: usize = 5_000;

pub struct Gone {
    now: Timestamp,
    /// There is a blob whose time has come and which the sweeper has not deleted yet.
    blobs: bool,
    /// What is soft deleted is asked for.
    with_deleted: bool,
    passed_over: AtomicUsize,
}

/// Which kind of keys.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Listed {
    Blobs,
    Stages,
    /// Soft-deleted bases.
    Deleted,
    Versions,
}

/// What is found in a range of keys.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum InRange {
    /// One that is listed.
    Some,
    /// None: there are no keys, or all are gone.
    None,
    /// All are gone up to this one, and no more is looked at.
    NoneUpTo(Key),
}

impl Gone {
    pub async fn seen_by(view: &View, with_deleted: bool) -> Answer<Self> {
        let (now, blobs) = (view.now(), view.is_any_expired().await?);
        Ok(Self { now, blobs, with_deleted, passed_over: AtomicUsize::new(0) })
    }

    /// Whether what was soft deleted is listed.
    pub fn shows(&self, deletion: SoftDeletion) -> bool {
        self.with_deleted && !self.is_over(deletion)
    }

    /// Whether it can no longer be brought back.
    pub fn is_over(&self, deletion: SoftDeletion) -> bool {
        deletion.until <= self.now
    }

    /// So many more were passed over. True when no more are to be.
    pub fn pass_over(&self, keys: usize) -> bool {
        self.passed_over.fetch_add(keys, Ordering::Relaxed) + keys >= PASSED_OVER_MAX
    }

    /// Whether it is worth asking.
    fn may_have(&self, listed: Listed) -> bool {
        match listed {
            Listed::Blobs => self.blobs,
            Listed::Stages | Listed::Deleted | Listed::Versions => true,
        }
    }

    pub fn has(&self, listed: Listed, value: &[u8]) -> Answer<bool> {
        Ok(match listed {
            Listed::Blobs => self.blobs && BlobRecord::decode(value)?.is_expired(self.now),
            Listed::Stages => StagedRecord::decode(value)?.is_expired(self.now),
            Listed::Deleted => {
                BlobRecord::decode(value)?.extras().deletion.is_none_or(|deletion| self.is_over(deletion))
            }
            Listed::Versions => {
                BlobRecord::decode(value)?.extras().deletion.is_some_and(|deletion| !self.shows(deletion))
            }
        })
    }

    /// Whether a range has one that is listed. At least a few keys are looked at, so that every request comes further.
    pub async fn look_into(&self, reader: &Reader, listed: Listed, range: KeyRange) -> Answer<InRange> {
        if !self.may_have(listed) {
            let page = reader.scan(Scan { limit: 1, keys_only: true, ..Scan::of(range) }).await?;
            return Ok(if page.items.is_empty() { InRange::None } else { InRange::Some });
        }
        let mut after = None;
        loop {
            let page = reader.scan(Scan { after, limit: LOOKED_AT, ..Scan::of(range.clone()) }).await?;
            for (_, entry) in &page.items {
                if !self.has(listed, &entry.value)? {
                    return Ok(InRange::Some);
                }
            }
            let is_enough = self.pass_over(page.items.len());
            match page.items.last() {
                Some((last, _)) if page.more && is_enough => return Ok(InRange::NoneUpTo(last.clone())),
                Some((last, _)) if page.more => after = Some(last.clone()),
                _ => return Ok(InRange::None),
            }
            tokio::task::yield_now().await;
        }
    }

    /// Whether the snapshots of a name are gone with their base.
    pub async fn has_base(&self, reader: &Reader, generation: Generation, name: &str) -> Answer<bool> {
        if !self.blobs {
            return Ok(false);
        }
        let base = decode_blob(reader.get_untracked(key::blob(generation, name)).await?)?;
        Ok(base.is_some_and(|base| base.is_expired(self.now)))
    }
}
