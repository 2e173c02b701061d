//! Rename File, Rename Directory.

use lazuli_model::error::Failure;
use lazuli_model::operation::Op;
use lazuli_service::file::{FileAddress, RenameFile, Renamed};

use super::path_headers::{encrypted, tell};
use super::rename_source::{self, rename_source};
use super::smb_headers::{self, Use};
use crate::call::Call;
use crate::decode;
use crate::head::Head;
use crate::headers;
use crate::preconditions;
use crate::reply::Reply;

pub async fn rename_file(call: Call) -> Result<Reply, Failure> {
    let head = &call.head;
    let directory = call.row.op == Op::RenameDirectory;
    let replaces = replaces(head)?;
    let destination = call.preconditions()?;
    let source = rename_source(head)?;
    rename_source::authorize_source(&call, &source).await?;
    let metadata = decode::metadata(head)?;
    let input = RenameFile {
        directory,
        from: FileAddress { share: source.share, snapshot: None, path: source.path.names().to_vec() },
        to: call.path()?,
        source: preconditions::source(head)?,
        destination,
        replaces,
        change: Renamed {
            smb: smb_headers::wishes(head, Use::Rename)?,
            metadata: (!metadata.is_empty()).then_some(metadata),
            content_type: head.header(headers::X_MS_CONTENT_TYPE).filter(|_| !directory).map(str::to_owned),
        },
    };
    let renamed = input.execute(&call.services, &call.context).await?;
    Ok(encrypted(tell(Reply::of(call.row), call.head.version, &renamed)))
}

/// What is read-only can be ignored only of what may be replaced.
fn replaces(head: &Head) -> Result<bool, Failure> {
    const IGNORES: &str = headers::X_MS_FILE_RENAME_IGNORE_READONLY;
    let replaces = head.flag(headers::X_MS_FILE_RENAME_REPLACE_IF_EXISTS)?;
    match head.header(IGNORES) {
        Some(text) if head.flag(IGNORES)? && !replaces => Err(Failure::invalid_header(IGNORES, text)),
        _ => Ok(replaces),
    }
}
