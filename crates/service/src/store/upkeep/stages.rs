//! Uncommitted blocks that were given up, or taken over by a manifest while their keys still stand.

use std::collections::HashSet;

use lazuli_engine::{Key, Plan, Scan};

use super::Work;
use super::budget::has_room;
use super::contents::release_block;
use crate::fault::{Answer, Fault};
use crate::store::key::{self, ContentId};
use crate::store::manifest;
use crate::store::record::Record;
use crate::store::record::block::BlockRecord;

const ADOPTED_IN_PASS: usize = 100;

/// Some of the manifests whose blocks are still filed under a stage.
pub async fn list_adopted(work: &Work, after: Option<Key>) -> Answer<Vec<ContentId>> {
    let reader = work.engine().reader().await?;
    let scan = Scan { after, limit: ADOPTED_IN_PASS, keys_only: true, ..Scan::of(key::all_adopted()) };
    let page = reader.scan(scan).await?;
    Ok(page.items.iter().filter_map(|(key, _)| key::content_of(key)).collect())
}

/// Takes the blocks of an adopted stage out of it; those that the manifest does not list are given back.
pub async fn adopt(work: &Work, manifest: ContentId) -> Answer<()> {
    let reader = work.engine().reader().await?;
    let Some(entry) = reader.get_untracked(key::adopted(manifest)).await? else { return Ok(()) };
    if let Some(stage) = key::content_from(&entry.value) {
        let listed = manifest::block_ids(&reader, manifest).await?;
        drop(reader);
        delete(work, stage, Some(&listed)).await?;
    }
    work.run(|_| async move {
        let mut plan = Plan::new(());
        plan.delete(key::adopted(manifest));
        Ok::<_, Fault>(plan)
    })
    .await
}

/// Deletes the keys of a stage and gives back the blocks that are not listed.
pub async fn delete(work: &Work, stage: ContentId, listed: Option<&HashSet<ContentId>>) -> Answer<()> {
    while delete_some(work, stage, listed).await? {}
    Ok(())
}

async fn delete_some(work: &Work, stage: ContentId, listed: Option<&HashSet<ContentId>>) -> Answer<bool> {
    work.run(|reader| async move {
        let page = reader.scan(Scan { keys_only: true, ..Scan::of(key::blocks(stage)) }).await?;
        let mut plan = Plan::new(page.more);
        for (key, _) in page.items {
            if !has_room(&plan) {
                plan.output = true;
                break;
            }
            let Some(entry) = reader.get(key.clone()).await? else { continue };
            let block = BlockRecord::decode(&entry.value)?.content;
            if listed.is_none_or(|listed| !listed.contains(&block.id)) {
                release_block(&mut plan, &block);
            }
            plan.delete_without_trace(key);
        }
        Ok::<_, Fault>(plan)
    })
    .await
}
