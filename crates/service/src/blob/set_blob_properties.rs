//! Set Blob Properties: the content headers, all six replaced when any is given.

use lazuli_model::admission::Preconditions;
use lazuli_model::operation::policy;

use super::{BlobAddress, Stamped};
use crate::fault::Answer;
use crate::{Context, Services};
use lazuli_model::blob::ContentHeaders;

#[derive(Clone, Debug)]
pub struct SetBlobProperties {
    pub at: BlobAddress,
    pub preconditions: Preconditions,
    pub headers: ContentHeaders,
}

impl SetBlobProperties {
    pub async fn execute(self, services: &Services, context: &Context) -> Answer<Stamped> {
        let input = &self;
        services
            .commit(context, |unit| async move {
                let found = unit.blob(&input.at).await?;
                let mut blob = found.admit(policy::SetBlobProperties, &input.preconditions)?.committed()?;
                blob.headers.clone_from(&input.headers);
                Ok(blob.put().stamped())
            })
            .await
    }
}
