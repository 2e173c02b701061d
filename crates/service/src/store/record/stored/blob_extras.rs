//! What few blobs have beside the rest.

use lazuli_model::blob::{
    CopyState, CopyStatus, ImmutabilityMode, ImmutabilityPolicy, RehydratePriority, Rehydration, SoftDeletion,
};
use lazuli_model::time::Timestamp;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::blob::TierV1;
use super::same_variants;
use crate::store::record::blob::BlobExtras;

#[derive(Serialize, Deserialize)]
pub struct BlobExtrasV2 {
    copy: Option<CopyStateV2>,
    incremental_copy: bool,
    rehydration: Option<RehydrationV2>,
    expires: Option<u64>,
    last_accessed: Option<u64>,
    immutability: Option<ImmutabilityV2>,
    legal_hold: bool,
    version: Option<u64>,
    deletion: Option<DeletionV2>,
}

#[derive(Serialize, Deserialize)]
pub(super) struct CopyStateV2 {
    id: u128,
    source: String,
    status: CopyStatusV2,
    copied: u64,
    total: u64,
    completed: Option<u64>,
    description: Option<String>,
    destination_snapshot: Option<u64>,
}

#[derive(Serialize, Deserialize)]
enum CopyStatusV2 {
    Pending,
    Success,
    Aborted,
    Failed,
}

same_variants!(CopyStatusV2, CopyStatus { Pending, Success, Aborted, Failed });

#[derive(Serialize, Deserialize)]
struct RehydrationV2 {
    to: TierV1,
    priority: PriorityV2,
    due: u64,
}

#[derive(Serialize, Deserialize)]
enum PriorityV2 {
    Standard,
    High,
}

same_variants!(PriorityV2, RehydratePriority { Standard, High });

#[derive(Serialize, Deserialize)]
struct ImmutabilityV2 {
    until: u64,
    mode: ImmutabilityModeV2,
}

#[derive(Serialize, Deserialize)]
enum ImmutabilityModeV2 {
    Unlocked,
    Locked,
}

same_variants!(ImmutabilityModeV2, ImmutabilityMode { Unlocked, Locked });

#[derive(Serialize, Deserialize)]
struct DeletionV2 {
    deleted: u64,
    until: u64,
}

impl From<&BlobExtras> for BlobExtrasV2 {
    fn from(extras: &BlobExtras) -> Self {
        let BlobExtras {
            copy,
            incremental_copy,
            rehydration,
            expires,
            last_accessed,
            immutability,
            legal_hold,
            version,
            deletion,
        } = extras.clone();
        Self {
            copy: copy.map(Into::into),
            incremental_copy,
            rehydration: rehydration.map(|Rehydration { to, priority, due }| RehydrationV2 {
                to: to.into(),
                priority: priority.into(),
                due: due.0,
            }),
            expires: expires.map(|at| at.0),
            last_accessed: last_accessed.map(|at| at.0),
            immutability: immutability.map(|ImmutabilityPolicy { until, mode }| ImmutabilityV2 {
                until: until.0,
                mode: mode.into(),
            }),
            legal_hold,
            version: version.map(|at| at.0),
            deletion: deletion
                .map(|SoftDeletion { deleted, until }| DeletionV2 { deleted: deleted.0, until: until.0 }),
        }
    }
}

impl From<BlobExtrasV2> for BlobExtras {
    fn from(stored: BlobExtrasV2) -> Self {
        Self {
            copy: stored.copy.map(Into::into),
            incremental_copy: stored.incremental_copy,
            rehydration: stored.rehydration.map(|RehydrationV2 { to, priority, due }| Rehydration {
                to: to.into(),
                priority: priority.into(),
                due: Timestamp(due),
            }),
            expires: stored.expires.map(Timestamp),
            last_accessed: stored.last_accessed.map(Timestamp),
            immutability: stored.immutability.map(|ImmutabilityV2 { until, mode }| ImmutabilityPolicy {
                until: Timestamp(until),
                mode: mode.into(),
            }),
            legal_hold: stored.legal_hold,
            version: stored.version.map(Timestamp),
            deletion: stored.deletion.map(|DeletionV2 { deleted, until }| SoftDeletion {
                deleted: Timestamp(deleted),
                until: Timestamp(until),
            }),
        }
    }
}

impl From<CopyState> for CopyStateV2 {
    fn from(copy: CopyState) -> Self {
        let CopyState { id, source, status, copied, total, completed, description, destination_snapshot } =
            copy;
        Self {
            id: id.as_u128(),
            source,
            status: status.into(),
            copied,
            total,
            completed: completed.map(|at| at.0),
            description,
            destination_snapshot: destination_snapshot.map(|at| at.0),
        }
    }
}

impl From<CopyStateV2> for CopyState {
    fn from(stored: CopyStateV2) -> Self {
        Self {
            id: Uuid::from_u128(stored.id),
            source: stored.source,
            status: stored.status.into(),
            copied: stored.copied,
            total: stored.total,
            completed: stored.completed.map(Timestamp),
            description: stored.description,
            destination_snapshot: stored.destination_snapshot.map(Timestamp),
        }
    }
}
