//! A body on its way to stable storage: streamed, hashed, unpublished until a commit names it.

use std::sync::Arc;

use bytes::{Bytes, BytesMut};
use lazuli_engine::{ChunkId, Plan, Written, crc64, crc64_combine};
use md5::{Digest, Md5};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::Services;
use crate::body::{Body, too_large};
use crate::fault::Answer;
use crate::key::{self, ContentId};
use crate::record::content::{Content, INLINE_LIMIT, Piece, Shape};

const CHUNK: usize = 4 * 1024 * 1024;
/// What an upload may hold without asking the budget: a chunk of this size is written when memory is scarce.
const SMALL_CHUNK: usize = 64 * 1024;
/// Frames from here on are not copied. Each holds on to the buffer that it was read into, twice this at most.
const KEPT_FRAME: usize = 32 * 1024;
/// Small frames are copied together up to here, so that no buffer has to grow far.
const TAIL: usize = 256 * 1024;
/// So many pieces may be small; then an upload waits for memory, lest its list of pieces outgrow a record.
const SMALL_PIECES: usize = 512;

/// Memory for bodies, shared by all uploads. An upload that gets none writes smaller chunks instead of waiting,
/// so a slow sender never keeps others from their memory.
#[derive(Clone)]
pub struct Budget(Arc<Semaphore>);

impl Budget {
    pub fn new(bytes: usize) -> Self {
        Self(Arc::new(Semaphore::new(bytes / 1024)))
    }

    fn take(&self, bytes: usize) -> Option<OwnedSemaphorePermit> {
        self.0.clone().try_acquire_many_owned(kib(bytes)).ok()
    }

    async fn wait(&self, bytes: usize) -> Option<OwnedSemaphorePermit> {
        self.0.clone().acquire_many_owned(kib(bytes)).await.ok()
    }
}

fn kib(bytes: usize) -> u32 {
    u32::try_from(bytes.div_ceil(1024)).unwrap_or(u32::MAX)
}

/// Bytes that are written and belong to nobody yet. Dropped before a commit, they are garbage.
pub struct Uploaded {
    pub length: u64,
    pub crc64: u64,
    pub md5: Option<[u8; 16]>,
    pub pieces: Vec<Piece>,
    inline: Option<(ContentId, Bytes)>,
    written: Vec<Written>,
}

impl Uploaded {
    /// The writes and chunks that make these bytes reachable.
    pub fn publish<T>(&self, plan: &mut Plan<T>) {
        if let Some((id, bytes)) = &self.inline {
            plan.put(key::inline(*id), bytes.clone());
        }
        plan.publish.extend(self.written.iter().map(|chunk| chunk.id));
    }

    /// As the content of a blob, when it is few enough pieces for its record.
    pub fn content(&self, id: ContentId) -> Content {
        let shape = if self.pieces.is_empty() { Shape::Empty } else { Shape::Pieces(self.pieces.clone()) };
        Content { id, length: self.length, shape }
    }

    pub fn chunks(&self) -> impl Iterator<Item = ChunkId> + '_ {
        self.written.iter().map(|chunk| chunk.id)
    }
}

/// Reads the whole body; more than `limit` bytes is refused, as soon as it is known.
pub async fn upload(services: &Services, mut body: Body, limit: u64, with_md5: bool) -> Answer<Uploaded> {
    if body.length.is_some_and(|length| length > limit) {
        return Err(too_large(limit));
    }
    let mut sink = Sink::new(services, body.length, with_md5);
    let mut total = 0u64;
    while let Some(frame) = body.next().await {
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
    announced: Option<u64>,
    md5: Option<Md5>,
    /// The chunk in the making: large frames as they came, small ones copied together, the last of those in `tail`.
    parts: Vec<Bytes>,
    tail: BytesMut,
    filled: usize,
    permit: Option<OwnedSemaphorePermit>,
    room: usize,
    done: u64,
    crc64: u64,
    pieces: Vec<Piece>,
    written: Vec<Written>,
}

impl<'a> Sink<'a> {
    fn new(services: &'a Services, announced: Option<u64>, with_md5: bool) -> Self {
        Self {
            services,
            announced,
            md5: with_md5.then(Md5::new),
            parts: Vec::new(),
            tail: BytesMut::new(),
            filled: 0,
            permit: None,
            room: 0,
            done: 0,
            crc64: 0,
            pieces: Vec::new(),
            written: Vec::new(),
        }
    }

    async fn push(&mut self, mut frame: Bytes) -> Answer<()> {
        // A body of one frame is never copied.
        if self.announced == Some(frame.len() as u64) && frame.len() <= CHUNK {
            self.parts.push(frame);
            return Ok(());
        }
        while !frame.is_empty() {
            if self.room == 0 {
                self.make_room().await;
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
            if self.filled == self.room {
                self.flush().await?;
            }
        }
        Ok(())
    }

    /// Room for the next chunk: a whole one if the budget allows, else a small one. Without leave, memory is taken
    /// as bytes come in: a thousand senders that send nothing hold nothing.
    async fn make_room(&mut self) {
        let left = self.announced.map_or(CHUNK as u64, |length| length.saturating_sub(self.done));
        let wanted = usize::try_from(left).unwrap_or(CHUNK).clamp(SMALL_CHUNK, CHUNK);
        let budget = self.services.budget();
        self.permit = match wanted {
            ..=SMALL_CHUNK => None,
            _ if self.pieces.len() >= SMALL_PIECES => budget.wait(wanted).await,
            _ => budget.take(wanted),
        };
        self.room = if self.permit.is_some() { wanted } else { SMALL_CHUNK };
    }

    fn end_tail(&mut self) {
        if !self.tail.is_empty() {
            self.parts.push(self.tail.split().freeze());
        }
    }

    async fn flush(&mut self) -> Answer<()> {
        self.end_tail();
        let parts = std::mem::take(&mut self.parts);
        let (written, md5) =
            self.services.workers().write(self.services.engine().extents(), parts, self.md5.take()).await?;
        self.md5 = md5;
        self.note(written);
        self.tail = BytesMut::new();
        self.permit = None;
        (self.room, self.filled) = (0, 0);
        Ok(())
    }

    fn note(&mut self, written: Written) {
        let length = u64::from(written.len);
        self.crc64 =
            if self.done == 0 { written.crc64 } else { crc64_combine(self.crc64, written.crc64, length) };
        self.done += length;
        self.pieces.push(Piece::Chunk { id: written.id.0, len: written.len });
        self.written.push(written);
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
            if rest <= INLINE_LIMIT {
                inline = self.inline();
            } else {
                let parts = std::mem::take(&mut self.parts);
                let written = self.services.engine().extents().write_parts(parts).await?;
                self.note(written);
            }
        } else if rest > 0 {
            self.flush().await?;
        }
        Ok(Uploaded {
            length: self.done,
            crc64: self.crc64,
            md5: self.md5.map(|md5| md5.finalize().into()),
            pieces: self.pieces,
            inline,
            written: self.written,
        })
    }

    fn inline(&mut self) -> Option<(ContentId, Bytes)> {
        // The frame may be a slice of a large read buffer: keep only what is ours.
        let bytes = Bytes::from(self.parts.concat());
        self.crc64 = crc64(&bytes);
        self.done = bytes.len() as u64;
        if bytes.is_empty() {
            return None;
        }
        let id = ContentId::fresh(self.services.now());
        self.pieces.push(Piece::Inline { id, len: bytes.len() as u32 });
        Some((id, bytes))
    }
}
