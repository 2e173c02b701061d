//! Delete Blob.

use lazuli_model::error::Failure;
use lazuli_service::blob::{DeleteBlob, DeleteSnapshots};

use crate::call::Call;
use crate::headers;
use crate::reply::Reply;

pub async fn delete_blob(call: Call) -> Result<Reply, Failure> {
    let snapshots = delete_snapshots(&call)?;
    let is_permanent = match call.head.query("deletetype") {
        None => false,
        Some(text) if text.eq_ignore_ascii_case("permanent") => true,
        Some(text) => return Err(Failure::invalid_query("deletetype", text, "")),
    };
    let input = DeleteBlob {
        at: call.blob(),
        state: call.state(),
        preconditions: call.preconditions()?,
        snapshots,
        is_permanent,
    };
    let deleted = input.execute(&call.services, &call.context).await?;
    Ok(Reply::of(call.row).header(headers::X_MS_DELETE_TYPE_PERMANENT, deleted.is_permanent))
}

fn delete_snapshots(call: &Call) -> Result<Option<DeleteSnapshots>, Failure> {
    match call.head.header(headers::X_MS_DELETE_SNAPSHOTS) {
        None => Ok(None),
        Some(text) if text.eq_ignore_ascii_case("include") => Ok(Some(DeleteSnapshots::Include)),
        Some(text) if text.eq_ignore_ascii_case("only") => Ok(Some(DeleteSnapshots::Only)),
        Some(text) => Err(Failure::invalid_header(headers::X_MS_DELETE_SNAPSHOTS, text)),
    }
}
