//! Create Symbolic Link.

use lazuli_model::error::{ErrorCode, Failure};
use lazuli_service::file::{CreateSymbolicLink, NewBody};

use super::path_headers::{new_path, refuse_content, tell};
use super::smb_headers::Use;
use crate::call::Call;
use crate::head::Head;
use crate::headers;
use crate::reply::Reply;

/// The longest text of a link.
const LONGEST: usize = 2 * 1024;

pub async fn create_symbolic_link(call: Call) -> Result<Reply, Failure> {
    let head = &call.head;
    refuse_content(head)?;
    // Whatever a link leads to has a mode of its own.
    if head.header(headers::X_MS_MODE).is_some() {
        return Err(Failure::new(ErrorCode::UnsupportedHeader).detail("HeaderName", headers::X_MS_MODE));
    }
    let target = link_text(head)?.to_owned();
    let input = CreateSymbolicLink {
        at: call.path()?,
        preconditions: call.preconditions()?,
        new: new_path(head, Use::CreateFile, NewBody::SymbolicLink { target })?,
    };
    let made = input.execute(&call.services, &call.context).await?;
    Ok(tell(Reply::of(call.row), call.head.version, &made))
}

/// `x-ms-link-text`: kept as it is, and read by those who follow the link.
fn link_text(head: &Head) -> Result<&str, Failure> {
    const NAME: &str = headers::X_MS_LINK_TEXT;
    let text = head.required_header(NAME)?;
    match text.len() {
        1..=LONGEST => Ok(text),
        _ => Err(Failure::invalid_header(NAME, text)),
    }
}
