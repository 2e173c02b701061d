//! May they. The answer comes from the access column of the row and from nothing else.

use lazuli_model::access::Principal;
use lazuli_model::access::{self, AccessPolicy, Anonymous, ContainerAccess, PublicAccess};
use lazuli_model::error::{ErrorCode, Failure};
use lazuli_model::operation::{Conditions, Op, Row, Rule, Service};
use lazuli_model::time::Timestamp;
use lazuli_model::version::ApiVersion;

use crate::auth::refusal::{denied, no_credentials};
use crate::auth::sas::{Delegation, Window};
use crate::auth::{AccountSas, Claims, Credential, ResponseOverrides, ServiceSas, TableScope};
use crate::head::Head;
use crate::headers;

/// The request may go on, within these limits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Grant {
    /// In place of the stored headers, on reads.
    pub overrides: ResponseOverrides,
    /// A target that exists must not be replaced: 403 UnauthorizedBlobOverwrite.
    pub create_only: bool,
    /// Tag counts and tags in listings are shown.
    pub may_read_tags: bool,
    /// Uncommitted blocks and the like are not for everybody.
    pub anonymous: bool,
    /// The table and the keys that the request must stay within.
    pub table: Option<TableScope>,
    /// Writes use this encryption scope.
    pub encryption_scope: Option<String>,
    pub delegation: Option<Delegation>,
    /// Whom Get User Delegation Key answers for.
    pub claims: Option<Claims>,
    /// What the parts of a batch are judged by.
    pub held: Held,
}

impl Grant {
    /// On whose behalf the request acts.
    pub fn principal(&self) -> Principal {
        match (&self.claims, &self.held) {
            (Some(claims), _) => Principal::User(claims.object_id.as_deref().unwrap_or_default().into()),
            _ if self.anonymous => Principal::Anonymous,
            (None, Held::AccountSas { .. } | Held::ServiceSas { .. }) => Principal::Signature,
            (None, Held::Everything | Held::Nothing) => Principal::Owner,
        }
    }
}

/// What a credential was found to grant, to be asked again about the parts of a batch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Held {
    Everything,
    AccountSas { resource_types: String, permissions: String },
    ServiceSas { permissions: String },
    Nothing,
}

impl Held {
    fn of(credential: &access::Credential<'_>) -> Self {
        match *credential {
            access::Credential::SharedKey | access::Credential::Bearer { .. } => Self::Everything,
            access::Credential::AccountSas { resource_types, permissions } => Self::AccountSas {
                resource_types: resource_types.to_owned(),
                permissions: permissions.to_owned(),
            },
            access::Credential::ServiceSas { permissions } => {
                Self::ServiceSas { permissions: permissions.to_owned() }
            }
            access::Credential::Anonymous { .. } => Self::Nothing,
        }
    }
}

impl Grant {
    /// Whether the credential would do for this operation, on the same resource.
    pub fn covers(&self, row: &Row) -> Result<(), Failure> {
        // Parts of a batch change entities, for which every version has the same rules.
        let version = ApiVersion::NEWEST;
        let credential = match &self.held {
            Held::Everything => access::Credential::SharedKey,
            Held::AccountSas { resource_types, permissions } => {
                access::Credential::AccountSas { resource_types, permissions }
            }
            Held::ServiceSas { permissions } => access::Credential::ServiceSas { permissions },
            Held::Nothing => access::Credential::Anonymous { level: PublicAccess::Private },
        };
        access::judge(row, &credential, version, &|_| None, &|_| None).map(|_| ())
    }
}

impl Credential {
    /// True if [`authorize`] cannot judge without the container's own say.
    pub fn needs_container(&self, row: &Row) -> bool {
        match self {
            Credential::SharedKey | Credential::AccountSas(_) | Credential::Bearer(_) => false,
            Credential::ServiceSas(sas) => sas.policy.is_some(),
            Credential::UserDelegationSas(_) => false,
            Credential::Anonymous => {
                matches!(row.access.anonymous, Anonymous::BlobLevel | Anonymous::ContainerLevel)
            }
        }
    }
}

pub fn authorize(
    credential: &Credential,
    row: &Row,
    head: &Head,
    container: Option<&ContainerAccess>,
    now: Timestamp,
) -> Result<Grant, Failure> {
    let grant = match credential {
        Credential::SharedKey => judge(row, &access::Credential::SharedKey, head)?,
        Credential::AccountSas(sas) => by_account_sas(sas, row, head)?,
        Credential::ServiceSas(sas) => {
            let terms = terms(sas, container)?;
            terms.window.check(now)?;
            by_service_sas(sas, &terms.permissions, row, head)?
        }
        Credential::UserDelegationSas(sas) => {
            let permissions = sas.token.permissions.as_deref().unwrap_or_default();
            let grant = by_service_sas(&sas.token, permissions, row, head)?;
            Grant { delegation: Some(sas.delegation.clone()), ..grant }
        }
        Credential::Bearer(claims) => {
            check_intent(row, head)?;
            // Roles are not assigned here: who has a token that is good for the account has its data.
            let grant = judge(row, &access::Credential::Bearer { holds: &|_| true }, head)?;
            Grant { claims: Some(claims.clone()), ..grant }
        }
        Credential::Anonymous => by_public_access(row, head, container)?,
    };
    if head.target.secondary && writes(row) {
        return Err(Failure::new(ErrorCode::InsufficientAccountPermissions)
            .with_message("Write operations are not allowed."));
    }
    Ok(grant)
}

