//! Which ranges of a content hold bytes.

use std::ops::Range;

use lazuli_engine::Reader;

use super::Overlay;
use crate::fault::Answer;
use crate::store::key::ContentId;

/// Ranges between two moments at which other requests of the lane have their turn.
const YIELD: usize = 256;

/// The ranges that these layers show bytes in, `with_cleared` also those that they show as cleared, which is the second
/// word of each; up to so many, and where to go on if there are more.
pub async fn ranges(
    reader: &Reader,
    layers: Vec<ContentId>,
    range: Range<u64>,
    with_cleared: bool,
    limit: usize,
) -> Answer<(Vec<(Range<u64>, bool)>, Option<u64>)> {
    let mut overlay = Overlay::new(layers, range, true);
    let mut ranges: Vec<(Range<u64>, bool)> = Vec::new();
    while let Some(span) = overlay.next(reader).await? {
        let is_cleared = !span.is_data();
        if is_cleared && !with_cleared {
            continue;
        }
        let count = ranges.len();
        match ranges.last_mut() {
            Some((last, kind)) if last.end == span.start && *kind == is_cleared => last.end = span.end,
            _ if count == limit => return Ok((ranges, Some(span.start))),
            _ => ranges.push((span.start..span.end, is_cleared)),
        }
        if ranges.len().is_multiple_of(YIELD) {
            tokio::task::yield_now().await;
        }
    }
    Ok((ranges, None))
}
