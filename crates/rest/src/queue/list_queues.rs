//! List Queues.

use lazuli_model::error::{ErrorCode, Failure};
use lazuli_service::queue::{ListQueues, QueueList, QueueRecord};
use lazuli_service::shared::marker::Position;

use super::uncached;
use crate::blob::list::{Entries, LIST_LIMIT, asked, build, metadata};
use crate::call::Call;
use crate::decode;
use crate::reply::Reply;
use crate::xml::Writer;

pub async fn list_queues(call: Call) -> Result<Reply, Failure> {
    let head = &call.head;
    let with_metadata = !decode::include(head, &["metadata"])?.is_empty();
    let marker = head.query("marker").map(|text| Position::decode(text).ok_or(ErrorCode::OutOfRangeInput));
    let page = call.services.outgoing().page();
    let input = ListQueues {
        prefix: head.query("prefix").unwrap_or_default().to_owned(),
        marker: marker.transpose()?,
        max_results: decode::max_results(head, LIST_LIMIT)? as usize,
        max_bytes: page.bytes,
    };
    let max_results = input.max_results;
    let read = move |services, context, max_results| {
        let input = ListQueues { max_results, ..input.clone() };
        async move {
            let list = input.execute(&services, &context).await?;
            let more = list.next.is_some();
            Ok((list, more))
        }
    };
    let print = move |call: &Call, list: &QueueList| document(call, list, with_metadata, page.bytes);
    let row = call.row;
    let text = build(call, max_results, read, print).await?;
    Ok(uncached(Reply::of(row).xml(text).within(page.share)))
}

fn document(call: &Call, list: &QueueList, with_metadata: bool, most: usize) -> String {
    let mut writer = Writer::new();
    writer.open_with("EnumerationResults", &[("ServiceEndpoint", &call.service_endpoint())]);
    asked(&mut writer, &call.head, &["prefix", "marker", "maxresults"]);
    let entries = Entries { element: "Queues", items: &list.items, next: list.next.as_ref() };
    let entry = |writer: &mut Writer, (name, queue): &(String, QueueRecord)| {
        writer.open("Queue");
        writer.element("Name", name);
        if with_metadata {
            metadata(writer, &queue.metadata, false);
        }
        writer.close("Queue");
    };
    entries.print(writer, most, entry, |(name, _)| Position::Name { name: name.clone(), ticks: u64::MAX })
}
