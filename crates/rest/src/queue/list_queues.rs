//! List Queues.

use lazuli_model::error::{ErrorCode, Failure};
use lazuli_service::queue::{ListQueues, QueueList};
use lazuli_service::shared::marker::Position;

use super::uncached;
use crate::blob::list::{FEW, LIST_LIMIT, asked, metadata};
use crate::call::Call;
use crate::decode;
use crate::front::unwrap;
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
        max_bytes: Some(page.bytes),
    };
    let few = ListQueues { max_results: input.max_results.min(FEW), ..input.clone() };
    let list = few.execute(&call.services, &call.context).await.map_err(unwrap)?;
    let text = if list.next.is_none() || input.max_results <= FEW {
        document(&call, &list, with_metadata, page.bytes)
    } else {
        let services = call.services.clone();
        let building = services.aside(async move {
            let list = input.execute(&call.services, &call.context).await?;
            Ok(document(&call, &list, with_metadata, page.bytes))
        });
        building.await.and_then(|built| built).map_err(unwrap)?
    };
    Ok(uncached(Reply::xml(200, text).within(page.share)))
}

/// The page ends where it reaches `most` bytes, and the next one goes on there.
fn document(call: &Call, list: &QueueList, with_metadata: bool, most: usize) -> String {
    let mut writer = Writer::new();
    writer.open_with("EnumerationResults", &[("ServiceEndpoint", &call.service_endpoint())]);
    asked(&mut writer, &call.head, &["prefix", "marker", "maxresults"]);
    let mut next = list.next.clone();
    if list.items.is_empty() {
        writer.empty("Queues");
    } else {
        writer.open("Queues");
        let last = list.items.len() - 1;
        for (at, (name, queue)) in list.items.iter().enumerate() {
            writer.open("Queue");
            writer.element("Name", name);
            if with_metadata {
                metadata(&mut writer, &queue.metadata, false);
            }
            writer.close("Queue");
            if writer.len() >= most && at < last {
                next = Some(Position::Name { name: name.clone(), ticks: u64::MAX });
                break;
            }
        }
        writer.close("Queues");
    }
    writer.element("NextMarker", &next.as_ref().map(Position::encode).unwrap_or_default());
    writer.close("EnumerationResults");
    writer.finish()
}
