//! Copies within one engine: the source found and judged, its content shared by one more record. No byte moves.

use lazuli_model::admission::{Subject as _, admit_source};
use lazuli_model::blob::{BlobType, CopyState, CopyStatus};
use lazuli_model::error::{ErrorCode, Failure};
use lazuli_model::operation::{Judged, Mode, Source};
use lazuli_model::time::Timestamp;
use uuid::Uuid;

use super::blob::{BlobPlace, Bytes};
use super::found::Admitted;
use super::new_content::NewContent;
use super::unit::Unit;
use crate::blob::{BlobProperties, OwnSource, Stamped};
use crate::fault::Answer;
use crate::store::record::blob::BlobRecord;
use crate::store::record::content::Shape;
use crate::store::record::existing::Existing;

/// Which copy wrote a blob.
#[derive(Clone, Debug)]
pub struct CopyOf {
    pub id: Uuid,
    /// As reads show it.
    pub source: String,
}

impl CopyOf {
    /// A copy that has begun.
    pub(super) fn pending(&self, total: u64) -> CopyState {
        CopyState {
            id: self.id,
            source: self.source.clone(),
            status: CopyStatus::Pending,
            copied: 0,
            total,
            completed: None,
            description: None,
            destination_snapshot: None,
        }
    }

    /// A copy that has ended well.
    pub(super) fn done(&self, total: u64, at: Timestamp) -> CopyState {
        let pending = self.pending(total);
        CopyState { status: CopyStatus::Success, copied: total, completed: Some(at), ..pending }
    }
}

/// What a copy leaves on its blob beside the content.
#[derive(Clone, Debug, Default)]
pub struct CopyMark {
    /// None: the blob does not tell that it is a copy.
    pub copy: Option<CopyOf>,
    /// The blob counts as created by the copy, also where there was one.
    pub creates: bool,
    /// Of a page blob: that of its source.
    pub sequence_number: u64,
    /// Of an append blob: it is sealed.
    pub seals: bool,
    /// Of an append blob whose bytes are copied: how many blocks they came in.
    pub blocks: Option<u32>,
}

/// A source, and where it stands.
pub struct SourceBlob {
    pub(super) place: BlobPlace,
    pub(super) record: BlobRecord,
}

impl std::ops::Deref for SourceBlob {
    type Target = BlobRecord;

    fn deref(&self) -> &BlobRecord {
        &self.record
    }
}

impl CopyMark {
    /// What the type of the blob takes along.
    pub(super) fn describe(&self, record: &mut BlobRecord) {
        match record.kind {
            BlobType::Page => record.sequence_number = self.sequence_number,
            BlobType::Append => {
                record.sealed = self.seals;
                if let (Shape::Manifest { blocks, .. }, Some(came)) = (&mut record.content.shape, self.blocks)
                {
                    *blocks = came.max(1);
                }
            }
            BlobType::Block => {}
        }
    }

    /// Of a copy that is done with the commit.
    pub(super) fn leave(&self, record: &mut BlobRecord) {
        if self.creates {
            record.created = record.last_modified;
        }
        self.describe(record);
        if let Some(copy) = &self.copy {
            let done = copy.done(record.length(), record.last_modified);
            record.extras_mut().copy = Some(done);
        }
    }
}

impl<M: Mode> Unit<M> {
    /// The source of an operation of this policy, if it is the one that the request means. In a unit that writes it is a
    /// check of the commit.
    pub async fn copy_source<P: Judged>(&self, from: &OwnSource, policy: P) -> Answer<SourceBlob> {
        let policy = policy.policy();
        // The service looks at a source of the same account itself; any other it reads as a client would.
        let is_looked_at = policy.source == Source::Looked && *from.account == *self.account();
        let absent = |code: ErrorCode| match is_looked_at {
            true => Failure::new(code),
            false => Failure::new(ErrorCode::CannotVerifyCopySource)
                .with_status(code.status())
                .with_message(code.message()),
        };
        let container = self.find_container_in(&from.account, &from.at.container).await?;
        let generation = container.ok_or_else(|| absent(ErrorCode::ContainerNotFound))?.generation;
        let mut place = BlobPlace { state: from.state, ..BlobPlace::base(generation, from.at.blob.clone()) };
        let record = self.resolve(&mut place).await?.ok_or_else(|| absent(ErrorCode::BlobNotFound))?;
        admit_source(policy, &from.preconditions, &record.target(), self.now())?;
        Ok(SourceBlob { place, record })
    }
}

impl Admitted<Existing> {
    /// Gives the name what another blob has, which is of the same type. `keeps_blocks`: the block list of a block blob too.
    pub async fn share(
        self,
        source: &SourceBlob,
        keeps_blocks: bool,
        properties: &BlobProperties,
        mark: &CopyMark,
    ) -> Answer<Stamped> {
        self.unit.check_sealed(&self.place, &source.encryption())?;
        let leave = |record: &mut BlobRecord| mark.leave(record);
        let old = match self.record() {
            Some(Existing::Blob(old)) => Some(&**old),
            _ => self.place.expired.as_deref(),
        };
        let is_itself = self.place.key() == source.place.key();
        let (made, took_over) = match source.kind {
            BlobType::Page if !is_itself => (self.unit.clone().layer_on(source).await?, None),
            BlobType::Append if !is_itself => self.unit.clone().list_on(source, old).await?,
            _ => {
                let mut content = source.content.clone();
                if let Shape::Manifest { named, .. } = &mut content.shape {
                    *named &= keeps_blocks;
                }
                return self.replace_by(source.kind, properties, Bytes::Shared(&content), leave).await;
            }
        };
        self.replace_by(source.kind, properties, Bytes::Made { content: &made, took_over }, leave).await
    }

    /// Gives the name bytes that were copied, as a blob of this type.
    pub async fn fill(
        mut self,
        kind: BlobType,
        new: &NewContent,
        properties: &BlobProperties,
        mark: &CopyMark,
    ) -> Answer<Stamped> {
        self.unit.check_sealed(&self.place, new.encryption())?;
        let leave = |record: &mut BlobRecord| mark.leave(record);
        let made = new.publish_as(kind, &mut self.unit).await?;
        let bytes = Bytes::Made { content: &made, took_over: None };
        self.replace_by(kind, properties, bytes, leave).await
    }

    pub(super) async fn replace_by(
        self,
        kind: BlobType,
        properties: &BlobProperties,
        bytes: Bytes<'_>,
        leave: impl FnOnce(&mut BlobRecord),
    ) -> Answer<Stamped> {
        Ok(self.replace_with(kind, properties, bytes, |record, _| leave(record)).await?.0)
    }
}
