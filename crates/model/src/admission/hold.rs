//! Immutability policies and legal holds: what is protected can be neither changed nor deleted.

use super::Request;
use crate::blob::ImmutabilityPolicy;
use crate::error::{ErrorCode, Failure};
use crate::operation::Touches;
use crate::time::Timestamp;

/// What protects a blob, a snapshot or a version.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Hold {
    pub legal: bool,
    pub policy: Option<ImmutabilityPolicy>,
}

impl Hold {
    pub const NONE: Self = Self { legal: false, policy: None };

    /// The first moment at which it protects no more; `None` when it protects nothing, [`Timestamp::MAX`] for a legal
    /// hold, which ends when it is lifted.
    pub fn ends(&self) -> Option<Timestamp> {
        match self.legal {
            true => Some(Timestamp::MAX),
            false => self.policy.map(|policy| policy.until),
        }
    }

    /// Refuses while what is held may not be deleted.
    pub fn permits_deletion(&self, now: Timestamp) -> Result<(), Failure> {
        if self.legal {
            return Err(ErrorCode::BlobImmutableDueToLegalHold.into());
        }
        match self.policy {
            Some(policy) if policy.until > now => Err(ErrorCode::BlobImmutableDueToPolicy.into()),
            _ => Ok(()),
        }
    }
}

pub(super) fn check(request: &Request<'_>) -> Result<(), Failure> {
    let hold = &request.target.hold;
    let touches = if request.given.resizes { Touches::Content } else { request.policy.touches };
    match touches {
        Touches::Nothing => Ok(()),
        Touches::Replaces if request.keeps_versions => Ok(()),
        Touches::Replaces | Touches::Deletes => hold.permits_deletion(request.now),
        Touches::Content => {
            hold.permits_deletion(request.now)?;
            match hold.policy {
                Some(_) => Err(ErrorCode::BlobImmutableDueToPolicy.into()),
                None => Ok(()),
            }
        }
    }
}
