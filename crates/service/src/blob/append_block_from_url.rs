//! Append Block From URL: a block behind the last one whose bytes come from a source, or from a part of one.

use lazuli_model::admission::Preconditions;
use lazuli_model::blob::CustomerKey;
use lazuli_model::operation::policy;
use lazuli_model::range::ByteRange;

use super::append_block::{AppendBlock, Appended};
use super::copy_source::CopySource;
use super::source_bytes::source_bytes;
use super::{BlobAddress, Digests};
use crate::fault::Answer;
use crate::{Context, Services};

pub struct AppendBlockFromUrl {
    pub at: BlobAddress,
    pub preconditions: Preconditions,
    pub source: CopySource,
    /// Of a source of this server; one from elsewhere sends only what is wanted.
    pub range: Option<ByteRange>,
    pub digests: Digests,
    pub limit: u64,
    pub customer_key: Option<CustomerKey>,
}

impl AppendBlockFromUrl {
    pub async fn execute(self, services: &Services, context: &Context) -> Answer<Appended> {
        let Self { at, preconditions, source, range, digests, limit, customer_key } = self;
        let view = services.view(context).await?;
        view.blob(&at).await?.judge(policy::AppendBlockFromUrl, &preconditions)?;
        drop(view);
        let body = source_bytes(services, context, source, range, policy::AppendBlockFromUrl).await?;
        let block = AppendBlock { at, preconditions, digests, body, limit, customer_key };
        block.execute(services, context, policy::AppendBlockFromUrl).await
    }
}
