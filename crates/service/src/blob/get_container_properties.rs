//! Get Container Properties, Get Container Metadata, Get Container ACL: one read of the record.

use lazuli_model::admission::Preconditions;
use lazuli_model::operation::Judged;
use lazuli_model::time::Timestamp;

use crate::fault::Answer;
use crate::store::ContainerRecord;
use crate::{Context, Services};

#[derive(Clone, Debug)]
pub struct GetContainerProperties {
    pub container: String,
    pub preconditions: Preconditions,
}

impl GetContainerProperties {
    /// The container, and the moment at which its lease is to be judged.
    pub async fn execute(
        self,
        services: &Services,
        context: &Context,
        op: impl Judged,
    ) -> Answer<(ContainerRecord, Timestamp)> {
        let input = &self;
        services
            .read(context, |view| async move {
                let found = view.container(&input.container).await?;
                Ok((found.admit(op, &input.preconditions)?.into_record()?, view.now()))
            })
            .await
    }
}
