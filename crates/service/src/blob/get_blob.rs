//! Get Blob, Get Blob Properties, Get Blob Metadata: a blob or a snapshot, read at one moment.

use lazuli_engine::Reader;
use lazuli_model::admission::{Kind, Preconditions, admit};
use lazuli_model::blob::CustomerKey;
use lazuli_model::error::ErrorCode;
use lazuli_model::operation::Row;
use lazuli_model::range::ByteRange;
use lazuli_model::time::Timestamp;

use super::BlobAddress;
use super::write::{check_customer_key, refuse_archived};
use crate::download::Download;
use crate::fault::Answer;
use crate::record::blob::BlobRecord;
use crate::{Context, Services, store};

#[derive(Clone, Debug)]
pub struct GetBlobProperties {
    pub at: BlobAddress,
    pub snapshot: Option<Timestamp>,
    pub preconditions: Preconditions,
    pub customer_key: Option<CustomerKey>,
}

/// A blob as found, and the moment at which its lease is to be judged.
#[derive(Clone, Debug)]
pub struct Found {
    pub blob: BlobRecord,
    pub now: Timestamp,
    pub snapshot: Option<Timestamp>,
}

impl GetBlobProperties {
    pub async fn execute(self, services: &Services, context: &Context, row: &'static Row) -> Answer<Found> {
        let reader = services.engine().reader().await?;
        self.find(&reader, context, row).await
    }

    async fn find(&self, reader: &Reader, context: &Context, row: &'static Row) -> Answer<Found> {
        let now = store::now(reader);
        let container = store::container(reader, &context.account, &self.at.container).await?;
        let generation = container.generation;
        let found = match self.snapshot {
            Some(snapshot) => store::find_snapshot(reader, generation, &self.at.blob, snapshot).await?,
            None => store::find_blob(reader, generation, &self.at.blob).await?,
        };
        let admitted = admit(&row.policy, &self.preconditions, Kind::Blob, found, now, context.version)?;
        let blob = admitted.into_record().ok_or(ErrorCode::BlobNotFound)?;
        check_customer_key(&blob, self.customer_key.as_ref())?;
        Ok(Found { blob, now, snapshot: self.snapshot })
    }
}

#[derive(Clone, Debug)]
pub struct GetBlob {
    pub properties: GetBlobProperties,
    pub range: Option<ByteRange>,
}

impl GetBlob {
    /// The blob, the bytes asked for and where they lie; a range that begins behind the end is refused with
    /// the length known to the caller through [`Found`].
    pub async fn execute(
        self,
        services: &Services,
        context: &Context,
        row: &'static Row,
    ) -> Answer<(Found, Result<(std::ops::Range<u64>, Download), lazuli_model::Failure>)> {
        let active = services.readers().enter();
        let reader = services.engine().reader().await?;
        let found = self.properties.find(&reader, context, row).await?;
        refuse_archived(&found.blob)?;
        let length = found.blob.length();
        let range = match self.range.map_or(Ok(0..length), |range| range.resolve(length)) {
            Ok(range) => range,
            Err(failure) => return Ok((found, Err(failure))),
        };
        let content = &found.blob.content;
        let download = Download::open(services, active, &reader, content, range.clone()).await?;
        Ok((found, Ok((range, download))))
    }
}
