//! Contents with holes on their way out: their intervals are loaded in batches, as the client takes the bytes.
//!
//! The intervals must be those of the moment at which the record was read. Where a snapshot of the engine costs nothing, it is
//! held until the last interval is loaded. Where it is a connection to a database, of which there are few and which the database
//! ends after seconds, it is dropped after each batch. The next batch is then read at a later snapshot, and only if the record
//! shows there that nothing was written to the content in between. So the client gets the bytes of one moment, or an error.

use std::ops::Range;
use std::time::{Duration, Instant};

use lazuli_engine::Reader;
use lazuli_model::error::{ErrorCode, Failure};
use lazuli_model::etag::ETag;

use super::{Download, Next, lost};
use crate::Context;
use crate::Services;
use crate::blob::{BlobAddress, BlobState};
use crate::fault::{Answer, Fault};
use crate::file::FileAddress;
use crate::store::key::ContentId;
use crate::store::record::content::Piece;
use crate::store::sparse::{self, Data, Overlay};
use crate::store::unit::View;

/// Intervals of a batch while the snapshot is held: the next batch costs nothing but its rows.
const HELD_BATCH: usize = 64;
/// Intervals of a batch where the next one is read at another snapshot. Most downloads are one such batch, which no writer can
/// disturb.
const BATCH: usize = 4_096;
/// Memory of such a batch, taken from that of answers.
const BATCH_BYTES: usize = 4 << 20;
/// The same when memory is short: what every answer may hold without asking.
const SMALL_BATCH_BYTES: usize = 64 << 10;
/// What an interval takes beside the bytes that lie in its row.
const INTERVAL_BYTES: usize = 128;
/// How long a batch is read. Far less than the life of a snapshot of a database, however slow that answers.
const BATCH_TIME: Duration = Duration::from_secs(3);

/// Where the record of a content is found again, and the ETag with which it was found.
#[derive(Clone, Copy)]
pub enum Origin<'a> {
    Blob {
        account: &'a str,
        at: &'a BlobAddress,
        state: BlobState,
        etag: ETag,
    },
    File {
        account: &'a str,
        at: &'a FileAddress,
        etag: ETag,
    },
    /// All is read at once, without waiting for a client: the snapshot may be held meanwhile.
    AtOnce,
}

/// What of a sparse content is not loaded yet.
pub(super) struct SparseCursor {
    at: u64,
    end: u64,
    source: Source,
}

enum Source {
    Held(Reader, Overlay),
    Again(Box<Sought>),
}

/// A content whose record is looked at again before more of it is loaded.
struct Sought {
    account: String,
    place: Place,
    etag: ETag,
    content: ContentId,
}

enum Place {
    Blob(BlobAddress, BlobState),
    File(FileAddress),
}

/// What a batch may hold.
struct Room {
    intervals: usize,
    bytes: usize,
    until: Option<Instant>,
}

impl Download {
    /// Loads the first intervals at the snapshot that the record came from.
    pub(super) async fn open_sparse(
        &mut self,
        reader: &Reader,
        content: ContentId,
        range: Range<u64>,
        origin: Origin<'_>,
    ) -> Answer<()> {
        let mut overlay = overlay(reader, content, range.clone()).await?;
        let is_cheap = reader.is_near() && self.services.options().holds_snapshots;
        let sought = if is_cheap { None } else { Sought::of(content, origin) };
        let room = if sought.is_some() { self.batch() } else { Room::of_held() };
        let mut at = range.start;
        if self.load_batch(reader, &mut overlay, &mut at, range.end, room).await? {
            let source = match sought {
                Some(sought) => Source::Again(Box::new(sought)),
                None => Source::Held(reader.clone(), overlay),
            };
            self.next.push_back(Next::Sparse(Box::new(SparseCursor { at, end: range.end, source })));
        }
        Ok(())
    }

    /// Loads the next intervals, behind what is there.
    pub(super) async fn load_sparse(&mut self, mut cursor: Box<SparseCursor>) -> Answer<()> {
        let SparseCursor { at, end, source } = &mut *cursor;
        let more = match source {
            Source::Held(reader, overlay) => {
                self.load_batch(reader, overlay, at, *end, Room::of_held()).await?
            }
            Source::Again(sought) => {
                let view = Box::pin(sought.stands(&self.services)).await?;
                // The sweeper may have moved intervals between the layers: they are looked through from the top again.
                let mut overlay = overlay(view.reader(), sought.content, *at..*end).await?;
                let room = self.batch();
                self.load_batch(view.reader(), &mut overlay, at, *end, room).await?
            }
        };
        if more {
            self.next.push_back(Next::Sparse(cursor));
        }
        Ok(())
    }

