//! User delegation SAS: signed with a key that a user of the directory asked for.

use lazuli_model::error::Failure;
use lazuli_model::operation::Service;
use lazuli_model::time::Timestamp;
use lazuli_model::version::{ApiVersion, Feature};

use super::parameters::Parameters;
use super::service::{ServiceSas, overrides, read};
use super::window::{Window, instant};
use super::{Scope, join, required, signed_version};
use crate::auth::accounts::Signature;
use crate::auth::bearer::Claims;
use crate::auth::delegation_key::{DelegationSecret, KeyFields, service_letter};
use crate::auth::refusal::{denied, wrong_sas_signature};
use crate::head::Head;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UserDelegationSas {
    pub token: ServiceSas,
    pub delegation: Delegation,
}

/// On whose behalf a token was made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Delegation {
    /// `skoid`
    pub object_id: String,
    /// `sktid`
    pub tenant_id: String,
    /// `saoid` or `suoid`: the user whom the token is given to
    pub agent: Option<String>,
    /// `scid`
    pub correlation_id: Option<String>,
}

/// `bearer` is the token that came with the request; a signature may be bound to its user.
pub fn authenticate(
    known: bool,
    secret: &DelegationSecret,
    given: &Parameters<'_>,
    head: &Head,
    bearer: Option<&Claims>,
    now: Timestamp,
) -> Result<UserDelegationSas, Failure> {
    let version = signed_version(given)?;
    if !version.has(Feature::UserDelegationSas) {
        return Err(denied("User delegation is not supported by this signed version."));
    }
    if given.si.is_some() {
        return Err(denied("si is not supported with a user delegation key."));
    }
    let key = KeyFields {
        account: &head.target.account,
        object_id: required("skoid", given.skoid)?,
        tenant_id: required("sktid", given.sktid)?,
        start: required_instant("skt", given.skt)?,
        expiry: required_instant("ske", given.ske)?,
        service: required("sks", given.sks)?,
        version: required("skv", given.skv)?,
        delegated_tenant_id: given.skdutid,
    };
    let scope = Scope::read(given, head, version)?;
    let resource = scope.canonical_resource(given, head)?;
    let strings = strings_to_sign(given, scope, head, version, &resource)?;
    let signature = Signature::parse(given.sig.unwrap_or_default());
    let derived = secret.key(&key);
    let matched =
        strings.iter().fold(false, |matched, string| matched | derived.verify(string.as_bytes(), &signature));
    if !matched || !known {
        return Err(wrong_sas_signature(strings.first().map_or("", String::as_str)));
    }
    if key.service != service_letter(head.target.service) {
        return Err(denied("The user delegation key is for another service."));
    }
    // The token counts while both its own time and that of its key run.
    Window { start: Some(key.start), expiry: Some(key.expiry) }.check(now)?;
    let token = read(given, scope, head, version, None)?;
    token.window.check(now)?;
    if token.permissions.is_none() {
        return Err(denied("sp is required."));
    }
    check_binding(given, bearer)?;
    Ok(UserDelegationSas {
        token,
        delegation: Delegation {
            object_id: key.object_id.to_owned(),
            tenant_id: key.tenant_id.to_owned(),
            agent: given.saoid.or(given.suoid).map(str::to_owned),
            correlation_id: given.scid.map(str::to_owned),
        },
    })
}

/// `sduoid`: only this user may use the token, and proves to be it with a bearer token.
fn check_binding(given: &Parameters<'_>, bearer: Option<&Claims>) -> Result<(), Failure> {
    let Some(user) = given.sduoid else {
        return if given.skdutid.is_some() { Err(denied("skdutid needs sduoid.")) } else { Ok(()) };
    };
    let Some(claims) = bearer else {
        return Err(denied("The signature is bound to a user: a bearer token is required."));
    };
    let tenant = given.skdutid.or(given.sktid);
    if claims.object_id.as_deref() != Some(user) || claims.tenant_id.as_deref() != tenant {
        return Err(denied("The signature is bound to another user."));
    }
    Ok(())
}

