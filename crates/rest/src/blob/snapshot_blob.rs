//! Snapshot Blob.

use lazuli_model::error::Failure;
use lazuli_service::blob::SnapshotBlob;

use super::properties::customer_key;
use crate::call::Call;
use crate::decode;
use crate::headers;
use crate::reply::Reply;

pub async fn snapshot_blob(call: Call) -> Result<Reply, Failure> {
    let metadata = decode::metadata(&call.head)?;
    // Only a snapshot with metadata of its own counts as something written (recorded).
    let is_written = !metadata.is_empty();
    let input = SnapshotBlob {
        at: call.blob(),
        preconditions: call.preconditions()?,
        metadata,
        customer_key: customer_key(&call.head)?,
    };
    let made = input.execute(&call.services, &call.context).await?;
    Ok(Reply::of(call.row)
        .stamped(made.stamped)
        .header(headers::X_MS_SNAPSHOT, made.snapshot.iso7())
        .header(headers::X_MS_REQUEST_SERVER_ENCRYPTED, is_written))
}