/// A token opens files past the permissions that they have of their own, as a backup does, and the request says that it
/// knows. A key that signs tokens opens nothing by itself.
fn check_intent(row: &Row, head: &Head) -> Result<(), Failure> {
    const NAME: &str = headers::X_MS_FILE_REQUEST_INTENT;
    let asks = matches!(row.op, Op::GetFileUserDelegationKey | Op::PreflightFileRequest);
    if row.route.service != Service::File || asks {
        return Ok(());
    }
    match head.header(NAME) {
        None => Err(Failure::missing_header(NAME)),
        Some(intent) if intent.eq_ignore_ascii_case("backup") => Ok(()),
        Some(other) => Err(Failure::invalid_header(NAME, other)),
    }
}

/// The secondary of an account is there to be read.
fn writes(row: &Row) -> bool {
    row.policy.rule == Rule::Write
}

/// The access column's verdict, as a grant without limits of its own.
fn judge(row: &Row, credential: &access::Credential<'_>, head: &Head) -> Result<Grant, Failure> {
    let verdict =
        access::judge(row, credential, head.version, &|name| head.query(name), &|name| head.header(name))?;
    Ok(Grant {
        overrides: ResponseOverrides::default(),
        create_only: !verdict.may_replace,
        may_read_tags: true,
        anonymous: false,
        table: None,
        encryption_scope: None,
        delegation: None,
        claims: None,
        held: Held::of(credential),
    })
}

fn by_account_sas(sas: &AccountSas, row: &Row, head: &Head) -> Result<Grant, Failure> {
    if !sas.covers(head.target.service) {
        return Err(ErrorCode::AuthorizationServiceMismatch.into());
    }
    let AccountSas { services: _, resource_types, permissions, encryption_scope } = sas;
    let grant = judge(row, &access::Credential::AccountSas { resource_types, permissions }, head)?;
    check_encryption_scope(encryption_scope.as_deref(), head)?;
    Ok(Grant {
        may_read_tags: permissions.contains('t'),
        encryption_scope: encryption_scope.clone(),
        ..grant
    })
}

fn by_service_sas(sas: &ServiceSas, permissions: &str, row: &Row, head: &Head) -> Result<Grant, Failure> {
    let grant = judge(row, &access::Credential::ServiceSas { permissions }, head)?;
    check_encryption_scope(sas.encryption_scope.as_deref(), head)?;
    Ok(Grant {
        overrides: sas.overrides.clone(),
        may_read_tags: permissions.contains('t'),
        table: sas.table.clone(),
        encryption_scope: sas.encryption_scope.clone(),
        ..grant
    })
}

/// What a token is signed for cannot be exchanged by a header.
fn check_encryption_scope(signed: Option<&str>, head: &Head) -> Result<(), Failure> {
    const NAME: &str = "x-ms-encryption-scope";
    match (signed, head.header(NAME)) {
        (Some(signed), Some(asked)) if signed != asked => Err(Failure::invalid_header(NAME, asked)),
        _ => Ok(()),
    }
}

struct Terms {
    window: Window,
    permissions: String,
}

/// A service SAS with its stored access policy. Each of start, expiry and permissions stands in one of the two.
fn terms(sas: &ServiceSas, container: Option<&ContainerAccess>) -> Result<Terms, Failure> {
    let policy = match &sas.policy {
        None => AccessPolicy::default(),
        Some(id) => container
            .and_then(|container| container.policies.iter().find(|policy| &policy.id == id))
            .cloned()
            .ok_or_else(|| denied(format!("The stored access policy '{id}' does not exist.")))?,
    };
    let permissions =
        one_of("sp", sas.permissions.clone(), policy.permission.filter(|text| !text.is_empty()))?
            .ok_or_else(|| denied("sp is required."))?;
    let start = one_of("st", sas.window.start, policy.start)?;
    let expiry = one_of("se", sas.window.expiry, policy.expiry)?;
    Ok(Terms { window: Window { start, expiry }, permissions })
}

fn one_of<T>(name: &str, token: Option<T>, policy: Option<T>) -> Result<Option<T>, Failure> {
    match (token, policy) {
        (Some(_), Some(_)) => {
            Err(denied(format!("{name} is given both in the signature and in the stored access policy.")))
        }
        (token, policy) => Ok(token.or(policy)),
    }
}

fn by_public_access(row: &Row, head: &Head, container: Option<&ContainerAccess>) -> Result<Grant, Failure> {
    let level = container.map(|container| container.public).unwrap_or_default();
    // A condition on tags tells the tags, which a public container does not show.
    let asks_tags = row.policy.conditions.has(Conditions::TAGS) && head.header("x-ms-if-tags").is_some();
    match judge(row, &access::Credential::Anonymous { level }, head) {
        Ok(grant) if !asks_tags => Ok(Grant { may_read_tags: false, anonymous: true, ..grant }),
        Ok(_) | Err(_) => Err(no_credentials(row, head)),
    }
}
