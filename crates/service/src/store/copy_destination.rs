//! What a copy under way is writing: a blob, or a file.

use lazuli_model::blob::CopyState;
use lazuli_model::encryption::Encryption;
use lazuli_model::operation::Mode;
use lazuli_model::time::Timestamp;

use super::blob::BlobPlace;
use super::content;
use super::copy::CopyMark;
use super::new_content::NewContent;
use super::share::FileDestination;
use super::unit::Unit;
use crate::fault::Answer;
use crate::store::key;
use crate::store::record::blob::BlobRecord;
use crate::store::record::copy_job::{CopiedTo, CopyJob};

pub(super) enum Destination {
    Blob(BlobPlace, Box<BlobRecord>),
    File(Box<FileDestination>),
}

impl Destination {
    pub fn copy_mut(&mut self) -> Option<&mut CopyState> {
        match self {
            Self::Blob(_, record) => record.extras_mut().copy.as_mut(),
            Self::File(file) => file.copy_mut(),
        }
    }

    pub fn encryption(&self) -> Encryption {
        match self {
            Self::Blob(_, record) => record.encryption(),
            Self::File(_) => Encryption::Service,
        }
    }

    /// Puts bytes in place of what there is, to be written.
    pub async fn fill(&mut self, unit: &mut Unit, new: &NewContent, mark: &CopyMark) -> Answer<()> {
        self.encryption().admits(new.encryption())?;
        match self {
            Self::Blob(_, record) => {
                let made = new.publish_as(record.kind, unit).await?;
                let empty = std::mem::replace(&mut record.content, made);
                let reader = unit.reader().clone();
                content::drop_holder(&reader, unit, &empty).await?;
                mark.describe(record);
            }
            Self::File(file) => file.fill(unit, new).await?,
        }
        Ok(())
    }

    /// What a copy leaves that has not ended well. A blob has no content before that.
    pub fn empty(&mut self, now: Timestamp) {
        match self {
            Self::Blob(..) => {}
            Self::File(file) => file.empty(now),
        }
    }

    /// A new ETag; tells when.
    pub fn touch(&mut self, now: Timestamp) -> Timestamp {
        match self {
            Self::Blob(_, record) => {
                record.touch(now);
                record.last_modified
            }
            Self::File(file) => file.touch(now),
        }
    }

    pub async fn write(&mut self, unit: &mut Unit) -> Answer<()> {
        match self {
            Self::Blob(place, record) => {
                place.write(unit, record);
                Ok(())
            }
            Self::File(file) => file.write(unit).await,
        }
    }

    /// Events tell of blobs.
    pub fn raise(&self, unit: &mut Unit) {
        if let Self::Blob(place, record) = self {
            unit.raise_created(place, record);
        }
    }
}

impl<M: Mode> Unit<M> {
    /// What the copy is still writing: None once it was aborted or ended, or its container or share deleted.
    pub(super) async fn destination_of(&self, job: &CopyJob) -> Answer<Option<Destination>> {
        let is_there = match &job.to {
            CopiedTo::Blob { container, generation, .. } => {
                let container = self.find_container_in(&job.account, container).await?;
                container.is_some_and(|container| container.generation == *generation)
            }
            CopiedTo::File { share, generation, .. } => {
                self.has_share(&job.account, share, *generation).await?
            }
        };
        if is_there { self.pending_in(job).await } else { Ok(None) }
    }

    /// The same, whether or not its container is there: None only where that is gone for good. What deletes it for good says so
    /// in its commit, which this one then loses to.
    pub(super) async fn pending_in(&self, job: &CopyJob) -> Answer<Option<Destination>> {
        match &job.to {
            CopiedTo::Blob { container, generation, blob } => {
                if self.reader().get(key::dead_generation(*generation)).await?.is_some() {
                    return Ok(None);
                }
                let base = BlobPlace::base(*generation, blob.clone());
                let mut place = BlobPlace { container: container.clone(), ..base };
                let record = self.find_at(&mut place).await?;
                let is_own =
                    |record: &BlobRecord| record.pending_copy().is_some_and(|copy| copy.id == job.id);
                Ok(record.filter(is_own).map(|record| Destination::Blob(place, Box::new(record))))
            }
            CopiedTo::File { share, generation, node } => {
                let found = self.copied_file(&job.account, share, *generation, *node, job.id).await?;
                Ok(found.map(|file| Destination::File(Box::new(file))))
            }
        }
    }
}
