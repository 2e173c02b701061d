//! Put Page From URL: a range of pages gets the bytes of a part of a source.

use std::ops::Range;

use lazuli_model::admission::Preconditions;
use lazuli_model::blob::CustomerKey;
use lazuli_model::operation::policy;
use lazuli_model::range::ByteRange;

use super::copy_source::CopySource;
use super::put_page::{PageStored, PutPage};
use super::source_bytes::source_bytes;
use super::{BlobAddress, Digests};
use crate::fault::Answer;
use crate::{Context, Services};

pub struct PutPageFromUrl {
    pub at: BlobAddress,
    pub preconditions: Preconditions,
    /// Of whole pages.
    pub range: Range<u64>,
    pub source: CopySource,
    /// As long as the range of pages.
    pub source_range: Range<u64>,
    pub digests: Digests,
    pub customer_key: Option<CustomerKey>,
}

impl PutPageFromUrl {
    pub async fn execute(self, services: &Services, context: &Context) -> Answer<PageStored> {
        let Self { at, preconditions, range, source, source_range, digests, customer_key } = self;
        let op = policy::PutPageFromUrl;
        let view = services.view(context).await?;
        view.blob(&at).await?.judge(op, &preconditions)?;
        drop(view);
        let wanted = ByteRange { start: source_range.start, end: Some(source_range.end.saturating_sub(1)) };
        let body = source_bytes(services, context, source, Some(wanted), op).await?;
        let pages = PutPage { at, preconditions, range, digests, body, customer_key };
        pages.execute_as(services, context, op).await
    }
}
