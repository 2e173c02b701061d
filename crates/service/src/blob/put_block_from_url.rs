//! Put Block From URL: a block whose bytes come from a source, or from a part of one.

use lazuli_model::admission::Preconditions;
use lazuli_model::blob::CustomerKey;
use lazuli_model::error::{ErrorCode, Failure};
use lazuli_model::operation::policy;
use lazuli_model::range::ByteRange;

use super::copy_source::{CopySource, OwnSource};
use super::put_block::{BlockStored, PutBlock};
use super::write::refuse_archived;
use super::{BlobAddress, Digests};
use crate::download::Download;
use crate::fault::Answer;
use crate::{Body, Context, Services};

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
        let body = match source {
            CopySource::Own(own) => {
                source_bytes(services, context, &own, range, policy::PutBlockFromUrl).await?
            }
            CopySource::Foreign(foreign) => foreign.body,
        };
        let block = PutBlock { at, preconditions, block_id, digests, body, limit, customer_key };
        block.execute_as(services, context, policy::PutBlockFromUrl).await
    }
}

/// The bytes of a source of this server, for an operation that copies a part of it: Append Block From URL and Put Page
/// From URL read theirs here too, once they are built.
pub(super) async fn source_bytes(
    services: &Services,
    context: &Context,
    own: &OwnSource,
    range: Option<ByteRange>,
    op: impl lazuli_model::operation::Judged,
) -> Answer<Body> {
    let active = services.readers().enter();
    let view = services.view(context).await?;
    let source = view.copy_source(own, op).await?;
    refuse_archived(&source)?;
    view.check_readable(&own.account, &source, own.customer_key.as_ref())?;
    let length = source.length();
    let range = match range {
        None => 0..length,
        Some(range) => range.resolve(length).map_err(|failure| {
            let status = failure.status();
            Failure::new(ErrorCode::CannotVerifyCopySource)
                .with_status(status)
                .with_message(failure.code.message())
        })?,
    };
    let key = own.customer_key.as_ref();
    Ok(Download::open(services, active, &view, &source.content, range, key).await?.into_body())
}
