//! Service SAS: signed by an account key, good for one container, blob, directory, queue, table, share or file.

use lazuli_model::error::Failure;
use lazuli_model::operation::Service;
use lazuli_model::time::Timestamp;
use lazuli_model::version::{ApiVersion, Feature};
use lazuli_service::table::KeyLimits;

use super::parameters::Parameters;
use super::window::{Window, check_address, check_protocol};
use super::{Scope, join, permissions, signed_version};
use crate::auth::accounts::{Claimed, Signature};
use crate::auth::refusal::{denied, wrong_sas_signature};
use crate::head::Head;

/// A token whose signature, address and protocol are good. Where it names a stored access policy, its time and
/// permissions are known only together with the policy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServiceSas {
    pub scope: Scope,
    /// `sp`
    pub permissions: Option<String>,
    pub window: Window,
    /// `si`
    pub policy: Option<String>,
    pub overrides: ResponseOverrides,
    pub encryption_scope: Option<String>,
    pub table: Option<TableScope>,
}

/// What a token puts in place of the stored headers of a blob or file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ResponseOverrides {
    pub cache_control: Option<String>,
    pub content_disposition: Option<String>,
    pub content_encoding: Option<String>,
    pub content_language: Option<String>,
    pub content_type: Option<String>,
}

impl ResponseOverrides {
    fn read(given: &Parameters<'_>) -> Self {
        Self {
            cache_control: given.rscc.map(str::to_owned),
            content_disposition: given.rscd.map(str::to_owned),
            content_encoding: given.rsce.map(str::to_owned),
            content_language: given.rscl.map(str::to_owned),
            content_type: given.rsct.map(str::to_owned),
        }
    }
}

/// The entities that a table SAS reaches: from (`spk`, `srk`) to (`epk`, `erk`), both inclusive.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TableScope {
    /// Lower-case.
    pub table: String,
    pub start: Option<Bound>,
    pub end: Option<Bound>,
}

/// Without a row key the whole partition is meant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bound {
    pub partition_key: String,
    pub row_key: Option<String>,
}

impl TableScope {
    pub fn covers(&self, partition_key: &str, row_key: &str) -> bool {
        self.limits().contains(partition_key, row_key)
    }

    /// The same in the words of the service, which judges every key by them.
    pub fn limits(&self) -> KeyLimits {
        let Self { table: _, start, end } = self;
        let partition = |bound: &Option<Bound>| bound.as_ref().map(|bound| bound.partition_key.clone());
        let row = |bound: &Option<Bound>| bound.as_ref().and_then(|bound| bound.row_key.clone());
        KeyLimits {
            start_partition: partition(start),
            start_row: row(start),
            end_partition: partition(end),
            end_row: row(end),
        }
    }

    fn read(given: &Parameters<'_>) -> Result<Self, Failure> {
        Ok(Self {
            table: given.tn.unwrap_or_default().to_lowercase(),
            start: bound(given.spk, given.srk)?,
            end: bound(given.epk, given.erk)?,
        })
    }
}

/// An empty key is no limit: a signature is the same with an empty field and without it, so the client could leave the
/// field out of its token.
fn bound(partition_key: Option<&str>, row_key: Option<&str>) -> Result<Option<Bound>, Failure> {
    match (partition_key, row_key) {
        (None, None) => Ok(None),
        (None, Some(_)) => Err(denied("A row key range needs a partition key range.")),
        (Some(partition_key), row_key) => {
            Ok(Some(Bound { partition_key: partition_key.to_owned(), row_key: row_key.map(str::to_owned) }))
        }
    }
}

pub fn authenticate(
    claimed: &Claimed,
    given: &Parameters<'_>,
    head: &Head,
    now: Timestamp,
) -> Result<ServiceSas, Failure> {
    let version = signed_version(given)?;
    let scope = Scope::read(given, head, version)?;
    let resource = scope.canonical_resource(given, head)?;
    let string = string_to_sign(given, scope, head.target.service, version, &resource);
    let signature = Signature::parse(given.sig.unwrap_or_default());
    if !claimed.verify(string.as_bytes(), &signature) {
        return Err(wrong_sas_signature(&string));
    }
    let token = read(given, scope, head, version, given.si)?;
    if token.policy.is_none() {
        token.window.check(now)?;
        if token.permissions.is_none() {
            return Err(denied("sp is required."));
        }
    }
    Ok(token)
}

/// What follows once the signature is known to be good; the same for user delegation.
pub fn read(
    given: &Parameters<'_>,
    scope: Scope,
    head: &Head,
    version: ApiVersion,
    policy: Option<&str>,
) -> Result<ServiceSas, Failure> {
    if given.ses.is_some() && !version.has(Feature::SasEncryptionScope) {
        return Err(denied("ses is not supported by this signed version."));
    }
    if let Some(sp) = given.sp {
        permissions::check_service(sp, head.target.service, scope)?;
    }
    check_protocol(given.spr, head.secure)?;
    check_address(given.sip, head.peer)?;
    let table = (scope == Scope::Table).then(|| TableScope::read(given)).transpose()?;
    // A batch names its tables in its parts: those are asked of the grant.
    let addressed = &head.target.container;
    if table.as_ref().is_some_and(|table| !addressed.is_empty() && table.table != addressed.to_lowercase()) {
        return Err(denied("The signed resource is another table."));
    }
    Ok(ServiceSas {
        scope,
        permissions: given.sp.map(str::to_owned),
        window: Window::parse(given.st, given.se)?,
        policy: policy.map(str::to_owned),
        overrides: ResponseOverrides::read(given),
        encryption_scope: given.ses.map(str::to_owned),
        table,
    })
}

fn string_to_sign(
    given: &Parameters<'_>,
    scope: Scope,
    service: Service,
    version: ApiVersion,
    resource: &str,
) -> String {
    let mut fields = Vec::with_capacity(20);
    fields.extend([
        given.sp.unwrap_or_default(),
        given.st.unwrap_or_default(),
        given.se.unwrap_or_default(),
        resource,
        given.si.unwrap_or_default(),
        given.sip.unwrap_or_default(),
        given.spr.unwrap_or_default(),
        version.as_str(),
    ]);
    match service {
        // A token for a directory of a share is signed as one for a directory of blobs: what is signed for a file says
        // nothing of `sr`, so whoever had a token for a file could turn it into one for a directory of that name.
        Service::File if scope == Scope::Directory => {
            fields.extend([given.sr.unwrap_or_default(), "", given.ses.unwrap_or_default()]);
            fields.extend(overrides(given));
        }
        Service::Blob | Service::Dfs => {
            if version.has(Feature::SasSignsResource) {
                fields.extend([given.sr.unwrap_or_default(), scope.snapshot_time(given)]);
            }
            if version.has(Feature::SasEncryptionScope) {
                fields.push(given.ses.unwrap_or_default());
            }
            fields.extend(overrides(given));
        }
        Service::File => fields.extend(overrides(given)),
        Service::Queue => {}
        Service::Table => {
            fields.extend([given.spk, given.srk, given.epk, given.erk].map(Option::unwrap_or_default))
        }
    }
    join(&fields)
}

pub fn overrides<'a>(given: &Parameters<'a>) -> [&'a str; 5] {
    [given.rscc, given.rscd, given.rsce, given.rscl, given.rsct].map(Option::unwrap_or_default)
}
