//! What a crash left: manifests written ahead of a commit that never came.
//! Run before the first request is served, so that every intent found is an old one.

use lazuli_engine::{Plan, Scan};

use crate::Services;
use crate::fault::{Answer, Fault};
use crate::key;
use crate::record::Record;
use crate::record::content::DeadContent;

pub async fn sweep(services: &Services) -> Answer<()> {
    loop {
        let reader = services.engine().reader().await?;
        let page = reader.scan(Scan { limit: 100, keys_only: true, ..Scan::of(key::intents()) }).await?;
        let more = page.more;
        let found: Vec<_> = page.items.into_iter().filter_map(|(key, _)| key::content_of(&key)).collect();
        let found = &found;
        services
            .engine()
            .run(services.deadline(), |_| async move {
                let mut plan = Plan::new(());
                for &id in found {
                    plan.delete(key::intent(id));
                    plan.put(key::dead_content(id), DeadContent::Segments.encode());
                }
                Ok::<_, Fault>(plan)
            })
            .await?;
        if !more {
            break;
        }
    }
    super::contents::adopt_all(services).await
}
