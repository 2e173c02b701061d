//! What was soft deleted and whose time has come: bases, snapshots, versions, containers.

use lazuli_engine::{Key, Plan, Scan, Value};

use super::{Work, snapshots};
use crate::fault::{Answer, Fault};
use crate::store::indexed::forget_hold;
use crate::store::key;
use crate::store::record::Record;
use crate::store::record::blob::BlobRecord;
use crate::store::record::deleted_container::DeletedContainer;
use crate::store::{self, content};

const ITEMS_IN_PASS: usize = 200;

/// Some of what is due.
pub async fn list(work: &Work, after: Option<Key>) -> Answer<Vec<Key>> {
    let reader = work.engine().reader().await?;
    let range = key::all_due(store::now(&reader));
    let page = reader.scan(Scan { after, limit: ITEMS_IN_PASS, keys_only: true, ..Scan::of(range) }).await?;
    Ok(page.items.into_iter().map(|(key, _)| key).collect())
}

/// Takes away what is due under this key, unless it was brought back or deleted anew; true when nothing is left to do.
pub async fn sweep(work: &Work, due: &Key) -> Answer<bool> {
    let Some(target) = key::due_target(due).map(Key::copy_from_slice) else { return Ok(true) };
    if target.first() == Some(&b'K') && !snapshots::sweep(work, &target).await? {
        return Ok(false);
    }
    let target = &target;
    work.run(|reader| async move {
        let mut plan = Plan::new(true);
        plan.delete(due.clone());
        let Some(entry) = reader.get(target.clone()).await? else { return Ok(plan) };
        let now = store::now(&reader);
        match target.first() {
            Some(b'D' | b's' | b'V') => {
                let record = BlobRecord::decode(&entry.value)?;
                if record.extras().deletion.is_some_and(|deletion| deletion.until <= now) {
                    forget_hold(&mut plan, target, &record);
                    plan.delete(target.clone());
                    content::drop_holder(&reader, &mut plan, &record.content).await?;
                }
            }
            Some(b'C') => {
                let DeletedContainer { container, deletion } = DeletedContainer::decode(&entry.value)?;
                if deletion.until <= now {
                    plan.delete(target.clone());
                    plan.put(key::dead_generation(container.generation), Value::new());
                }
            }
            _ => {}
        }
        Ok::<_, Fault>(plan)
    })
    .await
}
