//! Create Container.

use lazuli_model::error::Failure;
use lazuli_model::name;
use lazuli_service::blob::CreateContainer;

use crate::call::Call;
use crate::decode;
use crate::headers;
use crate::reply::Reply;

pub async fn create_container(call: Call) -> Result<Reply, Failure> {
    call.preconditions()?;
    let head = &call.head;
    name::validate_container(&head.target.container)?;
    let input = CreateContainer {
        container: call.container(),
        metadata: decode::metadata(head)?,
        public_access: decode::public_access(head)?,
        default_encryption_scope: head.header(headers::X_MS_DEFAULT_ENCRYPTION_SCOPE).map(str::to_owned),
        deny_encryption_scope_override: head.flag(headers::X_MS_DENY_ENCRYPTION_SCOPE_OVERRIDE)?,
    };
    let stamped = input.execute(&call.services, &call.context).await?;
    Ok(Reply::of(call.row).stamped(stamped))
}
