//! Who may ask for an operation: what each kind of credential must carry. Every row of the operation table
//! states all of it, so an operation without a rule does not compile.
//!
//! Letters are SAS permissions. A list such as `&["c", "w"]` means any one entry; an entry such as `"au"`
//! means all of its letters.

mod judge;
mod policy;

pub use judge::{Credential, Grant, judge};
pub use policy::{AccessPolicy, ContainerAccess, Principal, PublicAccess};

use crate::operation::Mark;
use crate::version::Feature;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Access {
    /// False only where a bearer token is the one way in (Get User Delegation Key).
    pub shared_key: bool,
    pub account_sas: AccountSas,
    /// Also the rule of user delegation SAS.
    pub service_sas: ServiceSas,
    pub rbac: Rbac,
    pub anonymous: Anonymous,
    /// With `c` and without `w` (or `blobs/add/action` alone) the target may be created but not replaced:
    /// 403 UnauthorizedBlobOverwrite if it exists.
    pub create_only: bool,
    /// Rules that replace the ones above when the request bears the mark; the first that fits counts.
    pub variants: &'static [Variant],
}

/// Another rule of the same operation, such as deleting a version instead of the blob.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Variant {
    pub mark: Mark,
    pub letters: Letters,
    pub rbac: Rbac,
}

pub type Letters = &'static [&'static str];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AccountSas {
    Never,
    /// Any valid token: the parts of a batch are authorised one by one.
    Any,
    Needs {
        /// Signed resource types (`srt`): `s`, `c`, `o`; any one of the letters.
        level: &'static str,
        any_of: Letters,
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ServiceSas {
    /// 403 AuthorizationFailure, whatever the token permits.
    Never,
    Any,
    AnyOf(Letters),
}

/// Data actions below `Microsoft.Storage/storageAccounts/<service>Services/`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rbac {
    /// Not available with a bearer token.
    Never,
    Any,
    AnyOf(&'static [&'static str]),
    /// As `AnyOf`, from the version of the feature on; not available before.
    Since(Feature, &'static [&'static str]),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Anonymous {
    Never,
    /// The container is public at blob or container level.
    BlobLevel,
    /// The container is public at container level.
    ContainerLevel,
    Always,
}

/// True if the signed permissions cover one of the entries.
pub fn permits(any_of: Letters, signed: &str) -> bool {
    any_of.iter().any(|entry| entry.chars().all(|letter| signed.contains(letter)))
}
