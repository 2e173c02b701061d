//! Which state of a blob a request names: the base, or one of its snapshots or versions. What an operation can be asked of is a
//! column of its row; it is judged here for all of them, before any of them runs.

use lazuli_model::error::{ErrorCode, Failure};
use lazuli_model::operation::{Op, Row, Service};
use lazuli_model::time::Timestamp;

use lazuli_service::blob::BlobState;

use crate::file;
use crate::head::Head;
use crate::headers;

const SNAPSHOT: &str = "snapshot";
const VERSION: &str = "versionid";

/// Refuses an address that names what the row cannot be asked of.
pub(crate) fn check(head: &Head, row: &Row) -> Result<(), Failure> {
    match row.route.service {
        Service::Blob => {}
        Service::File => return file::address::check(head, row),
        Service::Queue | Service::Table | Service::Dfs => return Ok(()),
    }
    if row.op == Op::DeleteBlob {
        refuse_empty(head, &[SNAPSHOT, VERSION])?;
    }
    // The header speaks of all snapshots of a blob, and so of the blob itself.
    let wants_base = head.header(headers::X_MS_DELETE_SNAPSHOTS).is_some();
    match (head.query(SNAPSHOT), head.query(VERSION)) {
        (None, None) => Ok(()),
        (Some(_), Some(_)) => Err(ErrorCode::MutuallyExclusiveQueryParameters.into()),
        (Some(text), None) => {
            read(SNAPSHOT, text)?;
            match row.route.addresses.snapshot && !wants_base {
                true => Ok(()),
                false => Err(only_base(SNAPSHOT, text, "Snapshot")),
            }
        }
        (None, Some(text)) => {
            read(VERSION, text)?;
            match row.route.addresses.version && !wants_base {
                true => Ok(()),
                false => Err(only_base(VERSION, text, "Version id")),
            }
        }
    }
}

/// An empty parameter counts as absent. Who deletes one snapshot or version, and does not know which, is not to lose all of it.
pub(crate) fn refuse_empty(head: &Head, names: &[&'static str]) -> Result<(), Failure> {
    match names.iter().find(|name| head.query.get(name) == Some("")) {
        Some(name) => Err(Failure::invalid_query(name, "", "")),
        None => Ok(()),
    }
}

/// What a request names, once [`check`] has let it pass.
pub(crate) fn state(head: &Head) -> BlobState {
    let named = |name| head.query(name).and_then(Timestamp::parse_snapshot);
    match (named(SNAPSHOT), named(VERSION)) {
        (Some(snapshot), _) => BlobState::Snapshot(snapshot),
        (None, Some(version)) => BlobState::Version(version),
        (None, None) => BlobState::Base,
    }
}

fn read(name: &'static str, text: &str) -> Result<Timestamp, Failure> {
    Timestamp::parse_snapshot(text).ok_or_else(|| Failure::invalid_query(name, text, ""))
}

fn only_base(name: &'static str, text: &str, what: &str) -> Failure {
    let reason = format!("This operation is only allowed on the root blob. {what} should not be provided.");
    Failure::invalid_query(name, text, &reason)
}

#[cfg(test)]
mod tests;
