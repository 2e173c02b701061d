//! What the sweeper does with layers: it takes those apart that nothing holds, and moves what a layer that only its child
//! holds still shows into the child.

use lazuli_engine::{Plan, Reader, Scan};

use super::interval::{Interval, behind};
use super::write::Ledger;
use crate::fault::{Answer, Fault};
use crate::store::key::{self, ContentId};
use crate::store::record::Record;
use crate::store::record::content::Content;
use crate::store::upkeep::Work;
use crate::store::upkeep::budget::has_room;
use crate::store::upkeep::contents::Item;
use crate::store::upkeep::manifests::only_child;
use crate::store::{self, content};

/// Intervals of one commit, and about so many bytes of them.
const INTERVALS: usize = 200;
const BYTES: usize = 200_000;
/// Parts that one interval is moved in at a time.
const GAPS: usize = 1_000;

/// Gives back a layer that nothing holds, then its hold on the parent.
pub async fn dismantle(work: &Work, item: &Item) -> Answer<()> {
    loop {
        let more = work
            .run(|reader| async move {
                let mut plan = Plan::new(false);
                if !item.stands(&reader).await? {
                    return Ok(plan);
                }
                let now = store::now(&reader);
                let scan = Scan { limit: INTERVALS, max_bytes: BYTES, ..Scan::of(key::intervals(item.id)) };
                let page = reader.scan(scan).await?;
                if page.items.is_empty() {
                    if let Some(parent) = parent(&reader, item.id).await? {
                        content::drop_holder(&reader, &mut plan, &parent).await?;
                        plan.delete_without_trace(key::parent(item.id));
                        plan.delete_without_trace(key::child(parent.id, item.id));
                    }
                    plan.delete_without_trace(key::dead_content(item.id));
                    return Ok(plan);
                }
                let mut ledger = Ledger::default();
                for (key, entry) in page.items {
                    // Read as a check: each interval is given back once.
                    if reader.get(key.clone()).await?.is_some() {
                        ledger.drop(&Interval::decode(&key, Some(&entry.value))?.data);
                    }
                    plan.delete_without_trace(key);
                }
                // No download reads the layer any more, or the sweeper would have left it alone.
                ledger.settle(&reader, &mut plan, &[], now).await?;
                plan.output = true;
                Ok::<_, Fault>(plan)
            })
            .await?;
        if !more {
            return Ok(());
        }
    }
}

/// If its child alone holds this layer: moves what the child lets show through into the child, and takes the layer out
/// of the line when nothing is left of it.
pub async fn absorb(work: &Work, item: &Item) -> Answer<()> {
    loop {
        let more = work
            .run(|reader| async move {
                let mut plan = Plan::new(false);
                if !item.stands(&reader).await? {
                    return Ok(plan);
                }
                let Some(child) = only_child(&reader, item.id).await? else {
                    // With another holder there is nothing to do now: when that one leaves, there will be an item again.
                    plan.delete_without_trace(key::dead_content(item.id));
                    return Ok(plan);
                };
                let scan = Scan { limit: INTERVALS, max_bytes: BYTES, ..Scan::of(key::intervals(item.id)) };
                let page = reader.scan(scan).await?;
                let below = parent(&reader, item.id).await?;
                if page.items.is_empty() {
                    if let Some(below) = &below {
                        // The guard of its children: a check of each commit that changes them.
                        reader.get(key::holders(below.id)).await?;
                    }
                    unlink(&mut plan, item.id, child, below);
                    return Ok(plan);
                }
                let mut ledger = Ledger::default();
                for (key, entry) in page.items {
                    if !has_room(&plan) {
                        break;
                    }
                    if reader.get(key.clone()).await?.is_none() {
                        continue;
                    }
                    let interval = Interval::decode(&key, Some(&entry.value))?;
                    plan.delete_without_trace(key);
                    ledger.drop(&interval.data);
                    let (gaps, reached) = gaps(&reader, child, &interval).await?;
                    for (start, end) in gaps {
                        let part = interval.within(start, end);
                        // Zeros hide nothing where there is nothing below.
                        if part.is_data() || below.is_some() {
                            ledger.keep(&part.data);
                            plan.put(part.key(child), part.value());
                        }
                    }
                    if reached < interval.end {
                        let rest = interval.within(reached, interval.end);
                        ledger.keep(&rest.data);
                        plan.put(rest.key(item.id), rest.value());
                    }
                }
                // A write into the child reads this key, and so it and this commit do not overlook each other.
                let own = reader.get(key::parent(child)).await?.ok_or_else(gone)?;
                plan.put(key::parent(child), own.value);
                reader.check_range(key::intervals(child), key::parent(child)).await?;
                ledger.settle(&reader, &mut plan, &[item.id, child], store::now(&reader)).await?;
                plan.output = true;
                Ok::<_, Fault>(plan)
            })
            .await?;
        if !more {
            return Ok(());
        }
    }
}

/// The parts of an interval that a layer does not cover, up to so many of them, and the offset that was reached.
async fn gaps(reader: &Reader, layer: ContentId, interval: &Interval) -> Answer<(Vec<(u64, u64)>, u64)> {
    let mut gaps = Vec::new();
    let mut at = interval.start;
    let mut after = None;
    'read: loop {
        let scan = Scan { after, limit: 256, keys_only: true, ..Scan::of(behind(layer, interval.start)) };
        let page = reader.scan(scan).await?;
        for (key, _) in &page.items {
            let over = Interval::decode(key, None)?;
            if over.start >= interval.end {
                break 'read;
            }
            if gaps.len() >= GAPS {
                return Ok((gaps, at));
            }
            if over.start > at {
                gaps.push((at, over.start));
            }
            at = at.max(over.end);
        }
        after = page.items.last().map(|(key, _)| key.clone());
        if !page.more {
            break;
        }
    }
    if at < interval.end {
        gaps.push((at, interval.end));
    }
    Ok((gaps, interval.end))
}

/// The child takes the empty layer's place.
fn unlink(plan: &mut Plan<bool>, layer: ContentId, child: ContentId, below: Option<Content>) {
    plan.delete_without_trace(key::dead_content(layer));
    plan.delete_without_trace(key::child(layer, child));
    match below {
        Some(below) => {
            plan.put(key::parent(child), below.encode());
            plan.put(key::child(below.id, child), lazuli_engine::Value::new());
            plan.delete_without_trace(key::child(below.id, layer));
            plan.delete_without_trace(key::parent(layer));
        }
        None => plan.delete_without_trace(key::parent(child)),
    }
}

async fn parent(reader: &Reader, layer: ContentId) -> Answer<Option<Content>> {
    Ok(match reader.get(key::parent(layer)).await? {
        Some(entry) => Some(Content::decode(&entry.value)?),
        None => None,
    })
}

fn gone() -> Fault {
    lazuli_model::error::ErrorCode::InternalError.into()
}
