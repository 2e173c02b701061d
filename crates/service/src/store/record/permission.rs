//! A security descriptor that files and directories of a share have.

use super::{Record, stored};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PermissionRecord {
    /// Self-relative.
    pub descriptor: Vec<u8>,
}

impl Record for PermissionRecord {
    const NAME: &'static str = "permission";
    type Newest = stored::permission::PermissionV1;
}
