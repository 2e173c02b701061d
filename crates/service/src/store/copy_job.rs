//! A copy whose bytes take a while: its blob is empty and pending until they are there, the copy is aborted, or it fails.
//!
//! The server that moves the bytes prolongs the job at intervals. A job that is not prolonged has lost its server, by a
//! crash or a restart; the sweeper of any server then ends it as failed.

use lazuli_engine::Scan;
use lazuli_model::blob::{BlobType, CopyState, CopyStatus};
use lazuli_model::error::{ErrorCode, Failure};
use lazuli_model::time::Timestamp;
use uuid::Uuid;

use super::blob::{BlobPlace, Bytes};
use super::content;
use super::copy::{CopyMark, CopyOf};
use super::found::{Admitted, Present};
use super::new_content::NewContent;
use super::unit::{Changes as _, Unit, View};
use crate::blob::{BlobAddress, BlobProperties, Stamped};
use crate::fault::Answer;
use crate::store::key;
use crate::store::record::Record;
use crate::store::record::blob::BlobRecord;
use crate::store::record::copy_job::CopyJob;
use crate::store::record::existing::Existing;

/// How long a job lasts that is not prolonged.
const LASTS_SECONDS: i64 = 60;
/// Of one pass of the sweeper.
const JOBS_IN_PASS: usize = 100;

/// A copy under way.
#[derive(Clone, Debug)]
pub struct Pending(CopyJob);

impl Pending {
    pub fn account(&self) -> &str {
        &self.0.account
    }

    pub fn id(&self) -> Uuid {
        self.0.id
    }
}

impl Admitted<Existing> {
    /// Makes the name an empty blob of this type that a copy is writing.
    pub async fn begin_copy(
        self,
        at: &BlobAddress,
        kind: BlobType,
        copy: &CopyOf,
        total: u64,
        properties: &BlobProperties,
    ) -> Answer<(Stamped, Pending)> {
        let job = CopyJob {
            id: copy.id,
            account: self.unit.account().to_owned(),
            container: at.container.clone(),
            generation: self.place.generation,
            blob: at.blob.clone(),
            until: self.unit.now().plus_seconds(LASTS_SECONDS),
        };
        let state = CopyState {
            id: copy.id,
            source: copy.source.clone(),
            status: CopyStatus::Pending,
            copied: 0,
            total,
            completed: None,
            description: None,
            destination_snapshot: None,
        };
        let begin = |record: &mut BlobRecord| record.extras_mut().copy = Some(state);
        let bytes = match kind {
            BlobType::Page => Bytes::Pages { length: 0, sequence_number: 0 },
            BlobType::Block | BlobType::Append => Bytes::None,
        };
        let (stamped, mut unit) =
            self.replace_with(kind, properties, bytes, |record, _| begin(record)).await?;
        unit.put(key::copy_job(job.id), job.encode());
        Ok((stamped, Pending(job)))
    }
}

impl Unit {
    /// Notes how far a copy has come, and that its server is there. False when the copy is no longer wanted.
    pub async fn prolong_copy(&mut self, Pending(job): &Pending, copied: u64) -> Answer<bool> {
        let Some((place, mut record)) = self.blob_of(job).await? else {
            self.delete(key::copy_job(job.id));
            return Ok(false);
        };
        let until = self.now().plus_seconds(LASTS_SECONDS);
        self.put(key::copy_job(job.id), CopyJob { until, ..job.clone() }.encode());
        if let Some(copy) = &mut record.extras_mut().copy {
            copy.copied = copied;
        }
        place.write(self, &record);
        Ok(true)
    }

