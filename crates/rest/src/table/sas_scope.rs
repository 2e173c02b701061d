//! The table and the keys that a SAS may be limited to.

use lazuli_model::error::{ErrorCode, Failure};
use lazuli_service::table::KeyLimits;

use crate::auth::TableScope;
use crate::authorize::Grant;

/// A token for one table opens no other.
pub fn check_table(grant: &Grant, table: &str) -> Result<(), Failure> {
    match &grant.table {
        Some(scope) if !scope.table.eq_ignore_ascii_case(table) => {
            Err(ErrorCode::AuthorizationFailure.into())
        }
        _ => Ok(()),
    }
}

pub fn limits(grant: &Grant) -> KeyLimits {
    grant.table.as_ref().map_or_else(KeyLimits::default, TableScope::limits)
}

/// Writes outside of the range are refused; reads there find nothing (both recorded).
pub fn check_keys(grant: &Grant, partition: &str, row: &str) -> Result<(), Failure> {
    if limits(grant).contains(partition, row) { Ok(()) } else { Err(ErrorCode::AuthorizationFailure.into()) }
}
