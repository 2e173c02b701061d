//! The table and the keys that a SAS may be limited to.

use lazuli_model::error::{ErrorCode, Failure};
use lazuli_service::table::KeyLimits;

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
    let Some(scope) = &grant.table else { return KeyLimits::default() };
    let (start, end) = (scope.start.as_ref(), scope.end.as_ref());
    KeyLimits {
        start_partition: start.map(|bound| bound.partition_key.clone()),
        start_row: start.and_then(|bound| bound.row_key.clone()),
        end_partition: end.map(|bound| bound.partition_key.clone()),
        end_row: end.and_then(|bound| bound.row_key.clone()),
    }
}

/// Writes outside of the range are refused; reads there find nothing (both recorded).
pub fn check_keys(grant: &Grant, partition: &str, row: &str) -> Result<(), Failure> {
    if limits(grant).contains(partition, row) { Ok(()) } else { Err(ErrorCode::AuthorizationFailure.into()) }
}
