//! Contents with holes that are written in place: page blobs, the ranges of files (decision 0027).
//!
//! A content is a layer of disjoint intervals, each with bytes of its own or with zeros. What a layer does not cover, its
//! parent does; what no layer of the line covers is a hole, which reads as zeros. Writes go to the top layer. A snapshot
//! keeps the layer and gives the blob a new one with the old as its parent, whatever lies in it; so does a write that
//! would cut up more intervals than one commit takes. When a layer has no holder left but its child, the sweeper moves
//! what it still shows into the child.

mod absorb;
mod interval;
mod overlay;
mod overwrite;
mod ranges;
mod write;

pub(crate) use absorb::{absorb, dismantle};
pub(crate) use interval::{Data, Interval};
pub(crate) use overlay::Overlay;
pub(in crate::store) use overwrite::{intervals, overwrite};
pub(in crate::store) use ranges::ranges;
pub(crate) use write::push_layer;
use write::{Cut, write};

use lazuli_engine::Reader;

use super::key::{self, ContentId};
use super::record::Record;
use super::record::content::Content;
use crate::fault::Answer;

/// The layers from this one down, the oldest last, up to the one that is asked for, which is not among them. None when
/// the line does not lead there.
pub(crate) async fn layers(
    reader: &Reader,
    top: ContentId,
    down_to: Option<ContentId>,
) -> Answer<Option<Vec<ContentId>>> {
    let mut layers = Vec::new();
    let mut next = Some(top);
    while let Some(layer) = next {
        if Some(layer) == down_to {
            return Ok(Some(layers));
        }
        layers.push(layer);
        if layers.len().is_multiple_of(256) {
            tokio::task::yield_now().await;
        }
        next = match reader.get(key::parent(layer)).await? {
            Some(entry) => Some(Content::decode(&entry.value)?.id),
            None => None,
        };
    }
    Ok(down_to.is_none().then_some(layers))
}
