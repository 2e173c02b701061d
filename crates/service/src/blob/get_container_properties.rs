//! Get Container Properties, Get Container Metadata, Get Container ACL: one read of the record.

use lazuli_model::admission::{Kind, Preconditions, admit};
use lazuli_model::error::ErrorCode;
use lazuli_model::operation::Row;
use lazuli_model::time::Timestamp;

use crate::fault::Answer;
use crate::record::container::ContainerRecord;
use crate::{Context, Services, store};

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
        row: &Row,
    ) -> Answer<(ContainerRecord, Timestamp)> {
        let reader = services.engine().reader().await?;
        let now = store::now(&reader);
        let found = store::find_container(&reader, &context.account, &self.container).await?;
        let admitted = admit(&row.policy, &self.preconditions, Kind::Container, found, now, context.version)?;
        Ok((admitted.into_record().ok_or(ErrorCode::ContainerNotFound)?, now))
    }
}
