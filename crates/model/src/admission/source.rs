//! Conditions on the source of a copy: `x-ms-source-if-*`, in a [`Preconditions`] of their own.

use crate::error::{ErrorCode, Failure};
use crate::operation::{LeaseUse, Policy, Source};
use crate::tags::Tags;
use crate::time::Timestamp;

use super::conditions::{Header, Headers, Seen};
use super::{Kind, Preconditions, Target, lease};

/// Whether the source, which exists, is the one that the request means.
///
/// Copy Blob looks at the source itself and answers like a write. The other operations read it over HTTP,
/// and what that read would be told comes through (all recorded).
pub fn admit_source(
    policy: &Policy,
    given: &Preconditions,
    source: &Target<'_>,
    now: Timestamp,
) -> Result<(), Failure> {
    if source.is_incremental_copy {
        return Err(ErrorCode::OperationNotAllowedOnIncrementalCopyBlob.into());
    }
    if policy.source == Source::None {
        return Ok(());
    }
    // A source is only read: its lease is asked for when the request names one.
    lease::check_use(Kind::Blob, source.lease, LeaseUse::Read, given.lease_id, now)?;
    let headers = Headers {
        if_match: given.if_match.as_ref(),
        if_none_match: given.if_none_match.as_ref(),
        if_modified_since: given.if_modified_since,
        if_unmodified_since: given.if_unmodified_since,
    };
    let seen = Seen { etag: source.etag, last_modified: source.last_modified, is_committed: true };
    if let Some(header) = headers.unmet(&seen, policy.source != Source::Looked) {
        return Err(unmet(policy.source, header));
    }
    let none = Tags::default();
    let has_tags =
        given.if_tags.as_ref().is_none_or(|expression| expression.eval(source.tags.unwrap_or(&none)));
    if has_tags { Ok(()) } else { Err(ErrorCode::ConditionNotMet.into()) }
}

fn unmet(source: Source, header: Header) -> Failure {
    let is_seen_by_read = match source {
        Source::None | Source::Looked => false,
        Source::Fetched => header != Header::Match,
        Source::FetchedBlindly => true,
    };
    match (is_seen_by_read, header.is_about_freshness()) {
        (false, _) => ErrorCode::SourceConditionNotMet.into(),
        (true, true) => Failure::new(ErrorCode::CannotVerifyCopySource).with_status(304),
        (true, false) => Failure::new(ErrorCode::CannotVerifyCopySource).with_status(412),
    }
}