fn required_instant(name: &str, text: Option<&str>) -> Result<Timestamp, Failure> {
    required(name, text)?;
    instant(name, text)?.ok_or_else(|| denied(format!("{name} is required.")))
}

/// More than one only where clients in the field disagree.
fn strings_to_sign(
    given: &Parameters<'_>,
    scope: Scope,
    head: &Head,
    version: ApiVersion,
    resource: &str,
) -> Result<Vec<String>, Failure> {
    let text = Option::unwrap_or_default;
    let start = [text(given.sp), text(given.st), text(given.se), resource];
    let key =
        [given.skoid, given.sktid, given.skt, given.ske, given.sks, given.skv].map(Option::unwrap_or_default);
    let agents = [text(given.saoid), text(given.suoid), text(given.scid)];
    let binding = [text(given.skdutid), text(given.sduoid)];
    let end = [text(given.sip), text(given.spr), version.as_str()];
    match head.target.service {
        Service::Blob | Service::Dfs => {
            let mut fields: Vec<&str> = Vec::with_capacity(28);
            fields.extend(start);
            fields.extend(key);
            if version.has(Feature::UserDelegationAgents) {
                fields.extend(agents);
            }
            if version.has(Feature::UserDelegationBinding) {
                fields.extend(binding);
            }
            fields.extend(end);
            fields.extend([text(given.sr), scope.snapshot_time(given)]);
            if version.has(Feature::SasEncryptionScope) {
                fields.push(text(given.ses));
            }
            let (headers, parameters);
            if version.has(Feature::DynamicUserDelegation) {
                headers = signed_headers(given.srh, head)?;
                parameters = signed_parameters(given.srq, head)?;
                fields.extend([headers.as_str(), parameters.as_str()]);
            } else if given.srh.is_some() || given.srq.is_some() {
                return Err(denied("srh and srq are not supported by this signed version."));
            }
            fields.extend(overrides(given));
            Ok(vec![join(&fields)])
        }
        Service::Table => Err(denied("User delegation is not supported by this service.")),
        Service::Queue | Service::File if !version.has(Feature::UserDelegationBinding) => {
            Err(denied("User delegation is not supported by this signed version."))
        }
        Service::Queue => Ok(vec![
            join(&[&start[..], &key, &binding, &end].concat()),
            join(&[&start[..], &key, &agents, &binding, &end].concat()),
        ]),
        Service::File => {
            let overrides = overrides(given);
            let resource_and_blanks = [text(given.sr), "", ""];
            let mut strings = vec![join(
                &[&start[..], &key, &agents, &binding, &end, &resource_and_blanks, &overrides].concat(),
            )];
            // What does not sign `sr` cannot be told from a token for a file of that name.
            if scope != Scope::Directory {
                strings.push(join(&[&start[..], &key, &binding, &end, &overrides].concat()));
            }
            Ok(strings)
        }
    }
}

/// `name:value` and a line feed for each header that `srh` lists.
fn signed_headers(srh: Option<&str>, head: &Head) -> Result<String, Failure> {
    let mut out = String::new();
    for name in srh.into_iter().flat_map(|list| list.split(',')) {
        let Some(value) = head.raw_header(name.trim()) else {
            return Err(denied(format!("The signed request header '{name}' is not in the request.")));
        };
        out.push_str(name);
        out.push(':');
        out.push_str(value);
        out.push('\n');
    }
    Ok(out)
}

/// A line feed and `name:value` for each parameter that `srq` lists.
fn signed_parameters(srq: Option<&str>, head: &Head) -> Result<String, Failure> {
    let mut out = String::new();
    for name in srq.into_iter().flat_map(|list| list.split(',')) {
        // What is signed must be what is acted by.
        let (Some(value), 1) = (head.query.get(name.trim()), head.query.count(name.trim())) else {
            return Err(denied(format!("The signed query parameter '{name}' is not in the request once.")));
        };
        out.push('\n');
        out.push_str(name);
        out.push(':');
        out.push_str(value);
    }
    Ok(out)
}
