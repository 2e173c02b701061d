//! List Ranges.

use lazuli_model::error::{ErrorCode, Failure};
use lazuli_model::time::Timestamp;
use lazuli_model::version::Feature;
use lazuli_service::file::{FileRange, FileRanges, ListRanges};

use super::ranges_document::{ListedRange, document};
use crate::call::Call;
use crate::decode;
use crate::head::Head;
use crate::headers;
use crate::reply::Reply;

/// The most ranges of one answer: some megabytes.
const RANGES: u32 = 50_000;
/// So many are found without asking for memory.
const FEW: usize = 500;
/// What one takes until it is told, and in the document.
const RANGE_BYTES: usize = 120;

const PREVIOUS: &str = "prevsharesnapshot";

pub async fn list_ranges(call: Call) -> Result<Reply, Failure> {
    let pages = call.head.version.has(Feature::RangesInPages);
    let limit = if pages { decode::max_results(&call.head, RANGES)? } else { RANGES };
    let previous = previous(&call.head)?;
    let input = ListRanges {
        at: call.path()?,
        preconditions: call.preconditions()?,
        previous,
        follows_renames: follows_renames(&call.head, previous)?,
        range: decode::range(&call.head),
        from: if pages { marker(&call.head)? } else { 0 },
        limit: limit as usize,
    };
    let (services, context) = (&call.services, &call.context);
    let few = ListRanges { limit: input.limit.min(FEW), ..input.clone() };
    let (mut found, mut share) = (few.execute(services, context).await?, None);
    if found.0.next.is_some() && input.limit > FEW {
        share = Some(services.outgoing().set_aside(input.limit * RANGE_BYTES).await?);
        found = input.execute(services, context).await?;
    }
    let (FileRanges { ranges, next }, stamped, length) = found;
    // Clients of these versions know of no further page: a list that ends early would tell them of holes that are none.
    if next.is_some() && !pages {
        let message =
            format!("The file has more than {RANGES} ranges. Ask for them by smaller ranges of bytes.");
        return Err(Failure::new(ErrorCode::OutOfRangeInput).with_message(message));
    }
    let listed = |FileRange { start, end, cleared }: &FileRange| ListedRange {
        start: *start,
        end: *end,
        cleared: *cleared,
    };
    let ranges: Vec<ListedRange> = ranges.iter().map(listed).collect();
    let next = next.map(|next| next.to_string());
    Ok(Reply::of(call.row)
        .xml(document(&ranges, next.as_deref()))
        .within(share)
        .stamped(stamped)
        .header(headers::X_MS_CONTENT_LENGTH, length))
}

fn previous(head: &Head) -> Result<Option<Timestamp>, Failure> {
    let Some(text) = head.query(PREVIOUS) else { return Ok(None) };
    let refused = || Failure::invalid_query(PREVIOUS, text, "");
    Timestamp::parse_snapshot(text).map(Some).ok_or_else(refused)
}

/// `x-ms-file-support-rename`, which speaks of what was before.
fn follows_renames(head: &Head, previous: Option<Timestamp>) -> Result<bool, Failure> {
    const NAME: &str = headers::X_MS_FILE_SUPPORT_RENAME;
    match head.header(NAME) {
        Some(text) if previous.is_none() => Err(Failure::invalid_header(NAME, text)),
        _ => head.flag(NAME),
    }
}

/// Where the page before ended: an offset.
fn marker(head: &Head) -> Result<u64, Failure> {
    match head.query("marker").filter(|marker| !marker.is_empty()) {
        None => Ok(0),
        Some(marker) => marker.parse().map_err(|_| Failure::invalid_query("marker", marker, "")),
    }
}
