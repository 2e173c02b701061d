//! List Shares.

use lazuli_model::error::{ErrorCode, Failure};
use lazuli_service::file::{ListShares, ListedShare, ShareList};
use lazuli_service::shared::marker::Position;

use super::shares_document::entry;
use crate::blob::list::{Entries, LIST_LIMIT, asked, build};
use crate::call::Call;
use crate::decode;
use crate::reply::Reply;
use crate::xml::Writer;

pub async fn list_shares(call: Call) -> Result<Reply, Failure> {
    let head = &call.head;
    let included = decode::include(head, &["metadata", "snapshots", "deleted"])?;
    let includes = |wanted: &str| included.iter().any(|word| word.eq_ignore_ascii_case(wanted));
    let with_metadata = includes("metadata");
    let marker = head.query("marker").map(|text| Position::decode(text).ok_or(ErrorCode::OutOfRangeInput));
    let page = call.services.outgoing().page();
    let input = ListShares {
        prefix: head.query("prefix").unwrap_or_default().to_owned(),
        snapshots: includes("snapshots"),
        deleted: includes("deleted"),
        marker: marker.transpose()?,
        max_results: decode::max_results(head, LIST_LIMIT)? as usize,
        max_bytes: page.bytes,
    };
    let max_results = input.max_results;
    let read = move |services, context, max_results| {
        let input = ListShares { max_results, ..input.clone() };
        async move {
            let list = input.execute(&services, &context).await?;
            let more = list.next.is_some();
            Ok((list, more))
        }
    };
    let print = move |call: &Call, list: &ShareList| document(call, list, with_metadata, page.bytes);
    let row = call.row;
    let text = build(call, max_results, read, print).await?;
    Ok(Reply::of(row).xml(text).within(page.share))
}

fn document(call: &Call, list: &ShareList, with_metadata: bool, most: usize) -> String {
    let mut writer = Writer::new();
    writer.open_with("EnumerationResults", &[("ServiceEndpoint", &call.service_endpoint())]);
    asked(&mut writer, &call.head, &["prefix", "marker", "maxresults"]);
    let entries = Entries { element: "Shares", items: &list.items, next: list.next.as_ref() };
    let version = call.head.version;
    let print = |writer: &mut Writer, listed: &ListedShare| {
        entry(writer, listed, with_metadata, version, list.now);
    };
    entries.print(writer, most, print, ListedShare::position)
}
