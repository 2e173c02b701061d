//! Snapshots that were deleted together, for good or long enough ago: their keys, a bounded commit at a time.

use lazuli_engine::{Key, Plan, Scan};

use super::Work;
use super::budget::has_room_with;
use crate::fault::{Answer, Fault};
use crate::store::deleted_snapshots::DeletedSnapshots;
use crate::store::indexed::forget_hold;
use crate::store::key::{self, Generation};
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
    let mut after = None;
    for _ in 0..COMMITS_IN_PASS {
        match sweep_some(work, generation, &name, &after).await? {
            Some(last) => after = Some(last),
            None => return Ok(true),
        }
    }
    Ok(false)
}

/// Deletes those behind `after` that are gone for good; gives how far it came if there may be more.
async fn sweep_some(
    work: &Work,
    generation: Generation,
    name: &str,
    after: &Option<Key>,
) -> Answer<Option<Key>> {
    work.run(|reader| async move {
        let read = DeletedSnapshots::read(&reader, generation, name).await?;
        let now = store::now(&reader);
        if !read.has_gone(now) {
            return Ok(Plan::new(None));
        }
        let scan = Scan { after: after.clone(), ..Scan::of(key::snapshots_of(generation, name)) };
        let page = reader.scan(scan).await?;
        let mut plan = Plan::new(None);
        let (mut contents, mut last, mut more) = (Vec::new(), None, page.more);
        for (key, _) in page.items {
            if !has_room_with(&plan, contents.len()) {
                more = true;
                break;
            }
            last = Some(key.clone());
            let Some(record) = store::decode_blob(reader.get(key.clone()).await?)? else { continue };
            if read.fate(key::snapshot_ticks(&key).unwrap_or(0), record.extras().deletion).is_gone(now) {
                forget_hold(&mut plan, &key, &record);
                contents.push(record.content);
                plan.delete(key);
            }
        }
        content::drop_holders(&reader, &mut plan, &contents).await?;
        plan.output = last.filter(|_| more);
        if plan.output.is_none() {
            let mut deleted = read.clone();
            deleted.forget_gone(now);
            deleted.write(&mut plan, generation, name, &read);
        }
        Ok::<_, Fault>(plan)
    })
    .await
}
