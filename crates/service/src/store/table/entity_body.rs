//! Bodies too large for a value, as immutable segments written ahead of the commit that points to them.
//!
//! They lie under `m` like the segments of a manifest and share its intents: one that a crash left is found by its
//! intent, one that is replaced is handed to the sweeper.

use bytes::{Bytes, BytesMut};
use lazuli_engine::{Plan, Reader, Scan};

use crate::Services;
use crate::fault::{Answer, Fault};
use crate::store::key::{self, ContentId};
use crate::store::manifest::{declare, give_up};
use crate::store::record::Record;
use crate::store::record::content::DeadContent;
use crate::store::record::corrupt;
use crate::store::record::entity::StoredBody;
use crate::store::unit::{Changes, Unit};

const SEGMENT_BYTES: usize = 60_000;
/// Of one commit that only writes segments.
const BATCH_SEGMENTS: usize = 8;
/// What one entity may take of the commit that changes it.
const INLINE_MAX: usize = 60_000;
/// When all entities of a commit take more than this, the larger ones of them are written ahead.
const COMMIT_MAX: usize = 300_000;
const INLINE_IN_LARGE_COMMIT: usize = 2_000;

/// Which of the bodies of one commit must be written ahead of it.
pub fn to_write_ahead(bodies: &[Option<Bytes>]) -> Vec<usize> {
    let total: usize = bodies.iter().flatten().map(Bytes::len).sum();
    let limit = if total > COMMIT_MAX { INLINE_IN_LARGE_COMMIT } else { INLINE_MAX };
    let large = |body: &Option<Bytes>| body.as_ref().is_some_and(|body| body.len() > limit);
    bodies.iter().enumerate().filter(|(_, body)| large(body)).map(|(index, _)| index).collect()
}

/// A body on disk that nothing points to yet. Its intent decides between the commit that will point to it and whoever
/// gives it up: each removes the intent only where it still stands, so one of the two finds it gone.
pub struct PrewrittenBody {
    pub content: ContentId,
    pub body: Bytes,
    services: Services,
    /// It is known what became of it.
    settled: bool,
}

impl PrewrittenBody {
    pub async fn write(services: &Services, body: Bytes) -> Answer<Self> {
        let content = ContentId::fresh(services.now());
        let ahead = Self { content, body, services: services.clone(), settled: false };
        let ends = (0..ahead.body.len()).step_by(SEGMENT_BYTES);
        let segments: Vec<Bytes> =
            ends.map(|at| ahead.body.slice(at..ahead.body.len().min(at + SEGMENT_BYTES))).collect();
        for (batch, some) in segments.chunks(BATCH_SEGMENTS).enumerate() {
            services
                .engine()
                .run(services.deadline(), |reader| async move {
                    let mut plan = Plan::new(());
                    declare(services, &reader, &mut plan, content, batch == 0).await?;
                    for (number, segment) in (batch * BATCH_SEGMENTS..).zip(some) {
                        let end = number * SEGMENT_BYTES + segment.len();
                        plan.put(key::segment(content, end as u64, number as u32), segment.clone());
                    }
                    Ok::<_, Fault>(plan)
                })
                .await?;
        }
        Ok(ahead)
    }

    /// Whether the commit that is being planned may still point to it.
    pub async fn is_good(&self, unit: &Unit) -> Answer<bool> {
        Ok(unit.reader().get(key::intent(self.content)).await?.is_some())
    }

    /// What the commit that points to the body must carry.
    pub(super) fn publish<W: Changes>(&self, plan: &mut W) -> StoredBody {
        plan.delete(key::intent(self.content));
        StoredBody::Segments { content: self.content, length: self.body.len() as u32 }
    }

    /// Gives the body up, unless a commit points to it by now.
    pub async fn discard(mut self) -> Answer<()> {
        give_up(&self.services, self.content).await?;
        self.settled = true;
        Ok(())
    }
}

impl Drop for PrewrittenBody {
    /// The client is gone. Whether the commit is under way nobody here knows; the intent does.
    fn drop(&mut self) {
        if self.settled {
            return;
        }
        if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            let (services, content) = (self.services.clone(), self.content);
            runtime.spawn(async move { give_up(&services, content).await });
        }
    }
}

/// The body of an entity that is replaced or deleted. Readers see it in their snapshot as long as they need it.
pub(in crate::store) fn release<W: Changes>(plan: &mut W, body: &StoredBody) {
    if let StoredBody::Segments { content, .. } = body {
        plan.put(key::dead_content(*content), DeadContent::Segments.encode());
    }
}

pub async fn read(reader: &Reader, content: ContentId, length: u32) -> Answer<Bytes> {
    let mut body = BytesMut::with_capacity(length as usize);
    let mut after = None;
    loop {
        let page = reader.scan(Scan { after, ..Scan::of(key::segments(content)) }).await?;
        for (_, entry) in &page.items {
            body.extend_from_slice(&entry.value);
        }
        after = page.items.last().map(|(key, _)| key.clone());
        if !page.more {
            break;
        }
    }
    if body.len() != length as usize {
        return Err(corrupt("entity segments", "missing bytes").into());
    }
    Ok(body.freeze())
}
