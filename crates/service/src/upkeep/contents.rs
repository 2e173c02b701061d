//! Dead contents: their chunks go back to the extents, a bounded commit at a time.

use std::collections::HashSet;

use lazuli_engine::{Key, Plan, Scan};

use crate::Services;
use crate::content;
use crate::fault::{Answer, Fault};
use crate::key::{self, ContentId};
use crate::record::Record;
use crate::record::block::BlockRecord;
use crate::record::content::{Content, DeadContent, Piece, Segment};

const ITEMS_IN_PASS: usize = 500;
const PIECES_IN_COMMIT: usize = 1_000;

/// Some of what is dead, behind this place.
pub struct Page {
    pub contents: Vec<(ContentId, DeadContent)>,
    /// Where it ends.
    pub last: Option<Key>,
    pub more: bool,
}

pub async fn list(services: &Services, after: Option<Key>) -> Answer<Page> {
    let reader = services.engine().reader().await?;
    let page = reader.scan(Scan { after, limit: ITEMS_IN_PASS, ..Scan::of(key::dead_contents()) }).await?;
    let last = page.items.last().map(|(key, _)| key.clone());
    let found = page.items.into_iter().filter_map(|(key, entry)| Some((key::content_of(&key)?, entry)));
    let contents = found.map(|(id, entry)| Ok((id, DeadContent::decode(&entry.value)?)));
    Ok(Page { contents: contents.collect::<Answer<_>>()?, last, more: page.more })
}

/// Each step reads what it deletes as checks of its commit: to be stopped anywhere and begun again is harmless.
pub async fn sweep(services: &Services, contents: Vec<(ContentId, DeadContent)>) -> Answer<()> {
    let mut listed = Vec::new();
    for (id, dead) in contents {
        match dead {
            DeadContent::Pieces(pieces) => listed.push((id, pieces)),
            DeadContent::Segments => {
                adopt(services, id).await?;
                while delete_segments(services, id, false).await? {}
                finish(services, id).await?;
            }
            DeadContent::Manifest => {
                // Blocks that this manifest adopted are still filed under their stage: first they leave it.
                adopt(services, id).await?;
                while delete_segments(services, id, true).await? {}
                drop_parent(services, id).await?;
            }
            DeadContent::Stage => {
                while delete_stage(services, id, None).await? {}
                finish(services, id).await?;
            }
        }
    }
    for some in batches(&listed) {
        release_listed(services, some).await?;
    }
    Ok(())
}

/// Whoever replaces blobs as fast as they can must not be faster than whoever gives them back: many go with one commit.
fn batches(mut listed: &[(ContentId, Vec<Piece>)]) -> impl Iterator<Item = &[(ContentId, Vec<Piece>)]> {
    std::iter::from_fn(move || {
        let mut pieces = 0;
        let fits = listed.iter().take_while(|(_, its)| {
            pieces += its.len();
            pieces <= PIECES_IN_COMMIT
        });
        // One alone is never too much: it was written by one commit.
        let count = fits.count().max(1).min(listed.len());
        let (some, rest) = listed.split_at(count);
        listed = rest;
        (!some.is_empty()).then_some(some)
    })
}

async fn release_listed(services: &Services, listed: &[(ContentId, Vec<Piece>)]) -> Answer<()> {
    services
        .engine()
        .run(services.deadline(), |reader| async move {
            let mut plan = Plan::new(());
            for (id, pieces) in listed {
                if reader.get(key::dead_content(*id)).await?.is_some() {
                    release(&mut plan, pieces);
                    plan.delete(key::dead_content(*id));
                }
            }
            Ok::<_, Fault>(plan)
        })
        .await
}

fn release<T>(plan: &mut Plan<T>, pieces: &[Piece]) {
    for piece in pieces {
        match piece {
            Piece::Inline { id, .. } => plan.delete(key::inline(*id)),
            Piece::Chunk { .. } => plan.release.extend(piece.chunk()),
        }
    }
}

