//! Set Blob Properties: the content headers, all six replaced when any is given; length and sequence number of a page
//! blob.

use lazuli_model::admission::Preconditions;
use lazuli_model::blob::{BlobType, ContentHeaders};
use lazuli_model::error::{ErrorCode, Failure};
use lazuli_model::operation::policy;

use super::BlobAddress;
use crate::fault::Answer;
use crate::store::BlobRecord;
use crate::{Context, Services};

#[derive(Clone, Debug)]
pub struct SetBlobProperties {
    pub at: BlobAddress,
    pub preconditions: Preconditions,
    /// None keeps them.
    pub headers: Option<ContentHeaders>,
    /// Of a page blob.
    pub length: Option<u64>,
    pub sequence_number: Option<SequenceNumberAction>,
}

/// `x-ms-sequence-number-action`
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SequenceNumberAction {
    /// The larger one of the two.
    Max(u64),
    Update(u64),
    Increment,
}

/// The largest sequence number.
pub const SEQUENCE_NUMBER_MAX: u64 = i64::MAX as u64;

impl SequenceNumberAction {
    fn apply(self, now: u64) -> Result<u64, Failure> {
        match self {
            Self::Max(given) => Ok(now.max(given)),
            Self::Update(given) => Ok(given),
            Self::Increment if now >= SEQUENCE_NUMBER_MAX => {
                Err(ErrorCode::SequenceNumberIncrementTooLarge.into())
            }
            Self::Increment => Ok(now + 1),
        }
    }
}

impl SetBlobProperties {
    /// The blob as it is then.
    pub async fn execute(mut self, services: &Services, context: &Context) -> Answer<BlobRecord> {
        self.preconditions.resizes = self.length.is_some();
        let input = &self;
        services
            .commit(context, |unit| async move {
                let found = unit.blob(&input.at).await?;
                let mut blob = found.admit(policy::SetBlobProperties, &input.preconditions)?.committed()?;
                let of_pages = input.length.is_some() || input.sequence_number.is_some();
                if of_pages && blob.kind != BlobType::Page {
                    return Err(ErrorCode::InvalidBlobType.into());
                }
                if let Some(headers) = &input.headers {
                    blob.headers.clone_from(headers);
                }
                if let Some(action) = input.sequence_number {
                    blob.sequence_number = action.apply(blob.sequence_number)?;
                }
                if let Some(length) = input.length {
                    blob.resize(length).await?;
                }
                Ok(blob.put())
            })
            .await
    }
}
