//! Put Block From URL: a block whose bytes come from a source, or from a part of one.

use lazuli_model::admission::Preconditions;
use lazuli_model::blob::CustomerKey;
use lazuli_model::operation::policy;
use lazuli_model::range::ByteRange;

use super::copy_source::CopySource;
use super::put_block::{BlockStored, PutBlock};
use super::source_bytes::source_bytes;
use super::{BlobAddress, Digests};
use crate::fault::Answer;
use crate::{Context, Services};

pub struct PutBlockFromUrl {
    pub at: BlobAddress,
    pub preconditions: Preconditions,
    pub block_id: Vec<u8>,
    pub source: CopySource,
    /// Of a source of this server; one from elsewhere sends only what is wanted.
    pub range: Option<ByteRange>,
    pub digests: Digests,
    pub limit: u64,
    pub customer_key: Option<CustomerKey>,
}

impl PutBlockFromUrl {
    pub async fn execute(self, services: &Services, context: &Context) -> Answer<BlockStored> {
        let Self { at, preconditions, block_id, source, range, digests, limit, customer_key } = self;
        let view = services.view(context).await?;
        view.blob(&at).await?.judge(policy::PutBlockFromUrl, &preconditions)?;
        drop(view);
        let body = source_bytes(services, context, source, range, policy::PutBlockFromUrl).await?;
        let block = PutBlock { at, preconditions, block_id, digests, body, limit, customer_key };
        block.execute_as(services, context, policy::PutBlockFromUrl).await
    }
}
