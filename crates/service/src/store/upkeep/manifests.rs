//! Manifests that nothing holds, and parents that only their child holds (decision 0023).
//!
//! A block belongs to the oldest manifest of a line that lists it, and what a manifest lists tells its neighbours which
//! blocks are still wanted. So the list of a manifest that stands in a line stays whole until one commit takes it out of
//! the line; its segments are deleted after that. Only a manifest that nothing holds, which no other looks at any more,
//! is taken apart segment by segment.
//!
//! A sweep may stop anywhere and begin again. It then releases some chunks a second time, which the engine ignores: a
//! chunk's id is never used again.

use std::collections::{HashMap, HashSet};

use lazuli_engine::{Key, Plan, Reader, Scan};

use super::Work;
use super::budget::has_room;
use super::contents::{Item, drop_block, next_segment, release_block};
use super::stages;
use crate::fault::{Answer, Fault};
use crate::store::key::{self, ContentId};
use crate::store::record::Record;
use crate::store::record::content::{Content, DeadContent, Segment, Shape};
use crate::store::{content, manifest};

/// Gives back a manifest that nothing holds: the blocks that its parent does not list, then the hold on the parent.
pub async fn dismantle(work: &Work, item: &Item) -> Answer<()> {
    // Blocks that the manifest adopted are still filed under their stage: first they leave it.
    stages::adopt(work, item.id).await?;
    let reader = work.engine().reader().await?;
    let kept = match parent(&reader, item.id).await? {
        Some(parent) => manifest::block_ids(&reader, parent.id).await?,
        None => HashSet::new(),
    };
    let mut mentions = mentions(&reader, item.id, &kept).await?;
    drop(reader);
    loop {
        let some = next_segments(work, item.id, &mut mentions).await?;
        if some.is_empty() {
            break;
        }
        let some = &some;
        let deleted = work
            .run(|reader| async move {
                if !item.stands(&reader).await? {
                    return Ok(Plan::new(false));
                }
                let mut plan = Plan::new(true);
                for (segment_key, ended) in some {
                    if reader.get(segment_key.clone()).await?.is_none() {
                        return Ok(Plan::new(false));
                    }
                    for block in ended {
                        drop_block(&reader, &mut plan, block).await?;
                    }
                    plan.delete_without_trace(segment_key.clone());
                }
                Ok::<_, Fault>(plan)
            })
            .await?;
        if !deleted {
            return Ok(());
        }
    }
    work.run(|reader| async move {
        let mut plan = Plan::new(());
        if !item.stands(&reader).await? {
            return Ok(plan);
        }
        if let Some(parent) = parent(&reader, item.id).await? {
            content::drop_holder(&reader, &mut plan, &parent).await?;
            plan.delete_without_trace(key::parent(item.id));
            plan.delete_without_trace(key::child(parent.id, item.id));
        }
        plan.delete_without_trace(key::dead_content(item.id));
        Ok::<_, Fault>(plan)
    })
    .await
}

/// The first segments of a manifest, as many as one commit takes, each with the blocks that it mentions last.
async fn next_segments(
    work: &Work,
    id: ContentId,
    mentions: &mut HashMap<ContentId, u32>,
) -> Answer<Vec<(Key, Vec<Content>)>> {
    let reader = work.engine().reader().await?;
    let mut some = Vec::new();
    let mut after = None;
    let mut plan = Plan::new(());
    while has_room(&plan) {
        let Some((segment_key, segment)) = next_segment(&reader, id, after).await? else { break };
        let ended = last_mentions(&segment, mentions);
        ended.iter().for_each(|block| release_block(&mut plan, block));
        plan.delete_without_trace(segment_key.clone());
        after = Some(segment_key.clone());
        some.push((segment_key, ended));
    }
    Ok(some)
}

