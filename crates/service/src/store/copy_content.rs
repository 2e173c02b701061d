//! What the copy of a blob stands on. No byte moves: a copy of pages is a layer of its own over the layer of its source, and
//! a copy of appended blocks is a list of its own whose first entry is all that its source had (decision 0029).

use lazuli_engine::Scan;
use lazuli_model::blob::BlobType;
use lazuli_model::operation::Mode;

use super::append;
use super::content;
use super::copy::SourceBlob;
use super::manifest;
use super::new_content::NewContent;
use super::pages;
use super::sparse;
use super::unit::{Changes as _, Unit};
use crate::blob::BlobState;
use crate::fault::Answer;
use crate::store::key::{self, ContentId};
use crate::store::record::Record;
use crate::store::record::blob::BlobRecord;
use crate::store::record::content::{Content, ListedBlock, Segment, Shape};

/// So many copies of copies stand on each other, where each was appended to before it was copied. Of one that stands
/// higher the bytes are copied.
const DEPTH: usize = 8;

impl<M: Mode> Unit<M> {
    /// Whether a copy of this blob can stand on its content. Bytes that are encrypted with a key of the customer's stay
    /// with their blob.
    pub async fn may_share(&self, source: &BlobRecord) -> Answer<bool> {
        if source.customer_key.is_some() {
            return Ok(false);
        }
        if source.kind != BlobType::Append {
            return Ok(true);
        }
        let mut below = self.own_list(&source.content).await?;
        for _ in 0..DEPTH {
            match self.first_block(&below).await? {
                Some(first) => below = first,
                None => return Ok(true),
            }
        }
        Ok(false)
    }

    /// The list that a copy of this one begins with. A copy that was not appended to is no more than what it stands on.
    async fn own_list(&self, content: &Content) -> Answer<Content> {
        let mut own = content.clone();
        while let Some(first) = self.first_block(&own).await?.filter(|first| first.length == content.length) {
            own = first;
        }
        Ok(own)
    }

    /// The first entry of a list, if it is a list itself.
    async fn first_block(&self, content: &Content) -> Answer<Option<Content>> {
        if !matches!(content.shape, Shape::Manifest { .. }) {
            return Ok(None);
        }
        let found = manifest::segments_from(self.reader(), content.id, None, 0, 1).await?;
        let first = found.into_iter().next().and_then(|(_, segment)| segment.blocks.into_iter().next());
        Ok(first.map(|block| block.content).filter(|block| matches!(block.shape, Shape::Manifest { .. })))
    }
}

impl Unit {
    /// A layer for a copy of pages. A source that may be written to goes on with a new layer too: neither shows on the other.
    pub(super) async fn layer_on(&mut self, source: &SourceBlob) -> Answer<Content> {
        let (reader, now) = (self.reader().clone(), self.now());
        let content = &source.content;
        let below = match source.place.state {
            BlobState::Snapshot(_) | BlobState::Version(_) => content.clone(),
            BlobState::Base => match self.below_untouched(content.id).await? {
                Some(below) => below,
                None => {
                    let mut record = source.record.clone();
                    record.content = sparse::push_layer(&reader, self, content, true, now).await?;
                    source.place.write(self, &record);
                    content.clone()
                }
            },
        };
        content::share(&reader, self, &below).await?;
        let layer = sparse::push_layer(&reader, self, &below, true, now).await?;
        Ok(Content { length: content.length, ..layer })
    }

    /// What stands below a layer in which nothing is written: to copy a blob often does not pile up layers. A write to the
    /// layer writes the blob's record and the sweeper writes the layer's parent, both of which are checks of this commit.
    pub(super) async fn below_untouched(&self, layer: ContentId) -> Answer<Option<Content>> {
        let Some(parent) = self.reader().get(key::parent(layer)).await? else { return Ok(None) };
        let scan = Scan { limit: 1, keys_only: true, ..Scan::of(key::intervals(layer)) };
        match self.reader().scan(scan).await?.items.is_empty() {
            true => Ok(Some(Content::decode(&parent.value)?)),
            false => Ok(None),
        }
    }

    /// A list for a copy of appended blocks, which begins with what the source has now. The source may go on behind that.
    /// `old` is what the copy replaces; where that held the same content, the list takes over its hold, and this content is told.
    pub(super) async fn list_on(
        &mut self,
        source: &SourceBlob,
        old: Option<&BlobRecord>,
    ) -> Answer<(Content, Option<ContentId>)> {
        let length = source.length();
        if length == 0 {
            return Ok((Content::empty(), None));
        }
        let below = self.own_list(&source.content).await?;
        let held = old.map(|old| old.content.id).filter(|held| *held == below.id);
        if held.is_none() {
            let reader = self.reader().clone();
            content::share(&reader, self, &below).await?;
        }
        let id = ContentId::fresh(self.now());
        let listed = ListedBlock { name: Vec::new(), content: below };
        let segment = Segment { start: 0, blocks: vec![listed] };
        self.put(key::segment(id, length, 0), segment.encode());
        let shape = Shape::Manifest { blocks: source.committed_blocks(), named: false };
        Ok((Content { id, length, shape }, held))
    }
}

impl NewContent {
    /// What a blob of this type points to when these bytes are all that it has.
    pub(super) async fn publish_as(&self, kind: BlobType, unit: &mut Unit) -> Answer<Content> {
        match kind {
            BlobType::Page => Ok(pages::of_upload(unit, self.uploaded())),
            BlobType::Block | BlobType::Append => {
                self.publish(unit).await?;
                Ok(match kind {
                    BlobType::Append => append::growing(unit, &self.content),
                    _ => self.content.clone(),
                })
            }
        }
    }
}
