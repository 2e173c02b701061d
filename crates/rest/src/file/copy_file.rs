//! Copy File, Abort Copy File.

use lazuli_model::admission::LeaseId;
use lazuli_model::error::Failure;
use lazuli_model::smb::Wish;
use lazuli_service::file::{AbortCopyFile, CopyFile, GivenFile};

use super::posix_headers;
use super::smb_headers::{self, Use};
use crate::call::Call;
use crate::copy;
use crate::decode;
use crate::head::Head;
use crate::headers::{self, name};
use crate::reply::Reply;

pub async fn copy_file(call: Call) -> Result<Reply, Failure> {
    let (at, preconditions) = (call.path()?, call.preconditions()?);
    let given = given(&call.head)?;
    let asked = copy::source(&call, false).await?;
    let input = CopyFile { at, preconditions, source: asked.source, shown_source: asked.shown, given };
    let copied = input.execute(&call.services, &call.context).await?;
    Ok(Reply::of(call.row)
        .stamped(copied.stamped)
        .header(name::X_MS_COPY_ID, copied.id.to_string())
        .header(name::X_MS_COPY_STATUS, copied.status.as_str()))
}

fn given(head: &Head) -> Result<GivenFile, Failure> {
    let metadata = decode::metadata(head)?;
    let mut smb = smb_headers::wishes(head, Use::Copy)?;
    if is_of_source(head, headers::X_MS_FILE_PERMISSION_COPY_MODE)? {
        // One of the two says what the permission is.
        for name in [headers::X_MS_FILE_PERMISSION, headers::X_MS_FILE_PERMISSION_KEY] {
            if let Some(text) = head.header(name) {
                return Err(Failure::invalid_header(name, text));
            }
        }
        smb.permission = Wish::Source;
    }
    let posix = posix_headers::wishes(head)?;
    let mode_of_source = is_of_source(head, headers::X_MS_FILE_MODE_COPY_MODE)?;
    let owner_of_source = is_of_source(head, headers::X_MS_FILE_OWNER_COPY_MODE)?;
    for (is_given, of_source, name) in [
        (posix.mode.is_some(), mode_of_source, headers::X_MS_MODE),
        (posix.owner.is_some(), owner_of_source, headers::X_MS_OWNER),
        (posix.group.is_some(), owner_of_source, headers::X_MS_GROUP),
    ] {
        if is_given && of_source {
            return Err(Failure::invalid_header(name, head.header(name).unwrap_or_default()));
        }
    }
    Ok(GivenFile {
        smb,
        sets_archive: head.flag(headers::X_MS_FILE_COPY_SET_ARCHIVE)?,
        metadata: (!metadata.is_empty()).then_some(metadata),
        posix,
        mode_of_source,
        owner_of_source,
    })
}

/// `source`, or `override`: what the request says of it.
fn is_of_source(head: &Head, name: &'static str) -> Result<bool, Failure> {
    match head.header(name) {
        None => Ok(false),
        Some(text) if text.eq_ignore_ascii_case("override") => Ok(false),
        Some(text) if text.eq_ignore_ascii_case("source") => Ok(true),
        Some(text) => Err(Failure::invalid_header(name, text)),
    }
}

pub async fn abort_copy_file(call: Call) -> Result<Reply, Failure> {
    let text = call.head.query("copyid").unwrap_or_default();
    // Copy ids are GUIDs, written in any of the forms that lease ids may have.
    let id = LeaseId::parse(text)
        .ok_or_else(|| Failure::invalid_query("copyid", text, "copyid needs to be valid Guid."))?;
    let input = AbortCopyFile { at: call.path()?, preconditions: call.preconditions()?, id: id.0 };
    input.execute(&call.services, &call.context).await?;
    Ok(Reply::of(call.row))
}
