//! Get Permission.

use lazuli_model::error::Failure;
use lazuli_model::version::Feature;
use lazuli_service::file::GetPermission;
use serde_json::json;

use super::smb_headers::{permission_format, permission_key, permission_text};
use crate::call::Call;
use crate::headers;
use crate::reply::Reply;

pub async fn get_permission(call: Call) -> Result<Reply, Failure> {
    let head = &call.head;
    let missing = || Failure::missing_header(headers::X_MS_FILE_PERMISSION_KEY);
    let (key, format) = (permission_key(head)?.ok_or_else(missing)?, permission_format(head)?);
    let input = GetPermission { at: call.share(), preconditions: call.preconditions()?, key };
    let found = input.execute(&call.services, &call.context).await?;
    let permission = permission_text(&found, format)?;
    // The answer does not say that it is JSON (recorded).
    let document = match head.version.has(Feature::BinaryPermissions) {
        true => json!({ "permission": permission, "format": format.as_str() }),
        false => json!({ "permission": permission }),
    };
    Ok(Reply::of(call.row).bytes(document.to_string().into()))
}
