//! Delete Share.

use lazuli_model::error::Failure;
use lazuli_service::file::DeleteShare;

use super::share_headers::delete_snapshots;
use crate::call::Call;
use crate::headers;
use crate::reply::Reply;

pub async fn delete_share(call: Call) -> Result<Reply, Failure> {
    let snapshots = delete_snapshots(&call.head)?;
    let input = DeleteShare { at: call.share(), snapshots, preconditions: call.preconditions()? };
    let usage = input.execute(&call.services, &call.context).await?;
    Ok(Reply::of(call.row).maybe(headers::X_MS_FILE_SHARE_USAGE_BYTES, usage))
}
