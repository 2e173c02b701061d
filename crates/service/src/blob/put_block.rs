//! Put Block: bytes that are not part of the blob until a block list names them.

use lazuli_model::admission::Preconditions;
use lazuli_model::operation::{Judged, Writes, policy};
use lazuli_model::version::Feature;

use super::write::check_encryption_of_blocks;
use super::{BlobAddress, Digests};
use crate::fault::Answer;
use crate::store::Existing;
use crate::store::NewContent;
use crate::upload::upload;
use crate::{Body, Context, Services};
use lazuli_model::blob::CustomerKey;

pub struct PutBlock {
    pub at: BlobAddress,
    pub preconditions: Preconditions,
    /// Decoded, 1 to 64 bytes.
    pub block_id: Vec<u8>,
    pub digests: Digests,
    pub body: Body,
    pub limit: u64,
    pub customer_key: Option<CustomerKey>,
}

#[derive(Clone, Debug)]
pub struct BlockStored {
    pub md5: Option<[u8; 16]>,
    pub crc64: u64,
}

impl PutBlock {
    pub async fn execute(self, services: &Services, context: &Context) -> Answer<BlockStored> {
        self.execute_as(services, context, policy::PutBlock).await
    }

    /// `op` is Put Block, or Put Block From URL with the bytes of its source.
    pub(super) async fn execute_as(
        self,
        services: &Services,
        context: &Context,
        op: impl Judged<Mode = Writes>,
    ) -> Answer<BlockStored> {
        let Self { at, preconditions, block_id, digests, body, limit, customer_key } = self;
        services.judge_early(context, &at, op, &preconditions).await?;
        // Before there was a CRC-64, the answer was the MD5.
        let with_md5 = digests.md5.is_some() || !context.version.has(Feature::Crc64);
        let sealing = services.sealing(context, &at.container, customer_key.as_ref()).await?;
        let uploaded = upload(services, body, limit, with_md5, &sealing).await?;
        digests.verify(&uploaded)?;
        let mut content = NewContent::of_block(services, uploaded).await?;
        let (at, given, block_id, new) = (&at, &preconditions, &block_id, &content);
        let added = services
            .commit(context, |unit| async move {
                let admitted = unit.blob(at).await?.admit(op, given)?;
                if let Some(Existing::Blob(blob)) = admitted.record() {
                    check_encryption_of_blocks(blob, new.encryption())?;
                }
                admitted.stage_block(services, block_id, new).await
            })
            .await?;
        content.settle();
        if let Some(stage) = added {
            stage.count_one(services);
        }
        let uploaded = content.uploaded();
        Ok(BlockStored { md5: uploaded.md5, crc64: uploaded.crc64 })
    }
}
