//! Get Share Properties and Get Share Metadata.

use lazuli_model::admission::lease;
use lazuli_model::error::Failure;
use lazuli_model::time::Timestamp;
use lazuli_model::version::{ApiVersion, Feature};
use lazuli_service::file::{GetShareProperties, ShareProtocol, ShareRecord};

use super::share_headers::show_provisioned;
use crate::call::Call;
use crate::headers;
use crate::reply::Reply;

pub async fn get_share_properties(call: Call) -> Result<Reply, Failure> {
    let (row, version) = (call.row, call.head.version);
    let (share, now) = find(call).await?;
    let reply = show_provisioned(show_metadata(Reply::of(row), &share), &share.settings);
    let reply = reply
        .header(headers::X_MS_SHARE_QUOTA, share.settings.quota())
        .header(headers::X_MS_HAS_IMMUTABILITY_POLICY, false)
        .header(headers::X_MS_HAS_LEGAL_HOLD, false);
    Ok(show_settings(show_lease(reply, &share, version, now), &share, version))
}

pub async fn get_share_metadata(call: Call) -> Result<Reply, Failure> {
    let row = call.row;
    let (share, _) = find(call).await?;
    Ok(show_metadata(Reply::of(row), &share))
}

/// The share, and the moment at which its lease is to be judged.
pub async fn find(call: Call) -> Result<(ShareRecord, Timestamp), Failure> {
    let input = GetShareProperties { at: call.share(), preconditions: call.preconditions()? };
    Ok(input.execute(&call.services, &call.context, call.reading()).await?)
}

fn show_metadata(reply: Reply, share: &ShareRecord) -> Reply {
    reply.stamped(share.stamped()).metadata(share.metadata.iter())
}

/// A snapshot has a lease of its own, and tells of it (recorded).
fn show_lease(reply: Reply, share: &ShareRecord, version: ApiVersion, now: Timestamp) -> Reply {
    if !version.has(Feature::ShareLeases) {
        return reply;
    }
    let held = share.lease.as_ref();
    let state = lease::state(held, now);
    reply
        .header(headers::X_MS_LEASE_STATUS, state.status())
        .header(headers::X_MS_LEASE_STATE, state.as_str())
        .maybe(headers::X_MS_LEASE_DURATION, lease::reported_duration(held, now))
}

fn show_settings(mut reply: Reply, share: &ShareRecord, version: ApiVersion) -> Reply {
    let settings = &share.settings;
    if version.has(Feature::ShareTiers) {
        reply = reply
            .header(headers::X_MS_ACCESS_TIER, settings.tier().as_str())
            .header(headers::X_MS_ACCESS_TIER_CHANGE_TIME, share.tier_changed().rfc1123());
    }
    // Shares for SMB in an account like ours do not say so (recorded).
    if settings.protocol == ShareProtocol::Nfs {
        reply = reply
            .header(headers::X_MS_ENABLED_PROTOCOLS, settings.protocol.as_str())
            .header(headers::X_MS_ROOT_SQUASH, settings.root_squash.as_str())
            .maybe(
                headers::X_MS_ENABLE_SNAPSHOT_VIRTUAL_DIRECTORY_ACCESS,
                settings.snapshot_virtual_directory,
            );
    }
    reply
        .maybe(headers::X_MS_SHARE_PAID_BURSTING_ENABLED, settings.paid_bursting)
        .maybe(headers::X_MS_SHARE_PAID_BURSTING_MAX_IOPS, settings.paid_bursting_iops)
        .maybe(headers::X_MS_SHARE_PAID_BURSTING_MAX_BANDWIDTH_MIBPS, settings.paid_bursting_bandwidth)
        .maybe(headers::X_MS_ENABLE_SMB_DIRECTORY_LEASE, settings.directory_lease)
}
