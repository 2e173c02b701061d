//! `POST` with `X-HTTP-Method`, for clients whose network knows no other verbs.

use lazuli_model::error::{ErrorCode, Failure};
use lazuli_model::operation::Method;

use crate::head::Head;
use crate::headers;

/// The method that is meant. Signatures are made over the one that was sent.
pub(crate) fn method(head: &Head) -> Result<Method, Failure> {
    let mut named = head.headers.get_all(headers::X_HTTP_METHOD).iter();
    let Some(name) = named.next() else { return Ok(head.method) };
    if named.next().is_some() {
        return Err(ErrorCode::XMethodIncorrectCount.into());
    }
    if head.method != Method::Post {
        return Err(ErrorCode::XMethodNotUsingPost.into());
    }
    let method = name.to_str().ok().and_then(|name| Method::parse(&name.trim().to_ascii_uppercase()));
    match method {
        Some(method @ (Method::Merge | Method::Put | Method::Delete | Method::Patch)) => Ok(method),
        _ => Err(ErrorCode::XMethodIncorrectValue.into()),
    }
}
