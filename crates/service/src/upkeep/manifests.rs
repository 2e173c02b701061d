//! Manifests that nothing holds, and parents that only their child holds (decision 0023).
//!
//! A block belongs to the oldest manifest of a line that still lists it. When a segment is deleted, each of its blocks
//! either goes on with another manifest that lists it or is given back, in the commit that deletes the segment; so the
//! rule holds after every commit, and a sweep may stop anywhere.

use std::collections::{HashMap, HashSet};

use lazuli_engine::{Plan, Reader, Scan};

use super::contents::{Item, next_segment, release_block};
use super::stages;
use crate::fault::{Answer, Fault};
use crate::key::{self, ContentId};
use crate::record::Record;
use crate::record::content::{Content, Segment, Shape};
use crate::{Services, content, manifest};

/// Gives back a manifest that nothing holds: the blocks that its parent does not list, then the hold on the parent.
pub async fn dismantle(services: &Services, item: &Item) -> Answer<()> {
    // Blocks that the manifest adopted are still filed under their stage: first they leave it.
    stages::adopt(services, item.id).await?;
    let reader = services.engine().reader().await?;
    let kept = match parent(&reader, item.id).await? {
        Some(parent) => manifest::block_ids(&reader, parent.id).await?,
        None => HashSet::new(),
    };
    drop(reader);
    if !take_apart(services, item, |_| true, &kept).await? {
        return Ok(());
    }
    services
        .engine()
        .run(services.deadline(), |reader| async move {
            let mut plan = Plan::new(());
            if !item.stands(&reader).await? {
                return Ok(plan);
            }
            if let Some(parent) = parent(&reader, item.id).await? {
                content::drop_holder(&reader, &mut plan, &parent).await?;
                plan.delete(key::parent(item.id));
                plan.delete(key::child(parent.id, item.id));
            }
            plan.delete(key::dead_content(item.id));
            Ok::<_, Fault>(plan)
        })
        .await
}

/// If one manifest alone holds this one, as its parent: gives back the blocks that neither it nor the grandparent
/// lists, and puts the grandparent in the place of the parent.
pub async fn absorb(services: &Services, item: &Item) -> Answer<()> {
    let reader = services.engine().reader().await?;
    if let Some(child) = only_child(&reader, item.id).await? {
        stages::adopt(services, item.id).await?;
        let mut kept = manifest::block_ids(&reader, child).await?;
        if let Some(grandparent) = parent(&reader, item.id).await? {
            kept.extend(manifest::block_ids(&reader, grandparent.id).await?);
        }
        drop(reader);
        let holds = |found: Option<ContentId>| found == Some(child);
        if !take_apart(services, item, holds, &kept).await? {
            return Ok(());
        }
    }
    services
        .engine()
        .run(services.deadline(), |reader| async move {
            let mut plan = Plan::new(());
            if !item.stands(&reader).await? {
                return Ok(plan);
            }
            plan.delete(key::dead_content(item.id));
            // With another holder there is nothing to do now: when that one leaves, there will be an item again.
            let Some(child) = only_child(&reader, item.id).await? else { return Ok(plan) };
            plan.delete(key::child(item.id, child));
            match parent(&reader, item.id).await? {
                Some(grandparent) => {
                    plan.put(key::parent(child), grandparent.encode());
                    plan.put(key::child(grandparent.id, child), lazuli_engine::Value::new());
                    plan.delete(key::child(grandparent.id, item.id));
                    plan.delete(key::parent(item.id));
                }
                None => plan.delete(key::parent(child)),
            }
            Ok::<_, Fault>(plan)
        })
        .await
}

/// Deletes the segments of a manifest one by one. A block goes with the last segment that mentions it, unless it is
/// kept. False when the item, or what the commits depend on, has changed meanwhile.
async fn take_apart(
    services: &Services,
    item: &Item,
    still: impl Fn(Option<ContentId>) -> bool + Sync,
    kept: &HashSet<ContentId>,
) -> Answer<bool> {
    let mut mentions = mentions(services, item.id, kept).await?;
    let still = &still;
    loop {
        let reader = services.engine().reader().await?;
        let Some((segment_key, segment)) = next_segment(&reader, item.id, None).await? else {
            return Ok(true);
        };
        drop(reader);
        let ended = last_mentions(&segment, &mut mentions);
        let (segment_key, ended) = (&segment_key, &ended);
        let done = services
            .engine()
            .run(services.deadline(), |reader| async move {
                let mut plan = Plan::new(true);
                let child = only_child(&reader, item.id).await?;
                let stands = item.stands(&reader).await? && still(child);
                if !stands || reader.get(segment_key.clone()).await?.is_none() {
                    return Ok(Plan::new(false));
                }
                ended.iter().for_each(|block| release_block(&mut plan, block));
                plan.delete(segment_key.clone());
                Ok::<_, Fault>(plan)
            })
            .await?;
        if !done {
            return Ok(false);
        }
    }
}

/// How often each block that is not kept is mentioned.
async fn mentions(
    services: &Services,
    id: ContentId,
    kept: &HashSet<ContentId>,
) -> Answer<HashMap<ContentId, u32>> {
    let reader = services.engine().reader().await?;
    let list = Content { id, length: 0, shape: Shape::Manifest { blocks: 0, named: true } };
    let mut mentions = HashMap::new();
    manifest::each_block(&reader, &list, |block| {
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
async fn only_child(reader: &Reader, id: ContentId) -> Answer<Option<ContentId>> {
    if reader.get(key::holders(id)).await?.is_some() {
        return Ok(None);
    }
    reader.check_range(key::children(id));
    let page = reader.scan(Scan { limit: 2, keys_only: true, ..Scan::of(key::children(id)) }).await?;
    match &page.items[..] {
        [(key, _)] => Ok(key::child_of(key)),
        _ => Ok(None),
    }
}
