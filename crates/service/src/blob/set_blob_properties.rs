//! Set Blob Properties: the content headers, all six replaced when any is given.

use lazuli_model::admission::Preconditions;
use lazuli_model::blob::ContentHeaders;
use lazuli_model::operation::Row;

use super::write::change_blob;
use super::{BlobAddress, Stamped};
use crate::fault::Answer;
use crate::{Context, Services};

#[derive(Clone, Debug)]
pub struct SetBlobProperties {
    pub at: BlobAddress,
    pub preconditions: Preconditions,
    pub headers: ContentHeaders,
}

impl SetBlobProperties {
    pub async fn execute(self, services: &Services, context: &Context, row: &'static Row) -> Answer<Stamped> {
        let record = change_blob(services, context, row, &self.at, &self.preconditions, |record, now| {
            record.headers.clone_from(&self.headers);
            record.touch(now);
            Ok(())
        })
        .await?;
        Ok(Stamped { etag: record.etag, last_modified: record.last_modified })
    }
}
