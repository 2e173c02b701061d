//! What requests say of a share, and what answers tell of its settings.

use lazuli_model::error::Failure;
use lazuli_model::version::{ApiVersion, Feature};
use lazuli_service::file::{
    DeleteShareSnapshots, RootSquash, ShareChoices, ShareProtocol, ShareSettings, ShareTier,
};

use crate::head::Head;
use crate::headers;
use crate::reply::Reply;

/// In GiB; large shares included.
const QUOTA_MAX: u32 = 102_400;
/// The tiers of a standard account. Premium shares are of an account of their own.
const TIERS: [ShareTier; 3] = [ShareTier::TransactionOptimized, ShareTier::Hot, ShareTier::Cool];
const PROTOCOLS: [ShareProtocol; 2] = [ShareProtocol::Smb, ShareProtocol::Nfs];
const SQUASHES: [RootSquash; 3] = [RootSquash::None, RootSquash::Root, RootSquash::All];

/// What the request chooses for the share.
pub fn choices(head: &Head) -> Result<ShareChoices, Failure> {
    let flag = |name| match head.header(name) {
        Some(_) => head.flag(name).map(Some),
        None => Ok(None),
    };
    let protocol = one_of(head, headers::X_MS_ENABLED_PROTOCOLS, &PROTOCOLS, ShareProtocol::as_str)?;
    Ok(ShareChoices {
        quota: quota(head)?,
        tier: one_of(head, headers::X_MS_ACCESS_TIER, &TIERS, ShareTier::as_str)?,
        protocol,
        root_squash: one_of(head, headers::X_MS_ROOT_SQUASH, &SQUASHES, RootSquash::as_str)?,
        snapshot_virtual_directory: flag(headers::X_MS_ENABLE_SNAPSHOT_VIRTUAL_DIRECTORY_ACCESS)?,
        paid_bursting: flag(headers::X_MS_SHARE_PAID_BURSTING_ENABLED)?,
        paid_bursting_iops: head.number(headers::X_MS_SHARE_PAID_BURSTING_MAX_IOPS)?,
        paid_bursting_bandwidth: head.number(headers::X_MS_SHARE_PAID_BURSTING_MAX_BANDWIDTH_MIBPS)?,
        provisioned_iops: head.number(headers::X_MS_SHARE_PROVISIONED_IOPS)?,
        provisioned_bandwidth: head.number(headers::X_MS_SHARE_PROVISIONED_BANDWIDTH_MIBPS)?,
        directory_lease: flag(headers::X_MS_ENABLE_SMB_DIRECTORY_LEASE)?,
    })
}

/// `x-ms-share-quota`, if it was sent.
fn quota(head: &Head) -> Result<Option<u32>, Failure> {
    const NAME: &str = headers::X_MS_SHARE_QUOTA;
    let Some(text) = head.header(NAME) else { return Ok(None) };
    let quota = text.parse::<u32>().ok().filter(|quota| (1..=QUOTA_MAX).contains(quota));
    quota.map(Some).ok_or_else(|| Failure::invalid_header(NAME, text))
}

fn one_of<T: Copy>(
    head: &Head,
    name: &'static str,
    all: &[T],
    word: fn(T) -> &'static str,
) -> Result<Option<T>, Failure> {
    let Some(text) = head.header(name) else { return Ok(None) };
    let found = all.iter().find(|one| word(**one).eq_ignore_ascii_case(text));
    found.copied().map(Some).ok_or_else(|| Failure::invalid_header(name, text))
}

/// `x-ms-delete-snapshots`: what Delete Share does with the snapshots of the share.
pub fn delete_snapshots(head: &Head) -> Result<Option<DeleteShareSnapshots>, Failure> {
    const NAME: &str = headers::X_MS_DELETE_SNAPSHOTS;
    match head.header(NAME) {
        None => Ok(None),
        Some(text) if text.eq_ignore_ascii_case("include") => Ok(Some(DeleteShareSnapshots::Include)),
        Some(text) if text.eq_ignore_ascii_case("include-leased") => {
            Ok(Some(DeleteShareSnapshots::IncludeLeased))
        }
        Some(text) => Err(Failure::invalid_header(NAME, text)),
    }
}

/// What Create Share and Set Share Properties answer beside the ETag.
pub fn show_choices(reply: Reply, version: ApiVersion, settings: &ShareSettings) -> Reply {
    if !version.has(Feature::ShareProvisioningTold) {
        return reply;
    }
    show_provisioned(reply.header(headers::X_MS_SHARE_QUOTA, settings.quota()), settings)
}

/// Of a share that was given them.
pub fn show_provisioned(reply: Reply, settings: &ShareSettings) -> Reply {
    reply
        .maybe(headers::X_MS_SHARE_PROVISIONED_IOPS, settings.provisioned_iops)
        .maybe(headers::X_MS_SHARE_PROVISIONED_BANDWIDTH_MIBPS, settings.provisioned_bandwidth)
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
        assert_eq!(with("include"), Some(Some(DeleteShareSnapshots::Include)));
        assert_eq!(with("include-leased"), Some(Some(DeleteShareSnapshots::IncludeLeased)));
        assert_eq!((with("only"), delete_snapshots(&head(&[])).ok()), (None, Some(None)));
        let tier = |text| choices(&head(&[("x-ms-access-tier", text)])).ok().and_then(|choices| choices.tier);
        assert_eq!((tier("hot"), tier("Premium")), (Some(ShareTier::Hot), None));
    }

    #[test]
    fn what_is_no_number_and_no_word_of_the_header_is_refused() {
        for (name, text) in [
            ("x-ms-enabled-protocols", "SMB,NFS"),
            ("x-ms-root-squash", "Some"),
            ("x-ms-enable-smb-directory-lease", "perhaps"),
            ("x-ms-share-paid-bursting-enabled", "1"),
            ("x-ms-share-provisioned-iops", "-1"),
            ("x-ms-share-provisioned-bandwidth-mibps", "much"),
        ] {
            let refused = choices(&head(&[(name, text)])).unwrap_err();
            assert_eq!(refused.code.name(), "InvalidHeaderValue", "{name}");
        }
        // Users of SMB have no root.
        let mut settings = ShareSettings::default();
        let squash = ShareChoices { root_squash: Some(RootSquash::All), ..ShareChoices::default() };
        squash.apply(&mut settings, None).unwrap_err();
        ShareChoices { protocol: Some(ShareProtocol::Nfs), ..squash }.apply(&mut settings, None).unwrap();
        assert_eq!(settings.root_squash, RootSquash::All);
    }
}
