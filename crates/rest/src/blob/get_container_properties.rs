//! Get Container Properties and Get Container Metadata.

use lazuli_model::admission::lease;
use lazuli_model::error::Failure;
use lazuli_model::time::Timestamp;
use lazuli_service::blob::{ContainerRecord, GetContainerProperties};

use super::ACCOUNT_SCOPE;
use crate::call::Call;
use crate::headers;
use crate::reply::Reply;

pub async fn get_container_properties(call: Call) -> Result<Reply, Failure> {
    let row = call.row;
    let (container, now) = find(call).await?;
    let scope = container.default_encryption_scope.as_deref().unwrap_or(ACCOUNT_SCOPE);
    let reply = show_metadata(Reply::of(row), &container);
    Ok(show_lease(reply, &container, now)
        .maybe(headers::X_MS_BLOB_PUBLIC_ACCESS, container.public_access.as_str())
        .header(headers::X_MS_HAS_IMMUTABILITY_POLICY, false)
        .header(headers::X_MS_HAS_LEGAL_HOLD, false)
        .header(headers::X_MS_DEFAULT_ENCRYPTION_SCOPE, scope)
        .header(headers::X_MS_DENY_ENCRYPTION_SCOPE_OVERRIDE, container.deny_encryption_scope_override)
        .header(headers::X_MS_IMMUTABLE_STORAGE_WITH_VERSIONING_ENABLED, false))
}

pub async fn get_container_metadata(call: Call) -> Result<Reply, Failure> {
    let row = call.row;
    let (container, _) = find(call).await?;
    Ok(show_metadata(Reply::of(row), &container))
}

/// The container, and the moment at which its lease is to be judged.
pub async fn find(call: Call) -> Result<(ContainerRecord, Timestamp), Failure> {
    let input = GetContainerProperties { container: call.container(), preconditions: call.preconditions()? };
    Ok(input.execute(&call.services, &call.context, call.reading()).await?)
}

fn show_metadata(reply: Reply, container: &ContainerRecord) -> Reply {
    reply.stamped(container.stamped()).metadata(container.metadata.iter())
}

fn show_lease(reply: Reply, container: &ContainerRecord, now: Timestamp) -> Reply {
    let held = container.lease.as_ref();
    let state = lease::state(held, now);
    reply
        .header(headers::X_MS_LEASE_STATUS, state.status())
        .header(headers::X_MS_LEASE_STATE, state.as_str())
        .maybe(headers::X_MS_LEASE_DURATION, lease::reported_duration(held, now))
}
