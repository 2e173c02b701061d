//! Bytes on their way out. What a download reads is what stood when its record was read, whatever happens to
//! the blob meanwhile: contents are immutable, and no byte of this one is given back before the download ends.

mod ahead;
mod sealed;
mod sparse;

use std::collections::VecDeque;
use std::ops::Range;

use bytes::Bytes;
use lazuli_engine::{Corrupt, EngineError, Key, Reader, crc64, crc64_combine};
use lazuli_model::blob::CustomerKey;

use self::ahead::Ahead;
pub use self::sparse::Origin;
use self::sparse::SparseCursor;
use super::seal::SealingKey;
use super::unit::View;
use crate::Services;
use crate::body::{Body, BodyError};
use crate::budget::Share;
use crate::fault::Answer;
use crate::outgoing::held;
use crate::store::key::{self, ContentId};
use crate::store::manifest;
use crate::store::readers::ActiveReader;
use crate::store::record::content::{Content, Piece, Shape};

/// What is read and sent at a time: what the engine reads without a thread for it, and the nearer caches hold from
/// the reading through the checking to the sending.
const UNIT: u32 = 256 * 1024;
/// The same when memory is short: what every download may hold.
const SMALL_UNIT: u32 = 64 * 1024;
/// So many inline pieces are read in one batch, of a small unit in all.
const INLINE_IN_BATCH: usize = 256;
/// Segments of a manifest that are loaded first: a short range is in one of them, or in two.
const FIRST_SEGMENTS: usize = 2;
/// The same when the download goes on behind them. Those of an append blob may be of one small block each.
const MORE_SEGMENTS: usize = 256;
/// Holes are sent from here.
static ZEROS: [u8; SMALL_UNIT as usize] = [0; SMALL_UNIT as usize];

pub struct Download {
    services: Services,
    /// What is known of what is to come; the rest is behind the cursors in it.
    next: VecDeque<Next>,
    /// Inline bytes that were read with the record.
    ready: Option<Bytes>,
    length: u64,
    /// Keeps the sweeper from the content.
    active: Option<ActiveReader>,
    /// The key that the customer gave.
    key: Option<SealingKey>,
    /// Chunks that are being fetched before they are read.
    ahead: Ahead,
    /// Memory of the intervals that are loaded.
    loaded: Option<Share>,
}

/// Where to go on in a manifest, and in those of its blocks that are manifests themselves.
struct Cursor {
    content: ContentId,
    after: Option<Key>,
    wanted: Range<u64>,
}

/// What comes next, in order.
enum Next {
    /// The part of a piece that is wanted.
    Piece(Piece, Range<u32>),
    /// Bytes that were read with where they lie.
    Bytes(Bytes),
    /// So many zeros.
    Hole(u64),
    /// The rest of a sparse content.
    Sparse(Box<SparseCursor>),
    /// A block that has a manifest of its own, and what is wanted of it.
    Manifest(Cursor),
}

impl Download {
    /// `view` is the snapshot that the record came from, `key` what the customer gave to read the blob with, `origin` where the
    /// record is. Nothing of the view is held when this returns, unless the engine is in this process or all is read at once.
    pub async fn open(
        services: &Services,
        mut active: ActiveReader,
        view: &View,
        content: &Content,
        range: Range<u64>,
        key: Option<&CustomerKey>,
        origin: Origin<'_>,
    ) -> Answer<Self> {
        let mut download = Self {
            services: services.clone(),
            next: VecDeque::new(),
            ready: None,
            length: range.end.saturating_sub(range.start),
            active: None,
            key: key.map(SealingKey::of_customer),
            ahead: Ahead::default(),
            loaded: None,
        };
        if download.length == 0 {
            return Ok(download);
        }
        match &content.shape {
            Shape::Empty => {}
            Shape::Pieces(pieces) => {
                if let [Piece::Inline { id, len, seal }] = pieces[..] {
                    let bytes = inline(view.reader(), id).await?;
                    let bytes = download.opened(bytes, len, seal).await?;
                    download.ready = Some(part(&bytes, &range)?);
                    return Ok(download);
                }
                download.next.extend(wanted_of(0, pieces, &range));
            }
            Shape::Manifest { .. } => {
                let cursor = Cursor { content: content.id, after: None, wanted: range };
                download.next.push_back(Next::Manifest(cursor));
            }
            Shape::Sparse => {
                download.open_sparse(view.reader(), content.id, range, origin).await?;
            }
        }
        active.decide(content.id);
        download.active = Some(active);
        Ok(download)
    }

    pub fn length(&self) -> u64 {
        self.length
    }

