//! A security descriptor of a share.

use serde::{Deserialize, Serialize};

use super::first_shape;
use crate::store::record::permission::PermissionRecord;

#[derive(Serialize, Deserialize)]
pub struct PermissionV1 {
    descriptor: Vec<u8>,
}

first_shape!(PermissionV1);

impl From<&PermissionRecord> for PermissionV1 {
    fn from(permission: &PermissionRecord) -> Self {
        Self { descriptor: permission.descriptor.clone() }
    }
}

impl From<PermissionV1> for PermissionRecord {
    fn from(stored: PermissionV1) -> Self {
        Self { descriptor: stored.descriptor }
    }
}
