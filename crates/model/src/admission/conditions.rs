//! If-Match, If-None-Match, If-Modified-Since, If-Unmodified-Since and x-ms-if-tags.

use crate::error::{ErrorCode, Failure};
use crate::etag::{ETag, ETagCondition};
use crate::operation::{Conditions, Policy, Rule, Unmet};
use crate::tags::Tags;
use crate::time::Timestamp;
use crate::version::{ApiVersion, Feature};

use super::{Existence, Preconditions, Request, UNCOMMITTED};

/// The headers of a request that its operation takes.
#[derive(Debug, Clone, Copy)]
pub(super) struct Headers<'a> {
    pub if_match: Option<&'a ETagCondition>,
    pub if_none_match: Option<&'a ETagCondition>,
    pub if_modified_since: Option<Timestamp>,
    pub if_unmodified_since: Option<Timestamp>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Header {
    Match,
    NoneMatch,
    ModifiedSince,
    UnmodifiedSince,
}

impl Header {
    /// A read answers these with 304: the reader has it already.
    pub fn is_about_freshness(self) -> bool {
        matches!(self, Self::NoneMatch | Self::ModifiedSince)
    }
}

/// What the headers are held against.
#[derive(Debug, Clone, Copy)]
pub(super) struct Seen {
    pub etag: ETag,
    pub last_modified: Timestamp,
    /// What `*` asks about.
    pub is_committed: bool,
}

impl<'a> Headers<'a> {
    pub fn taken(policy: &Policy, given: &'a Preconditions, version: ApiVersion) -> Self {
        // The operations on tags took conditions late, all four, and under names of their own.
        let is_prefixed =
            policy.conditions.has(Conditions::BLOB_PREFIXED) && version.has(Feature::ConditionsOnTags);
        let takes = |header| is_prefixed || policy.conditions.has(header);
        Self {
            if_match: given.if_match.as_ref().filter(|_| takes(Conditions::IF_MATCH)),
            if_none_match: given.if_none_match.as_ref().filter(|_| takes(Conditions::IF_NONE_MATCH)),
            if_modified_since: given.if_modified_since.filter(|_| takes(Conditions::IF_MODIFIED_SINCE)),
            if_unmodified_since: given.if_unmodified_since.filter(|_| takes(Conditions::IF_UNMODIFIED_SINCE)),
        }
    }

    /// The first header that is not met.
    pub fn unmet(&self, seen: &Seen, is_combined_freely: bool) -> Option<Header> {
        if is_combined_freely { self.unmet_by_read(seen) } else { self.unmet_by_write(seen) }
    }

    /// IfMatch AND IfUnmodifiedSince AND (IfNoneMatch OR IfModifiedSince).
    fn unmet_by_read(&self, seen: &Seen) -> Option<Header> {
        if self.matches(seen) == Some(false) {
            return Some(Header::Match);
        }
        if self.is_unmodified(seen) == Some(false) {
            return Some(Header::UnmodifiedSince);
        }
        match (self.matches_none(seen), self.is_modified(seen)) {
            (Some(true), _) | (_, Some(true)) => None,
            (Some(false), _) => Some(Header::NoneMatch),
            (None, Some(false)) => Some(Header::ModifiedSince),
            (None, None) => None,
        }
    }

    /// Of an ETag and a date that come together, the ETag alone counts.
    fn unmet_by_write(&self, seen: &Seen) -> Option<Header> {
        if let Some(is_met) = self.matches(seen) {
            return (!is_met).then_some(Header::Match);
        }
        if self.if_none_match.is_some() {
            let is_met = self.matches_none(seen).unwrap_or(true);
            return (!is_met).then_some(Header::NoneMatch);
        }
        if self.is_modified(seen) == Some(false) {
            return Some(Header::ModifiedSince);
        }
        (self.is_unmodified(seen) == Some(false)).then_some(Header::UnmodifiedSince)
    }

    fn matches(&self, seen: &Seen) -> Option<bool> {
        self.if_match.map(|wanted| match wanted {
            ETagCondition::Any => seen.is_committed,
            list => list.matches(seen.etag),
        })
    }

