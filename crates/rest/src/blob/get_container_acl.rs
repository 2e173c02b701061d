//! Get Container ACL.

use lazuli_model::error::Failure;

use super::get_container_properties::find;
use crate::call::Call;
use crate::headers;
use crate::reply::Reply;
use crate::signed_identifiers;

pub async fn get_container_acl(call: Call) -> Result<Reply, Failure> {
    let row = call.row;
    let (container, _) = find(call).await?;
    Ok(Reply::of(row)
        .xml(signed_identifiers::write(&container.policies))
        .stamped(container.stamped())
        .maybe(headers::X_MS_BLOB_PUBLIC_ACCESS, container.public_access.as_str()))
}
