//! How long what is deleted can be brought back.

use lazuli_engine::{Key, Value};
use lazuli_model::blob::SoftDeletion;
use lazuli_model::operation::{Mode, Service};
use lazuli_model::time::Timestamp;

use super::key;
use super::unit::{Changes, Unit};
use crate::fault::Answer;

const DAY: i64 = 86_400;

/// Deleted now, for so many days.
pub(super) fn kept_for(days: u32, now: Timestamp) -> SoftDeletion {
    SoftDeletion { deleted: now, until: now.plus_seconds(i64::from(days) * DAY) }
}

impl<M: Mode> Unit<M> {
    /// What becomes of a blob that is deleted now: None where it is gone for good.
    pub(super) async fn soft_deletion(&self) -> Answer<Option<SoftDeletion>> {
        let policy = self.service_properties(Service::Blob).await?.delete_retention;
        let days = policy.days.filter(|_| policy.enabled);
        Ok(days.map(|days| kept_for(days, self.now())))
    }

    /// Whether what is soft deleted may be deleted for good before its time.
    pub async fn allows_permanent_delete(&self) -> Answer<bool> {
        let policy = self.service_properties(Service::Blob).await?.delete_retention;
        Ok(policy.enabled && policy.allow_permanent_delete == Some(true))
    }
}

/// The sweeper finds what is kept under this key when its time has come. Where it was brought back or deleted again
/// meanwhile, the sweeper sees that then.
pub(super) fn note_due(changes: &mut impl Changes, deletion: SoftDeletion, target: &Key) {
    changes.put(key::due(deletion.until, target), Value::new());
}
