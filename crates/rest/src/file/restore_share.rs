//! Restore Share.

use lazuli_model::error::Failure;
use lazuli_model::name;
use lazuli_service::file::RestoreShare;

use crate::blob::restore_container::read_version;
use crate::call::Call;
use crate::headers;
use crate::reply::Reply;

pub async fn restore_share(call: Call) -> Result<Reply, Failure> {
    let head = &call.head;
    name::validate_share(&head.target.container)?;
    let version = head.required_header(headers::X_MS_DELETED_SHARE_VERSION)?;
    let deleted = head.required_header(headers::X_MS_DELETED_SHARE_NAME)?;
    if deleted != head.target.container {
        return Err(Failure::invalid_header(headers::X_MS_DELETED_SHARE_NAME, deleted));
    }
    let input = RestoreShare {
        at: call.share(),
        preconditions: call.preconditions()?,
        version: read_version(version)
            .ok_or_else(|| Failure::invalid_header(headers::X_MS_DELETED_SHARE_VERSION, version))?,
    };
    let stamped = input.execute(&call.services, &call.context).await?;
    Ok(Reply::of(call.row).stamped(stamped))
}