    /// The bytes are there. False when they are no longer wanted.
    pub async fn complete_copy(
        &mut self,
        Pending(job): &Pending,
        new: &NewContent,
        mark: &CopyMark,
    ) -> Answer<bool> {
        let Some((place, mut record)) = self.blob_of(job).await? else {
            self.delete(key::copy_job(job.id));
            return Ok(false);
        };
        record.encryption().admits(new.encryption())?;
        let empty = std::mem::replace(&mut record.content, new.publish_as(record.kind, self).await?);
        let reader = self.reader().clone();
        content::drop_holder(&reader, self, &empty).await?;
        mark.describe(&mut record);
        let (place, record) = self.end(job, place, record, |copy| {
            (copy.status, copy.copied) = (CopyStatus::Success, copy.total);
        });
        self.raise_created(&place, &record);
        Ok(true)
    }

    /// The blob stays, without content.
    pub async fn fail_copy(&mut self, Pending(job): &Pending, why: &str) -> Answer<()> {
        match self.blob_of(job).await? {
            Some((place, record)) => {
                self.end(job, place, record, |copy| {
                    (copy.status, copy.description) = (CopyStatus::Failed, Some(why.to_owned()));
                });
            }
            None => self.delete(key::copy_job(job.id)),
        }
        Ok(())
    }

    /// Whether the job still stands, and its server is gone.
    pub async fn is_lost(&self, Pending(job): &Pending) -> Answer<bool> {
        let found = self.reader().get(key::copy_job(job.id)).await?;
        let job = found.map(|entry| CopyJob::decode(&entry.value)).transpose()?;
        Ok(job.is_some_and(|job| job.until < self.now()))
    }

    fn end(
        &mut self,
        job: &CopyJob,
        place: BlobPlace,
        mut record: BlobRecord,
        how: impl FnOnce(&mut CopyState),
    ) -> (BlobPlace, BlobRecord) {
        record.touch(self.now());
        let at = record.last_modified;
        if let Some(copy) = &mut record.extras_mut().copy {
            copy.completed = Some(at);
            how(copy);
        }
        place.write(self, &record);
        self.delete(key::copy_job(job.id));
        (place, record)
    }

    /// The blob that the copy is still writing: None once it was aborted or ended, or its container deleted.
    async fn blob_of(&self, job: &CopyJob) -> Answer<Option<(BlobPlace, BlobRecord)>> {
        let container = self.find_container_in(&job.account, &job.container).await?;
        if container.is_none_or(|container| container.generation != job.generation) {
            return Ok(None);
        }
        let (generation, name) = (job.generation, job.blob.clone());
        let mut place = BlobPlace { container: job.container.clone(), ..BlobPlace::base(generation, name) };
        let record = self.find_at(&mut place).await?;
        let is_own = |record: &BlobRecord| record.pending_copy().is_some_and(|copy| copy.id == job.id);
        Ok(record.filter(is_own).map(|record| (place, record)))
    }
}

impl Present<BlobRecord> {
    /// Ends the copy that is writing the blob. The blob stays, without content.
    pub fn abort_copy(mut self, id: Uuid) -> Result<(), Failure> {
        let pending = self.pending_copy().ok_or(ErrorCode::NoPendingCopyOperation)?.id;
        if pending != id {
            return Err(ErrorCode::CopyIdMismatch.into());
        }
        let now = self.unit.now();
        self.touch(now);
        let at = self.last_modified;
        if let Some(copy) = &mut self.extras_mut().copy {
            (copy.status, copy.completed) = (CopyStatus::Aborted, Some(at));
        }
        self.unit.delete(key::copy_job(id));
        self.put();
        Ok(())
    }
}

impl View {
    /// Some of the copies whose server is gone.
    pub async fn lost_copies(&self) -> Answer<Vec<Pending>> {
        let page = self.reader().scan(Scan { limit: JOBS_IN_PASS, ..Scan::of(key::copy_jobs()) }).await?;
        let now: Timestamp = self.now();
        let mut lost = Vec::new();
        for (_, entry) in &page.items {
            let job = CopyJob::decode(&entry.value)?;
            if job.until < now {
                lost.push(Pending(job));
            }
        }
        Ok(lost)
    }
}
