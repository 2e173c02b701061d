//! What a container, queue or table grants to requests that come without a key of the account.

use crate::time::Timestamp;

/// `x-ms-blob-public-access`
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum PublicAccess {
    #[default]
    Private,
    Blob,
    Container,
}

impl PublicAccess {
    /// As the header has it; a private container has none.
    pub const fn as_str(self) -> Option<&'static str> {
        match self {
            Self::Private => None,
            Self::Blob => Some("blob"),
            Self::Container => Some("container"),
        }
    }
}

/// A stored access policy; what is absent must be given by the token.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AccessPolicy {
    pub id: String,
    pub start: Option<Timestamp>,
    pub expiry: Option<Timestamp>,
    pub permission: Option<String>,
}

/// The level of public access and the stored access policies. Queues and tables have no public access.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ContainerAccess {
    pub public: PublicAccess,
    pub policies: Vec<AccessPolicy>,
}

/// On whose behalf a request acts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Principal {
    /// With a key of the account.
    Owner,
    /// With a shared access signature, which names no user.
    Signature,
    /// The object id of an Entra token.
    User(std::sync::Arc<str>),
    Anonymous,
}
