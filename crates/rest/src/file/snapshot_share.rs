//! Snapshot Share.

use lazuli_model::error::Failure;
use lazuli_service::file::SnapshotShare;

use crate::call::Call;
use crate::reply::Reply;
use crate::{decode, headers};

pub async fn snapshot_share(call: Call) -> Result<Reply, Failure> {
    let input = SnapshotShare {
        at: call.share(),
        preconditions: call.preconditions()?,
        metadata: decode::metadata(&call.head)?,
    };
    let (moment, stamped) = input.execute(&call.services, &call.context).await?;
    Ok(Reply::of(call.row).stamped(stamped).header(headers::X_MS_SNAPSHOT, moment.iso7()))
}
