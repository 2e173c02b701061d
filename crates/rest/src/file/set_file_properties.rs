//! Set File Properties.

use lazuli_model::error::Failure;
use lazuli_service::file::SetFileProperties;

use super::content_headers::{content_headers, length, replaces_content_headers};
use super::path_headers::{encrypted, tell};
use super::posix_headers;
use super::smb_headers::{self, Use};
use crate::call::Call;
use crate::reply::Reply;

pub async fn set_file_properties(call: Call) -> Result<Reply, Failure> {
    let head = &call.head;
    let headers = match replaces_content_headers(head) {
        true => Some(content_headers(head)?),
        false => None,
    };
    let input = SetFileProperties {
        at: call.path()?,
        preconditions: call.preconditions()?,
        smb: smb_headers::wishes(head, Use::Set)?,
        posix: posix_headers::wishes(head)?,
        headers,
        length: length(head)?,
    };
    let set = input.execute(&call.services, &call.context).await?;
    Ok(encrypted(tell(Reply::of(call.row), call.head.version, &set)))
}