    /// The whole of a download that was read with its record.
    pub fn take_ready(&mut self) -> Option<Bytes> {
        self.ready.take()
    }

    pub async fn next(&mut self) -> Option<Answer<Bytes>> {
        if let Some(bytes) = self.ready.take() {
            return Some(Ok(bytes));
        }
        if self.active.as_ref().is_some_and(|active| !active.may_go_on()) {
            self.next.clear();
            self.active = None;
            return Some(Err(EngineError::Unavailable("this server may have been taken for dead").into()));
        }
        // Each turn sends a piece, or loads segments of a manifest: blocks hold no manifests of manifests.
        loop {
            match self.next.pop_front()? {
                Next::Piece(piece, wanted) => return Some(self.read(piece, wanted).await),
                Next::Bytes(bytes) => return Some(Ok(bytes)),
                Next::Hole(length) => return Some(Ok(self.zeros(length))),
                Next::Sparse(cursor) => {
                    if let Err(fault) = self.load_sparse(cursor).await {
                        self.next.clear();
                        return Some(Err(fault));
                    }
                }
                Next::Manifest(cursor) => {
                    if let Err(fault) = self.advance(cursor).await {
                        self.next.clear();
                        return Some(Err(fault));
                    }
                }
            }
        }
    }

    /// The CRC-64 of all that would be read. Chunks that are wanted as a whole tell theirs without being read.
    pub async fn crc64(mut self) -> Answer<u64> {
        let mut sum = self.ready.take().map_or(0, |bytes| crc64(&bytes));
        while let Some(next) = self.next.pop_front() {
            if self.active.as_ref().is_some_and(|active| !active.may_go_on()) {
                return Err(EngineError::Unavailable("the other servers took this one for dead").into());
            }
            let (part, length) = match next {
                Next::Manifest(cursor) => {
                    self.advance(cursor).await?;
                    continue;
                }
                Next::Sparse(cursor) => {
                    self.load_sparse(cursor).await?;
                    continue;
                }
                Next::Bytes(bytes) => (crc64(&bytes), bytes.len() as u64),
                Next::Hole(length) => {
                    let bytes = self.zeros(length);
                    (crc64(&bytes), bytes.len() as u64)
                }
                Next::Piece(piece, wanted) => match piece.chunk() {
                    Some(chunk) if wanted.len() as u64 == piece.size() && piece.seal().is_none() => {
                        (self.services.engine().extents().crc64(chunk).await?, piece.size())
                    }
                    _ => {
                        let bytes = self.read(piece, wanted).await?;
                        (crc64(&bytes), bytes.len() as u64)
                    }
                },
            };
            sum = crc64_combine(sum, part, length);
        }
        Ok(sum)
    }

    /// To be written elsewhere.
    pub fn into_body(self) -> Body {
        let length = self.length;
        let frames = futures_util::stream::unfold(Some(self), |download| async move {
            let mut download = download?;
            match download.next().await? {
                Ok(bytes) => Some((Ok(bytes), Some(download))),
                Err(fault) => {
                    tracing::warn!(cause = ?fault.0.cause, "the source of a copy cannot be read");
                    Some((Err(BodyError::Incomplete), None))
                }
            }
        });
        Body::new(frames, Some(length))
    }

    async fn read(&mut self, piece: Piece, mut wanted: Range<u32>) -> Answer<Bytes> {
        self.ahead.announce(self.services.engine().extents(), (&piece, &wanted), &self.next);
        match piece {
            Piece::Inline { seal: Some(_), .. } => self.read_sealed(piece, wanted).await,
            Piece::Inline { id, seal: None, .. } => self.read_inline(id, wanted).await,
            Piece::Chunk { seal: Some(_), .. } => self.read_sealed(piece, wanted).await,
            Piece::Chunk { seal: None, .. } => {
                let Some(chunk) = piece.chunk() else { return Err(lost()) };
                // Units end where sub-checksums do, so that no byte is verified twice.
                let unit_of = |unit: u32| wanted.end.min((wanted.start / unit + 1) * unit);
                let whole = unit_of(UNIT);
                let share = match whole - wanted.start {
                    ..=SMALL_UNIT => None,
                    length => self.services.outgoing().ahead(length as usize),
                };
                let end = if share.is_some() { whole } else { unit_of(SMALL_UNIT) };
                if end < wanted.end {
                    self.next.push_front(Next::Piece(piece, end..wanted.end));
                }
                wanted.end = end;
                Ok(held(self.services.engine().extents().read(chunk, wanted).await?, share))
            }
        }
    }

