//! A body on its way to stable storage: streamed, hashed, unpublished until a commit names it.

use std::time::Duration;

use bytes::{Bytes, BytesMut};
use lazuli_engine::{ChunkId, Written, crc64, crc64_combine};
use lazuli_model::encryption::Encryption;
use md5::{Digest, Md5};
use tokio::time::{Instant, timeout_at};

use crate::Services;
use crate::body::{Body, BodyError, too_large};
use crate::budget::Share;
use crate::fault::Answer;
use crate::store::key::ContentId;
use crate::store::record::content::{Content, Piece, Shape};
use crate::store::seal::{SEALED_CHUNK, Seal};
use crate::store::sealing::Sealing;
use crate::store::workers::WrittenPiece;

/// The bytes of a chunk. Sealed bytes take more room, so that fewer of them fill one.
const CHUNK: usize = 4 * 1024 * 1024;
/// What an upload may hold without asking the budget: a chunk of this size is written when memory is scarce.
const SMALL_CHUNK: usize = 64 * 1024;
/// By so much a chunk in the making grows at a time, each time with leave of the budget.
const STEP: usize = 256 * 1024;
/// When memory is scarce, a chunk that has been in the making for so long is written as it is.
const HOLD: Duration = Duration::from_secs(1);
/// Frames from here on are not copied. Each holds on to the buffer that it was read into, twice this at most.
const KEPT_FRAME: usize = 32 * 1024;
/// Small frames are copied together up to here, so that no buffer has to grow far.
const TAIL: usize = 256 * 1024;
/// So many pieces may be small; then they are read back and written again as whole chunks, lest the list of pieces
/// outgrow a record.
const SMALL_PIECES: usize = 512;
/// Of so many chunks the writing may still be under way.
const UNDER_WAY: usize = 64;

/// Bytes that are written and belong to nobody yet. Dropped before a commit, they are garbage.
pub struct Uploaded {
    pub length: u64,
    pub crc64: u64,
    pub md5: Option<[u8; 16]>,
    pub pieces: Vec<Piece>,
    pub(super) encryption: Encryption,
    inline: Option<(ContentId, Bytes)>,
    written: Vec<Written>,
}

impl Uploaded {
    /// The bytes, when they are few enough to live in a key of their own.
    pub(super) fn inline(&self) -> Option<(ContentId, Bytes)> {
        self.inline.clone()
    }

    pub(super) fn inline_length(&self) -> usize {
        self.inline.as_ref().map_or(0, |(_, bytes)| bytes.len())
    }

    /// As the content of a blob, when it is few enough pieces for its record.
    pub fn content(&self, id: ContentId) -> Content {
        let shape = if self.pieces.is_empty() { Shape::Empty } else { Shape::Pieces(self.pieces.clone()) };
        Content { id, length: self.length, shape }
    }

    /// The chunks with their lengths, in order. None when the bytes are inline.
    pub(super) fn chunk_lengths(&self) -> impl Iterator<Item = (u128, u32, Option<Seal>)> + '_ {
        self.pieces.iter().filter_map(|piece| match *piece {
            Piece::Chunk { id, len, seal } => Some((id, len, seal)),
            Piece::Inline { .. } => None,
        })
    }

    pub fn chunks(&self) -> impl Iterator<Item = ChunkId> + '_ {
        self.written.iter().map(|chunk| chunk.id)
    }
}

/// Reads the whole body; more than `limit` bytes is refused, as soon as it is known.
pub async fn upload(
    services: &Services,
    body: Body,
    limit: u64,
    with_md5: bool,
    sealing: &Sealing,
) -> Answer<Uploaded> {
    let sink = Sink::new(services, body.length, with_md5, sealing);
    receive(body, limit, sink).await
}

/// The same for bytes that may be cut up and written over in part. What is sealed goes to chunks, however little it is:
/// a chunk is cut without being opened.
pub async fn upload_pages(
    services: &Services,
    body: Body,
    limit: u64,
    with_md5: bool,
    sealing: &Sealing,
) -> Answer<Uploaded> {
    let mut sink = Sink::new(services, body.length, with_md5, sealing);
    if sealing.key.is_some() {
        sink.inline_limit = 0;
    }
    receive(body, limit, sink).await
}

async fn receive(mut body: Body, limit: u64, mut sink: Sink<'_>) -> Answer<Uploaded> {
    if body.length.is_some_and(|length| length > limit) {
        return Err(too_large(limit));
    }
    let mut total = 0u64;
    while let Some(frame) = sink.receive(&mut body).await? {
        let frame = frame?;
        total += frame.len() as u64;
        if total > limit {
            return Err(too_large(limit));
        }
        sink.push(frame).await?;
    }
    sink.finish().await
}

