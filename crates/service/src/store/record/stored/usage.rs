//! How much a share holds.

use serde::{Deserialize, Serialize};

use super::first_shape;
use crate::store::record::usage::{UsageAllowed, UsagePart};

#[derive(Serialize, Deserialize)]
pub struct UsagePartV1 {
    used: u64,
    allowed: u64,
}

#[derive(Serialize, Deserialize)]
pub struct UsageAllowedV1 {
    bytes: u64,
}

first_shape!(UsagePartV1, UsageAllowedV1);

impl From<&UsagePart> for UsagePartV1 {
    fn from(part: &UsagePart) -> Self {
        let UsagePart { used, allowed } = *part;
        Self { used, allowed }
    }
}

impl From<UsagePartV1> for UsagePart {
    fn from(stored: UsagePartV1) -> Self {
        let UsagePartV1 { used, allowed } = stored;
        Self { used, allowed }
    }
}

impl From<&UsageAllowed> for UsageAllowedV1 {
    fn from(allowed: &UsageAllowed) -> Self {
        Self { bytes: allowed.bytes }
    }
}

impl From<UsageAllowedV1> for UsageAllowed {
    fn from(stored: UsageAllowedV1) -> Self {
        Self { bytes: stored.bytes }
    }
}
