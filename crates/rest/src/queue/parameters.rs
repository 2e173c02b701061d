//! Numbers in the query of message operations.

use std::num::IntErrorKind;
use std::ops::RangeInclusive;

use lazuli_model::admission::queue::PopReceipt;
use lazuli_model::error::Failure;
use lazuli_model::version::Feature;
use uuid::Uuid;

use crate::call::Call;
use crate::head::Head;

const VISIBILITY: &str = "visibilitytimeout";
const TIME_TO_LIVE: &str = "messagettl";
/// Seven days.
const WEEK: u32 = 604_800;

/// A number within bounds. What is no whole number is a bad value, what is outside is out of range.
fn number(head: &Head, name: &'static str, allowed: RangeInclusive<u32>) -> Result<Option<u32>, Failure> {
    let Some(text) = head.query(name) else { return Ok(None) };
    let Ok(number) = text.trim().parse::<i64>() else {
        return Err(Failure::invalid_query(name, text, "Failed to parse the parameter value."));
    };
    match u32::try_from(number) {
        Ok(number) if allowed.contains(&number) => Ok(Some(number)),
        _ => Err(Failure::out_of_range_query(name, text, allowed.start(), allowed.end())),
    }
}

/// 1 to 32, one by default.
pub fn message_count(head: &Head) -> Result<usize, Failure> {
    Ok(number(head, "numofmessages", 1..=32)?.unwrap_or(1) as usize)
}

/// Get Messages: not 0, half a minute by default.
pub fn visibility_on_get(head: &Head) -> Result<u32, Failure> {
    Ok(number(head, VISIBILITY, 1..=WEEK)?.unwrap_or(30))
}

pub fn visibility_on_put(head: &Head) -> Result<u32, Failure> {
    if !head.version.has(Feature::QueueVisibilityOnPut) {
        return Ok(0);
    }
    Ok(number(head, VISIBILITY, 0..=WEEK)?.unwrap_or(0))
}

pub fn visibility_on_update(head: &Head) -> Result<u32, Failure> {
    number(head, VISIBILITY, 0..=WEEK)?.ok_or_else(|| Failure::missing_query(VISIBILITY))
}

/// Seconds, a week by default; None for ever. Longer than the message takes to become visible.
pub fn time_to_live(head: &Head, visibility: u32) -> Result<Option<u32>, Failure> {
    let Some(text) = head.query(TIME_TO_LIVE) else { return longer(head, Some(WEEK), visibility) };
    if !head.version.has(Feature::UnlimitedMessageTtl) {
        return longer(head, Some(number(head, TIME_TO_LIVE, 1..=WEEK)?.unwrap_or(WEEK)), visibility);
    }
    let refused = |reason| Failure::invalid_query(TIME_TO_LIVE, text, reason);
    let seconds = match text.trim().parse::<i64>() {
        Ok(seconds) => seconds,
        Err(error) if *error.kind() == IntErrorKind::PosOverflow => i64::MAX,
        Err(_) => return Err(refused("Failed to parse the parameter value.")),
    };
    match u32::try_from(seconds) {
        Err(_) if seconds == -1 => Ok(None),
        // More than a century is for ever.
        Err(_) if seconds > 0 => Ok(None),
        Ok(seconds) if seconds > 0 => longer(head, Some(seconds), visibility),
        _ => Err(refused("Value must be greater than zero, or -1.")),
    }
}

fn longer(head: &Head, time_to_live: Option<u32>, visibility: u32) -> Result<Option<u32>, Failure> {
    if time_to_live.is_some_and(|seconds| seconds <= visibility) {
        let text = head.query(VISIBILITY).unwrap_or_default();
        let reason = "messagettl must be greater than visibilitytimeout";
        return Err(Failure::invalid_query(VISIBILITY, text, reason));
    }
    Ok(time_to_live)
}

/// Judged before the message id, whatever that is.
pub fn pop_receipt(head: &Head) -> Result<PopReceipt, Failure> {
    let text = head.query("popreceipt").ok_or_else(|| Failure::missing_query("popreceipt"))?;
    PopReceipt::parse(text)
}

/// None for an id that no message can have: such a message is simply not found.
pub fn message_id(call: &Call) -> Option<Uuid> {
    Uuid::try_parse(&call.head.target.object).ok()
}
