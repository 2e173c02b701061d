//! Conditions on what is peculiar to page blobs, append blobs and tiers.

use crate::error::{ErrorCode, Failure};
use crate::operation::Conditions;
use crate::version::Feature;

use super::Request;

/// `x-ms-if-sequence-number-le`, `-lt` and `-eq`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct SequenceConditions {
    pub at_most: Option<u64>,
    pub below: Option<u64>,
    pub equal: Option<u64>,
}

pub(super) fn check_sequence_number(request: &Request<'_>) -> Result<(), Failure> {
    let SequenceConditions { at_most, below, equal } = request.given.sequence_number;
    let number = request.target.sequence_number;
    let is_met = at_most.is_none_or(|limit| number <= limit)
        && below.is_none_or(|limit| number < limit)
        && equal.is_none_or(|wanted| number == wanted);
    met(is_met || !request.takes(Conditions::SEQUENCE), ErrorCode::SequenceNumberConditionNotMet)
}

pub(super) fn check_append_position(request: &Request<'_>) -> Result<(), Failure> {
    let is_met = request.given.append_position.is_none_or(|wanted| request.target.length == wanted);
    met(is_met || !request.takes(Conditions::APPEND_POSITION), ErrorCode::AppendPositionConditionNotMet)
}

/// The blob must fit the limit as it is, and still fit it with what is added.
pub(super) fn check_max_size(request: &Request<'_>) -> Result<(), Failure> {
    let after = request.target.length.checked_add(request.given.added_length);
    let is_met = request.given.max_size.is_none_or(|limit| after.is_some_and(|after| after <= limit));
    met(is_met || !request.takes(Conditions::MAX_SIZE), ErrorCode::MaxBlobSizeConditionNotMet)
}

/// Delete Blob on condition that its tier was, or was not, chosen since. A blob whose tier was never
/// chosen has no such time and meets both.
pub(super) fn check_tier_time(request: &Request<'_>) -> Result<(), Failure> {
    let Some(changed) = request.target.tier_changed.map(|at| at.whole_seconds()) else {
        return Ok(());
    };
    let given = request.given;
    let is_met = given.tier_if_modified_since.is_none_or(|date| changed > date.whole_seconds())
        && given.tier_if_unmodified_since.is_none_or(|date| changed <= date.whole_seconds());
    let is_taken = request.takes(Conditions::TIER_TIME) && request.version.has(Feature::TierTimeConditions);
    met(is_met || !is_taken, ErrorCode::AccessTierChangeTimeConditionNotMet)
}

fn met(is_met: bool, otherwise: ErrorCode) -> Result<(), Failure> {
    if is_met { Ok(()) } else { Err(otherwise.into()) }
}
