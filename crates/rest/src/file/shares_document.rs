//! The entries of List Shares.

use lazuli_model::admission::lease::{self, Lease};
use lazuli_model::etag::ETag;
use lazuli_model::metadata::Metadata;
use lazuli_model::time::Timestamp;

use crate::blob::list::metadata;
use crate::xml::Writer;

/// A share as a list tells it. What is absent is not told.
#[derive(Debug, Clone)]
pub struct ListedShare {
    pub name: String,
    pub snapshot: Option<Timestamp>,
    pub deleted: Option<DeletedShare>,
    pub last_modified: Timestamp,
    pub etag: ETag,
    pub lease: Option<Lease>,
    /// In GiB.
    pub quota: u32,
    pub access_tier: Option<AccessTier>,
    /// Of shares of a premium account.
    pub provisioned: Option<Provisioned>,
    pub metadata: Metadata,
}

#[derive(Debug, Clone)]
pub struct DeletedShare {
    pub version: String,
    pub at: Timestamp,
    pub remaining_days: u32,
}

#[derive(Debug, Clone)]
pub struct AccessTier {
    pub name: &'static str,
    pub changed: Option<Timestamp>,
    pub transition: Option<String>,
}

#[derive(Debug, Clone)]
pub struct Provisioned {
    /// `SMB` or `NFS`
    pub protocols: &'static str,
    /// Of NFS
    pub root_squash: Option<&'static str>,
    pub iops: u32,
    pub bandwidth_mibps: Option<u32>,
    pub ingress_mbps: u32,
    pub egress_mbps: u32,
    pub next_quota_downgrade: Timestamp,
}

/// One entry. The order of its elements is recorded.
pub fn entry(writer: &mut Writer, share: &ListedShare, with_metadata: bool, now: Timestamp) {
    writer.open("Share");
    writer.element("Name", &share.name);
    writer.maybe("Snapshot", share.snapshot.map(Timestamp::iso7).as_deref());
    if let Some(deleted) = &share.deleted {
        writer.flag("Deleted", true);
        writer.element("Version", &deleted.version);
    }
    properties(writer, share, now);
    if with_metadata {
        metadata(writer, &share.metadata, false);
    }
    writer.close("Share");
}

fn properties(writer: &mut Writer, share: &ListedShare, now: Timestamp) {
    let held = share.lease.as_ref();
    let state = lease::state(held, now);
    writer.open("Properties");
    writer.element("Last-Modified", &share.last_modified.rfc1123());
    writer.element("Etag", &share.etag.quoted());
    writer.element("LeaseStatus", state.status());
    writer.element("LeaseState", state.as_str());
    writer.maybe("LeaseDuration", lease::reported_duration(held, now));
    writer.number("Quota", u64::from(share.quota));
    if let Some(provisioned) = &share.provisioned {
        writer.element("EnabledProtocols", provisioned.protocols);
        writer.maybe("RootSquash", provisioned.root_squash);
    }
    if let Some(tier) = &share.access_tier {
        writer.element("AccessTier", tier.name);
        writer.maybe("AccessTierChangeTime", tier.changed.map(Timestamp::rfc1123).as_deref());
        writer.maybe("AccessTierTransitionState", tier.transition.as_deref());
    }
    if let Some(provisioned) = &share.provisioned {
        writer.number("ProvisionedIops", u64::from(provisioned.iops));
        if let Some(bandwidth) = provisioned.bandwidth_mibps {
            writer.number("ProvisionedBandwidthMiBps", u64::from(bandwidth));
        }
        writer.number("ProvisionedIngressMBps", u64::from(provisioned.ingress_mbps));
        writer.number("ProvisionedEgressMBps", u64::from(provisioned.egress_mbps));
        writer.element("NextAllowedQuotaDowngradeTime", &provisioned.next_quota_downgrade.rfc1123());
    }
    writer.element("DefaultEncryptionScope", "$account-encryption-key");
    writer.flag("DenyEncryptionScopeOverride", false);
    if let Some(deleted) = &share.deleted {
        writer.element("DeletedTime", &deleted.at.rfc1123());
        writer.number("RemainingRetentionDays", u64::from(deleted.remaining_days));
    }
    writer.close("Properties");
}

#[cfg(test)]
mod tests;
