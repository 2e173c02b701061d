//! What a rename moves: `x-ms-file-rename-source`, the whole address of a directory or file of the same account.

use http::Uri;
use lazuli_model::error::Failure;
use lazuli_model::name::FilePath;
use lazuli_model::operation::{Resource, Service};

use super::address::trailing_dots;
use crate::head::Head;
use crate::headers;
use crate::query::Query;
use crate::target::Target;

/// The longest address of a source.
const LONGEST: usize = 8 * 1024;

#[derive(Debug, Clone)]
pub struct RenameSource {
    pub share: String,
    pub path: FilePath,
    /// A signature for the source may be in it.
    pub query: Query,
}

/// What is no address, of another service or account, of a snapshot or of a root directory cannot be moved.
pub fn rename_source(head: &Head) -> Result<RenameSource, Failure> {
    const NAME: &str = headers::X_MS_FILE_RENAME_SOURCE;
    let text = head.required_header(NAME)?;
    let refused = || Failure::invalid_header(NAME, text);
    let (target, query) = parse(text).ok_or_else(refused)?;
    let of_account = target.service == Service::File && target.account == head.target.account;
    let base = !target.secondary && query.given("sharesnapshot").is_none();
    if !of_account || !base || target.resource != Resource::Path || target.object.is_empty() {
        return Err(refused());
    }
    let dots = trailing_dots(head, headers::X_MS_SOURCE_ALLOW_TRAILING_DOT)?;
    let path = FilePath::parse(&target.object, dots)?;
    Ok(RenameSource { share: target.container, path, query })
}

fn parse(text: &str) -> Option<(Target, Query)> {
    let uri: Uri = Some(text).filter(|text| text.len() <= LONGEST)?.parse().ok()?;
    let web = matches!(uri.scheme_str(), Some("http" | "https"));
    let authority = uri.authority().filter(|authority| web && !authority.as_str().contains('@'))?;
    let query = Query::parse(uri.query().unwrap_or_default()).ok()?;
    let target = Target::parse(Service::File, authority.as_str(), uri.path(), &query).ok()?;
    Some((target, query))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::head;

    fn source(text: &str, headers: &[(&str, &str)]) -> Result<(String, String), &'static str> {
        let mut sent = vec![("x-ms-file-rename-source", text)];
        sent.extend(headers);
        let sent = Head { version: lazuli_model::version::ApiVersion::NEWEST, ..head(&sent) };
        let read = rename_source(&sent).map_err(|failure| failure.code.name())?;
        Ok((read.share, read.path.to_string()))
    }

    #[test]
    fn an_address_of_the_same_account_is_a_source() {
        for text in [
            "http://127.0.0.1:10003/a/share/dir/f%20g",
            "https://a.file.core.windows.net/share/dir/f%20g?sv=1&sig=x",
            "http://a.file.localhost:10003/share/dir/f%20g/",
        ] {
            assert_eq!(source(text, &[]), Ok(("share".into(), "dir/f g".into())), "{text}");
        }
        let dotted = "http://127.0.0.1:10003/a/share/dir.";
        assert_eq!(source(dotted, &[]), Ok(("share".into(), "dir".into())));
        let kept = [("x-ms-source-allow-trailing-dot", "true")];
        assert_eq!(source(dotted, &kept), Ok(("share".into(), "dir.".into())));
        let own = [("x-ms-allow-trailing-dot", "true")];
        assert_eq!(source(dotted, &own), Ok(("share".into(), "dir".into())));
    }

    #[test]
    fn nothing_else_is() {
        for text in [
            "dir/f",
            "/a/share/dir",
            "ftp://127.0.0.1/a/share/dir",
            "http://127.0.0.1/other/share/dir",
            "http://127.0.0.1/a-secondary/share/dir",
            "http://u@127.0.0.1/a/share/dir",
            "http://127.0.0.1/a/share",
            "http://127.0.0.1/a/share?restype=share",
            "http://127.0.0.1/a/share/dir?sharesnapshot=2017-05-12T20:52:22.0000000Z",
            "https://a.blob.core.windows.net/share/dir",
            "http://127.0.0.1/a/share/%FF",
        ] {
            assert_eq!(source(text, &[]), Err("InvalidHeaderValue"), "{text}");
        }
        assert_eq!(source("http://127.0.0.1/a/share/a%3Ab", &[]), Err("InvalidResourceName"));
        assert_eq!(rename_source(&head(&[])).unwrap_err().code.name(), "MissingRequiredHeader");
    }
}
