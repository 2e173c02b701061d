//! Holding, sharing and dropping contents inside a commit.

use lazuli_engine::Reader;

use super::unit::Changes;
use crate::fault::Answer;
use crate::store::key::{self, ContentId};
use crate::store::record::Record;
use crate::store::record::content::{Content, DeadContent, Holders, Piece, Shape};

/// One holder more: a snapshot or a copy now has this content too. Of those who hold an append blob's content only the
/// blob itself may append to it, so a copy that is an append blob does not share.
pub async fn share<W: Changes>(reader: &Reader, plan: &mut W, content: &Content) -> Answer<()> {
    share_with(reader, plan, content, 1).await
}

/// So many holders more.
pub async fn share_with<W: Changes>(
    reader: &Reader,
    plan: &mut W,
    content: &Content,
    more: u32,
) -> Answer<()> {
    if content.shape == Shape::Empty {
        return Ok(());
    }
    let key = key::holders(content.id);
    let held = match reader.get(key.clone()).await? {
        Some(entry) => Holders::decode(&entry.value)?,
        None => Holders(0),
    };
    plan.put(key, Holders(held.0 + more).encode());
    Ok(())
}

/// One holder less; the last one turns the content into work for the sweeper.
pub async fn drop_holder<W: Changes>(reader: &Reader, plan: &mut W, content: &Content) -> Answer<()> {
    drop_holders(reader, plan, std::slice::from_ref(content)).await
}

/// Several holders less, of which some may hold the same content.
pub async fn drop_holders<W: Changes>(reader: &Reader, plan: &mut W, contents: &[Content]) -> Answer<()> {
    let mut counted: Vec<(&Content, u32)> = Vec::new();
    for content in contents.iter().filter(|content| content.shape != Shape::Empty) {
        match counted.iter_mut().find(|(known, _)| known.id == content.id) {
            Some((_, count)) => *count += 1,
            None => counted.push((content, 1)),
        }
    }
    for (content, count) in counted {
        let key = key::holders(content.id);
        // Read in either case: a content shared at this very moment must make this commit fail.
        let further = match reader.get(key.clone()).await? {
            Some(entry) => Holders::decode(&entry.value)?.0,
            None => 0,
        };
        match further.checked_sub(count) {
            Some(0) => {
                plan.delete(key);
                absorb_later(plan, content);
            }
            Some(left) => plan.put(key, Holders(left).encode()),
            None => {
                if further > 0 {
                    plan.delete(key);
                }
                discard(plan, content);
            }
        }
    }
    Ok(())
}

/// The content has one holder left. If that is a manifest that took blocks over from it, the sweeper gives the other
/// blocks back; if it is a record, the sweeper finds nothing to do.
pub fn absorb_later<W: Changes>(plan: &mut W, content: &Content) {
    let work = match content.shape {
        // Also where this holder did not name the blocks: the other one may.
        Shape::Manifest { .. } => DeadContent::Absorb,
        Shape::Sparse => DeadContent::AbsorbLayer,
        _ => return,
    };
    plan.put(key::dead_content(content.id), work.encode());
}

/// The younger manifest takes blocks over from the older one, and the hold on it of the record that pointed to it.
pub async fn become_parent<W: Changes>(
    reader: &Reader,
    plan: &mut W,
    parent: &Content,
    child: ContentId,
) -> Answer<()> {
    plan.put(key::parent(child), parent.encode());
    plan.put(key::child(parent.id, child), lazuli_engine::Value::new());
    if reader.get(key::holders(parent.id)).await?.is_none() {
        absorb_later(plan, parent);
    }
    Ok(())
}

/// The younger manifest takes blocks over from the older one, which the record that pointed to it goes on holding.
pub async fn become_shared_parent<W: Changes>(
    reader: &Reader,
    plan: &mut W,
    parent: &Content,
    child: ContentId,
) -> Answer<()> {
    plan.put(key::parent(child), parent.encode());
    plan.put(key::child(parent.id, child), lazuli_engine::Value::new());
    share(reader, plan, parent).await
}

/// Nothing holds this content any more.
pub fn discard<W: Changes>(plan: &mut W, content: &Content) {
    match &content.shape {
        Shape::Empty => {}
        Shape::Pieces(pieces) => discard_pieces(plan, content, pieces),
        Shape::Manifest { .. } => plan.put(key::dead_content(content.id), DeadContent::Manifest.encode()),
        Shape::Sparse => plan.put(key::dead_content(content.id), DeadContent::Layer.encode()),
    }
}

/// Inline bytes go at once: a reader has read them with the record, at one snapshot.
fn discard_pieces<W: Changes>(plan: &mut W, content: &Content, pieces: &[Piece]) {
    let mut chunks = Vec::new();
    for piece in pieces {
        match piece {
            Piece::Inline { id, .. } => plan.delete_private(key::inline(*id)),
            Piece::Chunk { .. } => chunks.push(*piece),
        }
    }
    if !chunks.is_empty() {
        plan.put(key::dead_content(content.id), DeadContent::Pieces(chunks).encode());
    }
}
