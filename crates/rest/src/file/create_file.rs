//! Create File.

use lazuli_model::error::Failure;
use lazuli_model::smb::FileType;
use lazuli_model::version::Feature;
use lazuli_service::file::{CreateFile, NewBody};

use super::content_headers::{DEFAULT_TYPE, content_headers, length};
use super::path_headers::{encrypted, new_path, tell};
use super::posix_headers::file_type;
use super::smb_headers::Use;
use crate::call::Call;
use crate::head::Head;
use crate::headers::{self, name};
use crate::reply::Reply;
use crate::{decode, structured};

pub async fn create_file(mut call: Call) -> Result<Reply, Failure> {
    let has_body = takes_body(&call.head)?;
    let is_structured = has_body && structured::unwrap(&mut call)?;
    let head = &call.head;
    refuse_types(head)?;
    let length = length(head)?.ok_or_else(|| Failure::missing_header(headers::X_MS_CONTENT_LENGTH))?;
    let mut headers = content_headers(head)?;
    headers.content_type.get_or_insert_with(|| DEFAULT_TYPE.to_owned());
    let input = CreateFile {
        at: call.path()?,
        preconditions: call.preconditions()?,
        new: new_path(head, Use::CreateFile, NewBody::File { length, headers })?,
        bytes: match has_body {
            true => Some((call.body, decode::digests(head)?)),
            false => None,
        },
    };
    let (made, md5) = input.execute(&call.services, &call.context).await?;
    let reply = encrypted(tell(Reply::of(call.row), call.head.version, &made));
    Ok(structured::show(reply.md5(name::CONTENT_MD5, md5), is_structured))
}

/// Before a file could be created with its first bytes, they all came by Put Range.
fn takes_body(head: &Head) -> Result<bool, Failure> {
    match head.content_length()? {
        None | Some(0) => Ok(false),
        Some(_) if head.version.has(Feature::FilesWithBytes) => Ok(true),
        Some(length) => {
            Err(Failure::invalid_header(headers::spelled(headers::CONTENT_LENGTH), &length.to_string()))
        }
    }
}

/// Directories and links are created by requests of their own.
fn refuse_types(head: &Head) -> Result<(), Failure> {
    match file_type(head)? {
        None | Some(FileType::Regular) => Ok(()),
        Some(other) => Err(Failure::invalid_header(headers::X_MS_FILE_FILE_TYPE, other.as_str())),
    }
}
