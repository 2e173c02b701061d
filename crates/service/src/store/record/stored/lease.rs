//! A lease, in the record that it guards.

use lazuli_model::admission::lease::{Lease, LeaseDuration, LeaseId};
use lazuli_model::time::Timestamp;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

#[derive(Serialize, Deserialize)]
pub struct LeaseV1 {
    id: u128,
    /// Seconds of a fixed lease; none is infinite.
    seconds: Option<u8>,
    expires: Option<u64>,
    breaks: Option<u64>,
}

impl From<&Lease> for LeaseV1 {
    fn from(lease: &Lease) -> Self {
        Self {
            id: lease.id.0.as_u128(),
            seconds: match lease.duration {
                LeaseDuration::Infinite => None,
                LeaseDuration::Fixed { seconds } => Some(seconds),
            },
            expires: lease.expires.map(|at| at.0),
            breaks: lease.breaks.map(|at| at.0),
        }
    }
}

impl From<LeaseV1> for Lease {
    fn from(stored: LeaseV1) -> Self {
        Self {
            id: LeaseId(Uuid::from_u128(stored.id)),
            duration: stored
                .seconds
                .map_or(LeaseDuration::Infinite, |seconds| LeaseDuration::Fixed { seconds }),
            expires: stored.expires.map(Timestamp),
            breaks: stored.breaks.map(Timestamp),
        }
    }
}
