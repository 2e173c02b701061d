//! What a listing passes over although its keys still stand: blobs and uncommitted blocks whose time is over, and soft-deleted
//! blobs that can no longer be brought back.

use lazuli_engine::{KeyRange, Reader, Scan};
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

pub struct Gone {
    now: Timestamp,
    /// There is a blob whose time has come and which the sweeper has not deleted yet.
    blobs: bool,
}

/// Which kind of keys.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Listed {
    Blobs,
    Stages,
    /// Soft-deleted bases.
    Deleted,
    /// They do not expire.
    Versions,
}

impl Gone {
    pub async fn seen_by(view: &View) -> Answer<Self> {
        Ok(Self { now: view.now(), blobs: view.is_any_expired().await? })
    }

    /// The moment at which it is judged.
    pub fn now(&self) -> Timestamp {
        self.now
    }

    /// Whether it is worth asking.
    fn may_have(&self, listed: Listed) -> bool {
        match listed {
            Listed::Blobs => self.blobs,
            Listed::Stages | Listed::Deleted => true,
            Listed::Versions => false,
        }
    }

    pub fn has(&self, listed: Listed, value: &[u8]) -> Answer<bool> {
        Ok(match listed {
            Listed::Blobs => self.blobs && BlobRecord::decode(value)?.is_expired(self.now),
            Listed::Stages => StagedRecord::decode(value)?.is_expired(self.now),
            Listed::Deleted => {
                let deletion = BlobRecord::decode(value)?.extras().deletion;
                deletion.is_none_or(|deletion| deletion.until <= self.now)
            }
            Listed::Versions => false,
        })
    }

    /// Whether all of a range is gone, of which a key is known to stand.
    pub async fn has_all(&self, reader: &Reader, listed: Listed, range: KeyRange) -> Answer<bool> {
        if !self.may_have(listed) {
            return Ok(false);
        }
        let mut after = None;
        loop {
            let page = reader.scan(Scan { after, limit: LOOKED_AT, ..Scan::of(range.clone()) }).await?;
            for (_, entry) in &page.items {
                if !self.has(listed, &entry.value)? {
                    return Ok(false);
                }
            }
            after = page.items.last().map(|(key, _)| key.clone());
            if !page.more {
                return Ok(true);
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
