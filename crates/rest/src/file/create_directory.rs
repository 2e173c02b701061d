//! Create Directory.

use lazuli_model::error::Failure;
use lazuli_service::file::{CreateDirectory, NewBody};

use super::path_headers::{encrypted, new_path, tell};
use super::smb_headers::Use;
use crate::call::Call;
use crate::reply::Reply;

pub async fn create_directory(call: Call) -> Result<Reply, Failure> {
    let input = CreateDirectory {
        at: call.path()?,
        preconditions: call.preconditions()?,
        new: new_path(&call.head, Use::CreateDirectory, NewBody::Directory)?,
    };
    let made = input.execute(&call.services, &call.context).await?;
    Ok(encrypted(tell(Reply::of(call.row), call.head.version, &made)))
}
