//! Snapshots that were deleted together, for good or long enough ago: their keys, a bounded commit at a time.

use lazuli_engine::{Key, Plan, Scan};

use super::Work;
use crate::fault::{Answer, Fault};
use crate::store;
use crate::store::deleted_snapshots::DeletedSnapshots;
use crate::store::key;

const NAMES_IN_PASS: usize = 100;
/// Of one name: many snapshots do not keep the sweeper from everything else.
const COMMITS_IN_PASS: usize = 20;

/// Some of the names with dead snapshots.
pub async fn list(work: &Work, after: Option<Key>) -> Answer<Vec<Key>> {
    let reader = work.engine().reader().await?;
    let scan = Scan { after, limit: NAMES_IN_PASS, keys_only: true, ..Scan::of(key::all_dead_snapshots()) };
    Ok(reader.scan(scan).await?.items.into_iter().map(|(key, _)| key).collect())
}

/// Deletes some of the dead snapshots of a name; true when none is left. The next pass goes on where this one ends.
pub async fn sweep(work: &Work, dead: &Key) -> Answer<bool> {
    let Some(generation) = key::generation_of(dead) else { return Ok(true) };
    let name = String::from_utf8_lossy(dead.get(key::NAME_AT..).unwrap_or_default()).into_owned();
    let name = name.as_str();
    for _ in 0..COMMITS_IN_PASS {
        let more = work
            .run(|reader| async move {
                let mut plan = Plan::new(false);
                let now = store::now(&reader);
                plan.output = DeletedSnapshots::clear_some(&reader, &mut plan, generation, name, now).await?;
                Ok::<_, Fault>(plan)
            })
            .await?;
        if !more {
            return Ok(true);
        }
    }
    Ok(false)
}
