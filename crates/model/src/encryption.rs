//! What the bytes of a blob are encrypted with: the service's own key, a key that the customer gives with each request, or
//! the key of an encryption scope of the account.

use std::sync::Arc;

use zeroize::Zeroizing;

use crate::account::Features;
use crate::error::{ErrorCode, Failure};

/// The scope that every account has: the service's own key.
pub const ACCOUNT_SCOPE: &str = "$account-encryption-key";

/// SHA-256 of a key of the customer's. Records keep this, and never the key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CustomerKeyHash(pub [u8; 32]);

/// A key that the customer gave with a request. It lives as long as the request.
#[derive(Clone)]
pub struct CustomerKey {
    pub hash: CustomerKeyHash,
    /// In one place, however often the rest is moved or cloned.
    secret: Arc<Zeroizing<[u8; 32]>>,
}

impl CustomerKey {
    pub fn new(secret: Zeroizing<[u8; 32]>, hash: CustomerKeyHash) -> Self {
        Self { hash, secret: Arc::new(secret) }
    }

    pub fn secret(&self) -> &[u8; 32] {
        &self.secret
    }
}

/// The key itself is in no log.
impl std::fmt::Debug for CustomerKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("CustomerKey").field("hash", &self.hash).finish_non_exhaustive()
    }
}

/// How the bytes of a blob are encrypted, or are to be.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Encryption {
    /// With the service's own key.
    #[default]
    Service,
    Customer(CustomerKeyHash),
    Scope(String),
}

impl Encryption {
    pub fn scope(&self) -> Option<&str> {
        match self {
            Self::Scope(name) => Some(name),
            Self::Service | Self::Customer(_) => None,
        }
    }

    pub fn customer_key(&self) -> Option<CustomerKeyHash> {
        match self {
            Self::Customer(hash) => Some(*hash),
            Self::Service | Self::Scope(_) => None,
        }
    }

    /// Whether a request that is encrypted as `given` may change a blob that is encrypted so. The service calls a scope
    /// customer specified too (recorded).
    pub fn admits(&self, given: &Self) -> Result<(), Failure> {
        match (self, given) {
            (have, given) if have == given => Ok(()),
            (_, Self::Service) => Err(ErrorCode::BlobUsesCustomerSpecifiedEncryption.into()),
            (Self::Service, _) => Err(ErrorCode::BlobDoesNotUseCustomerSpecifiedEncryption.into()),
            _ => Err(ErrorCode::BlobCustomerSpecifiedEncryptionMismatch.into()),
        }
    }
}

/// What a container says of the blobs in it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ContainerEncryption {
    /// The scope of blobs that are written without naming one.
    pub default_scope: Option<String>,
    /// No write may name another.
    pub deny_override: bool,
}

impl ContainerEncryption {
    /// What a write is encrypted with that names this scope and brings this key.
    pub fn of_write(
        &self,
        asked: Option<&str>,
        key: Option<CustomerKeyHash>,
        features: &Features,
    ) -> Result<Encryption, Failure> {
        let named = |scope: &&str| *scope != ACCOUNT_SCOPE;
        let default = self.default_scope.as_deref().filter(named);
        let scope = match (asked, key) {
            (Some(asked), Some(_)) if asked != ACCOUNT_SCOPE => {
                return Err(Failure::invalid_header("x-ms-encryption-scope", asked));
            }
            (_, Some(_)) => None,
            (Some(asked), None) => Some(asked).filter(named),
            (None, None) => default,
        };
        if self.deny_override && scope != default {
            return Err(ErrorCode::RequestForbiddenByContainerEncryptionPolicy.into());
        }
        match (scope, key) {
            (Some(scope), _) => {
                features.check_scope(scope)?;
                Ok(Encryption::Scope(scope.to_owned()))
            }
            (None, Some(key)) => Ok(Encryption::Customer(key)),
            (None, None) => Ok(Encryption::Service),
        }
    }
}