/// Deletes some segments, with their own blocks' pieces when these are dead too. True while there are more.
async fn delete_segments(services: &Services, id: ContentId, with_blocks: bool) -> Answer<bool> {
    services
        .engine()
        .run(services.deadline(), |reader| async move {
            let page = reader.scan(Scan { limit: 4, ..Scan::of(key::segments(id)) }).await?;
            let mut plan = Plan::new(page.more);
            for (key, _) in page.items {
                let Some(entry) = reader.get(key.clone()).await? else { continue };
                if with_blocks {
                    for block in Segment::decode(&entry.value)?.blocks.iter().filter(|block| !block.borrowed)
                    {
                        release(&mut plan, &block.pieces);
                    }
                }
                plan.delete(key);
            }
            Ok::<_, Fault>(plan)
        })
        .await
}

async fn finish(services: &Services, id: ContentId) -> Answer<()> {
    services
        .engine()
        .run(services.deadline(), |_| async move {
            let mut plan = Plan::new(());
            plan.delete(key::dead_content(id));
            Ok::<_, Fault>(plan)
        })
        .await
}

async fn drop_parent(services: &Services, id: ContentId) -> Answer<()> {
    services
        .engine()
        .run(services.deadline(), |reader| async move {
            let mut plan = Plan::new(());
            if let Some(entry) = reader.get(key::parent(id)).await? {
                content::drop_holder(&reader, &mut plan, &Content::decode(&entry.value)?).await?;
                plan.delete(key::parent(id));
            }
            plan.delete(key::dead_content(id));
            Ok::<_, Fault>(plan)
        })
        .await
}

/// Clears the stages whose blocks long manifests took over.
pub async fn adopt_all(services: &Services) -> Answer<()> {
    let reader = services.engine().reader().await?;
    let page = reader.scan(Scan { keys_only: true, ..Scan::of(key::all_adopted()) }).await?;
    for (key, _) in page.items {
        if let Some(manifest) = key::content_of(&key) {
            adopt(services, manifest).await?;
        }
    }
    Ok(())
}

/// Takes the blocks of an adopted stage out of it; those that the manifest did not list are given back.
async fn adopt(services: &Services, manifest: ContentId) -> Answer<()> {
    let reader = services.engine().reader().await?;
    let Some(entry) = reader.peek(key::adopted(manifest)).await? else { return Ok(()) };
    let Some(stage) = key::content_from(&entry.value) else { return Ok(()) };
    let listed = listed_pieces(services, manifest).await?;
    while delete_stage(services, stage, Some(&listed)).await? {}
    services
        .engine()
        .run(services.deadline(), |_| async move {
            let mut plan = Plan::new(());
            plan.delete(key::adopted(manifest));
            Ok::<_, Fault>(plan)
        })
        .await
}

async fn listed_pieces(services: &Services, manifest: ContentId) -> Answer<HashSet<Piece>> {
    let reader = services.engine().reader().await?;
    let mut pieces = HashSet::new();
    let mut after = None;
    loop {
        let page = reader.scan(Scan { after, limit: 16, ..Scan::of(key::segments(manifest)) }).await?;
        for (_, entry) in &page.items {
            for block in Segment::decode(&entry.value)?.blocks {
                pieces.extend(block.pieces);
            }
        }
        after = page.items.last().map(|(key, _)| key.clone());
        if !page.more {
            return Ok(pieces);
        }
    }
}

async fn delete_stage(services: &Services, stage: ContentId, kept: Option<&HashSet<Piece>>) -> Answer<bool> {
    services
        .engine()
        .run(services.deadline(), |reader| async move {
            let page = reader.scan(Scan { limit: 500, ..Scan::of(key::blocks(stage)) }).await?;
            let mut plan = Plan::new(page.more);
            for (key, _) in page.items {
                let Some(entry) = reader.get(key.clone()).await? else { continue };
                let block = BlockRecord::decode(&entry.value)?;
                let is_kept = |piece: &Piece| kept.is_some_and(|kept| kept.contains(piece));
                let given_up: Vec<Piece> = block.pieces.into_iter().filter(|piece| !is_kept(piece)).collect();
                release(&mut plan, &given_up);
                plan.delete(key);
            }
            Ok::<_, Fault>(plan)
        })
        .await
}
