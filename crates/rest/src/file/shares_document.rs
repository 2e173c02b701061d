//! The entries of List Shares. The order of their elements is recorded.

use lazuli_model::admission::lease::{self, LeaseState};
use lazuli_model::time::Timestamp;
use lazuli_model::version::{ApiVersion, Feature};
use lazuli_service::file::{ListedShare, ShareProtocol, ShareState};

use crate::blob::list::{metadata, retention};
use crate::blob::restore_container::version as version_of_deleted;
use crate::xml::Writer;

pub fn entry(
    writer: &mut Writer,
    listed: &ListedShare,
    with_metadata: bool,
    version: ApiVersion,
    now: Timestamp,
) {
    writer.open("Share");
    writer.element("Name", &listed.name);
    match listed.state {
        ShareState::Present => {}
        ShareState::Snapshot(moment) => writer.element("Snapshot", &moment.iso7()),
        ShareState::Deleted { version, .. } => {
            writer.flag("Deleted", true);
            writer.element("Version", &version_of_deleted(version));
        }
    }
    properties(writer, listed, version, now);
    if with_metadata {
        metadata(writer, &listed.share.metadata, false);
    }
    writer.close("Share");
}

fn properties(writer: &mut Writer, listed: &ListedShare, version: ApiVersion, now: Timestamp) {
    let (share, settings) = (&listed.share, &listed.share.settings);
    writer.open("Properties");
    writer.element("Last-Modified", &share.last_modified.rfc1123());
    writer.element("Etag", &share.etag.quoted());
    if version.has(Feature::ShareLeases) {
        lease_elements(writer, listed, now);
    }
    writer.number("Quota", u64::from(settings.quota()));
    if settings.protocol == ShareProtocol::Nfs {
        writer.element("EnabledProtocols", settings.protocol.as_str());
        writer.element("RootSquash", settings.root_squash.as_str());
        flag(writer, "EnableSnapshotVirtualDirectoryAccess", settings.snapshot_virtual_directory);
    }
    if version.has(Feature::ShareTiers) {
        writer.element("AccessTier", settings.tier().as_str());
        writer.element("AccessTierChangeTime", &share.tier_changed().rfc1123());
    }
    number(writer, "ProvisionedIops", settings.provisioned_iops);
    number(writer, "ProvisionedBandwidthMiBps", settings.provisioned_bandwidth);
    flag(writer, "PaidBurstingEnabled", settings.paid_bursting);
    number(writer, "PaidBurstingMaxIops", settings.paid_bursting_iops);
    number(writer, "PaidBurstingMaxBandwidthMibps", settings.paid_bursting_bandwidth);
    flag(writer, "EnableSmbDirectoryLease", settings.directory_lease);
    writer.element("DefaultEncryptionScope", "$account-encryption-key");
    writer.flag("DenyEncryptionScopeOverride", false);
    if let ShareState::Deleted { deletion, .. } = listed.state {
        retention(writer, Some(deletion), now);
    }
    writer.close("Properties");
}

/// The lease of a deleted share is told as broken, whether it had one or not (recorded).
fn lease_elements(writer: &mut Writer, listed: &ListedShare, now: Timestamp) {
    let deleted = matches!(listed.state, ShareState::Deleted { .. });
    let held = listed.share.lease.as_ref();
    let state = if deleted { LeaseState::Broken } else { lease::state(held, now) };
    writer.element("LeaseStatus", state.status());
    writer.element("LeaseState", state.as_str());
    if !deleted {
        writer.maybe("LeaseDuration", lease::reported_duration(held, now));
    }
}

fn flag(writer: &mut Writer, element: &str, value: Option<bool>) {
    if let Some(value) = value {
        writer.flag(element, value);
    }
}

fn number(writer: &mut Writer, element: &str, value: Option<u64>) {
    if let Some(value) = value {
        writer.number(element, value);
    }
}
