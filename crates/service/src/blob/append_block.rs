//! Append Block: bytes behind the last ones of an append blob, all of them or none.

use lazuli_model::admission::Preconditions;
use lazuli_model::blob::CustomerKey;
use lazuli_model::error::{ErrorCode, Failure};
use lazuli_model::operation::{Judged, Source, Writes};
use lazuli_model::version::Feature;

use super::{BlobAddress, Digests};
use crate::fault::Answer;
use crate::store::upload::upload;
use crate::store::{AppendedBlock, Appending, NewBlock, NewContent};
use crate::{Body, Context, Services};

pub struct AppendBlock {
    pub at: BlobAddress,
    pub preconditions: Preconditions,
    pub digests: Digests,
    pub body: Body,
    /// The largest block that the request's version allows.
    pub limit: u64,
    pub customer_key: Option<CustomerKey>,
}

#[derive(Clone, Copy, Debug)]
pub struct Appended {
    pub block: AppendedBlock,
    pub md5: Option<[u8; 16]>,
    pub crc64: u64,
}

impl AppendBlock {
    /// `op` is the operation that brings the bytes, of which Append Block is one.
    pub async fn execute(
        self,
        services: &Services,
        context: &Context,
        op: impl Judged<Mode = Writes>,
    ) -> Answer<Appended> {
        let Self { at, mut preconditions, digests, body, limit, customer_key } = self;
        let early = !body.is_small();
        if early {
            preconditions.added_length = body.length.unwrap_or(0);
            services.judge_early(context, &at, op, &preconditions).await?;
        }
        // Before there was a CRC-64, the answer was the MD5; of bytes from a source it still is.
        let is_fetched = op.policy().source != Source::None;
        let with_md5 = digests.md5.is_some() || is_fetched || !context.version.has(Feature::Crc64);
        let sealing = services.sealing(context, &at.container, customer_key.as_ref()).await?;
        let uploaded = upload(services, body, limit, with_md5, &sealing).await?;
        if uploaded.length == 0 {
            return Err(Failure::new(ErrorCode::InvalidInput).cause("a block without bytes").into());
        }
        preconditions.added_length = uploaded.length;
        // Wrong bytes are refused after whatever the conditions refuse.
        let intact = digests.verify(&uploaded);
        if early {
            intact.clone()?;
        }
        let (md5, crc64) = (uploaded.md5, uploaded.crc64);
        let content = NewContent::of_block(services, uploaded).await?;
        let (context, op) = (context.clone(), Appending::by(op));
        let block = NewBlock { context, op, preconditions, customer_key, intact, content };
        Ok(Appended { block: services.append(at, block).await?, md5, crc64 })
    }
}
