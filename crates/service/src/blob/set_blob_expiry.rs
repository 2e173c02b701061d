//! Set Blob Expiry: when the blob is to be gone. The ETag stays, as the policy says (recorded).

use lazuli_model::admission::Preconditions;
use lazuli_model::blob::Expiry;
use lazuli_model::error::ErrorCode;
use lazuli_model::operation::policy;

use super::{BlobAddress, Stamped};
use crate::fault::Answer;
use crate::{Context, Services};

#[derive(Clone, Debug)]
pub struct SetBlobExpiry {
    pub at: BlobAddress,
    pub preconditions: Preconditions,
    pub expiry: Expiry,
}

impl SetBlobExpiry {
    /// A moment that is over is refused: the blob would be gone with the answer.
    pub async fn execute(self, services: &Services, context: &Context) -> Answer<Stamped> {
        let input = &self;
        services
            .commit(context, |unit| async move {
                let now = unit.now();
                let found = unit.blob(&input.at).await?;
                let blob = found.admit(policy::SetBlobExpiry, &input.preconditions)?.committed()?;
                let moment = input.expiry.moment(blob.created, now);
                if moment.is_some_and(|moment| moment <= now) {
                    return Err(ErrorCode::InvalidHeaderValue.into());
                }
                Ok(blob.put_expiry(moment).await?.stamped())
            })
            .await
    }
}
