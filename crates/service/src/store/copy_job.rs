//! A copy whose bytes take a while: its blob or file is pending until they are there, the copy is aborted, or it fails. A
//! blob is empty meanwhile; a file has its length, which its share has counted, and reads as zeros.
//!
//! The job's row names the server that moves the bytes, and the try. A try that is no longer the one of the row writes
//! nothing. A job whose server is dead is taken up by another (`copy_jobs.rs`). A copy fails when its container or share is
//! deleted: that may be restored, and no copy is pending in it then that no server goes on with.

use lazuli_model::blob::{BlobType, CopyState, CopyStatus};
use lazuli_model::error::{ErrorCode, Failure};
use uuid::Uuid;

use super::blob::Bytes;
use super::copy::{CopyMark, CopyOf};
use super::copy_destination::Destination;
use super::found::{Admitted, Present};
use super::key::Incarnation;
use super::new_content::NewContent;
use super::unit::{Changes as _, Unit};
use crate::blob::{BlobAddress, BlobProperties, Stamped};
use crate::fault::Answer;
use crate::store::key;
use crate::store::record::Record;
use crate::store::record::blob::BlobRecord;
use crate::store::record::copy_job::{CopiedTo, CopyJob, CopyPlan};
use crate::store::record::existing::Existing;

/// After so long a copy fails, as in the service.
const LONGEST_SECONDS: i64 = 14 * 24 * 3600;
/// What the blob of a copy says whose container was deleted.
const CONTAINER_DELETED: &str = "409 ContainerBeingDeleted \"The container of the destination was deleted.\"";
const SHARE_DELETED: &str = "409 ShareBeingDeleted \"The share of the destination was deleted.\"";
const TOO_LONG: &str = "500 OperationCancelled \"Copy did not end in two weeks.\"";

/// A copy under way, in one of its tries.
#[derive(Clone, Debug)]
pub struct Pending(pub(super) CopyJob);

impl Pending {
    pub fn account(&self) -> &str {
        &self.0.account
    }

    pub fn id(&self) -> Uuid {
        self.0.id
    }

    pub fn tries(&self) -> u32 {
        self.0.tries
    }

    /// How it is begun again, if it can be.
    pub fn plan(&self) -> Option<&CopyPlan> {
        self.0.plan.as_ref()
    }
}

/// A copy that is to begin.
pub struct NewCopy<'a> {
    pub at: &'a BlobAddress,
    pub kind: BlobType,
    pub copy: &'a CopyOf,
    pub total: u64,
    pub server: Incarnation,
    pub plan: Option<CopyPlan>,
}

impl Admitted<Existing> {
    /// Makes the name an empty blob of this type that a copy is writing.
    pub async fn begin_copy(
        self,
        new: NewCopy<'_>,
        properties: &BlobProperties,
    ) -> Answer<(Stamped, Pending)> {
        let NewCopy { at, kind, copy, total, server, plan } = new;
        let now = self.unit.now();
        let job = CopyJob {
            id: copy.id,
            account: self.unit.account().to_owned(),
            to: CopiedTo::Blob {
                container: at.container.clone(),
                generation: self.place.generation,
                blob: at.blob.clone(),
            },
            server: Some(server),
            tries: 1,
            began: now,
            due: now,
            plan,
        };
        let state = copy.pending(total);
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
    /// Notes how far a copy has come. False when this try of it is no longer wanted.
    pub async fn note_progress(&mut self, Pending(job): &Pending, copied: u64) -> Answer<bool> {
        let Some(mut to) = self.destination_of_try(job).await? else { return Ok(false) };
        if self.is_too_long(job) {
            self.end_in_vain(job, to, failed(TOO_LONG)).await?;
            return Ok(false);
        }
        if let Some(copy) = to.copy_mut()
            && copy.copied != copied
        {
            copy.copied = copied;
            to.write(self).await?;
        }
        Ok(true)
    }

    /// The bytes are there. False when they are no longer wanted.
    pub async fn complete_copy(
        &mut self,
        Pending(job): &Pending,
        new: &NewContent,
        mark: &CopyMark,
    ) -> Answer<bool> {
        let Some(mut to) = self.destination_of_try(job).await? else { return Ok(false) };
        to.fill(self, new, mark).await?;
        let written = self
            .end(job, to, |copy| {
                (copy.status, copy.copied) = (CopyStatus::Success, copy.total);
            })
            .await?;
        written.raise(self);
        Ok(true)
    }

    /// The blob or file stays, without content.
    pub async fn fail_copy(&mut self, Pending(job): &Pending, why: &str) -> Answer<()> {
        if let Some(to) = self.destination_of_try(job).await? {
            self.end_in_vain(job, to, failed(why)).await?;
        }
        Ok(())
    }

    pub(super) fn is_too_long(&self, job: &CopyJob) -> bool {
        job.began.plus_seconds(LONGEST_SECONDS) < self.now()
    }

    /// The same for one whose bytes did not come.
    pub(super) async fn end_in_vain(
        &mut self,
        job: &CopyJob,
        mut to: Destination,
        how: impl FnOnce(&mut CopyState),
    ) -> Answer<()> {
        to.empty(self.now());
        self.end(job, to, how).await.map(drop)
    }

    async fn end(
        &mut self,
        job: &CopyJob,
        mut to: Destination,
        how: impl FnOnce(&mut CopyState),
    ) -> Answer<Destination> {
        let at = to.touch(self.now());
        if let Some(copy) = to.copy_mut() {
            copy.completed = Some(at);
            how(copy);
        }
        to.write(self).await?;
        self.delete(key::copy_job(job.id));
        Ok(to)
    }

    /// What this try is still writing. None once another try writes it, and once the copy was aborted or ended or its
    /// container deleted, with which it ends.
    async fn destination_of_try(&mut self, job: &CopyJob) -> Answer<Option<Destination>> {
        match self.copy_job(job.id).await? {
            Some(row) if row.is_try(job) => {}
            _ => return Ok(None),
        }
        self.destination_or_end(job).await
    }

    /// What a copy is writing, or the end of the job. What stands in a container or share that is soft deleted, or that was
    /// restored under another name, says so.
    pub(super) async fn destination_or_end(&mut self, job: &CopyJob) -> Answer<Option<Destination>> {
        let found = self.destination_of(job).await?;
        if found.is_none() {
            let why = match job.to {
                CopiedTo::Blob { .. } => CONTAINER_DELETED,
                CopiedTo::File { .. } => SHARE_DELETED,
            };
            match self.pending_in(job).await? {
                Some(to) => self.end_in_vain(job, to, failed(why)).await?,
                None => self.delete(key::copy_job(job.id)),
            }
        }
        Ok(found)
    }

    pub(super) async fn copy_job(&self, id: Uuid) -> Answer<Option<CopyJob>> {
        let found = self.reader().get(key::copy_job(id)).await?;
        Ok(found.map(|entry| CopyJob::decode(&entry.value)).transpose()?)
    }
}

pub(super) fn failed(why: &str) -> impl FnOnce(&mut CopyState) {
    |copy: &mut CopyState| (copy.status, copy.description) = (CopyStatus::Failed, Some(why.to_owned()))
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
