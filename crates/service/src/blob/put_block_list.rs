//! Put Block List: the blob becomes the blocks listed, in one atomic step.
//!
//! Blocks change hands without being copied: the new manifest lists them. When it lists committed blocks again, it
//! holds the old content as its parent, and the sweeper sorts out what belongs to which (decision 0023).

use std::sync::Arc;

use lazuli_model::admission::Preconditions;
use lazuli_model::error::ErrorCode;
use lazuli_model::operation::policy;

use super::put_blob::BlobProperties;
use super::write::{check_encryption_of_blocks, refuse_archived};
use super::{BlobAddress, Stamped};
use crate::fault::Answer;
use crate::store::Existing;
use crate::store::{BlockListPlan, Bytes};
use crate::{Context, Services};
use lazuli_model::blob::BlobType;

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

/// So often a list is planned anew when what it was planned on has changed.
const TRIES: usize = 20;
/// A list with more mentions than this is a long one.
const LONG: usize = 500;

impl PutBlockList {
    pub async fn execute(self, services: &Services, context: &Context) -> Answer<Stamped> {
        let Self { at, preconditions, properties, blocks } = self;
        services.judge_early(context, &at, policy::PutBlockList, &preconditions).await?;
        // Some long lists at a time: each takes megabytes while it is put together.
        let is_long = blocks.len() > LONG;
        let blocks = Arc::new(blocks);
        let _turn = if is_long { Some(services.long_lists().take().await?) } else { None };
        // A long manifest is written ahead from what one snapshot shows; the commit checks that nothing moved.
        for _ in 0..TRIES {
            let mut planned = {
                let (over, context) = (services.clone(), context.clone());
                let (at, blocks) = (at.clone(), Arc::clone(&blocks));
                let making = async move {
                    let view = over.view(&context).await?;
                    BlockListPlan::make(&view, &at, &blocks).await
                };
                match is_long {
                    true => services.aside(making).await??,
                    false => making.await?,
                }
            };
            planned.write_ahead(services).await?;
            let (at, given, properties, list) = (&at, &preconditions, &properties, &planned);
            let done = services
                .commit(context, |unit| async move {
                    let admitted = unit.blob(at).await?.admit(policy::PutBlockList, given)?;
                    let encryption = admitted.encryption(properties.customer_key.as_ref())?;
                    if let Some(Existing::Blob(old)) = admitted.record() {
                        refuse_archived(old)?;
                        // Blocks that stay in the blob stay encrypted as they are.
                        match list.reuses() {
                            true => old.encryption().admits(&encryption)?,
                            false => check_encryption_of_blocks(old, &encryption)?,
                        }
                    }
                    // Blocks are committed with what they were staged with (recorded).
                    if let Some(staged) = admitted.staged_with().await? {
                        staged.admits(&encryption)?;
                    }
                    if !admitted.still_holds(list).await? {
                        return Ok(None);
                    }
                    admitted.replace(BlobType::Block, properties, Bytes::Listed(list)).await.map(Some)
                })
                .await?;
            if let Some(stamped) = done {
                planned.settle();
                return Ok(stamped);
            }
        }
        Err(ErrorCode::ServerBusy.into())
    }
}

#[cfg(test)]
mod tests {
    use lazuli_engine::{Engine, Host};
    use lazuli_model::metadata::Metadata;
    use lazuli_model::version::ApiVersion;

    use super::*;
    use crate::ServiceOptions;
    use crate::blob::CreateContainer;
    use lazuli_model::access::PublicAccess;

    #[tokio::test(start_paused = true)]
    async fn a_long_list_is_refused_when_its_turn_does_not_come() {
        let services = Services::new(Engine::memory(Host::test()), ServiceOptions::default());
        let context = Context::of_owner("acct", ApiVersion::NEWEST);
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