impl Features {
    /// Whether the account has this scope. One that was taken out of the configuration is not available: neither to
    /// writes nor to reads of what was written with it.
    pub fn check_scope(&self, scope: &str) -> Result<(), Failure> {
        match scope == ACCOUNT_SCOPE || self.encryption_scopes.iter().any(|known| known == scope) {
            true => Ok(()),
            false => Err(ErrorCode::EncryptionScopeNotAvailable.into()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_not_shown() {
        let shown = format!("{:?}", CustomerKey::new(Zeroizing::new([171; 32]), CustomerKeyHash([1; 32])));
        assert!(!shown.contains("171"), "{shown}");
    }

    #[test]
    fn each_pair_of_encryptions_is_judged() {
        use ErrorCode as E;
        let all = [
            Encryption::Service,
            Encryption::Customer(CustomerKeyHash([1; 32])),
            Encryption::Customer(CustomerKeyHash([2; 32])),
            Encryption::Scope("red".into()),
            Encryption::Scope("blue".into()),
        ];
        for (number, have) in all.iter().enumerate() {
            for (other, given) in all.iter().enumerate() {
                let expected = match (number, other) {
                    (a, b) if a == b => None,
                    (_, 0) => Some(E::BlobUsesCustomerSpecifiedEncryption),
                    (0, _) => Some(E::BlobDoesNotUseCustomerSpecifiedEncryption),
                    _ => Some(E::BlobCustomerSpecifiedEncryptionMismatch),
                };
                assert_eq!(have.admits(given).err().map(|f| f.code), expected, "{have:?} {given:?}");
            }
        }
    }

    #[test]
    fn a_container_decides_with_the_request() {
        use ErrorCode as E;
        let features =
            Features { encryption_scopes: vec!["red".into(), "blue".into()], ..Features::default() };
        let plain = ContainerEncryption::default();
        let red = ContainerEncryption { default_scope: Some("red".into()), deny_override: false };
        let only_red = ContainerEncryption { deny_override: true, ..red.clone() };
        let account = ContainerEncryption { default_scope: Some(ACCOUNT_SCOPE.into()), deny_override: true };
        let scope = |name: &str| Ok(Encryption::Scope(name.into()));
        let one = CustomerKeyHash([1; 32]);
        let cases = [
            (&plain, None, None, Ok(Encryption::Service)),
            (&plain, Some("red"), None, scope("red")),
            (&plain, Some("green"), None, Err(E::EncryptionScopeNotAvailable)),
            (&plain, Some(ACCOUNT_SCOPE), None, Ok(Encryption::Service)),
            (&plain, None, Some(one), Ok(Encryption::Customer(one))),
            (&plain, Some("red"), Some(one), Err(E::InvalidHeaderValue)),
            (&red, None, None, scope("red")),
            (&red, Some("blue"), None, scope("blue")),
            (&red, Some(ACCOUNT_SCOPE), None, Ok(Encryption::Service)),
            (&red, None, Some(one), Ok(Encryption::Customer(one))),
            (&only_red, None, None, scope("red")),
            (&only_red, Some("red"), None, scope("red")),
            (&only_red, Some("blue"), None, Err(E::RequestForbiddenByContainerEncryptionPolicy)),
            (&only_red, Some(ACCOUNT_SCOPE), None, Err(E::RequestForbiddenByContainerEncryptionPolicy)),
            (&only_red, None, Some(one), Err(E::RequestForbiddenByContainerEncryptionPolicy)),
            (&account, None, None, Ok(Encryption::Service)),
            (&account, Some("red"), None, Err(E::RequestForbiddenByContainerEncryptionPolicy)),
        ];
        for (container, asked, key, expected) in cases {
            let found = container.of_write(asked, key, &features).map_err(|failure| failure.code);
            assert_eq!(found, expected, "{container:?} {asked:?} {key:?}");
        }
    }
}