/// If one manifest alone holds this one, as its parent: gives back the blocks that neither that child nor the
/// grandparent lists, and then takes this manifest out of the line.
pub async fn absorb(work: &Work, item: &Item) -> Answer<()> {
    let reader = work.engine().reader().await?;
    if let Some(child) = only_child(&reader, item.id).await? {
        // It may take many commits; no snapshot is held meanwhile.
        drop(reader);
        stages::adopt(work, item.id).await?;
        let reader = work.engine().reader().await?;
        let mut kept = manifest::block_ids(&reader, child).await?;
        if let Some(grandparent) = parent(&reader, item.id).await? {
            kept.extend(manifest::block_ids(&reader, grandparent.id).await?);
        }
        drop(reader);
        if !release_others(work, item, child, kept).await? {
            return Ok(());
        }
    }
    work.run(|reader| async move {
        let mut plan = Plan::new(());
        if !item.stands(&reader).await? {
            return Ok(plan);
        }
        let Some(child) = only_child(&reader, item.id).await? else {
            // With another holder there is nothing to do now: when that one leaves, there will be an item again.
            plan.delete_without_trace(key::dead_content(item.id));
            return Ok(plan);
        };
        plan.put(key::dead_content(item.id), DeadContent::Segments.encode());
        plan.delete_without_trace(key::child(item.id, child));
        match parent(&reader, item.id).await? {
            Some(grandparent) => {
                // The guard of the grandparent's children: a check of each commit that changes them.
                reader.get(key::holders(grandparent.id)).await?;
                plan.put(key::parent(child), grandparent.encode());
                plan.put(key::child(grandparent.id, child), lazuli_engine::Value::new());
                plan.delete_without_trace(key::child(grandparent.id, item.id));
                plan.delete_without_trace(key::parent(item.id));
            }
            None => plan.delete_without_trace(key::parent(child)),
        }
        Ok::<_, Fault>(plan)
    })
    .await
}

/// Releases the blocks of a manifest that are not kept, a segment a commit, and leaves its list as it is. False when the
/// item, or the child, has changed meanwhile.
async fn release_others(
    work: &Work,
    item: &Item,
    child: ContentId,
    mut kept: HashSet<ContentId>,
) -> Answer<bool> {
    let mut after = None;
    loop {
        let reader = work.engine().reader().await?;
        let Some((segment_key, segment)) = next_segment(&reader, item.id, after).await? else {
            return Ok(true);
        };
        drop(reader);
        after = Some(segment_key);
        // A block that is mentioned again is released once.
        let listed = segment.blocks.into_iter().map(|block| block.content);
        let others: Vec<Content> = listed.filter(|content| kept.insert(content.id)).collect();
        let others = &others;
        let released = work
            .run(|reader| async move {
                if !item.stands(&reader).await? || only_child(&reader, item.id).await? != Some(child) {
                    return Ok(Plan::new(false));
                }
                let mut plan = Plan::new(true);
                others.iter().for_each(|block| release_block(&mut plan, block));
                Ok::<_, Fault>(plan)
            })
            .await?;
        if !released {
            return Ok(false);
        }
    }
}

/// How often each block that is not kept is mentioned.
async fn mentions(
    reader: &Reader,
    id: ContentId,
    kept: &HashSet<ContentId>,
) -> Answer<HashMap<ContentId, u32>> {
    let mut mentions = HashMap::new();
    manifest::each_block(reader, id, |block| {
        if block.content.shape != Shape::Empty && !kept.contains(&block.content.id) {
            *mentions.entry(block.content.id).or_default() += 1;
        }
    })
    .await?;
    Ok(mentions)
}

/// The blocks of a segment that no later one mentions and that are not kept.
fn last_mentions(segment: &Segment, mentions: &mut HashMap<ContentId, u32>) -> Vec<Content> {
    let mut ended = Vec::new();
    for block in &segment.blocks {
        let Some(left) = mentions.get_mut(&block.content.id) else { continue };
        *left -= 1;
        if *left == 0 {
            mentions.remove(&block.content.id);
            ended.push(block.content.clone());
        }
    }
    ended
}

async fn parent(reader: &Reader, id: ContentId) -> Answer<Option<Content>> {
    match reader.get(key::parent(id)).await? {
        Some(entry) => Ok(Some(Content::decode(&entry.value)?)),
        None => Ok(None),
    }
}

/// The manifest that has this one as its parent, when nothing else holds this one. Checks of the commit.
pub async fn only_child(reader: &Reader, id: ContentId) -> Answer<Option<ContentId>> {
    if reader.get(key::holders(id)).await?.is_some() {
        return Ok(None);
    }
    reader.check_range(key::children(id), key::holders(id)).await?;
    let page = reader.scan(Scan { limit: 2, keys_only: true, ..Scan::of(key::children(id)) }).await?;
    match &page.items[..] {
        [(key, _)] => Ok(key::child_of(key)),
        _ => Ok(None),
    }
}
