//! Set Directory Properties.

use lazuli_model::error::Failure;
use lazuli_service::file::SetDirectoryProperties;

use super::path_headers::{encrypted, tell};
use super::posix_headers;
use super::smb_headers::{self, Use};
use crate::call::Call;
use crate::reply::Reply;

pub async fn set_directory_properties(call: Call) -> Result<Reply, Failure> {
    let input = SetDirectoryProperties {
        at: call.path()?,
        preconditions: call.preconditions()?,
        smb: smb_headers::wishes(&call.head, Use::Set)?,
        posix: posix_headers::wishes(&call.head)?,
    };
    let set = input.execute(&call.services, &call.context).await?;
    Ok(encrypted(tell(Reply::of(call.row), call.head.version, &set)))
}