struct Sink<'a> {
    services: &'a Services,
    sealing: &'a Sealing,
    /// The bytes that fill a chunk.
    chunk: usize,
    inline_limit: usize,
    announced: Option<u64>,
    md5: Option<Md5>,
    /// The chunk in the making: large frames as they came, small ones copied together, the last of those in `tail`.
    parts: Vec<Bytes>,
    tail: BytesMut,
    filled: usize,
    /// Memory for what the chunk holds beyond a small one, and when it is to be written at the latest.
    share: Option<(Share, Instant)>,
    room: usize,
    done: u64,
    crc64: u64,
    pieces: Vec<Piece>,
    /// The chunks of `pieces`, one for one.
    written: Vec<Written>,
    /// So many pieces in front are whole chunks.
    settled: usize,
}

impl<'a> Sink<'a> {
    fn new(services: &'a Services, announced: Option<u64>, with_md5: bool, sealing: &'a Sealing) -> Self {
        Self {
            services,
            sealing,
            chunk: if sealing.key.is_some() { SEALED_CHUNK } else { CHUNK },
            inline_limit: services.options().inline_limit,
            announced,
            md5: with_md5.then(Md5::new),
            parts: Vec::new(),
            tail: BytesMut::new(),
            filled: 0,
            share: None,
            room: SMALL_CHUNK,
            done: 0,
            crc64: 0,
            pieces: Vec::new(),
            written: Vec::new(),
            settled: 0,
        }
    }

    /// The next frame. While the sender keeps it waiting, a chunk in the making does not keep memory from others.
    async fn receive(&mut self, body: &mut Body) -> Answer<Option<Result<Bytes, BodyError>>> {
        loop {
            let Some((_, due)) = &self.share else { return Ok(body.next().await) };
            if let Ok(frame) = timeout_at(*due, body.next()).await {
                return Ok(frame);
            }
            self.yield_memory().await?;
        }
    }

    async fn push(&mut self, mut frame: Bytes) -> Answer<()> {
        // A body of one frame is never copied.
        if self.announced == Some(frame.len() as u64) && frame.len() <= self.chunk {
            self.parts.push(frame);
            return Ok(());
        }
        while !frame.is_empty() {
            if self.filled == self.room && !self.grow() {
                self.flush().await?;
            }
            let now = frame.split_to(frame.len().min(self.room - self.filled));
            self.filled += now.len();
            if now.len() >= KEPT_FRAME {
                self.end_tail();
                self.parts.push(now);
            } else {
                self.tail.extend_from_slice(&now);
                if self.tail.len() >= TAIL {
                    self.end_tail();
                }
            }
        }
        if self.filled == self.chunk {
            self.flush().await?;
        }
        self.yield_memory().await
    }

    /// More room for the chunk in the making, if it may grow and the budget allows. Memory is taken as bytes come in: a
    /// thousand senders that send nothing hold nothing.
    fn grow(&mut self) -> bool {
        let left = self.announced.map_or(self.chunk as u64, |length| length.saturating_sub(self.done));
        let whole = usize::try_from(left).unwrap_or(self.chunk).min(self.chunk);
        let step = STEP.min(whole.saturating_sub(self.room));
        if step == 0 {
            return false;
        }
        let Some(more) = self.services.budget().try_take(step) else { return false };
        match &mut self.share {
            Some((share, _)) => share.join(more),
            None => self.share = Some((more, Instant::now() + HOLD)),
        }
        self.room += step;
        true
    }

    /// Writes a chunk that has been long in the making when others are in want of its memory.
    async fn yield_memory(&mut self) -> Answer<()> {
        match &mut self.share {
            Some((_, due)) if Instant::now() >= *due => {
                if self.services.budget().is_short() {
                    return self.flush().await;
                }
                *due = Instant::now() + HOLD;
                Ok(())
            }
            _ => Ok(()),
        }
    }

    fn end_tail(&mut self) {
        if !self.tail.is_empty() {
            self.parts.push(self.tail.split().freeze());
        }
    }