    /// Room for a batch behind which the snapshot is dropped. Nothing is left of the batch before by then, but what the client
    /// was given.
    fn batch(&mut self) -> Room {
        self.loaded = None;
        self.loaded = self.services.outgoing().ahead(BATCH_BYTES);
        let bytes = if self.loaded.is_some() { BATCH_BYTES } else { SMALL_BATCH_BYTES };
        Room { intervals: BATCH, bytes, until: Instant::now().checked_add(BATCH_TIME) }
    }

    /// Loads intervals from `at` on, and moves it behind them. True while there may be more.
    async fn load_batch(
        &mut self,
        reader: &Reader,
        overlay: &mut Overlay,
        at: &mut u64,
        end: u64,
        room: Room,
    ) -> Answer<bool> {
        let mut bytes = 0;
        for _ in 0..room.intervals {
            // At least one, or it would never end.
            if bytes >= room.bytes || bytes > 0 && room.until.is_some_and(|until| Instant::now() >= until) {
                break;
            }
            let Some(span) = overlay.next(reader).await? else {
                if *at < end {
                    self.next.push_back(Next::Hole(end - *at));
                }
                *at = end;
                break;
            };
            if span.start > *at {
                self.next.push_back(Next::Hole(span.start - *at));
            }
            *at = span.end;
            bytes += INTERVAL_BYTES;
            self.next.push_back(match span.data {
                Data::Zero => Next::Hole(span.length()),
                Data::Inline(inline) => {
                    bytes += inline.len();
                    Next::Bytes(inline)
                }
                Data::Chunk { id, len, from, seal } => {
                    let end = u64::from(from) + span.length();
                    Next::Piece(Piece::Chunk { id, len, seal }, from..u32::try_from(end).map_err(|_| lost())?)
                }
                Data::Unread => return Err(lost()),
            });
        }
        if let Some(share) = &mut self.loaded {
            share.shrink_to(bytes);
        }
        // What reaches to the end needs no other batch, which could be refused.
        Ok(*at < end)
    }
}

impl Room {
    fn of_held() -> Self {
        Self { intervals: HELD_BATCH, bytes: usize::MAX, until: None }
    }
}

impl Sought {
    fn of(content: ContentId, origin: Origin<'_>) -> Option<Self> {
        let (account, place, etag) = match origin {
            Origin::Blob { account, at, state, etag } => (account, Place::Blob(at.clone(), state), etag),
            Origin::File { account, at, etag } => (account, Place::File(at.clone()), etag),
            Origin::AtOnce => return None,
        };
        Some(Self { account: account.to_owned(), place, etag, content })
    }

    /// A snapshot at which the content shows what it showed when the record was found.
    ///
    /// Only the record that stands on the content writes into it, and each of these writes gives the record a later ETag, which
    /// it never had before. So what has the same ETag, and stands on this very content or on a layer over it, has not written
    /// since. A lease, or a snapshot of the blob, changes neither. The sweeper moves intervals into the content without changing
    /// what it shows, and gives back no chunk that was seen through it: this download has said that it reads it.
    async fn stands(&self, services: &Services) -> Answer<View> {
        let view = services.view(&Context::reading(&self.account)).await?;
        let found = match &self.place {
            Place::Blob(at, state) => {
                let (_, _, blob) = view.committed_blob(at, *state).await?.into_parts();
                blob.map(|blob| (blob.etag, blob.content.id))
            }
            Place::File(at) => {
                let (_, _, path) = view.path(at).await?.into_parts();
                path.and_then(|path| Some((path.record.etag, path.record.file()?.content.id)))
            }
        };
        let is_same = match found {
            Some((etag, _)) if etag != self.etag => false,
            Some((_, top)) => sparse::layers(view.reader(), top, Some(self.content)).await?.is_some(),
            None => false,
        };
        if is_same { Ok(view) } else { Err(changed()) }
    }
}

async fn overlay(reader: &Reader, content: ContentId, range: Range<u64>) -> Answer<Overlay> {
    let layers = sparse::layers(reader, content, None).await?.unwrap_or_default();
    Ok(Overlay::new(layers, range, false))
}

/// The client is told by the end of its connection, where it has its headers already.
fn changed() -> Fault {
    Failure::new(ErrorCode::ServerBusy).cause("what is downloaded was written to meanwhile").into()
}
