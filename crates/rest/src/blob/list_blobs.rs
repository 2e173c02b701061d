//! List Blobs, flat and by hierarchy.

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use lazuli_model::admission::lease;
use lazuli_model::admission::{Hold, Lease};
use lazuli_model::blob::{BlobType, Tier};
use lazuli_model::error::{ErrorCode, Failure};
use lazuli_model::time::Timestamp;
use lazuli_model::version::Feature;
use lazuli_service::blob::{BlobList, BlobListItem, BlobRecord, BlobState, ListBlobs};
use lazuli_service::shared::marker::Position;

use super::get_blob::chosen_tier;
use super::list::{Entries, LIST_LIMIT, asked, build, metadata, retention, text};
use super::{copy_state, tags};
use crate::call::Call;
use crate::decode;
use crate::reply::Reply;
use crate::xml::Writer;

const INCLUDES: [&str; 11] = [
    "copy",
    "deleted",
    "metadata",
    "snapshots",
    "uncommittedblobs",
    "versions",
    "tags",
    "immutabilitypolicy",
    "legalhold",
    "deletedwithversions",
    "permissions",
];

/// What is shown of each blob beside its properties.
struct Shown {
    metadata: bool,
    tags: bool,
    tag_count: bool,
    copy: bool,
    /// Of rehydrations.
    priority: bool,
    versions: bool,
    immutability: bool,
    legal_hold: bool,
    last_access: bool,
}

pub async fn list_blobs(call: Call) -> Result<Reply, Failure> {
    let head = &call.head;
    let included = decode::include(head, &INCLUDES)?;
    let includes = |wanted: &str| included.iter().any(|word| word.eq_ignore_ascii_case(wanted));
    let delimiter = head.query("delimiter").unwrap_or_default().to_owned();
    if !delimiter.is_empty() && includes("snapshots") {
        let sent = head.query("include").unwrap_or_default();
        return Err(Failure::invalid_query("include", sent, "Snapshots cannot be listed by hierarchy."));
    }
    if head.query("showonly").is_some() {
        return Err(ErrorCode::HierarchicalNamespaceNotEnabled.into());
    }
    if includes("tags") && !call.grant.may_read_tags {
        return Err(ErrorCode::AuthorizationPermissionMismatch.into());
    }
    let hidden = ["uncommittedblobs", "versions", "deleted", "deletedwithversions"];
    if call.grant.anonymous && hidden.into_iter().any(includes) {
        return Err(ErrorCode::AuthorizationFailure.into());
    }
    let marker = head.query("marker").map(|text| Position::decode(text).ok_or(ErrorCode::OutOfRangeInput));
    // Published for 2026-02-06, but object_store sends it with 2023-11-03 and relies on it: a Delta writer that lost a
    // race finds the next version by it. Ignored, it would read old commits as new ones and fail.
    let start_from = head.query("startFrom");
    let end_before = head.query("endBefore").filter(|_| head.version.has(Feature::ListEndBefore));
    let shown = Shown {
        metadata: includes("metadata"),
        tags: includes("tags"),
        tag_count: call.grant.may_read_tags,
        copy: includes("copy"),
        priority: head.version.has(Feature::RehydratePriorityTold),
        versions: head.version.has(Feature::Versions),
        immutability: includes("immutabilitypolicy"),
        legal_hold: includes("legalhold"),
        last_access: call.features().last_access_time,
    };
    let page = call.services.outgoing().page();
    let input = ListBlobs {
        container: call.container(),
        prefix: head.query("prefix").unwrap_or_default().to_owned(),
        delimiter,
        marker: marker.transpose()?,
        start_from: start_from.map(str::to_owned),
        end_before: end_before.map(str::to_owned),
        max_results: decode::max_results(head, LIST_LIMIT)? as usize,
        max_bytes: page.bytes,
        snapshots: includes("snapshots"),
        uncommitted: includes("uncommittedblobs"),
        versions: includes("versions"),
        deleted: includes("deleted"),
        deleted_with_versions: includes("deletedwithversions"),
    };
    let max_results = input.max_results;
    let read = move |services, context, max_results| {
        let input = ListBlobs { max_results, ..input.clone() };
        async move {
            let list = input.execute(&services, &context).await?;
            let more = list.next.is_some();
            Ok((list, more))
        }
    };
    let print = move |call: &Call, list: &BlobList| document(call, list, &shown, page.bytes);
    let row = call.row;
    let text = build(call, max_results, read, print).await?;
    Ok(Reply::of(row).xml(text).within(page.share))
}

