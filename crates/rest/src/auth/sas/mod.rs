//! Shared access signatures: what is permitted stands in the query, signed.

pub mod account;
pub mod delegation;
pub mod parameters;
pub mod permissions;
pub mod scope;
pub mod service;
pub mod window;

use lazuli_model::error::Failure;
use lazuli_model::time::Timestamp;
use lazuli_model::version::{ApiVersion, Feature};

pub use account::AccountSas;
pub use delegation::{Delegation, UserDelegationSas};
pub use parameters::Parameters;
pub use scope::Scope;
pub use service::{Bound, ResponseOverrides, ServiceSas, TableScope};
pub use window::Window;

use super::accounts::Claimed;
use super::bearer::Claims;
use super::delegation_key::DelegationSecret;
use super::refusal::denied;
use super::{Credential, ErrorCode};
use crate::head::Head;
use crate::query::Query;

/// A request that carries a signature in its query, good or not.
pub fn is_sas(query: &Query) -> bool {
    query.count("sig") > 0
}

pub fn authenticate(
    claimed: &Claimed,
    secret: &DelegationSecret,
    head: &Head,
    bearer: Option<&Claims>,
    now: Timestamp,
) -> Result<Credential, Failure> {
    let given = Parameters::read(&head.query)?;
    let for_account = given.ss.is_some() || given.srt.is_some();
    let delegated = given.skoid.is_some();
    if for_account && (delegated || given.sr.is_some() || given.tn.is_some()) {
        return Err(denied("The signature is of more than one kind."));
    }
    if delegated {
        let sas = delegation::authenticate(claimed.known, secret, &given, head, bearer, now)?;
        return Ok(Credential::UserDelegationSas(sas));
    }
    if claimed.account.shared_key_disabled {
        return Err(ErrorCode::KeyBasedAuthenticationNotPermitted.into());
    }
    if for_account {
        account::authenticate(claimed, &given, head, now).map(Credential::AccountSas)
    } else {
        service::authenticate(claimed, &given, head, now).map(Credential::ServiceSas)
    }
}

/// The version that the token was made by selects the string. Older ones than the account SAS are not taken.
fn signed_version(given: &Parameters<'_>) -> Result<ApiVersion, Failure> {
    let text = required("sv", given.sv)?;
    match ApiVersion::parse(text) {
        Some(version) if version.has(Feature::AccountSas) => Ok(version),
        _ => Err(denied(format!("sv is not a supported version: '{text}'"))),
    }
}

fn required<'a>(name: &str, value: Option<&'a str>) -> Result<&'a str, Failure> {
    value.ok_or_else(|| denied(format!("{name} is required.")))
}

/// Empty fields keep their line; nothing follows the last one.
fn join(fields: &[&str]) -> String {
    fields.join("\n")
}
