//! List Containers.

use lazuli_model::admission::lease;
use lazuli_model::blob::SoftDeletion;
use lazuli_model::error::{ErrorCode, Failure};
use lazuli_model::time::Timestamp;
use lazuli_service::blob::{ContainerList, ContainerRecord, ListContainers, ListedContainer};
use lazuli_service::shared::marker::Position;

use super::ACCOUNT_SCOPE;
use super::list::{Entries, LIST_LIMIT, asked, build, metadata, retention};
use super::restore_container::version;
use crate::call::Call;
use crate::decode;
use crate::reply::Reply;
use crate::xml::Writer;

pub async fn list_containers(call: Call) -> Result<Reply, Failure> {
    let head = &call.head;
    let included = decode::include(head, &["metadata", "deleted", "system"])?;
    let includes = |wanted: &str| included.iter().any(|word| word.eq_ignore_ascii_case(wanted));
    let with_metadata = includes("metadata");
    let marker = head.query("marker").map(|text| Position::decode(text).ok_or(ErrorCode::OutOfRangeInput));
    let page = call.services.outgoing().page();
    let input = ListContainers {
        prefix: head.query("prefix").unwrap_or_default().to_owned(),
        deleted: includes("deleted"),
        marker: marker.transpose()?,
        max_results: decode::max_results(head, LIST_LIMIT)? as usize,
        max_bytes: page.bytes,
    };
    let max_results = input.max_results;
    let read = move |services, context, max_results| {
        let input = ListContainers { max_results, ..input.clone() };
        async move {
            let list = input.execute(&services, &context).await?;
            let more = list.next.is_some();
            Ok((list, more))
        }
    };
    let print = move |call: &Call, list: &ContainerList| document(call, list, with_metadata, page.bytes);
    let row = call.row;
    let text = build(call, max_results, read, print).await?;
    Ok(Reply::of(row).xml(text).within(page.share))
}

fn document(call: &Call, list: &ContainerList, with_metadata: bool, most: usize) -> String {
    let mut writer = Writer::new();
    writer.open_with("EnumerationResults", &[("ServiceEndpoint", &call.service_endpoint())]);
    asked(&mut writer, &call.head, &["prefix", "marker", "maxresults"]);
    let entries = Entries { element: "Containers", items: &list.items, next: list.next.as_ref() };
    let entry = |writer: &mut Writer, listed: &ListedContainer| {
        let ListedContainer { name, container, deleted } = listed;
        writer.open("Container");
        writer.element("Name", name);
        if let Some((deleted, _)) = deleted {
            writer.flag("Deleted", true);
            writer.element("Version", &version(*deleted));
        }
        properties(writer, container, deleted.map(|(_, deletion)| deletion), list.now);
        if with_metadata {
            metadata(writer, &container.metadata, false);
        }
        writer.close("Container");
    };
    entries.print(writer, most, entry, ListedContainer::position)
}

fn properties(
    writer: &mut Writer,
    container: &ContainerRecord,
    deletion: Option<SoftDeletion>,
    now: Timestamp,
) {
    let held = container.lease.as_ref();
    let state = lease::state(held, now);
    writer.open("Properties");
    writer.element("Last-Modified", &container.last_modified.rfc1123());
    writer.element("Etag", &container.etag.quoted());
    writer.element("LeaseStatus", state.status());
    writer.element("LeaseState", state.as_str());
    writer.maybe("LeaseDuration", lease::reported_duration(held, now));
    writer.maybe("PublicAccess", container.public_access.as_str());
    writer.element(
        "DefaultEncryptionScope",
        container.default_encryption_scope.as_deref().unwrap_or(ACCOUNT_SCOPE),
    );
    writer.flag("DenyEncryptionScopeOverride", container.deny_encryption_scope_override);
    writer.flag("HasImmutabilityPolicy", false);
    writer.flag("HasLegalHold", false);
    writer.flag("ImmutableStorageWithVersioningEnabled", false);
    retention(writer, deletion, now);
    writer.close("Properties");
}
