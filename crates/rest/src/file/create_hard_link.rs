//! Create Hard Link.

use lazuli_model::error::Failure;
use lazuli_model::name::FilePath;
use lazuli_model::operation::Op;
use lazuli_service::file::{CreateHardLink, FileAddress};

use super::address::trailing_dots;
use super::path_headers::{refuse_content, tell};
use super::rename_source::{At, authorize_at};
use crate::authorize::Held;
use crate::call::Call;
use crate::head::Head;
use crate::headers;
use crate::reply::Reply;
use crate::target::Target;

pub async fn create_hard_link(call: Call) -> Result<Reply, Failure> {
    let head = &call.head;
    refuse_content(head)?;
    let kind = head.required_header(headers::X_MS_TYPE)?;
    if !kind.eq_ignore_ascii_case("file") {
        return Err(Failure::invalid_header(headers::X_MS_TYPE, kind));
    }
    let preconditions = call.preconditions()?;
    let path = target_file(head)?;
    authorize_target(&call, &path).await?;
    let at = call.path()?;
    let target = FileAddress { share: at.share.clone(), snapshot: None, path: path.names().to_vec() };
    let made = CreateHardLink { at, target, preconditions }.execute(&call.services, &call.context).await?;
    Ok(tell(Reply::of(call.row), call.head.version, &made))
}

/// `x-ms-file-target-file`: the path of a file of the same share, from its root. It is no address: nothing in it is encoded.
fn target_file(head: &Head) -> Result<FilePath, Failure> {
    const NAME: &str = headers::X_MS_FILE_TARGET_FILE;
    let text = head.required_header(NAME)?;
    let path = text.trim_matches('/');
    if path.is_empty() {
        return Err(Failure::invalid_header(NAME, text));
    }
    FilePath::parse(path, trailing_dots(head, headers::X_MS_ALLOW_TRAILING_DOT)?)
}

/// A name of a file gives all of it to those who may use the name: a token for one file gives no name to another.
async fn authorize_target(call: &Call, path: &FilePath) -> Result<(), Failure> {
    if call.grant.held == Held::Everything {
        return Ok(());
    }
    let target = Target { object: path.to_string(), ..call.head.target.clone() };
    let dots = trailing_dots(&call.head, headers::X_MS_ALLOW_TRAILING_DOT)?;
    let at = At { raw_path: &call.head.raw_path, target: &target, dots };
    authorize_at(call, Op::CreateHardLink, at, &call.head.query, call.head.secure).await
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::head;

    #[test]
    fn a_target_is_a_path_of_the_share() {
        let read = |text: &str| {
            let read = target_file(&head(&[("x-ms-file-target-file", text)]));
            read.map(|path| path.to_string()).map_err(|failure| failure.code.name())
        };
        assert_eq!(read("dir/file"), Ok("dir/file".into()));
        assert_eq!(read("/dir/100%25"), Ok("dir/100%25".into()));
        for (text, refused) in
            [("", "MissingRequiredHeader"), ("/", "InvalidHeaderValue"), ("dir/a:b", "InvalidResourceName")]
        {
            assert_eq!(read(text), Err(refused), "{text}");
        }
        assert_eq!(target_file(&head(&[])).unwrap_err().code.name(), "MissingRequiredHeader");
    }
}
