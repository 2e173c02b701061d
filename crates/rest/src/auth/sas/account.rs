//! Account SAS: signed by an account key, good for services and resource types.

use lazuli_model::error::Failure;
use lazuli_model::operation::Service;
use lazuli_model::time::Timestamp;
use lazuli_model::version::Feature;

use super::parameters::Parameters;
use super::window::{Window, check_address, check_protocol};
use super::{join, permissions, required, signed_version};
use crate::auth::accounts::{Claimed, Signature};
use crate::auth::refusal::{denied, wrong_sas_signature};
use crate::head::Head;

/// A verified token, inside its time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AccountSas {
    /// `ss`, a subset of `bqtf`
    pub services: String,
    /// `srt`, a subset of `sco`
    pub resource_types: String,
    /// `sp`
    pub permissions: String,
    pub encryption_scope: Option<String>,
}

impl AccountSas {
    pub fn covers(&self, service: Service) -> bool {
        self.services.contains(match service {
            Service::Blob | Service::Dfs => 'b',
            Service::Queue => 'q',
            Service::Table => 't',
            Service::File => 'f',
        })
    }
}

pub fn authenticate(
    claimed: &Claimed,
    given: &Parameters<'_>,
    head: &Head,
    now: Timestamp,
) -> Result<AccountSas, Failure> {
    let version = signed_version(given)?;
    let services = required("ss", given.ss)?;
    let resource_types = required("srt", given.srt)?;
    let permissions = required("sp", given.sp)?;
    let expiry = required("se", given.se)?;
    let scopes = version.has(Feature::SasEncryptionScope);
    let mut fields = vec![
        head.target.account.as_str(),
        permissions,
        services,
        resource_types,
        given.st.unwrap_or_default(),
        expiry,
        given.sip.unwrap_or_default(),
        given.spr.unwrap_or_default(),
        version.as_str(),
    ];
    if scopes {
        fields.push(given.ses.unwrap_or_default());
    }
    // This string alone ends with a line feed.
    fields.push("");
    let string = join(&fields);
    let signature = Signature::parse(given.sig.unwrap_or_default());
    if !claimed.verify(string.as_bytes(), &signature) {
        return Err(wrong_sas_signature(&string));
    }
    if given.ses.is_some() && !scopes {
        return Err(denied("ses is not supported by this signed version."));
    }
    if services.chars().any(|letter| !"bqtf".contains(letter)) {
        return Err(denied("ss holds an unknown service."));
    }
    if resource_types.chars().any(|letter| !"sco".contains(letter)) {
        return Err(denied("srt holds an unknown resource type."));
    }
    permissions::check_account(permissions)?;
    Window::parse(given.st, Some(expiry))?.check(now)?;
    check_protocol(given.spr, head.secure)?;
    check_address(given.sip, head.peer)?;
    Ok(AccountSas {
        services: services.to_owned(),
        resource_types: resource_types.to_owned(),
        permissions: permissions.to_owned(),
        encryption_scope: given.ses.map(str::to_owned),
    })
}
