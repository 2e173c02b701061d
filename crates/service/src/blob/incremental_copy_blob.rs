//! Incremental Copy Blob: the next snapshot of a page blob, as a snapshot of the copy.

use lazuli_model::admission::Preconditions;
use lazuli_model::blob::{BlobType, CopyStatus};
use lazuli_model::error::ErrorCode;
use lazuli_model::operation::policy;

use super::copy_blob::Copied;
use super::copy_source::OwnSource;
use super::write::check_customer_key;
use super::{BlobAddress, BlobState};
use crate::fault::Answer;
use crate::store::CopyOf;
use crate::{Context, Services, fresh_uuid};

pub struct IncrementalCopyBlob {
    pub at: BlobAddress,
    pub preconditions: Preconditions,
    pub source: OwnSource,
    /// The source as reads of the copy show it.
    pub shown_source: String,
}

impl IncrementalCopyBlob {
    pub async fn execute(self, services: &Services, context: &Context) -> Answer<Copied> {
        if !matches!(self.source.state, BlobState::Snapshot(_)) {
            return Err(ErrorCode::IncrementalCopySourceMustBeSnapshot.into());
        }
        let copy = CopyOf { id: fresh_uuid(), source: self.shown_source.clone() };
        let (input, copy) = (&self, &copy);
        let stamped = services
            .commit(context, |unit| async move {
                let found = unit.blob(&input.at).await?;
                let admitted = found.admit(policy::IncrementalCopyBlob, &input.preconditions)?;
                let source = unit.copy_source(&input.source, policy::IncrementalCopyBlob).await?;
                if source.kind != BlobType::Page {
                    return Err(ErrorCode::InvalidSourceBlobType.into());
                }
                check_customer_key(&source, None)?;
                admitted.copy_snapshot(&source, copy).await
            })
            .await?;
        Ok(Copied { stamped, id: copy.id, status: CopyStatus::Success, crc64: None, md5: None })
    }
}
