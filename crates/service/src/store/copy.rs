//! Copies within one engine: the source found and judged, its content shared by one more record. No byte moves.

use lazuli_model::admission::{Subject as _, admit_source};
use lazuli_model::blob::{BlobType, CopyState, CopyStatus};
use lazuli_model::error::{ErrorCode, Failure};
use lazuli_model::operation::{Judged, Mode, Source};
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

/// What a copy leaves on its blob beside the content.
#[derive(Clone, Debug, Default)]
pub struct CopyMark {
    /// None: the blob does not tell that it is a copy.
    pub copy: Option<CopyOf>,
    /// The blob counts as created by the copy, also where there was one.
    pub creates: bool,
}

impl CopyMark {
    /// Of a copy that is done with the commit.
    fn leave(&self, record: &mut BlobRecord) {
        if self.creates {
            record.created = record.last_modified;
        }
        if let Some(CopyOf { id, source }) = &self.copy {
            let (length, at) = (record.length(), record.last_modified);
            record.extras_mut().copy = Some(CopyState {
                id: *id,
                source: source.clone(),
                status: CopyStatus::Success,
                copied: length,
                total: length,
                completed: Some(at),
                description: None,
                destination_snapshot: None,
            });
        }
    }
}

impl<M: Mode> Unit<M> {
    /// The source of an operation of this policy, if it is the one that the request means. In a unit that writes it is a
    /// check of the commit.
    pub async fn copy_source<P: Judged>(&self, from: &OwnSource, policy: P) -> Answer<BlobRecord> {
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
        let blob = self.resolve(&mut place).await?.ok_or_else(|| absent(ErrorCode::BlobNotFound))?;
        admit_source(policy, &from.preconditions, &blob.target(), self.now())?;
        Ok(blob)
    }
}

impl Admitted<Existing> {
    /// Gives the name the content of another blob, which both hold from now on. `keeps_blocks`: its block list too.
    pub async fn share(
        self,
        source: &BlobRecord,
        keeps_blocks: bool,
        properties: &BlobProperties,
        mark: &CopyMark,
    ) -> Answer<Stamped> {
        let mut content = source.content.clone();
        if let Shape::Manifest { named, .. } = &mut content.shape {
            *named &= keeps_blocks;
        }
        let leave = |record: &mut BlobRecord| mark.leave(record);
        Ok(self.replace_with(BlobType::Block, properties, Bytes::Shared(&content), leave).await?.0)
    }

    /// Gives the name bytes that were copied.
    pub async fn fill(
        self,
        new: &NewContent,
        properties: &BlobProperties,
        mark: &CopyMark,
    ) -> Answer<Stamped> {
        let leave = |record: &mut BlobRecord| mark.leave(record);
        Ok(self.replace_with(BlobType::Block, properties, Bytes::Uploaded(new), leave).await?.0)
    }
}

impl BlobRecord {
    /// Whether other records may hold this content too. That of a block blob is never changed, only replaced; those of
    /// page and append blobs grow in place. Bytes that are encrypted with a key of the customer's stay with that blob.
    pub fn has_content_to_share(&self) -> bool {
        self.kind == BlobType::Block && self.customer_key.is_none()
    }
}
