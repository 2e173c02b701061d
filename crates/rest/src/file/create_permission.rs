//! Create Permission.

use lazuli_model::error::{ErrorCode, Failure};
use lazuli_model::sddl::PermissionFormat;
use lazuli_model::version::{ApiVersion, Feature};
use lazuli_service::file::CreatePermission;
use serde::Deserialize;

use super::smb_headers::descriptor;
use crate::call::Call;
use crate::headers;
use crate::reply::Reply;

/// The longest document: a descriptor of 64 KiB in base64, with room to spare.
const DOCUMENT: usize = 256 * 1024;

/// Microsoft.Azure.Storage.File writes the names with a capital letter.
#[derive(Deserialize)]
struct Document {
    #[serde(alias = "Permission")]
    permission: String,
    #[serde(alias = "Format")]
    format: Option<String>,
}

pub async fn create_permission(call: Call) -> Result<Reply, Failure> {
    let (at, preconditions) = (call.share(), call.preconditions()?);
    let bytes = call.body.collect(DOCUMENT, &call.services).await?;
    let document: Document = serde_json::from_slice(&bytes)
        .map_err(|error| Failure::new(ErrorCode::InvalidInput).cause(error.to_string()))?;
    let format = format(document.format.as_deref(), call.head.version)?;
    let permission = descriptor(&document.permission, format)?;
    let input = CreatePermission { at, preconditions, permission };
    let key = input.execute(&call.services, &call.context).await?;
    Ok(Reply::of(call.row).header(headers::X_MS_FILE_PERMISSION_KEY, key.to_string()))
}

/// Before there were two of them, a document did not say which.
fn format(text: Option<&str>, version: ApiVersion) -> Result<PermissionFormat, Failure> {
    match text.filter(|_| version.has(Feature::BinaryPermissions)) {
        None => Ok(PermissionFormat::Sddl),
        Some(text) => PermissionFormat::parse(text).ok_or_else(|| ErrorCode::InvalidInput.into()),
    }
}
