//! Snapshots that were deleted together: their keys, a bounded commit at a time.

use lazuli_engine::{Key, Plan, Scan};

use super::Work;
use super::budget::has_room_with;
use crate::fault::{Answer, Fault};
use crate::store::key::{self, Generation};
use crate::store::record::Record;
use crate::store::record::dead_snapshots::DeadSnapshots;
use crate::store::{self, content};

const NAMES_IN_PASS: usize = 100;
/// Of one name: many snapshots do not keep the sweeper from everything else.
const COMMITS_IN_PASS: usize = 20;

/// Some of the names with dead snapshots.
pub async fn list(work: &Work, after: Option<Key>) -> Answer<Vec<Key>> {
    let reader = work.engine().reader().await?;
    let scan = Scan { after, limit: NAMES_IN_PASS, keys_only: true, ..Scan::of(key::all_dead_snapshots()) };
    Ok(reader.scan(scan).await?.items.into_iter().map(|(key, _)| key).collect())
}

/// Deletes some of the dead snapshots of a name; true when none is left.
pub async fn sweep(work: &Work, dead: &Key) -> Answer<bool> {
    let Some(generation) = key::generation_of(dead) else { return Ok(true) };
    let name = String::from_utf8_lossy(dead.get(key::NAME_AT..).unwrap_or_default()).into_owned();
    for _ in 0..COMMITS_IN_PASS {
        if !sweep_some(work, generation, &name).await? {
            return Ok(true);
        }
    }
    Ok(false)
}

async fn sweep_some(work: &Work, generation: Generation, name: &str) -> Answer<bool> {
    work.run(|reader| async move {
        let mark = key::dead_snapshots(generation, name);
        let Some(entry) = reader.get(mark.clone()).await? else { return Ok(Plan::new(false)) };
        let dead = DeadSnapshots::decode(&entry.value)?;
        let page = reader.scan(Scan::of(key::snapshots_of(generation, name))).await?;
        let mut plan = Plan::new(page.more);
        let mut contents = Vec::new();
        for (key, _) in page.items {
            if key::snapshot_ticks(&key).is_none_or(|ticks| ticks > dead.up_to) {
                plan.output = false;
                break;
            }
            if !has_room_with(&plan, contents.len()) {
                plan.output = true;
                break;
            }
            if let Some(record) = store::decode_blob(reader.get(key.clone()).await?)? {
                contents.push(record.content);
            }
            plan.delete(key);
        }
        content::drop_holders(&reader, &mut plan, &contents).await?;
        if !plan.output {
            plan.delete(mark);
        }
        Ok::<_, Fault>(plan)
    })
    .await
}
