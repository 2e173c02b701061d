//! Get Blob, Get Blob Properties, Get Blob Metadata: a blob, a snapshot or a version, read at one moment.

use lazuli_model::admission::Preconditions;
use lazuli_model::operation::Judged;
use lazuli_model::range::ByteRange;
use lazuli_model::time::Timestamp;

use super::write::{check_customer_key, refuse_archived};
use super::{BlobAddress, BlobState};
use crate::download::{Download, Origin};
use crate::fault::Answer;
use crate::store::BlobRecord;
use crate::store::View;
use crate::{Context, Services};
use lazuli_model::blob::CustomerKey;

#[derive(Clone, Debug)]
pub struct GetBlobProperties {
    pub at: BlobAddress,
    pub state: BlobState,
    pub preconditions: Preconditions,
    pub customer_key: Option<CustomerKey>,
}

/// A blob as found, and the moment at which its lease is to be judged.
#[derive(Clone, Debug)]
pub struct Found {
    /// Boxed because it is handed on by many hands.
    pub blob: Box<BlobRecord>,
    pub now: Timestamp,
    /// As it was asked for.
    pub state: BlobState,
    /// It is what the name stands for.
    pub is_current: bool,
}

impl GetBlobProperties {
    pub async fn execute(self, services: &Services, context: &Context, op: impl Judged) -> Answer<Found> {
        let this = &self;
        services.read(context, |view| async move { this.find(&view, op).await }).await
    }

    async fn find(&self, view: &View, op: impl Judged) -> Answer<Found> {
        let found = view.committed_blob(&self.at, self.state).await?;
        let is_current = found.is_base();
        let blob = Box::new(found.admit(op, &self.preconditions)?.into_record()?);
        check_customer_key(&blob, self.customer_key.as_ref())?;
        Ok(Found { blob, now: view.now(), state: self.state, is_current })
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
        op: impl Judged,
    ) -> Answer<(Found, Result<(std::ops::Range<u64>, Download), lazuli_model::Failure>)> {
        let this = &self;
        let opened =
            services.read(context, |view| async move { this.open(services, &view, op).await }).await?;
        // Behind the reading, which this would otherwise disturb.
        if let (found, Ok(_)) = &opened {
            let GetBlobProperties { at, state, .. } = &self.properties;
            services.note_access(context, at, *state, &found.blob, found.now);
        }
        Ok(opened)
    }

    async fn open(
        &self,
        services: &Services,
        view: &View,
        op: impl Judged,
    ) -> Answer<(Found, Result<(std::ops::Range<u64>, Download), lazuli_model::Failure>)> {
        // Before anything is read: the sweeper leaves alone what this download may find.
        let active = services.readers().enter();
        let is_base = self.properties.state == BlobState::Base;
        if is_base {
            view.near_bytes(&self.properties.at).await?;
        }
        let found = self.properties.find(view, op).await?;
        refuse_archived(&found.blob)?;
        let length = found.blob.length();
        let range = match self.range.map_or(Ok(0..length), |range| range.resolve(length)) {
            Ok(range) => range,
            Err(failure) => return Ok((found, Err(failure))),
        };
        let key = self.properties.customer_key.as_ref();
        view.check_readable(view.account(), &found.blob, key)?;
        let content = &found.blob.content;
        let GetBlobProperties { at, state, .. } = &self.properties;
        let origin = Origin::Blob { account: view.account(), at, state: *state, etag: found.blob.etag };
        let download = Download::open(services, active, view, content, range.clone(), key, origin).await?;
        if is_base {
            view.learn_bytes(&self.properties.at, &found.blob);
        }
        Ok((found, Ok((range, download))))
    }
}
