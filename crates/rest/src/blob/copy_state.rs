//! The last copy that wrote a blob, on reads and in lists.

use lazuli_model::blob::{CopyState, CopyStatus};

use crate::headers::{self, name};
use crate::reply::Reply;
use crate::xml::Writer;

/// On reads of the blob.
pub fn show(reply: Reply, copy: Option<&CopyState>) -> Reply {
    let Some(copy) = copy else { return reply };
    reply
        .header(name::X_MS_COPY_ID, copy.id.to_string())
        .header(name::X_MS_COPY_SOURCE, &copy.source)
        .header(name::X_MS_COPY_STATUS, copy.status.as_str())
        .maybe(name::X_MS_COPY_PROGRESS, progress(copy))
        .maybe(name::X_MS_COPY_COMPLETION_TIME, copy.completed.map(|at| at.rfc1123()))
        .maybe(name::X_MS_COPY_STATUS_DESCRIPTION, copy.description.as_ref())
}

/// On Get Blob Properties: an incremental copy and its snapshots say so (recorded).
pub fn show_incremental(reply: Reply, copy: Option<&CopyState>) -> Reply {
    let Some(snapshot) = copy.and_then(|copy| copy.destination_snapshot) else { return reply };
    reply
        .header(headers::X_MS_INCREMENTAL_COPY, true)
        .header(headers::X_MS_COPY_DESTINATION_SNAPSHOT, snapshot.iso7())
}

/// In a list that includes it.
pub fn write(writer: &mut Writer, copy: Option<&CopyState>) {
    let Some(copy) = copy else { return };
    writer.element("CopyId", &copy.id.to_string());
    writer.element("CopySource", &copy.source);
    writer.element("CopyStatus", copy.status.as_str());
    writer.maybe("CopyProgress", progress(copy).as_deref());
    writer.maybe("CopyCompletionTime", copy.completed.map(|at| at.rfc1123()).as_deref());
    writer.maybe("CopyStatusDescription", copy.description.as_deref());
    if let Some(snapshot) = copy.destination_snapshot {
        writer.element("IncrementalCopy", "true");
        writer.element("DestinationSnapshot", &snapshot.iso7());
    }
}

/// A copy that failed or was aborted left nothing that could be measured.
fn progress(copy: &CopyState) -> Option<String> {
    let is_told = matches!(copy.status, CopyStatus::Pending | CopyStatus::Success);
    is_told.then(|| format!("{}/{}", copy.copied, copy.total))
}
