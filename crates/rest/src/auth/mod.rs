//! Who asks. Pure computation: no look-up, no clock. What needs a look-up (stored access policies, public
//! access of a container) is left to [`crate::authorize`], which is handed what was found.

pub mod accounts;
pub mod bearer;
pub mod delegation_key;
pub mod header_order;
pub mod refusal;
pub mod sas;
mod shared_key;

use lazuli_model::error::{ErrorCode, Failure};
use lazuli_model::operation::Service;
use lazuli_model::time::Timestamp;

pub use accounts::{Account, Accounts, BadAccounts, Key};
pub use bearer::{BadJwks, Claims, Jwks, OAuth};
pub use delegation_key::{DelegationSecret, KeyInfo, UserDelegationKey};
pub use refusal::{hides_version, wants_challenge};
pub use sas::{AccountSas, ResponseOverrides, ServiceSas, TableScope, UserDelegationSas};

use crate::head::Head;
use refusal::{malformed, unknown_account};
use shared_key::Scheme;

/// The tenant of challenges, where none is configured.
const NO_TENANT: &str = "00000000-0000-0000-0000-000000000000";

/// Everything that credentials are judged by.
#[derive(Clone)]
pub struct Auth {
    pub accounts: Accounts,
    oauth: OAuth,
    bearer_over_http: bool,
    delegation: DelegationSecret,
    challenge: String,
}

/// Who asks, proven.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Credential {
    /// Shared Key or Shared Key Lite: the owner of the account.
    SharedKey,
    AccountSas(AccountSas),
    ServiceSas(ServiceSas),
    UserDelegationSas(UserDelegationSas),
    Bearer(Claims),
    Anonymous,
}

impl Auth {
    pub fn new(accounts: Accounts, oauth: OAuth, delegation_secret: [u8; 32]) -> Self {
        Self {
            accounts,
            oauth,
            bearer_over_http: false,
            delegation: DelegationSecret::new(delegation_secret),
            challenge: refusal::challenge(NO_TENANT),
        }
    }

    /// Tokens over plain http are a gift to whoever listens: development only.
    #[must_use]
    pub fn with_bearer_over_http(mut self, allowed: bool) -> Self {
        self.bearer_over_http = allowed;
        self
    }

    /// The tenant that challenges send clients to.
    #[must_use]
    pub fn with_tenant(mut self, tenant: &str) -> Self {
        self.challenge = refusal::challenge(tenant);
        self
    }

    /// The value of `WWW-Authenticate`, for failures that [`wants_challenge`] picks.
    pub fn challenge(&self) -> &str {
        &self.challenge
    }

    /// An Authorization header is judged alone, even beside a good signature in the query; the exception is a
    /// signature that is bound to the user of a bearer token.
    pub fn authenticate(&self, head: &Head, now: Timestamp) -> Result<Credential, Failure> {
        let claimed = self.accounts.claimed(&head.target.account);
        if claimed.account.https_only && !head.secure {
            return Err(
                Failure::new(ErrorCode::AccountRequiresHttps).detail("AccountName", &head.target.account)
            );
        }
        let mut headers = head.headers.get_all(http::header::AUTHORIZATION).iter();
        let header = match (headers.next(), headers.next()) {
            (None, _) => None,
            (Some(value), None) => Some(value.to_str().map_err(|_| malformed("not text"))?),
            (Some(_), Some(_)) => return Err(malformed("two Authorization headers")),
        };
        let Some(header) = header else {
            if sas::is_sas(&head.query) {
                return sas::authenticate(&claimed, &self.delegation, head, None, now);
            }
            return Ok(Credential::Anonymous);
        };
        let (scheme, rest) = header.trim().split_once(' ').ok_or_else(|| malformed("no scheme"))?;
        let rest = rest.trim();
        let shared_key = if scheme.eq_ignore_ascii_case("SharedKey") {
            Scheme::SharedKey
        } else if scheme.eq_ignore_ascii_case("SharedKeyLite") {
            Scheme::SharedKeyLite
        } else if scheme.eq_ignore_ascii_case("Bearer") {
            let claims = bearer::authenticate(&self.oauth, self.bearer_over_http, rest, head, now)?;
            if sas::is_sas(&head.query) && head.query.count("sduoid") > 0 {
                return sas::authenticate(&claimed, &self.delegation, head, Some(&claims), now);
            }
            if !claimed.known {
                return Err(unknown_account(&head.target.account));
            }
            return Ok(Credential::Bearer(claims));
        } else {
            return Err(malformed("unknown scheme"));
        };
        shared_key::verify(&self.accounts, &claimed, shared_key, rest, head, now)?;
        if claimed.account.shared_key_disabled {
            return Err(ErrorCode::KeyBasedAuthenticationNotPermitted.into());
        }
        Ok(Credential::SharedKey)
    }

    /// Get User Delegation Key, for whoever came with a token.
    pub fn user_delegation_key(
        &self,
        head: &Head,
        claims: &Claims,
        info: KeyInfo,
        now: Timestamp,
    ) -> Result<UserDelegationKey, Failure> {
        let Head { target, version, .. } = head;
        let service: Service = target.service;
        delegation_key::user_delegation_key(
            &self.delegation,
            &target.account,
            service,
            *version,
            claims,
            info,
            now,
        )
    }
}
