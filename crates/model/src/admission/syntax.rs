//! Combinations of conditional headers that are refused before anything is looked up.

use crate::error::{ErrorCode, Failure};
use crate::etag::ETagCondition;
use crate::operation::Policy;
use crate::version::{ApiVersion, Feature};

use super::Preconditions;
use super::conditions::{Headers, combines_freely};

/// The 400s that come before any 404, the one of the container included.
pub fn check_syntax(policy: &Policy, given: &Preconditions, version: ApiVersion) -> Result<(), Failure> {
    let headers = Headers::taken(policy, given, version);
    check_support(policy, given, &headers)?;
    if combines_freely(policy, version) { check_read(&headers, version) } else { check_write(&headers) }
}

/// A write of a container or of the account that would not honour a header must not swallow it: the
/// client counts on it. Reads ignore what they do not take, and so do the few blob operations that take
/// no conditions.
fn check_support(policy: &Policy, given: &Preconditions, headers: &Headers<'_>) -> Result<(), Failure> {
    let is_ignored = given.if_match.is_some() != headers.if_match.is_some()
        || given.if_none_match.is_some() != headers.if_none_match.is_some()
        || given.if_modified_since.is_some() != headers.if_modified_since.is_some()
        || given.if_unmodified_since.is_some() != headers.if_unmodified_since.is_some();
    if is_ignored && policy.refuses_other_conditions {
        Err(ErrorCode::ConditionHeadersNotSupported.into())
    } else {
        Ok(())
    }
}

fn check_read(headers: &Headers<'_>, version: ApiVersion) -> Result<(), Failure> {
    let is_any = headers.if_none_match.is_some_and(ETagCondition::is_any);
    if is_any && version.has(Feature::UnsatisfiableIfNoneMatchAny) {
        return Err(ErrorCode::UnsatisfiableCondition.into());
    }
    Ok(())
}

/// One header; or If-None-Match with If-Modified-Since; or If-Match with If-Unmodified-Since. One ETag.
fn check_write(headers: &Headers<'_>) -> Result<(), Failure> {
    let Headers { if_match, if_none_match, if_modified_since, if_unmodified_since } = headers;
    let is_several = |tags: &Option<&ETagCondition>| tags.is_some_and(|tags| tags.count() > 1);
    let is_about_state = if_match.is_some() || if_unmodified_since.is_some();
    let is_about_freshness = if_none_match.is_some() || if_modified_since.is_some();
    let is_combined = is_about_state && is_about_freshness;
    if is_combined || is_several(if_match) || is_several(if_none_match) {
        return Err(ErrorCode::MultipleConditionHeadersNotSupported.into());
    }
    Ok(())
}
