//! Immutability policies and legal holds in headers.

use lazuli_model::admission::Hold;
use lazuli_model::blob::{ImmutabilityMode, ImmutabilityPolicy};
use lazuli_model::error::{ErrorCode, Failure};
use lazuli_model::time::Timestamp;
use lazuli_service::blob::BlobRecord;

use crate::call::Call;
use crate::head::Head;
use crate::headers::{self, name};
use crate::reply::Reply;

/// What a write puts its blob under from the beginning.
pub fn given(call: &Call) -> Result<Hold, Failure> {
    let hold =
        Hold { legal: legal_hold(&call.head)?.unwrap_or_default(), policy: immutability_policy(&call.head)? };
    if hold.policy.is_some() {
        refuse_on_plain_account(call, headers::X_MS_IMMUTABILITY_POLICY_UNTIL_DATE)?;
    }
    if hold.legal {
        refuse_on_plain_account(call, headers::X_MS_LEGAL_HOLD)?;
    }
    Ok(hold)
}

/// An account that does not know policies and holds takes none: to ignore one would be a promise broken later.
pub fn refuse_on_plain_account(call: &Call, header: &'static str) -> Result<(), Failure> {
    match call.features().immutability {
        true => Ok(()),
        false => Err(Failure::new(ErrorCode::UnsupportedHeader).detail("HeaderName", header)),
    }
}

/// A date, and a mode, which is unlocked where none is given.
pub fn immutability_policy(head: &Head) -> Result<Option<ImmutabilityPolicy>, Failure> {
    const UNTIL: &str = headers::X_MS_IMMUTABILITY_POLICY_UNTIL_DATE;
    const MODE: &str = headers::X_MS_IMMUTABILITY_POLICY_MODE;
    let mode = match head.header(MODE) {
        None => None,
        Some(text) => {
            let known = [ImmutabilityMode::Unlocked, ImmutabilityMode::Locked];
            let found = known.into_iter().find(|known| known.as_str().eq_ignore_ascii_case(text));
            Some(found.ok_or_else(|| Failure::invalid_header(MODE, text))?)
        }
    };
    match (head.header(UNTIL), mode) {
        (None, None) => Ok(None),
        (None, Some(_)) => Err(Failure::missing_header(UNTIL)),
        (Some(text), mode) => {
            let until =
                Timestamp::parse_http_date(text).ok_or_else(|| Failure::invalid_header(UNTIL, text))?;
            Ok(Some(ImmutabilityPolicy { until, mode: mode.unwrap_or(ImmutabilityMode::Unlocked) }))
        }
    }
}

pub fn legal_hold(head: &Head) -> Result<Option<bool>, Failure> {
    match head.header(headers::X_MS_LEGAL_HOLD) {
        None => Ok(None),
        Some(_) => head.flag(headers::X_MS_LEGAL_HOLD).map(Some),
    }
}

/// On every read of a blob that is held.
pub fn show(reply: Reply, blob: &BlobRecord) -> Reply {
    let Hold { legal, policy } = blob.hold();
    let reply = show_policy(reply, policy.as_ref());
    if legal { reply.header(name::X_MS_LEGAL_HOLD, true) } else { reply }
}

pub fn show_policy(reply: Reply, policy: Option<&ImmutabilityPolicy>) -> Reply {
    reply
        .maybe(name::X_MS_IMMUTABILITY_POLICY_UNTIL_DATE, policy.map(|policy| policy.until.rfc1123()))
        .maybe(name::X_MS_IMMUTABILITY_POLICY_MODE, policy.map(|policy| policy.mode.as_str()))
}
