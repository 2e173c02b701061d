//! What a rename moves: `x-ms-file-rename-source`, the whole address of a directory or file of the same account.

use http::header::AUTHORIZATION;
use http::{HeaderMap, HeaderValue, Uri};
use lazuli_model::error::Failure;
use lazuli_model::name::{FilePath, TrailingDots};
use lazuli_model::operation::{Op, Resource, Service};
use lazuli_service::file::share_access;

use super::address::trailing_dots;
use crate::auth::sas;
use crate::authorize::{Held, authorize};
use crate::call::Call;
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
    dots: TrailingDots,
    /// As it was sent: signatures are made over it.
    raw_path: String,
    target: Target,
    /// A signature for the source may be in it.
    query: Query,
    secure: bool,
}

/// What is no address, of another service, account or share, of a snapshot or of a root directory cannot be moved.
pub fn rename_source(head: &Head) -> Result<RenameSource, Failure> {
    const NAME: &str = headers::X_MS_FILE_RENAME_SOURCE;
    let text = head.required_header(NAME)?;
    let refused = || Failure::invalid_header(NAME, text);
    let (uri, target, query) = parse(text).ok_or_else(refused)?;
    let of_account = target.service == Service::File && target.account == head.target.account;
    let base = !target.secondary && query.given("sharesnapshot").is_none();
    let of_share = target.container == head.target.container;
    if !of_account || !of_share || !base || target.resource != Resource::Path || target.object.is_empty() {
        return Err(refused());
    }
    let dots = trailing_dots(head, headers::X_MS_SOURCE_ALLOW_TRAILING_DOT)?;
    let path = FilePath::parse(&target.object, dots)?;
    let (share, raw_path) = (target.container.clone(), uri.path().to_owned());
    let secure = uri.scheme_str() == Some("https");
    Ok(RenameSource { share, path, dots, raw_path, target, query, secure })
}

/// To be renamed, a directory or file must be one that the credential may delete: it is gone from where it was. A token is
/// for the source if it stands in the source's address; else the request's own is asked for the source too.
pub(crate) async fn authorize_source(call: &Call, source: &RenameSource) -> Result<(), Failure> {
    // Another server's account may have the same name.
    let text = call.head.required_header(headers::X_MS_FILE_RENAME_SOURCE)?;
    if !call.sources.is_own_file(text, &call.head) {
        return Err(Failure::invalid_header(headers::X_MS_FILE_RENAME_SOURCE, text));
    }
    let signed = sas::is_sas(&source.query);
    if call.grant.held == Held::Everything && !signed {
        return Ok(());
    }
    let query = if signed { &source.query } else { &call.head.query };
    let secure = if signed { source.secure } else { call.head.secure };
    let at = At { raw_path: &source.raw_path, target: &source.target, dots: source.dots };
    authorize_at(call, Op::DeleteFile, at, query, secure).await
}

/// Another address of the account.
pub(super) struct At<'a> {
    pub raw_path: &'a str,
    pub target: &'a Target,
    /// How the names of its path are read.
    pub dots: TrailingDots,
}

/// Whether the token of a query may carry out an operation there.
pub(super) async fn authorize_at(
    call: &Call,
    op: Op,
    at: At<'_>,
    query: &Query,
    secure: bool,
) -> Result<(), Failure> {
    let row = op.row();
    let At { raw_path, target, dots } = at;
    let mut headers = HeaderMap::new();
    if dots == TrailingDots::Kept {
        headers.insert(headers::X_MS_ALLOW_TRAILING_DOT, HeaderValue::from_static("true"));
    }
    // A token that is bound to a user comes with that user's own.
    if query.count("sduoid") > 0
        && let Some(user) = call.head.headers.find(AUTHORIZATION.as_str())
    {
        headers.insert(AUTHORIZATION, user.clone());
    }
    let head = Head {
        method: row.route.methods.first().copied().unwrap_or(call.head.method),
        raw_path: raw_path.to_owned(),
        query: query.clone(),
        headers: headers.into(),
        target: target.clone(),
        peer: call.head.peer,
        secure,
        request_id: call.head.request_id,
        version: call.head.version,
        version_sent: None,
        metadata_names: Vec::new(),
    };
    let now = call.services.wall_now();
    let credential = call.auth.authenticate(&head, now)?;
    let share = match credential.needs_container(row) {
        true => share_access(&call.services, &target.account, &target.container).await?,
        false => None,
    };
    authorize(&credential, row, &head, share.as_ref(), now).map(|_| ())
}

fn parse(text: &str) -> Option<(Uri, Target, Query)> {
    let uri: Uri = Some(text).filter(|text| text.len() <= LONGEST)?.parse().ok()?;
    let web = matches!(uri.scheme_str(), Some("http" | "https"));
    let authority = uri.authority().filter(|authority| web && !authority.as_str().contains('@'))?;
    let query = Query::parse(uri.query().unwrap_or_default()).ok()?;
    let target = Target::parse(Service::File, authority.as_str(), uri.path(), &query).ok()?;
    Some((uri, target, query))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::head;

    fn source(text: &str, headers: &[(&str, &str)]) -> Result<(String, String), &'static str> {
        let mut sent = vec![("x-ms-file-rename-source", text)];
        sent.extend(headers);
        let mut sent = Head { version: lazuli_model::version::ApiVersion::NEWEST, ..head(&sent) };
        sent.target.container = "share".into();
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
            "http://127.0.0.1/a/shares/dir",
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