    /// None for `*`: only some writes honour it, and they are judged apart.
    fn matches_none(&self, seen: &Seen) -> Option<bool> {
        match self.if_none_match? {
            ETagCondition::Any => None,
            list => Some(!list.matches(seen.etag)),
        }
    }

    /// The two dates are as coarse as Last-Modified: a second. Equal is not modified.
    fn is_modified(&self, seen: &Seen) -> Option<bool> {
        self.if_modified_since.map(|date| seen.last_modified.whole_seconds() > date.whole_seconds())
    }

    fn is_unmodified(&self, seen: &Seen) -> Option<bool> {
        self.if_unmodified_since.map(|date| seen.last_modified.whole_seconds() <= date.whole_seconds())
    }
}

/// Whether the operation combines the headers by the rule of reads.
pub(super) fn combines_freely(policy: &Policy, version: ApiVersion) -> bool {
    policy.rule == Rule::Read && version.has(Feature::MultipleConditionsOnRead)
}

pub(super) fn check(request: &Request<'_>) -> Result<(), Failure> {
    let headers = Headers::taken(request.policy, request.given, request.version);
    let target = &request.target;
    let seen = match target.existence {
        // Only an operation that creates comes here. There is nothing that could match or have a date.
        Existence::Absent if headers.if_match.is_some() => {
            return Err(unmet(request.policy, Header::Match, request.version));
        }
        Existence::Absent => return Ok(()),
        Existence::Uncommitted => {
            Seen { etag: UNCOMMITTED.0, last_modified: UNCOMMITTED.1, is_committed: false }
        }
        Existence::Present => {
            Seen { etag: target.etag, last_modified: target.last_modified, is_committed: true }
        }
    };
    if seen.is_committed && headers.if_none_match.is_some_and(ETagCondition::is_any) {
        check_none_match_any(request)?;
    }
    match headers.unmet(&seen, combines_freely(request.policy, request.version)) {
        Some(header) => Err(unmet(request.policy, header, request.version)),
        None => Ok(()),
    }
}

/// `If-None-Match: *` with a target that exists. Which operations honour it is the service's habit:
/// * what creates does, with a 409. Not so with the id of the lease that locks the blob: the holder may
///   overwrite (recorded). The lease check came before, so an id with a lease here is the right one.
/// * Delete Blob does not (seen live), and neither do the other operations that need the target.
/// * Set Blob Metadata is not recorded. The Event Hubs checkpoint store claims a partition by creating
///   the blob, or by this header on Set Blob Metadata, and takes success for ownership: if it passed,
///   two consumers would own one partition. It fails as the documentation says, with 412.
fn check_none_match_any(request: &Request<'_>) -> Result<(), Failure> {
    let policy = request.policy;
    if policy.honours_none_match_any {
        return Err(unmet(policy, Header::NoneMatch, request.version));
    }
    let is_held = request.given.lease_id.is_some() && request.target.lease.is_some();
    if policy.creates && policy.rule == Rule::Write && !is_held {
        return Err(ErrorCode::BlobAlreadyExists.into());
    }
    Ok(())
}

pub(super) fn check_tags(request: &Request<'_>) -> Result<(), Failure> {
    let Some(expression) = request.given.if_tags.as_ref().filter(|_| request.takes(Conditions::TAGS)) else {
        return Ok(());
    };
    let none = Tags::default();
    if expression.eval(request.target.tags.unwrap_or(&none)) {
        Ok(())
    } else {
        Err(ErrorCode::ConditionNotMet.into())
    }
}

fn unmet(policy: &Policy, header: Header, version: ApiVersion) -> Failure {
    let is_target = match policy.unmet {
        Unmet::Condition => false,
        Unmet::Target => true,
        Unmet::TargetOfMatch => header == Header::Match,
        Unmet::TargetOfMatchSince(feature) => header == Header::Match && version.has(feature),
    };
    let code = if is_target { ErrorCode::TargetConditionNotMet } else { ErrorCode::ConditionNotMet };
    if policy.rule == Rule::Read && header.is_about_freshness() {
        Failure::new(code).with_status(304)
    } else {
        code.into()
    }
}