    /// Reads an inline piece, and those that follow it at once: a log of many short lines is not sent line by line.
    async fn read_inline(&mut self, id: ContentId, wanted: Range<u32>) -> Answer<Bytes> {
        let mut room = SMALL_UNIT.saturating_sub(wanted.end - wanted.start);
        let (mut keys, mut ranges) = (vec![key::inline(id)], vec![wanted]);
        while let Some(Next::Piece(Piece::Inline { id, seal: None, .. }, wanted)) = self.next.front()
            && keys.len() < INLINE_IN_BATCH
            && wanted.end - wanted.start <= room
        {
            room -= wanted.end - wanted.start;
            keys.push(key::inline(*id));
            ranges.push(wanted.clone());
            self.next.pop_front();
        }
        let reader = self.services.engine().reader().await?;
        let found = reader.get_untracked_many(keys).await?;
        let mut parts = Vec::with_capacity(found.len());
        for (entry, wanted) in found.into_iter().zip(ranges) {
            let bytes = entry.ok_or_else(lost_bytes)?.value;
            parts.push(part(&bytes, &(u64::from(wanted.start)..u64::from(wanted.end)))?);
        }
        Ok(match &parts[..] {
            [one] => one.clone(),
            several => Bytes::from(several.concat()),
        })
    }

    /// Some of a hole; the rest comes next.
    fn zeros(&mut self, length: u64) -> Bytes {
        let some = length.min(ZEROS.len() as u64);
        if some < length {
            self.next.push_front(Next::Hole(length - some));
        }
        Bytes::from_static(&ZEROS[..some as usize])
    }

    /// Loads the next segments of a manifest, in front of what comes behind it.
    async fn advance(&mut self, cursor: Cursor) -> Answer<()> {
        let reader = self.services.engine().reader().await?;
        let Cursor { content, after, wanted } = cursor;
        let limit = if after.is_none() { FIRST_SEGMENTS } else { MORE_SEGMENTS };
        let found = manifest::segments_from(&reader, content, after, wanted.start, limit).await?;
        let Some((last, _)) = found.last() else { return Err(lost()) };
        let after = Some(last.clone());
        let mut loaded = Vec::new();
        let mut reached = 0;
        for (_, segment) in &found {
            let mut start = segment.start;
            for block in &segment.blocks {
                let end = start + block.content.length;
                match &block.content.shape {
                    Shape::Empty => {}
                    Shape::Pieces(pieces) => loaded.extend(wanted_of(start, pieces, &wanted)),
                    Shape::Manifest { .. } => {
                        let (from, to) = (wanted.start.max(start), wanted.end.min(end));
                        if from < to {
                            let wanted = from - start..to - start;
                            loaded.push(Next::Manifest(Cursor {
                                content: block.content.id,
                                after: None,
                                wanted,
                            }));
                        }
                    }
                    // No list names one.
                    Shape::Sparse => return Err(lost()),
                }
                start = end;
            }
            reached = start;
        }
        if reached < wanted.end {
            // The sweeper may pack what was read with what comes next: go on behind the last byte that is loaded.
            let wanted = reached.max(wanted.start)..wanted.end;
            self.next.push_front(Next::Manifest(Cursor { content, after, wanted }));
        }
        loaded.into_iter().rev().for_each(|next| self.next.push_front(next));
        Ok(())
    }
}

/// The parts of these pieces, the first of which begins at `start`, that lie in `wanted`.
fn wanted_of(mut start: u64, pieces: &[Piece], wanted: &Range<u64>) -> Vec<Next> {
    let mut parts = Vec::with_capacity(pieces.len());
    for piece in pieces {
        let end = start + piece.size();
        let from = wanted.start.max(start);
        let to = wanted.end.min(end);
        if from < to {
            parts.push(Next::Piece(*piece, (from - start) as u32..(to - start) as u32));
        }
        start = end;
    }
    parts
}

async fn inline(reader: &Reader, id: ContentId) -> Answer<Bytes> {
    Ok(reader.get_untracked(key::inline(id)).await?.map(|entry| entry.value).ok_or_else(lost_bytes)?)
}

fn part(bytes: &Bytes, range: &Range<u64>) -> Answer<Bytes> {
    let (start, end) = (range.start as usize, range.end as usize);
    if start > end || end > bytes.len() {
        return Err(lost());
    }
    Ok(bytes.slice(start..end))
}

fn lost_bytes() -> EngineError {
    EngineError::Corrupt(Corrupt("bytes that a record points to are missing".into()))
}

fn lost() -> crate::fault::Fault {
    lost_bytes().into()
}
