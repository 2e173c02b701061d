//! Put Block: bytes that are not part of the blob until a block list names them.

use lazuli_engine::Plan;
use lazuli_model::Op;
use lazuli_model::admission::{Kind, Preconditions, admit};
use lazuli_model::blob::CustomerKey;
use lazuli_model::error::ErrorCode;
use lazuli_model::version::Feature;

use super::write::{admit_early, check_key_of_blocks};
use super::{BlobAddress, Digests, Place};
use crate::fault::{Answer, Fault};
use crate::key::ContentId;
use crate::manifest::Manifest;
use crate::record::Record;
use crate::record::block::{BlockRecord, StagedRecord};
use crate::record::content::PIECES_IN_BLOCK;
use crate::record::existing::Existing;
use crate::upload::upload;
use crate::{Body, Context, Services, content, key, store};

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
        let Self { at, preconditions, block_id, digests, body, limit, customer_key } = self;
        let row = Op::PutBlock.row();
        admit_early(services, context, row, &at, &preconditions).await?;
        // Before there was a CRC-64, the answer was the MD5.
        let with_md5 = digests.md5.is_some() || !context.version.has(Feature::Crc64);
        let uploaded = upload(services, body, limit, with_md5).await?;
        digests.verify(&uploaded)?;
        let now = services.now();
        let (fresh_stage, fresh) = (ContentId::fresh(now), ContentId::fresh(now));
        let mut manifest = Manifest::of_upload(&uploaded, fresh, PIECES_IN_BLOCK, now);
        if let Some(manifest) = &mut manifest {
            manifest.write_ahead(services).await?;
        }
        let content = manifest.as_ref().map_or_else(|| uploaded.content(fresh), |m| m.content.clone());

        let (at, given, block_id, uploaded) = (&at, &preconditions, &block_id, &uploaded);
        let (listed, content) = (&manifest, &content);
        let customer_key = &customer_key;
        let added = services
            .engine()
            .run(services.deadline(), |reader| async move {
                let now = store::now(&reader);
                let place = Place::find(&reader, &context.account, at).await?;
                let generation = place.generation();
                let staged = match &place.existing {
                    Some(Existing::Staged(staged)) => Some(staged.clone()),
                    _ => store::find_staged(&reader, generation, &at.blob).await?,
                };
                let admitted = admit(&row.policy, given, Kind::Blob, place.existing, now, context.version)?;
                if let Some(Existing::Blob(blob)) = admitted.record() {
                    check_key_of_blocks(blob, customer_key.as_ref())?;
                }
                let mut plan = Plan::new(None);
                let stage = match staged {
                    Some(staged) if usize::from(staged.id_length) != block_id.len() => {
                        return Err(ErrorCode::InvalidBlobOrBlock.into());
                    }
                    Some(staged) => staged.stage,
                    None => {
                        let id_length = u8::try_from(block_id.len()).unwrap_or(u8::MAX);
                        let record =
                            StagedRecord { stage: fresh_stage, id_length, created: now, lease: None };
                        store::put_staged(&mut plan, generation, &at.blob, &record);
                        fresh_stage
                    }
                };
                let block_key = key::block(stage, block_id);
                match reader.get(block_key.clone()).await? {
                    // No reader can need the bytes that are replaced: a list never named them.
                    Some(entry) => content::discard(&mut plan, &BlockRecord::decode(&entry.value)?.content),
                    None if services.stage_counts().is_full(&reader, stage).await? => {
                        return Err(ErrorCode::BlockCountExceedsLimit.into());
                    }
                    None => plan.output = Some(stage),
                }
                uploaded.publish(&mut plan);
                if let Some(manifest) = listed {
                    manifest.publish(&reader, &mut plan).await?;
                }
                plan.put(block_key, BlockRecord { content: content.clone(), staged_at: now }.encode());
                Ok::<_, Fault>(plan)
            })
            .await?;
        if let Some(manifest) = &mut manifest {
            manifest.settle();
        }
        if let Some(stage) = added {
            services.stage_counts().add(stage);
        }
        Ok(BlockStored { md5: uploaded.md5, crc64: uploaded.crc64 })
    }
}
