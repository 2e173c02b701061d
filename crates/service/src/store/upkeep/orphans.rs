//! What a crash left: manifests and bodies written ahead of a commit that never came.
//! Run before the first request is served, so that every intent found is an old one.

use lazuli_engine::{Plan, Scan};

use crate::Services;
use crate::fault::{Answer, Fault};
use crate::key;
use crate::record::Record;
use crate::record::content::DeadContent;

pub async fn give_up_all(services: &Services) -> Answer<()> {
    while give_up_some(services).await? {}
    Ok(())
}

async fn give_up_some(services: &Services) -> Answer<bool> {
    services
        .engine()
        .run(services.deadline(), |reader| async move {
            let page =
                reader.scan(Scan { limit: 1_000, keys_only: true, ..Scan::of(key::intents()) }).await?;
            let mut plan = Plan::new(page.more);
            for (key, _) in page.items {
                if let Some(id) = key::content_of(&key) {
                    plan.put(key::dead_content(id), DeadContent::Segments.encode());
                }
                plan.delete(key);
            }
            Ok::<_, Fault>(plan)
        })
        .await
}
