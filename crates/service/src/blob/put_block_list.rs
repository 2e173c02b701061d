//! Put Block List: the blob becomes the blocks listed, in one atomic step.
//!
//! Blocks change hands without being copied: the new manifest lists them. When it lists committed blocks again, it
//! holds the old content as its parent, and the sweeper sorts out what belongs to which (decision 0023).

use std::sync::Arc;

use lazuli_engine::Plan;
use lazuli_model::Op;
use lazuli_model::admission::{Kind, Preconditions, admit};
use lazuli_model::blob::BlobType;
use lazuli_model::error::ErrorCode;

use super::block_list_plan::BlockListPlan;
use super::put_blob::{BlobProperties, replace};
use super::write::{admit_early, check_key_of_blocks, refuse_archived};
use super::{BlobAddress, Place, Stamped};
use crate::fault::{Answer, Fault};
use crate::record::existing::Existing;
use crate::{Context, Services, key, store};

/// Where a listed block is to be looked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BlockSource {
    Committed,
    Uncommitted,
    Latest,
}

pub struct PutBlockList {
    pub at: BlobAddress,
    pub preconditions: Preconditions,
    pub properties: BlobProperties,
    /// Decoded ids in order.
    pub blocks: Vec<(BlockSource, Vec<u8>)>,
}

/// A list with more mentions than this is a long one.
const LONG: usize = 500;

impl PutBlockList {
    pub async fn execute(self, services: &Services, context: &Context) -> Answer<Stamped> {
        let Self { at, preconditions, properties, blocks } = self;
        let row = Op::PutBlockList.row();
        admit_early(services, context, row, &at, &preconditions).await?;
        // Some long lists at a time: each takes megabytes while it is put together.
        let is_long = blocks.len() > LONG;
        let blocks = Arc::new(blocks);
        let _turn = if is_long { Some(services.long_lists().take().await?) } else { None };
        // A long manifest is written ahead from what one snapshot shows; the commit checks that nothing moved.
        let mut tries = 0;
        loop {
            let mut planned = {
                let (engine, context) = (services.engine().clone(), context.clone());
                let (at, blocks) = (at.clone(), Arc::clone(&blocks));
                let making = async move {
                    let reader = engine.reader().await?;
                    BlockListPlan::make(&reader, &context, &at, &blocks).await
                };
                match is_long {
                    true => services.aside(making).await??,
                    false => making.await?,
                }
            };
            planned.manifest.write_ahead(services).await?;
            let (at, given, properties, list) = (&at, &preconditions, &properties, &planned);
            let done = services
                .engine()
                .run(services.deadline(), |reader| async move {
                    let now = store::now(&reader);
                    let place = Place::find(&reader, &context.account, at).await?;
                    let generation = place.generation();
                    let staged = store::find_staged(&reader, generation, &at.blob).await?;
                    let admitted =
                        admit(&row.policy, given, Kind::Blob, place.existing, now, context.version)?;
                    let (existing, permit) = admitted.into_parts();
                    if let Some(Existing::Blob(old)) = &existing {
                        refuse_archived(old)?;
                        check_key_of_blocks(old, properties.customer_key.as_ref())?;
                    }
                    if !list.still_holds(&reader, generation, &at.blob).await? {
                        return Ok(Plan::new(None));
                    }
                    let body = list.manifest.content.clone();
                    let record = replace(existing.as_ref(), BlobType::Block, body, properties, now);
                    let stamped = Stamped { etag: record.etag, last_modified: record.last_modified };
                    let mut plan = Plan::new(Some(stamped));
                    if staged.is_some() {
                        plan.delete(key::staged(generation, &at.blob));
                    }
                    list.settle(&reader, &mut plan).await?;
                    list.manifest.publish(&reader, &mut plan).await?;
                    store::put_blob(&mut plan, generation, &at.blob, record, permit);
                    Ok::<_, Fault>(plan)
                })
                .await?;
            match done {
                Some(stamped) => {
                    planned.manifest.settle();
                    return Ok(stamped);
                }
                None if tries == 20 => return Err(ErrorCode::ServerBusy.into()),
                None => tries += 1,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use lazuli_engine::{Engine, Host};
    use lazuli_model::access::PublicAccess;
    use lazuli_model::metadata::Metadata;
    use lazuli_model::version::ApiVersion;

    use super::*;
    use crate::ServiceOptions;
    use crate::blob::CreateContainer;

    #[tokio::test(start_paused = true)]
    async fn a_long_list_is_refused_when_its_turn_does_not_come() {
        let services = Services::new(Engine::memory(Host::test()), ServiceOptions::default());
        let context = Context { account: "acct".into(), version: ApiVersion::NEWEST };
        let container = CreateContainer {
            container: "c".into(),
            metadata: Metadata::default(),
            public_access: PublicAccess::Private,
            default_encryption_scope: None,
            deny_encryption_scope_override: false,
        };
        container.execute(&services, &context).await.expect("a container");
        let mut held = Vec::new();
        for _ in 0..services.long_lists().free() {
            held.push(services.long_lists().take().await.expect("a turn"));
        }
        for (count, code) in [(LONG + 1, ErrorCode::ServerBusy), (LONG, ErrorCode::InvalidBlockList)] {
            let input = PutBlockList {
                at: BlobAddress { container: "c".into(), blob: "b".into() },
                preconditions: Preconditions::default(),
                properties: BlobProperties::default(),
                blocks: vec![(BlockSource::Latest, b"missing".to_vec()); count],
            };
            let refused = input.execute(&services, &context).await.expect_err("refused");
            assert_eq!(refused.0.code, code, "{count} blocks");
        }
    }
}
