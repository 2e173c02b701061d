//! Dead containers, queues and tables: everything filed under their generation.

use lazuli_engine::{Key, KeyRange, Plan, Scan};

use super::Work;
use super::budget::{has_room, has_room_with};
use crate::fault::{Answer, Fault};
use crate::store::content;
use crate::store::key::{self, Generation};
use crate::store::record::Record;
use crate::store::record::blob::BlobRecord;
use crate::store::record::block::StagedRecord;
use crate::store::record::content::DeadContent;
use crate::store::record::entity::StoredEntity;

const GENERATIONS_IN_PASS: usize = 100;
/// Of one container: a large one does not keep the sweeper from everything else.
const COMMITS_IN_PASS: usize = 20;

pub async fn list(work: &Work, after: Option<Key>) -> Answer<Vec<Generation>> {
    let reader = work.engine().reader().await?;
    let scan =
        Scan { after, limit: GENERATIONS_IN_PASS, keys_only: true, ..Scan::of(key::dead_generations()) };
    let page = reader.scan(scan).await?;
    Ok(page.items.iter().filter_map(|(key, _)| key::generation_of(key)).collect())
}

/// Deletes some of what is filed under the generation; true when nothing is left.
pub async fn sweep(work: &Work, generation: Generation) -> Answer<bool> {
    for _ in 0..COMMITS_IN_PASS {
        let more = sweep_blobs(work, key::blobs(generation)).await?
            || sweep_blobs(work, key::snapshots(generation)).await?
            || sweep_blobs(work, key::versions(generation)).await?
            || sweep_blobs(work, key::deleted_blobs(generation)).await?
            || sweep_marks(work, key::dead_snapshots_in(generation)).await?
            || sweep_marks(work, key::kept_snapshots_in(generation)).await?
            || sweep_marks(work, key::all_tagged(generation)).await?
            || sweep_marks(work, key::all_held(generation)).await?
            || sweep_staged(work, generation).await?
            || sweep_entities(work, generation).await?
            || crate::store::queue::expiry::sweep(work, generation).await?;
        if !more {
            finish(work, generation).await?;
            return Ok(true);
        }
    }
    Ok(false)
}

async fn finish(work: &Work, generation: Generation) -> Answer<()> {
    work.run(|_| async move {
        let mut plan = Plan::new(());
        plan.delete(key::dead_generation(generation));
        Ok::<_, Fault>(plan)
    })
    .await
}

async fn sweep_blobs(work: &Work, prefix: Key) -> Answer<bool> {
    let prefix = &prefix;
    work.run(|reader| async move {
        let page = reader.scan(Scan::of(KeyRange::prefix(prefix.clone()))).await?;
        let mut plan = Plan::new(page.more);
        let mut contents = Vec::new();
        for (key, _) in page.items {
            if !has_room_with(&plan, contents.len()) {
                plan.output = true;
                break;
            }
            let Some(entry) = reader.get(key.clone()).await? else { continue };
            contents.push(BlobRecord::decode(&entry.value)?.content);
            plan.delete_without_trace(key);
        }
        content::drop_holders(&reader, &mut plan, &contents).await?;
        Ok::<_, Fault>(plan)
    })
    .await
}

/// Keys that stand for nothing but themselves.
async fn sweep_marks(work: &Work, prefix: Key) -> Answer<bool> {
    let prefix = &prefix;
    work.run(|reader| async move {
        let range = KeyRange::prefix(prefix.clone());
        let scan = Scan { max_bytes: 300_000, keys_only: true, ..Scan::of(range) };
        let page = reader.scan(scan).await?;
        let mut plan = Plan::new(page.more);
        page.items.into_iter().for_each(|(key, _)| plan.delete_without_trace(key));
        Ok::<_, Fault>(plan)
    })
    .await
}

async fn sweep_staged(work: &Work, generation: Generation) -> Answer<bool> {
    work.run(|reader| async move {
        let page = reader.scan(Scan::of(KeyRange::prefix(key::all_staged(generation)))).await?;
        let mut plan = Plan::new(page.more);
        for (key, _) in page.items {
            if !has_room(&plan) {
                plan.output = true;
                break;
            }
            let Some(entry) = reader.get(key.clone()).await? else { continue };
            let staged = StagedRecord::decode(&entry.value)?;
            plan.delete_without_trace(key);
            plan.put(key::dead_content(staged.stage), DeadContent::Stage.encode());
        }
        Ok::<_, Fault>(plan)
    })
    .await
}

async fn sweep_entities(work: &Work, generation: Generation) -> Answer<bool> {
    work.run(|reader| async move {
        let page = reader.scan(Scan::of(KeyRange::prefix(key::entities(generation)))).await?;
        let mut plan = Plan::new(page.more);
        for (key, _) in page.items {
            if !has_room(&plan) {
                plan.output = true;
                break;
            }
            let Some(entry) = reader.get(key.clone()).await? else { continue };
            crate::store::table::release(&mut plan, &StoredEntity::decode(&entry.value)?.body);
            plan.delete_without_trace(key);
        }
        Ok::<_, Fault>(plan)
    })
    .await
}
