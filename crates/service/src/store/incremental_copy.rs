//! Incremental copies: a blob that gets one snapshot after the other of a page blob, in their order. Its base and its own
//! snapshots hold the layers of the source's snapshots, so each of them costs what changed since the one before.

use lazuli_model::blob::{BlobType, CopyState, CopyStatus};
use lazuli_model::error::ErrorCode;
use lazuli_model::time::Timestamp;

use super::blob::Bytes;
use super::content;
use super::copy::{CopyOf, SourceBlob};
use super::found::Admitted;
use super::sparse;
use crate::blob::{BlobProperties, BlobState, Stamped};
use crate::fault::Answer;
use crate::store::record::blob::BlobRecord;
use crate::store::record::existing::Existing;

impl Admitted<Existing> {
    /// Copies a snapshot of pages to the name, as a snapshot of it.
    pub async fn copy_snapshot(self, source: &SourceBlob, copy: &CopyOf) -> Answer<Stamped> {
        let old = match self.record() {
            Some(Existing::Blob(old)) => Some(&**old),
            _ => None,
        };
        if let Some(old) = old {
            self.check_is_next(old, source, copy).await?;
        }
        self.unit.check_sealed(&self.place, &source.encryption())?;
        let is_first = old.is_none();
        let properties = BlobProperties {
            headers: source.headers.clone(),
            metadata: source.metadata.clone(),
            tags: old.map(|old| old.tags.clone()).unwrap_or_default(),
            ..BlobProperties::default()
        };
        let mut unit = self.unit.clone();
        let mut beside = self.place.beside(BlobState::Base);
        let reader = unit.reader().clone();
        // The base and its new snapshot.
        content::share_with(&reader, &mut unit, &source.content, 2).await?;
        let last = unit.fresh_moment(&self.place, 0).await? - 1;
        let mut made = None;
        let bytes = Bytes::Made { content: &source.content, took_over: None };
        let (stamped, _) = self
            .replace_with(BlobType::Page, &properties, bytes, |record, beside| {
                let last = beside.map_or(last, |beside| last.max(beside.0));
                made = Some(describe(record, source, copy, last));
            })
            .await?;
        if let Some((id, snapshot)) = made {
            beside.state = BlobState::Snapshot(id);
            beside.write(&mut unit, &snapshot);
        }
        // Only the first copy tells a version (recorded).
        Ok(if is_first { stamped } else { Stamped { version: None, ..stamped } })
    }

    /// The source must be a later snapshot of the blob that the last copy was made of, as the layers tell.
    async fn check_is_next(&self, old: &BlobRecord, source: &SourceBlob, copy: &CopyOf) -> Answer<()> {
        let from = old.extras().copy.as_ref().map(|last| blob_of(&last.source));
        if !old.extras().incremental_copy || from != Some(blob_of(&copy.source)) {
            return Err(ErrorCode::IncrementalCopyBlobMismatch.into());
        }
        let (reader, last, next) = (self.unit.reader(), old.content.id, source.content.id);
        if last == next || sparse::layers(reader, last, Some(next)).await?.is_some() {
            return Err(ErrorCode::IncrementalCopyOfEarlierSnapshotNotAllowed.into());
        }
        match sparse::layers(reader, next, Some(last)).await? {
            Some(_) => Ok(()),
            // Between the two snapshots the source was made anew.
            None => Err(ErrorCode::BlobOverwritten.into()),
        }
    }
}

/// Finishes the base, and gives its new snapshot with its moment.
fn describe(base: &mut BlobRecord, source: &SourceBlob, copy: &CopyOf, last: u64) -> (Timestamp, BlobRecord) {
    let id = Timestamp(base.etag.0.max(last + 1));
    let (length, at) = (base.length(), base.last_modified);
    base.sequence_number = source.sequence_number;
    base.snapshots += 1;
    base.extras_mut().copy = Some(CopyState {
        id: copy.id,
        source: copy.source.clone(),
        status: CopyStatus::Success,
        copied: length,
        total: length,
        completed: Some(at),
        description: None,
        destination_snapshot: Some(id),
    });
    let mut snapshot = BlobRecord { lease: None, snapshots: 0, ..base.clone() };
    snapshot.extras_mut().incremental_copy = false;
    base.extras_mut().incremental_copy = true;
    (id, snapshot)
}

/// The source without its snapshot.
fn blob_of(source: &str) -> &str {
    source.split('?').next().unwrap_or_default()
}
