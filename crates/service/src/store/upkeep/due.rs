//! What was soft deleted and whose time has come: bases, snapshots, versions, containers, shares.

use std::collections::HashSet;

use lazuli_engine::{Key, Plan, Reader, Scan, Value};
use lazuli_model::time::Timestamp;

use super::budget::has_room_with;
use super::{Page, Work, snapshots};
use crate::fault::{Answer, Fault};
use crate::store::indexed::forget_hold;
use crate::store::key;
use crate::store::record::Record;
use crate::store::record::blob::BlobRecord;
use crate::store::record::content::Content;
use crate::store::record::deleted_container::DeletedContainer;
use crate::store::record::deleted_share::DeletedShare;
use crate::store::{self, content};

const ITEMS_IN_PASS: usize = 1_000;

/// Some of what is due.
pub async fn list(work: &Work, after: Option<Key>) -> Answer<Page> {
    let reader = work.engine().reader().await?;
    let range = key::all_due(store::now(&reader));
    Page::of(&reader, Scan { after, limit: ITEMS_IN_PASS, ..Scan::of(range) }).await
}

/// Whether it is of snapshots that were deleted together. These are work for several commits, before it is done.
pub fn is_of_many(due: &Key) -> bool {
    key::due_target(due).is_some_and(|target| target.first() == Some(&b'K'))
}

/// Deletes some of the snapshots that are due together; true when none is left.
pub async fn sweep_many(work: &Work, due: &Key) -> Answer<bool> {
    match key::due_target(due) {
        Some(target) => snapshots::sweep(work, &Key::copy_from_slice(target)).await,
        None => Ok(true),
    }
}

/// Takes away what is due under these keys, unless it was brought back or deleted anew: as many as one commit takes. Tells
/// how many of them.
pub async fn sweep(work: &Work, items: &[Key]) -> Answer<usize> {
    work.run(|reader| async move {
        let mut plan = Plan::new(0);
        // What was deleted, brought back and deleted again is due twice.
        let (mut contents, mut seen) = (Vec::new(), HashSet::new());
        for due in items {
            if plan.output > 0 && !has_room_with(&plan, contents.len()) {
                break;
            }
            plan.output += 1;
            plan.delete(due.clone());
            if let Some(target) = key::due_target(due)
                && seen.insert(target)
            {
                let now = store::now(&reader);
                contents.extend(take_away(&reader, &mut plan, Key::copy_from_slice(target), now).await?);
            }
        }
        content::drop_holders(&reader, &mut plan, &contents).await?;
        Ok::<_, Fault>(plan)
    })
    .await
}

/// Gives the content that it held.
async fn take_away(
    reader: &Reader,
    plan: &mut Plan<usize>,
    target: Key,
    now: Timestamp,
) -> Answer<Option<Content>> {
    let Some(entry) = reader.get(target.clone()).await? else { return Ok(None) };
    match target.first() {
        Some(b'D' | b's' | b'V') => {
            let record = BlobRecord::decode(&entry.value)?;
            if record.extras().deletion.is_some_and(|deletion| deletion.until <= now) {
                forget_hold(plan, &target, &record);
                plan.delete(target);
                return Ok(Some(record.content));
            }
        }
        Some(b'C') => {
            let DeletedContainer { container, deletion } = DeletedContainer::decode(&entry.value)?;
            if deletion.until <= now {
                plan.delete(target);
                plan.put(key::dead_generation(container.generation), Value::new());
            }
        }
        Some(b'U') => {
            let DeletedShare { share, deletion } = DeletedShare::decode(&entry.value)?;
            if deletion.until <= now {
                plan.delete(target);
                share.bury(plan);
            }
        }
        _ => {}
    }
    Ok(None)
}
