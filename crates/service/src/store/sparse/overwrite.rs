//! Writing over a part of a content, whatever lies in it.

use std::ops::Range;

use lazuli_engine::Reader;
use lazuli_model::time::Timestamp;

use super::{Cut, Data, Interval, push_layer, write};
use crate::fault::Answer;
use crate::store::key;
use crate::store::record::content::Content;
use crate::store::unit::Changes;
use crate::store::upload::Uploaded;

/// Bytes that were uploaded, as intervals from an offset on.
pub fn intervals(start: u64, uploaded: &Uploaded) -> Vec<Interval> {
    if let Some((_, bytes)) = uploaded.inline() {
        return vec![Interval { start, end: start + bytes.len() as u64, data: Data::Inline(bytes) }];
    }
    let mut at = start;
    let interval = |(id, len, seal)| {
        let start = at;
        at += u64::from(len);
        Interval { start, end: at, data: Data::Chunk { id, len, from: 0, seal } }
    };
    uploaded.chunk_lengths().map(interval).collect()
}

/// Puts intervals that cover the ranges together in place of what shows there. The ranges are apart from one another and in order. Where more lies there than one commit may
/// cut up, the content gets a new layer. `is_new` tells that the content got its layer by this very commit, over another.
///
/// It looks at what is committed: of a content it is called once in a commit.
pub async fn overwrite<W: Changes>(
    reader: &Reader,
    changes: &mut W,
    content: &mut Content,
    is_new: bool,
    ranges: &[Range<u64>],
    new: &[Interval],
    now: Timestamp,
) -> Answer<()> {
    let layer = content.id;
    let has_parent = is_new || reader.get(key::parent(layer)).await?.is_some();
    // Where nothing can show through, zeros need not be written.
    let needed = |interval: &&Interval| has_parent || interval.is_data();
    let here: Vec<Interval> = new.iter().filter(needed).cloned().collect();
    if write(reader, changes, layer, ranges, &here, now).await? == Cut::Done {
        return Ok(());
    }
    let top = push_layer(reader, changes, content, false, now).await?;
    write(reader, changes, top.id, ranges, new, now).await?;
    *content = top;
    Ok(())
}
