//! Dead containers and queues: everything filed under their generation.

use lazuli_engine::{Key, KeyRange, Plan, Scan};

use crate::Services;
use crate::content;
use crate::fault::{Answer, Fault};
use crate::key::{self, Generation};
use crate::queue;
use crate::record::Record;
use crate::record::blob::BlobFields;
use crate::record::block::StagedRecord;
use crate::record::content::DeadContent;
use crate::record::entity::StoredEntity;

const BLOBS_IN_COMMIT: usize = 200;

pub async fn list(services: &Services) -> Answer<Vec<Generation>> {
    let reader = services.engine().reader().await?;
    let page = reader.scan(Scan { limit: 100, keys_only: true, ..Scan::of(key::dead_generations()) }).await?;
    Ok(page.items.iter().filter_map(|(key, _)| key::generation_of(key)).collect())
}

pub async fn sweep(services: &Services, generation: Generation) -> Answer<()> {
    while sweep_blobs(services, key::blobs(generation)).await? {}
    while sweep_blobs(services, key::snapshots(generation)).await? {}
    while sweep_staged(services, generation).await? {}
    while sweep_entities(services, generation).await? {}
    while queue::expiry::sweep(services, generation).await? {}
    services
        .engine()
        .run(services.deadline(), |_| async move {
            let mut plan = Plan::new(());
            plan.delete(key::dead_generation(generation));
            Ok::<_, Fault>(plan)
        })
        .await
}

async fn sweep_blobs(services: &Services, prefix: Key) -> Answer<bool> {
    let prefix = &prefix;
    services
        .engine()
        .run(services.deadline(), |reader| async move {
            let range = KeyRange::prefix(prefix.clone());
            let page =
                reader.scan(Scan { limit: BLOBS_IN_COMMIT, max_bytes: 300_000, ..Scan::of(range) }).await?;
            let mut plan = Plan::new(page.more);
            let mut contents = Vec::new();
            for (key, _) in page.items {
                let Some(entry) = reader.get(key.clone()).await? else { continue };
                contents.push(BlobFields::decode(&entry.value)?.content);
                plan.delete(key);
            }
            content::drop_holders(&reader, &mut plan, &contents).await?;
            Ok::<_, Fault>(plan)
        })
        .await
}

async fn sweep_staged(services: &Services, generation: Generation) -> Answer<bool> {
    services
        .engine()
        .run(services.deadline(), |reader| async move {
            let range = KeyRange::prefix(key::all_staged(generation));
            let page = reader.scan(Scan { limit: BLOBS_IN_COMMIT, ..Scan::of(range) }).await?;
            let mut plan = Plan::new(page.more);
            for (key, _) in page.items {
                let Some(entry) = reader.get(key.clone()).await? else { continue };
                let staged = StagedRecord::decode(&entry.value)?;
                plan.delete(key);
                plan.put(key::dead_content(staged.stage), DeadContent::Stage.encode());
            }
            Ok::<_, Fault>(plan)
        })
        .await
}

async fn sweep_entities(services: &Services, generation: Generation) -> Answer<bool> {
    services
        .engine()
        .run(services.deadline(), |reader| async move {
            let range = KeyRange::prefix(key::entities(generation));
            let page =
                reader.scan(Scan { limit: BLOBS_IN_COMMIT, max_bytes: 300_000, ..Scan::of(range) }).await?;
            let mut plan = Plan::new(page.more);
            for (key, _) in page.items {
                let Some(entry) = reader.get(key.clone()).await? else { continue };
                crate::table::release_segments(&mut plan, &StoredEntity::decode(&entry.value)?);
                plan.delete(key);
            }
            Ok::<_, Fault>(plan)
        })
        .await
}