fn document(call: &Call, list: &BlobList, shown: &Shown, most: usize) -> String {
    let mut writer = Writer::new();
    let endpoint = call.service_endpoint();
    let container = call.head.target.container.as_str();
    writer.open_with("EnumerationResults", &[("ServiceEndpoint", &endpoint), ("ContainerName", container)]);
    asked(&mut writer, &call.head, &["prefix", "marker", "maxresults", "delimiter"]);
    let entries = Entries { element: "Blobs", items: &list.items, next: list.next.as_ref() };
    entries.print(writer, most, |writer, item| entry(writer, item, list.now, shown), BlobListItem::position)
}

fn entry(writer: &mut Writer, item: &BlobListItem, now: Timestamp, shown: &Shown) {
    match item {
        BlobListItem::Prefix(prefix) => {
            writer.open("BlobPrefix");
            text(writer, "Name", prefix);
            writer.close("BlobPrefix");
        }
        BlobListItem::Uncommitted { name, staged } => {
            writer.open("Blob");
            text(writer, "Name", name);
            uncommitted_properties(writer, staged.lease.as_ref(), now);
            writer.close("Blob");
        }
        BlobListItem::VersionsOnly { name, blob } => {
            writer.open("Blob");
            text(writer, "Name", name);
            writer.flag("HasVersionsOnly", true);
            // It counts as a base that nothing leases (recorded).
            let mut blob = (**blob).clone();
            blob.set_deletion(None);
            rest(writer, &blob, LeaseShown::Whole, now, shown);
        }
        BlobListItem::Blob { name, state, blob } => {
            let is_deleted = blob.extras().deletion.is_some();
            writer.open("Blob");
            text(writer, "Name", name);
            writer.maybe("Snapshot", state.snapshot().map(Timestamp::iso7).as_deref());
            if is_deleted {
                writer.flag("Deleted", true);
            }
            if let Some(version) = blob.version().filter(|_| shown.versions && state.snapshot().is_none()) {
                writer.element("VersionId", &version.iso7());
                if *state == BlobState::Base {
                    writer.flag("IsCurrentVersion", true);
                }
            }
            let lease = match (state, is_deleted) {
                (BlobState::Base, false) => LeaseShown::Whole,
                (BlobState::Base, true) if !shown.versions => LeaseShown::Empty,
                _ => LeaseShown::Not,
            };
            rest(writer, blob, lease, now, shown);
        }
    }
}

/// Bases have leases. Of a deleted one, versions before 2019-12-12 showed an empty element (recorded).
#[derive(Clone, Copy)]
enum LeaseShown {
    Whole,
    Empty,
    Not,
}

/// What of a blob comes behind what names it.
fn rest(writer: &mut Writer, blob: &BlobRecord, lease: LeaseShown, now: Timestamp, shown: &Shown) {
    properties(writer, blob, lease, now, shown);
    if shown.metadata {
        metadata(writer, &blob.metadata, blob.customer_key.is_some());
    }
    if shown.tags && !blob.tags.is_empty() {
        tags::write(writer, &blob.tags);
    }
    writer.empty("OrMetadata");
    writer.close("Blob");
}

