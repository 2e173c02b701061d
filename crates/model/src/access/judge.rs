//! Whether a credential, already authenticated, covers a request. Signatures, times, addresses, services and
//! paths are checked before; here only what was granted is compared with what the row asks.

use super::{AccountSas, Anonymous, Letters, PublicAccess, Rbac, ServiceSas, permits};
use crate::error::{ErrorCode, Failure};
use crate::operation::{Conditions, LeaseUse, Name, Resource, Row};
use crate::version::{ApiVersion, Feature};

pub enum Credential<'a> {
    SharedKey,
    AccountSas {
        /// `srt`
        resource_types: &'a str,
        /// `sp`
        permissions: &'a str,
    },
    /// Service SAS and user delegation SAS, the permissions those of the token or of its stored policy.
    ServiceSas {
        permissions: &'a str,
    },
    Bearer {
        /// Whether the principal holds a data action.
        holds: &'a dyn Fn(&str) -> bool,
    },
    Anonymous {
        /// What the container shows without a credential; private where there is no container.
        level: PublicAccess,
    },
}

/// What a covered request may do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Grant {
    /// False: the target may be created, but one that exists is 403 UnauthorizedBlobOverwrite.
    pub may_replace: bool,
}

const REPLACE: Grant = Grant { may_replace: true };

/// `query` and `header` look a value up by name. A refused anonymous request comes back as
/// NoAuthenticationInformation; services and versions that answer otherwise translate it.
pub fn judge<'r>(
    row: &Row,
    credential: &Credential<'_>,
    version: ApiVersion,
    query: &dyn Fn(&str) -> Option<&'r str>,
    header: &dyn Fn(&str) -> Option<&'r str>,
) -> Result<Grant, Failure> {
    let access = &row.access;
    let variant = access.variants.iter().find(|variant| match variant.mark.name() {
        Name::Query(name) => variant.mark.fits(query(name)),
        Name::Header(name) => variant.mark.fits(header(name)),
    });
    match credential {
        Credential::SharedKey if access.shared_key => Ok(REPLACE),
        Credential::SharedKey => Err(bearer_required()),
        Credential::AccountSas { resource_types, permissions } => match access.account_sas {
            AccountSas::Never if !access.shared_key => Err(bearer_required()),
            AccountSas::Never => Err(ErrorCode::AuthorizationFailure.into()),
            AccountSas::Any => Ok(REPLACE),
            AccountSas::Needs { level, .. } if !level.chars().any(|l| resource_types.contains(l)) => {
                Err(ErrorCode::AuthorizationResourceTypeMismatch.into())
            }
            AccountSas::Needs { any_of, .. } => {
                let any_of = variant.map_or(any_of, |variant| variant.letters);
                permitted(row, any_of, permissions, version, header)
            }
        },
        Credential::ServiceSas { .. } if !access.shared_key => Err(bearer_required()),
        Credential::ServiceSas { .. } if row.route.resource == Resource::Account => {
            Err(Failure::new(ErrorCode::AuthenticationFailed).detail(
                "AuthenticationErrorDetail",
                "The specified signed resource is not allowed for this resource level",
            ))
        }
        Credential::ServiceSas { permissions } => match access.service_sas {
            ServiceSas::Never => Err(ErrorCode::AuthorizationFailure.into()),
            ServiceSas::Any => Ok(REPLACE),
            ServiceSas::AnyOf(any_of) => {
                let any_of = variant.map_or(any_of, |variant| variant.letters);
                permitted(row, any_of, permissions, version, header)
            }
        },
        Credential::Bearer { holds } => match variant.map_or(access.rbac, |variant| variant.rbac) {
            Rbac::Never => Err(ErrorCode::AuthorizationFailure.into()),
            Rbac::Any => Ok(REPLACE),
            Rbac::Since(feature, _) if !version.has(feature) => Err(ErrorCode::AuthorizationFailure.into()),
            Rbac::AnyOf(actions) | Rbac::Since(_, actions) if actions.iter().any(|action| holds(action)) => {
                // The one action that creates but does not replace.
                let full = actions.iter().any(|action| !action.ends_with("/add/action") && holds(action));
                Ok(Grant { may_replace: full || !access.create_only })
            }
            Rbac::AnyOf(_) | Rbac::Since(..) => Err(ErrorCode::AuthorizationPermissionMismatch.into()),
        },
        Credential::Anonymous { level } => {
            let open = match access.anonymous {
                Anonymous::Never => false,
                Anonymous::BlobLevel => *level != PublicAccess::Private,
                Anonymous::ContainerLevel => *level == PublicAccess::Container,
                Anonymous::Always => true,
            };
            if open { Ok(REPLACE) } else { Err(ErrorCode::NoAuthenticationInformation.into()) }
        }
    }
}

fn permitted<'r>(
    row: &Row,
    any_of: Letters,
    permissions: &str,
    version: ApiVersion,
    header: &dyn Fn(&str) -> Option<&'r str>,
) -> Result<Grant, Failure> {
    let extras = extra_letters(row, header);
    // To delete is to break what guards it, but not in the oldest versions.
    let counts = row.policy.lease != LeaseUse::Manage || version.has(Feature::DeletePermissionBreaksLease);
    let permissions = &if counts { permissions.to_owned() } else { permissions.replace('d', "") };
    if !permits(any_of, permissions) || !extras.chars().all(|letter| permissions.contains(letter)) {
        return Err(ErrorCode::AuthorizationPermissionMismatch.into());
    }
    Ok(Grant { may_replace: !row.access.create_only || permissions.contains('w') })
}

/// What headers ask for on top of the row (conditional.md section 4, blob.md sections 7 and 9).
fn extra_letters<'r>(row: &Row, header: &dyn Fn(&str) -> Option<&'r str>) -> String {
    let tags = (row.policy.conditions.has(Conditions::TAGS) && header("x-ms-if-tags").is_some())
        || (row.access.create_only && header("x-ms-tags").is_some());
    let immutable = row.access.create_only
        && ["x-ms-immutability-policy-until-date", "x-ms-immutability-policy-mode", "x-ms-legal-hold"]
            .iter()
            .any(|name| header(name).is_some());
    let mut letters = String::new();
    if tags {
        letters.push('t');
    }
    if immutable {
        letters.push('i');
    }
    letters
}

fn bearer_required() -> Failure {
    Failure::new(ErrorCode::AuthenticationFailed)
        .detail("AuthenticationErrorDetail", "Only authentication scheme Bearer is supported")
}
