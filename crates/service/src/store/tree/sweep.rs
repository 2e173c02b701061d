//! What the sweeper does for trees: directories that were taken away with what stands in them, and what only snapshots
//! showed that are gone. Each commit reads what it deletes as checks, and is bounded; to be stopped anywhere is harmless.

use lazuli_engine::{Key, Plan, Scan};

use super::{Entry, NodeId, key};
use crate::fault::{Answer, Fault};
use crate::store::content;
use crate::store::key::Generation;
use crate::store::record::Record as _;
use crate::store::record::place::GoneSnapshot;
use crate::store::upkeep::Work;
use crate::store::upkeep::budget::has_room_with;

/// Deletes some of what stands in a dead directory; the directories in it become dead ones. True while there is more.
pub async fn sweep_directory<E: Entry>(work: &Work, node: NodeId) -> Answer<bool> {
    work.run(|reader| async move {
        let mark = key::dead(E::SPACE, node);
        if reader.get(mark.clone()).await?.is_none() {
            return Ok(Plan::new(false));
        }
        let page = reader.scan(Scan::of(key::entries(E::SPACE, node, ""))).await?;
        let mut plan = Plan::new(page.more);
        let mut contents = Vec::new();
        for (at, _) in page.items {
            if !has_room_with(&plan, contents.len()) {
                plan.output = true;
                break;
            }
            let Some(entry) = reader.get(at.clone()).await? else { continue };
            let entry = E::from_value(&entry.value)?;
            if entry.holds_entries() {
                plan.put(key::dead(E::SPACE, entry.node()), lazuli_engine::Value::new());
            }
            contents.extend(entry.content().cloned());
            if let Some(tag) = E::SPACE.place {
                plan.delete_without_trace(key::place(tag, entry.node()));
            }
            if let Some(tag) = E::SPACE.depth.filter(|_| entry.is_directory()) {
                plan.delete_without_trace(key::depth(tag, entry.node()));
            }
            plan.delete_without_trace(at);
        }
        content::drop_holders(&reader, &mut plan, &contents).await?;
        if !plan.output {
            plan.delete_without_trace(mark);
        }
        Ok::<_, Fault>(plan)
    })
    .await
}

/// Deletes some of what was kept for a snapshot that is gone, and that no other snapshot shows. `mark` is the key that
/// says so. True while there is more.
pub async fn sweep_moment<E: Entry>(
    work: &Work,
    generation: Generation,
    moment: u64,
    mark: &Key,
) -> Answer<bool> {
    work.run(|reader| async move {
        let Some(gone) = reader.get(mark.clone()).await? else { return Ok(Plan::new(false)) };
        let reached = GoneSnapshot::decode(&gone.value)?.reached;
        let scan = Scan { keys_only: true, ..Scan::of(key::snapshots(E::SPACE, generation)) };
        let page = reader.scan(scan).await?;
        let living: Vec<u64> = page.items.iter().filter_map(|(key, _)| key::moment_of(key)).collect();
        let mut range = key::kept_from(E::SPACE, generation, moment);
        if let Some(next) = living.iter().find(|living| **living > moment) {
            // What a later snapshot ends is looked at when that one goes.
            range.end = Some(key::kept_from(E::SPACE, generation, *next).start);
        }
        let after = (!reached.is_empty()).then(|| Key::from(reached));
        let page = reader.scan(Scan { after, keys_only: true, ..Scan::of(range) }).await?;
        let mut plan = Plan::new(page.more);
        let (mut contents, mut last) = (Vec::new(), None);
        for (at, _) in page.items {
            if !has_room_with(&plan, contents.len()) {
                plan.output = true;
                break;
            }
            last = Some(at.clone());
            let Some((held, slot)) = key::kept_of(&at) else { continue };
            let earlier = key::earlier(E::SPACE, &slot, held);
            let Some(kept) = reader.get(earlier.clone()).await? else { continue };
            let kept = E::from_value(&kept.value)?;
            if living.iter().any(|living| kept.since() < *living && *living <= held) {
                continue;
            }
            contents.extend(kept.content().cloned());
            forget_place(&mut plan, &kept, held);
            plan.delete_without_trace(earlier);
            plan.delete_without_trace(at);
        }
        content::drop_holders(&reader, &mut plan, &contents).await?;
        match (plan.output, last) {
            (true, Some(last)) => plan.put(mark.clone(), GoneSnapshot { reached: last.to_vec() }.encode()),
            (true, None) => {}
            (false, _) => plan.delete_without_trace(mark.clone()),
        }
        Ok::<_, Fault>(plan)
    })
    .await
}

/// Deletes some of what was kept for the snapshots of a tree that is gone. True while there is more.
pub async fn sweep_earlier<E: Entry>(work: &Work, generation: Generation) -> Answer<bool> {
    work.run(|reader| async move {
        let scan = Scan { keys_only: true, ..Scan::of(key::kept_from(E::SPACE, generation, 0)) };
        let page = reader.scan(scan).await?;
        let mut plan = Plan::new(page.more);
        let mut contents = Vec::new();
        for (at, _) in page.items {
            if !has_room_with(&plan, contents.len()) {
                plan.output = true;
                break;
            }
            if let Some((held, slot)) = key::kept_of(&at) {
                let earlier = key::earlier(E::SPACE, &slot, held);
                if let Some(kept) = reader.get(earlier.clone()).await? {
                    let kept = E::from_value(&kept.value)?;
                    contents.extend(kept.content().cloned());
                    forget_place(&mut plan, &kept, held);
                    plan.delete_without_trace(earlier);
                }
            }
            plan.delete_without_trace(at);
        }
        content::drop_holders(&reader, &mut plan, &contents).await?;
        Ok::<_, Fault>(plan)
    })
    .await
}

/// Of a node only one entry is kept for a snapshot that says where the node stood.
fn forget_place<E: Entry>(plan: &mut Plan<bool>, kept: &E, held: u64) {
    if let Some(tag) = E::SPACE.earlier_place.filter(|_| kept.is_placed()) {
        plan.delete_without_trace(key::earlier_place(tag, kept.node(), held));
    }
}