/// The order is the recorded one; what is unset is there and empty.
fn properties(writer: &mut Writer, blob: &BlobRecord, lease: LeaseShown, now: Timestamp, shown: &Shown) {
    let headers = &blob.headers;
    let md5 = headers.content_md5.bytes().map(|md5| BASE64_STANDARD.encode(md5));
    let given = |value: &Option<String>| value.clone().unwrap_or_default();
    writer.open("Properties");
    writer.element("Creation-Time", &blob.created.rfc1123());
    writer.element("Last-Modified", &blob.last_modified.rfc1123());
    writer.maybe("Expiry-Time", blob.extras().expires.map(Timestamp::rfc1123).as_deref());
    writer.element("Etag", &blob.etag.to_string());
    writer.number("Content-Length", blob.length());
    writer.element("Content-Type", &given(&headers.content_type));
    writer.element("Content-Encoding", &given(&headers.content_encoding));
    writer.element("Content-Language", &given(&headers.content_language));
    writer.empty("Content-CRC64");
    writer.element("Content-MD5", &md5.unwrap_or_default());
    writer.element("Cache-Control", &given(&headers.cache_control));
    writer.element("Content-Disposition", &given(&headers.content_disposition));
    if shown.last_access {
        writer.element("LastAccessTime", &blob.last_access().rfc1123());
    }
    if blob.kind == BlobType::Page {
        writer.number("x-ms-blob-sequence-number", blob.sequence_number);
    }
    writer.element("BlobType", blob.kind.as_str());
    if blob.kind == BlobType::Block {
        writer.element("AccessTier", blob.tier.map_or(Tier::Hot, |explicit| explicit.tier).as_str());
        match blob.tier {
            Some(explicit) => {
                if let Some(pending) = blob.extras().rehydration {
                    writer.element("ArchiveStatus", pending.to.archive_status());
                    if shown.priority {
                        writer.element("RehydratePriority", pending.priority.as_str());
                    }
                }
                writer.element("AccessTierChangeTime", &explicit.changed.rfc1123());
                writer.maybe("SmartAccessTier", chosen_tier(explicit.tier));
            }
            None => writer.flag("AccessTierInferred", true),
        }
    }
    match lease {
        LeaseShown::Whole => lease_elements(writer, blob.lease.as_ref(), now),
        LeaseShown::Empty => writer.empty("LeaseStatus"),
        LeaseShown::Not => {}
    }
    if shown.copy {
        copy_state::write(writer, blob.extras().copy.as_ref());
    }
    writer.flag("ServerEncrypted", true);
    retention(writer, blob.extras().deletion, now);
    writer.maybe("EncryptionScope", blob.encryption_scope.as_deref());
    hold_elements(writer, blob.hold(), shown);
    if blob.sealed {
        writer.flag("Sealed", true);
    }
    if shown.tag_count && !blob.tags.is_empty() {
        writer.number("TagCount", blob.tags.len() as u64);
    }
    writer.close("Properties");
}

fn hold_elements(writer: &mut Writer, Hold { legal, policy }: Hold, shown: &Shown) {
    if let Some(policy) = policy.filter(|_| shown.immutability) {
        writer.element("ImmutabilityPolicyUntilDate", &policy.until.rfc1123());
        writer.element("ImmutabilityPolicyMode", policy.mode.as_str());
    }
    if shown.legal_hold && legal {
        writer.flag("LegalHold", true);
    }
}

fn uncommitted_properties(writer: &mut Writer, held: Option<&Lease>, now: Timestamp) {
    writer.open("Properties");
    writer.number("Content-Length", 0);
    writer.element("BlobType", "BlockBlob");
    writer.element("AccessTier", "Hot");
    writer.flag("AccessTierInferred", true);
    lease_elements(writer, held, now);
    writer.flag("ServerEncrypted", false);
    writer.close("Properties");
}

fn lease_elements(writer: &mut Writer, held: Option<&Lease>, now: Timestamp) {
    let state = lease::state(held, now);
    writer.element("LeaseStatus", state.status());
    writer.element("LeaseState", state.as_str());
    writer.maybe("LeaseDuration", lease::reported_duration(held, now));
}
