//! A share, or a snapshot of one.

use lazuli_model::etag::ETag;
use lazuli_model::metadata::Metadata;
use lazuli_model::time::Timestamp;
use serde::{Deserialize, Serialize};

use super::container::AccessPolicyV1;
use super::lease::LeaseV1;
use super::path::PathV1;
use super::{first_shape, same_variants};
use crate::store::key::Generation;
use crate::store::record::share::{RootSquash, ShareProtocol, ShareRecord, ShareSettings, ShareTier};

#[derive(Serialize, Deserialize)]
pub struct ShareV1 {
    generation: Generation,
    created: u64,
    etag: u64,
    last_modified: u64,
    metadata: Vec<(String, String)>,
    policies: Vec<AccessPolicyV1>,
    lease: Option<LeaseV1>,
    settings: SettingsV1,
    root: PathV1,
    moment: u64,
    snapshots: u32,
}

first_shape!(ShareV1);

#[derive(Serialize, Deserialize)]
struct SettingsV1 {
    quota: Option<u32>,
    tier: Option<TierV1>,
    tier_changed: Option<u64>,
    protocol: ProtocolV1,
    root_squash: RootSquashV1,
    snapshot_virtual_directory: Option<bool>,
    paid_bursting: Option<bool>,
    paid_bursting_iops: Option<u64>,
    paid_bursting_bandwidth: Option<u64>,
    provisioned_iops: Option<u64>,
    provisioned_bandwidth: Option<u64>,
    directory_lease: Option<bool>,
}

#[derive(Serialize, Deserialize)]
enum TierV1 {
    TransactionOptimized,
    Hot,
    Cool,
    Premium,
}

same_variants!(TierV1, ShareTier { TransactionOptimized, Hot, Cool, Premium });

#[derive(Serialize, Deserialize)]
enum ProtocolV1 {
    Smb,
    Nfs,
}

same_variants!(ProtocolV1, ShareProtocol { Smb, Nfs });

#[derive(Serialize, Deserialize)]
enum RootSquashV1 {
    None,
    Root,
    All,
}

same_variants!(RootSquashV1, RootSquash { None, Root, All });

impl From<&ShareRecord> for ShareV1 {
    fn from(share: &ShareRecord) -> Self {
        let ShareRecord {
            generation,
            created,
            etag,
            last_modified,
            metadata,
            policies,
            lease,
            settings,
            root,
            moment,
            snapshots,
        } = share;
        Self {
            generation: *generation,
            created: created.0,
            etag: etag.0,
            last_modified: last_modified.0,
            metadata: metadata.clone().into_pairs(),
            policies: AccessPolicyV1::all(policies),
            lease: lease.as_ref().map(LeaseV1::from),
            settings: settings.into(),
            root: root.into(),
            moment: *moment,
            snapshots: *snapshots,
        }
    }
}

impl From<ShareV1> for ShareRecord {
    fn from(stored: ShareV1) -> Self {
        Self {
            generation: stored.generation,
            created: Timestamp(stored.created),
            etag: ETag(stored.etag),
            last_modified: Timestamp(stored.last_modified),
            metadata: Metadata::from_stored(stored.metadata),
            policies: AccessPolicyV1::read(stored.policies),
            lease: stored.lease.map(Into::into),
            settings: stored.settings.into(),
            root: stored.root.into(),
            moment: stored.moment,
            snapshots: stored.snapshots,
        }
    }
}

impl From<&ShareSettings> for SettingsV1 {
    fn from(settings: &ShareSettings) -> Self {
        let ShareSettings {
            quota,
            tier,
            tier_changed,
            protocol,
            root_squash,
            snapshot_virtual_directory,
            paid_bursting,
            paid_bursting_iops,
            paid_bursting_bandwidth,
            provisioned_iops,
            provisioned_bandwidth,
            directory_lease,
        } = settings.clone();
        Self {
            quota,
            tier: tier.map(Into::into),
            tier_changed: tier_changed.map(|at| at.0),
            protocol: protocol.into(),
            root_squash: root_squash.into(),
            snapshot_virtual_directory,
            paid_bursting,
            paid_bursting_iops,
            paid_bursting_bandwidth,
            provisioned_iops,
            provisioned_bandwidth,
            directory_lease,
        }
    }
}

impl From<SettingsV1> for ShareSettings {
    fn from(stored: SettingsV1) -> Self {
        Self {
            quota: stored.quota,
            tier: stored.tier.map(Into::into),
            tier_changed: stored.tier_changed.map(Timestamp),
            protocol: stored.protocol.into(),
            root_squash: stored.root_squash.into(),
            snapshot_virtual_directory: stored.snapshot_virtual_directory,
            paid_bursting: stored.paid_bursting,
            paid_bursting_iops: stored.paid_bursting_iops,
            paid_bursting_bandwidth: stored.paid_bursting_bandwidth,
            provisioned_iops: stored.provisioned_iops,
            provisioned_bandwidth: stored.provisioned_bandwidth,
            directory_lease: stored.directory_lease,
        }
    }
}
