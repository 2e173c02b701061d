//! What of a share a request names: the share or one of its snapshots, and the directory or file inside.

use lazuli_model::error::{ErrorCode, Failure};
use lazuli_model::name::{FilePath, TrailingDots};
use lazuli_model::operation::{Mark, Name, Op, Resource, Row};
use lazuli_model::time::Timestamp;
use lazuli_model::version::Feature;

use crate::address::refuse_empty;
use crate::head::Head;
use crate::headers;

const SNAPSHOT: &str = "sharesnapshot";

/// Refuses an address that names what the row cannot be asked of, or that nothing in a share can have.
pub(crate) fn check(head: &Head, row: &Row) -> Result<(), Failure> {
    if row.op == Op::DeleteShare {
        refuse_empty(head, &[SNAPSHOT])?;
    }
    if let Some(text) = head.query(SNAPSHOT) {
        let readable = Timestamp::parse_snapshot(text).is_some();
        // The header speaks of all snapshots of a share, and so of the share itself.
        let of_all = head.header(headers::X_MS_DELETE_SNAPSHOTS).is_some();
        if !readable || !row.route.addresses.snapshot || of_all {
            return Err(Failure::invalid_query(SNAPSHOT, text, ""));
        }
    }
    if row.route.resource != Resource::Path {
        return Ok(());
    }
    if path(head)?.is_root() && !takes_directories(row) {
        return Err(ErrorCode::InvalidUri.into());
    }
    Ok(())
}

/// Requests about handles do not say whether they mean a directory or a file.
fn takes_directories(row: &Row) -> bool {
    let directory = Mark::Is(Name::Query("restype"), "directory");
    row.route.marks.contains(&directory) || matches!(row.op, Op::ListHandles | Op::ForceCloseHandles)
}

/// The directory or file that the request addresses, once [`check`] has let it pass.
pub fn path(head: &Head) -> Result<FilePath, Failure> {
    FilePath::parse(&head.target.object, trailing_dots(head, headers::X_MS_ALLOW_TRAILING_DOT)?)
}

/// The path of [`path`] as text: what a token must be signed for. A token for `b.` does not open `b` where dots are cut off, nor
/// does one for `b` open `b.` where they count. What is no path is left as it was sent, to be refused later.
pub(crate) fn meant(head: &Head) -> Result<String, Failure> {
    let dots = trailing_dots(head, headers::X_MS_ALLOW_TRAILING_DOT)?;
    Ok(match FilePath::parse(&head.target.object, dots) {
        Ok(path) => path.to_string(),
        Err(_) => head.target.object.clone(),
    })
}

/// What the request says of dots at the end of names: of its own address, or of that of its source.
pub fn trailing_dots(head: &Head, header: &'static str) -> Result<TrailingDots, Failure> {
    let kept = head.version.has(Feature::TrailingDots) && head.flag(header)?;
    Ok(if kept { TrailingDots::Kept } else { TrailingDots::CutOff })
}

/// The snapshot of the share that the request names, once [`check`] has let it pass.
pub fn share_snapshot(head: &Head) -> Option<Timestamp> {
    head.query(SNAPSHOT).and_then(Timestamp::parse_snapshot)
}

#[cfg(test)]
mod tests;