    async fn flush(&mut self) -> Answer<()> {
        // Where chunks are written in the background, there is no use in going on after one has failed.
        if let Some(error) = self.written.iter().rev().take(UNDER_WAY).find_map(Written::failure) {
            return Err(error.into());
        }
        self.end_tail();
        let parts = std::mem::take(&mut self.parts);
        let (extents, workers) = (self.services.engine().extents(), self.services.workers());
        let (written, md5) = match &self.sealing.key {
            None => workers.write(extents, parts, self.md5.take()).await?,
            Some(key) => workers.write_sealed(extents, parts, self.md5.take(), key).await?,
        };
        self.md5 = md5;
        self.note(written);
        self.tail = BytesMut::new();
        self.share = None;
        (self.room, self.filled) = (SMALL_CHUNK, 0);
        while self.pieces.get(self.settled).is_some_and(|piece| piece.size() == self.chunk as u64) {
            self.settled += 1;
        }
        if self.written.len() - self.settled >= SMALL_PIECES {
            self.settle().await?;
        }
        Ok(())
    }

    /// Reads small pieces back and writes them as whole chunks; what is left over becomes one piece. No sender is waited
    /// for, so the memory that this takes is soon free again.
    async fn settle(&mut self) -> Answer<()> {
        let _share = self.services.budget().take(CHUNK).await;
        // Until all are written again, the old ones are kept.
        let _old = self.written.split_off(self.settled);
        let pieces = self.pieces.split_off(self.settled);
        let mut parts = Vec::new();
        let (mut gathered, whole) = (0, self.chunk as u32);
        for piece in pieces {
            let len = u32::try_from(piece.size()).unwrap_or(u32::MAX);
            let mut from = 0;
            while from < len {
                let to = len.min(from + (whole - gathered));
                parts.push((piece, from..to));
                gathered += to - from;
                from = to;
                if gathered == whole {
                    self.rewrite(std::mem::take(&mut parts)).await?;
                    self.settled += 1;
                    gathered = 0;
                }
            }
        }
        if gathered > 0 {
            self.rewrite(parts).await?;
        }
        Ok(())
    }

    async fn rewrite(&mut self, parts: Vec<(Piece, std::ops::Range<u32>)>) -> Answer<()> {
        let (extents, key) = (self.services.engine().extents().clone(), self.sealing.key.clone());
        let written = self.services.workers().rewrite(extents, parts, key).await?;
        self.keep(written);
        Ok(())
    }

    fn keep(&mut self, WrittenPiece { written, len, seal, .. }: WrittenPiece) {
        self.pieces.push(Piece::Chunk { id: written.id.0, len, seal });
        self.written.push(written);
    }

    fn note(&mut self, written: WrittenPiece) {
        let length = u64::from(written.len);
        self.crc64 =
            if self.done == 0 { written.crc64 } else { crc64_combine(self.crc64, written.crc64, length) };
        self.done += length;
        self.keep(written);
    }

    async fn finish(mut self) -> Answer<Uploaded> {
        self.end_tail();
        let rest: usize = self.parts.iter().map(Bytes::len).sum();
        let mut inline = None;
        if self.pieces.is_empty() && rest <= SMALL_CHUNK {
            // Soon done, here and now.
            if let Some(md5) = &mut self.md5 {
                self.parts.iter().for_each(|part| md5.update(part));
            }
            if rest <= self.inline_limit {
                inline = self.inline()?;
            } else {
                let parts = std::mem::take(&mut self.parts);
                let written =
                    WrittenPiece::write(self.services.engine().extents(), parts, self.sealing.key.as_ref());
                self.note(written.await?);
            }
        } else if rest > 0 {
            self.flush().await?;
        }
        Ok(Uploaded {
            length: self.done,
            crc64: self.crc64,
            md5: self.md5.map(|md5| md5.finalize().into()),
            pieces: self.pieces,
            encryption: self.sealing.encryption.clone(),
            inline,
            written: self.written,
        })
    }

    fn inline(&mut self) -> Answer<Option<(ContentId, Bytes)>> {
        // The frame may be a slice of a large read buffer: keep only what is ours.
        let bytes = Bytes::from(self.parts.concat());
        self.crc64 = crc64(&bytes);
        self.done = bytes.len() as u64;
        if bytes.is_empty() {
            return Ok(None);
        }
        let id = ContentId::fresh(self.services.now());
        let len = bytes.len() as u32;
        let (bytes, seal) = match &self.sealing.key {
            None => (bytes, None),
            Some(key) => {
                let (sealed, seal) = key.seal(vec![bytes])?;
                (Bytes::from(sealed.concat()), Some(seal))
            }
        };
        self.pieces.push(Piece::Inline { id, len, seal });
        Ok(Some((id, bytes)))
    }
}
