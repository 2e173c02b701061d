//! Blobs whose time has come, and uncommitted blocks that were not committed in time. They are gone for every request
//! already; here their keys and bytes are given back.

use lazuli_engine::{Key, Scan};

use super::{Page, Work};
use crate::Context;
use crate::fault::{Answer, Fault};
use crate::store;
use crate::store::key;
use crate::store::record::Record;
use crate::store::record::block::StagedRecord;

const BLOBS_IN_PASS: usize = 1_000;
const STAGES_IN_PAGE: usize = 500;

/// Some of the blobs whose time has come.
pub async fn list(work: &Work, after: Option<Key>) -> Answer<Page> {
    let reader = work.engine().reader().await?;
    let range = key::all_expired(store::now(&reader));
    Page::of(&reader, Scan { after, limit: BLOBS_IN_PASS, ..Scan::of(range) }).await
}

/// Deletes some of them, as many as one commit takes; tells how many. Whether the time of each has come is judged again, on
/// what the commit checks.
pub async fn sweep(work: &Work, items: &[Key]) -> Answer<usize> {
    let context = &Context::reading("");
    work.run(|reader| async move {
        let bury = |mut unit: store::Unit| async move { unit.bury_some(items).await };
        work.plan::<_, Fault, _>(reader, context, bury).await
    })
    .await
}

/// Walks all uncommitted blocks, of which there are few: those of uploads under way, and those of uploads that were given up.
pub async fn walk_stages(work: &Work) {
    let mut after = None;
    loop {
        match sweep_stages(work, after).await {
            Ok(None) => return,
            Ok(more) => after = more,
            Err(_) if work.is_lost() => return,
            Err(fault) => return work.upkeep().pass_over("uncommitted blocks", &fault),
        }
    }
}

/// A page of them; where the next one begins.
async fn sweep_stages(work: &Work, after: Option<Key>) -> Answer<Option<Key>> {
    let reader = work.engine().reader().await?;
    let now = store::now(&reader);
    let scan = Scan { after, limit: STAGES_IN_PAGE, ..Scan::of(key::every_staged()) };
    let page = reader.scan(scan).await?;
    drop(reader);
    let context = &Context::reading("");
    for (key, entry) in &page.items {
        let Ok(staged) = StagedRecord::decode(&entry.value) else {
            work.upkeep().count_passed_over();
            continue;
        };
        let name = key.get(key::NAME_AT..).and_then(|name| std::str::from_utf8(name).ok());
        let (Some(generation), Some(name)) = (key::generation_of(key), name) else { continue };
        if !staged.is_expired(now) {
            continue;
        }
        let done = work.run(|reader| async move {
            let bury = |mut unit: store::Unit| async move { unit.bury_stage(generation, name).await };
            work.plan::<_, Fault, _>(reader, context, bury).await
        });
        match done.await {
            Err(fault) if work.is_lost() => return Err(fault),
            Err(fault) => work.upkeep().pass_over("uncommitted blocks", &fault),
            Ok(()) => {}
        }
    }
    Ok(page.items.last().map(|(key, _)| key.clone()).filter(|_| page.more))
}
