//! What requests say of a share.

use lazuli_model::error::Failure;

use crate::head::Head;
use crate::headers;

/// In GiB; large shares included.
const QUOTA_MAX: u32 = 102_400;

/// `x-ms-share-quota`, if it was sent.
pub fn quota(head: &Head) -> Result<Option<u32>, Failure> {
    const NAME: &str = headers::X_MS_SHARE_QUOTA;
    let Some(text) = head.header(NAME) else { return Ok(None) };
    let quota = text.parse::<u32>().ok().filter(|quota| (1..=QUOTA_MAX).contains(quota));
    quota.map(Some).ok_or_else(|| Failure::invalid_header(NAME, text))
}

/// What Delete Share does with the snapshots of the share.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DeleteSnapshots {
    /// A share that has any stays.
    Refuse,
    /// `include`: they go too, unless one is leased.
    Include,
    /// `include-leased`
    IncludeLeased,
}

/// `x-ms-delete-snapshots`
pub fn delete_snapshots(head: &Head) -> Result<DeleteSnapshots, Failure> {
    const NAME: &str = headers::X_MS_DELETE_SNAPSHOTS;
    match head.header(NAME) {
        None => Ok(DeleteSnapshots::Refuse),
        Some(text) if text.eq_ignore_ascii_case("include") => Ok(DeleteSnapshots::Include),
        Some(text) if text.eq_ignore_ascii_case("include-leased") => Ok(DeleteSnapshots::IncludeLeased),
        Some(text) => Err(Failure::invalid_header(NAME, text)),
    }
}

/// The tiers of a standard account. Premium shares are of an account of their own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ShareTier {
    TransactionOptimized,
    Hot,
    Cool,
}

impl ShareTier {
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::TransactionOptimized => "TransactionOptimized",
            Self::Hot => "Hot",
            Self::Cool => "Cool",
        }
    }
}

/// `x-ms-access-tier`, if it was sent.
pub fn access_tier(head: &Head) -> Result<Option<ShareTier>, Failure> {
    const NAME: &str = headers::X_MS_ACCESS_TIER;
    let Some(text) = head.header(NAME) else { return Ok(None) };
    let all = [ShareTier::TransactionOptimized, ShareTier::Hot, ShareTier::Cool];
    let found = all.into_iter().find(|tier| tier.as_str().eq_ignore_ascii_case(text));
    found.map(Some).ok_or_else(|| Failure::invalid_header(NAME, text))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::head;

    #[test]
    fn quotas_snapshots_and_tiers() {
        let of = |text| quota(&head(&[("x-ms-share-quota", text)]));
        assert_eq!((of("1").ok(), of("102400").ok()), (Some(Some(1)), Some(Some(102_400))));
        for text in ["0", "102401", "-1", "much"] {
            assert_eq!(of(text).unwrap_err().code.name(), "InvalidHeaderValue", "{text}");
        }
        let with = |text| delete_snapshots(&head(&[("x-ms-delete-snapshots", text)])).ok();
        assert_eq!(with("include"), Some(DeleteSnapshots::Include));
        assert_eq!((with("include-leased"), with("only")), (Some(DeleteSnapshots::IncludeLeased), None));
        assert_eq!(delete_snapshots(&head(&[])).ok(), Some(DeleteSnapshots::Refuse));
        let tier = |text| access_tier(&head(&[("x-ms-access-tier", text)])).ok();
        assert_eq!((tier("hot"), tier("Premium")), (Some(Some(ShareTier::Hot)), None));
    }
}
