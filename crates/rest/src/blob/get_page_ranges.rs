//! Get Page Ranges.

use lazuli_model::error::{ErrorCode, Failure};
use lazuli_model::operation::Row;
use lazuli_model::time::Timestamp;
use lazuli_model::version::ApiVersion;
use lazuli_service::blob::{GetPageRanges, PageRanges};

use crate::call::Call;
use crate::decode;
use crate::headers;
use crate::reply::Reply;
use crate::xml::Writer;

/// The most ranges of one answer: some megabytes.
const RANGES: usize = 50_000;
/// So many are found without asking for memory.
const FEW: usize = 500;
/// What one takes until it is told, and in the document.
const RANGE_BYTES: usize = 130;

pub async fn get_page_ranges(call: Call) -> Result<Reply, Failure> {
    let limit = match call.head.query("maxresults") {
        None => RANGES,
        Some(text) => match text.parse::<usize>() {
            Ok(limit) if limit > 0 => limit.min(RANGES),
            _ => return Err(Failure::invalid_query("maxresults", text, "")),
        },
    };
    let from = match call.head.query("marker").filter(|marker| !marker.is_empty()) {
        Some(marker) => marker.parse().map_err(|_| Failure::invalid_query("marker", marker, ""))?,
        None => 0,
    };
    let input = GetPageRanges {
        at: call.blob(),
        snapshot: call.snapshot(),
        previous: previous(&call)?,
        preconditions: call.preconditions()?,
        range: decode::range(&call.head),
        from,
        limit,
    };
    let (services, context) = (&call.services, &call.context);
    let few = GetPageRanges { limit: input.limit.min(FEW), ..input.clone() };
    let (mut found, mut share) = (few.execute(services, context).await?, None);
    if found.0.next.is_some() && input.limit > FEW {
        share = Some(services.outgoing().set_aside(input.limit * RANGE_BYTES).await?);
        found = input.execute(services, context).await?;
    }
    let (ranges, stamped, length) = found;
    // Clients of these versions know of no further page: a list that ends early would tell them of holes that are none.
    if ranges.next.is_some() && call.head.version < ApiVersion::V2021_06_08 {
        let message =
            format!("The blob has more than {RANGES} page ranges. Ask for them by smaller ranges of bytes.");
        return Err(Failure::new(ErrorCode::OutOfRangeInput).with_message(message));
    }
    Ok(Reply::of(call.row)
        .xml(document(call.row, &ranges))
        .within(share)
        .stamped(stamped)
        .header(headers::X_MS_BLOB_CONTENT_LENGTH, length))
}

/// `prevsnapshot`, or the snapshot that the URL in `x-ms-previous-snapshot-url` names.
fn previous(call: &Call) -> Result<Option<Timestamp>, Failure> {
    if let Some(text) = call.head.query("prevsnapshot") {
        let refused = || Failure::invalid_query("prevsnapshot", text, "");
        return Timestamp::parse_snapshot(text).map(Some).ok_or_else(refused);
    }
    let Some(url) = call.head.header("x-ms-previous-snapshot-url") else { return Ok(None) };
    let refused = || Failure::invalid_header("x-ms-previous-snapshot-url", url);
    let (_, query) = url.split_once('?').ok_or_else(refused)?;
    let text = query.split('&').find_map(|pair| pair.strip_prefix("snapshot=")).ok_or_else(refused)?;
    let text = text.replace("%3A", ":").replace("%3a", ":");
    Timestamp::parse_snapshot(&text).map(Some).ok_or_else(refused)
}

fn document(row: &Row, PageRanges { ranges, next }: &PageRanges) -> String {
    let mut writer = Writer::of(row);
    writer.open("PageList");
    for range in ranges {
        let name = if range.cleared { "ClearRange" } else { "PageRange" };
        writer.open(name);
        writer.number("Start", range.start);
        writer.number("End", range.end - 1);
        writer.close(name);
    }
    if let Some(next) = next {
        writer.number("NextMarker", *next);
    }
    writer.close("PageList");
    writer.finish()
}
