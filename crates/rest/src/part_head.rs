//! The request inside of a part of a batch, as if it had come on its own.

use lazuli_model::error::{ErrorCode, Failure};
use lazuli_model::operation::{Method, Resource};
use uuid::Uuid;

use crate::head::Head;
use crate::multipart::Request;
use crate::query::Query;
use crate::request_headers::RequestHeaders;
use crate::target::Target;

/// What a path names: the kind of resource, its container (table), and the object in it.
pub(crate) type Named = (Resource, String, String);

/// Account, version and sender are those of the batch; `named` resolves the path, which begins without a slash. The
/// headers are still to be checked.
pub(crate) fn read(
    outer: &Head,
    request: &Request<'_>,
    request_id: Uuid,
    named: impl FnOnce(&str, &Query) -> Result<Named, Failure>,
) -> Result<Head, Failure> {
    let method = Method::parse(request.method).ok_or(ErrorCode::InvalidInput)?;
    let url = match request.url.split_once("://") {
        Some((_, rest)) => rest.find('/').and_then(|at| rest.get(at..)).unwrap_or("/"),
        None => request.url,
    };
    let (path, query) = url.split_once('?').unwrap_or((url, ""));
    let path = path.strip_prefix('/').unwrap_or(path);
    let query = Query::parse(query).map_err(|_| ErrorCode::InvalidUri)?;
    let (resource, container, object) = named(path, &query)?;
    Ok(Head {
        method,
        raw_path: format!("/{path}"),
        query,
        headers: RequestHeaders::of_lines(&request.headers)?,
        target: Target { account: outer.target.account.clone(), resource, container, object, ..outer.target },
        peer: outer.peer,
        secure: outer.secure,
        request_id,
        version: outer.version,
        version_sent: outer.version_sent.clone(),
        metadata_names: Vec::new(),
    })
}

/// What stands behind the account, if the path begins with it: in path style it does, in relative addresses perhaps not.
pub(crate) fn inside_account<'a>(outer: &Head, path: &'a str) -> Option<&'a str> {
    let (first, rest) = path.split_once('/')?;
    let is_account = first.trim_end_matches("-secondary") == outer.target.account;
    (outer.target.path_style && is_account).then_some(rest)
}
