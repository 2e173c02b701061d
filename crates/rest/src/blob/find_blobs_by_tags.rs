//! Find Blobs by Tags, and Find Blobs by Tags in Container.

use lazuli_model::error::{ErrorCode, Failure};
use lazuli_model::operation::Resource;
use lazuli_model::tags::WhereExpression;
use lazuli_service::blob::{FindBlobsByTags, FoundAt, TaggedBlob, TaggedBlobs};
use lazuli_service::shared::marker::Position;

use super::list::{Entries, LIST_LIMIT, build, text};
use super::tags;
use crate::call::Call;
use crate::decode;
use crate::reply::Reply;
use crate::xml::Writer;

const WHERE: &str = "where";

pub async fn find_blobs_by_tags(call: Call) -> Result<Reply, Failure> {
    let head = &call.head;
    decode::include(head, &["none", "versions"])?;
    let sought = head.query(WHERE).ok_or_else(|| Failure::missing_query(WHERE))?;
    let expression = WhereExpression::parse(sought)?;
    if expression.value_range().is_none() {
        return Err(Failure::invalid_query(WHERE, sought, "The expression compares no tag."));
    }
    let after = head.query("marker").map(|text| {
        let place = Position::decode(text).and_then(FoundAt::of);
        place.ok_or(ErrorCode::OutOfRangeInput)
    });
    let page = call.services.outgoing().page();
    let input = FindBlobsByTags {
        container: (head.target.resource == Resource::Container).then(|| call.container()),
        expression,
        after: after.transpose()?,
        max_results: decode::max_results(head, LIST_LIMIT)? as usize,
        max_bytes: page.bytes,
    };
    let max_results = input.max_results;
    let read = move |services, context, max_results| {
        let input = FindBlobsByTags { max_results, ..input.clone() };
        async move {
            let found = input.execute(&services, &context).await?;
            let more = found.next.is_some();
            Ok((found, more))
        }
    };
    let print = move |call: &Call, found: &TaggedBlobs| document(call, found, page.bytes);
    let row = call.row;
    let text = build(call, max_results, read, print).await?;
    Ok(Reply::of(row).xml(text).within(page.share))
}

fn document(call: &Call, found: &TaggedBlobs, most: usize) -> String {
    let mut writer = Writer::of(call.row);
    writer.open_with("EnumerationResults", &[("ServiceEndpoint", &call.service_endpoint())]);
    text(&mut writer, "Where", call.head.query(WHERE).unwrap_or_default());
    let next = found.next.as_ref().map(FoundAt::position);
    let entries = Entries { element: "Blobs", items: &found.items, next: next.as_ref() };
    entries.print(writer, most, entry, |blob| blob.place().position())
}

fn entry(writer: &mut Writer, blob: &TaggedBlob) {
    writer.open("Blob");
    text(writer, "Name", &blob.name);
    writer.element("ContainerName", &blob.container);
    tags::write(writer, &blob.tags);
    writer.close("Blob");
}
