//! Moves everything from one engine to another, of whichever kind (decision 0053).
//!
//! Rows are copied in the order of their keys, a page in a commit that also notes how far it came; bytes are written to the other
//! engine, and where a row names them it names the copy. Which chunk became which is noted in the other engine too, so that a
//! move that was interrupted goes on where it was. At the end both are read again and compared, and the notes are deleted.

mod chunks;
mod compared;
mod renamed;
mod verify;

use std::collections::{HashMap, HashSet};
use std::fmt;

use lazuli_engine::{Count, Engine, EngineError, Key, KeyRange, Scan, Txn, Value, Write};

use super::key;
use super::members;
use super::record::entity::{StoredBody, StoredEntity};
use crate::fault::Fault;

/// How far a move is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Moved {
    pub rows: u64,
    pub chunks: u64,
    pub bytes: u64,
    /// Rows that both have been compared in.
    pub verified: u64,
    /// Rows that there are.
    pub of: u64,
}

/// Why a store was not moved.
#[derive(Debug)]
pub enum MoveError {
    Engine(EngineError),
    /// Something is in the way, for a person.
    Refused(String),
}

impl fmt::Display for MoveError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Engine(error) => write!(f, "{error}"),
            Self::Refused(why) => f.write_str(why),
        }
    }
}

impl std::error::Error for MoveError {}

impl From<EngineError> for MoveError {
    fn from(error: EngineError) -> Self {
        Self::Engine(error)
    }
}

impl From<Fault> for MoveError {
    fn from(fault: Fault) -> Self {
        let message = fault.0.message().to_owned();
        Self::Refused(fault.0.cause.map_or(message, |cause| cause.to_string()))
    }
}

type Done<T> = Result<T, MoveError>;

/// Rows of one page, and their bytes; a commit has room for more.
const PAGE: usize = 500;
const PAGE_BYTES: usize = 256 << 10;

/// What is walked, in this order: the keys of fragments name chunks themselves, so they come when all of these are known.
const PARTS: [(&[u8], &[u8]); 3] = [(b"\x01", b"f"), (b"g", b"\xff\xff"), (b"f", b"g")];

/// In the place of a part: everything was compared, and what is left is to delete the notes, without which it cannot be compared again.
const COMPARED: u8 = PARTS.len() as u8;

/// Of a clock, in ticks: so much is waited for.
const MOST_BEHIND: u64 = 30 * 10_000_000;

struct Move<'a> {
    from: &'a Engine,
    to: &'a Engine,
    /// Contents of bodies of entities: their segments are bytes and name nothing.
    bodies: HashSet<u128>,
    moved: Moved,
    tell: &'a (dyn Fn(Moved) + Send + Sync),
}

/// How far the pages came: the number of the part and the last key of it; or `COMPARED`, and what was compared.
#[derive(Clone, Default)]
struct Place {
    part: u8,
    after: Option<Key>,
}

/// Moves all that is in `from` to `to`, where nothing is but what an earlier try has moved. No server works over either.
pub async fn move_store(
    from: &Engine,
    to: &Engine,
    tell: &(dyn Fn(Moved) + Send + Sync),
) -> Result<Moved, MoveError> {
    let mut moving = Move { from, to, bodies: HashSet::new(), moved: Moved::default(), tell };
    moving.nobody_works(from, "the store that is moved").await?;
    moving.nobody_works(to, "the store that it is moved to").await?;
    moving.clock_has_passed().await?;
    let place = moving.begin().await?;
    let all = (Key::from_static(b"\x01"), Key::from_static(b"\xff\xff"));
    moving.moved.of = moving.count(all.0, all.1).await?;
    let source = if place.part == COMPARED {
        moving.still_compared(&place).await?
    } else {
        moving.count_earlier(&place).await?;
        moving.find_bodies().await?;
        moving.copy(place).await?;
        // Before it is compared: what is written from now on differs from this.
        let source = moving.source_state().await?;
        moving.verify().await?;
        moving.nobody_wrote(source).await?;
        moving.note_compared(source).await?;
        source
    };
    moving.delete_chunk_notes().await?;
    // Once more before anything says that it is done. Deleting the notes takes time too.
    moving.nobody_wrote(source).await?;
    moving.delete_place().await?;
    Ok(moving.moved)
}

/// Whether a move into this store was begun and not finished: no server may work over it.
pub async fn is_unfinished(engine: &Engine) -> Result<bool, EngineError> {
    Ok(engine.reader().await?.get_untracked(key::move_place()).await?.is_some())
}

/// Rows that belong to servers, which do not come along, and our own notes.
fn stays(key: &[u8]) -> bool {
    matches!(key, [b'z' | b'j', ..] | [b'l', b's' | b'm', ..])
}

impl Move<'_> {
    async fn nobody_works(&self, engine: &Engine, what: &str) -> Done<()> {
        let servers = members::list(&engine.reader().await?).await?;
        let alive = servers.iter().filter(|(_, row)| !members::is_expired(engine, row)).count();
        match alive {
            0 => Ok(()),
            _ => Err(MoveError::Refused(format!(
                "{alive} servers work over {what}: stop them, and wait half a minute if they were killed"
            ))),
        }
    }

    /// Nothing that is moved is of the future where it is moved to.
    async fn clock_has_passed(&self) -> Done<()> {
        let behind = self.from.now().0.saturating_sub(self.to.now().0);
        if behind > MOST_BEHIND {
            return Err(MoveError::Refused(format!(
                "the clock of the store that it is moved to is {} s behind",
                behind / 10_000_000
            )));
        }
        tokio::time::sleep(std::time::Duration::from_nanos(behind * 100)).await;
        Ok(())
    }

    /// Where an earlier try came to.
    async fn begin(&self) -> Done<Place> {
        let reader = self.to.reader().await?;
        if let Some(found) = reader.get_untracked(key::move_place()).await? {
            let (part, after) = found.value.split_first().map_or((0, &[][..]), |(part, rest)| (*part, rest));
            let after = (!after.is_empty()).then(|| Key::copy_from_slice(after));
            return Ok(Place { part, after });
        }
        let (start, end) = (Key::from_static(b"\x01"), Key::from_static(b"\xff\xff"));
        let mut after = None;
        loop {
            let range = KeyRange::new(start.clone(), end.clone());
            let page = reader.scan(Scan { after, keys_only: true, ..Scan::of(range) }).await?;
            if let Some((key, _)) = page.items.iter().find(|(key, _)| !stays(key)) {
                let key = key.escape_ascii().to_string();
                return Err(MoveError::Refused(format!(
                    "the store that it is moved to is not empty: {key:.60}"
                )));
            }
            if !page.more {
                break;
            }
            after = page.items.last().map(|(key, _)| key.clone());
        }
        let mut txn = Txn::new(self.to.new_txn_id());
        txn.writes.push(note(&Place::default()));
        self.to.commit(txn).await?;
        Ok(Place::default())
    }

    async fn count(&self, start: Key, end: Key) -> Done<u64> {
        self.count_in(self.from, start, end).await
    }

    async fn count_in(&self, engine: &Engine, mut start: Key, end: Key) -> Done<u64> {
        let mut count = 0;
        loop {
            let range = KeyRange::new(start, end.clone());
            let reader = engine.reader().await?;
            let counted = reader.count(Count { range, value_above: None, limit: 10_000 }).await?;
            count += counted.count as u64;
            match counted.next {
                Some(next) => start = next,
                None => return Ok(count),
            }
        }
    }

    /// What earlier tries have copied.
    async fn count_earlier(&mut self, place: &Place) -> Done<()> {
        for (number, (start, end)) in PARTS.into_iter().enumerate() {
            let end = match &place.after {
                Some(after) if number == usize::from(place.part) => [&after[..], &[0]].concat().into(),
                _ if number < usize::from(place.part) => Key::from_static(end),
                _ => break,
            };
            self.moved.rows += self.count(Key::from_static(start), end).await?;
        }
        let mut after = None;
        while let Some(page) = page_of(self.to, b"lmc", b"lmd", after.clone()).await? {
            for (_, value) in &page {
                self.moved.chunks += 1;
                self.moved.bytes += u64::from(chunks::named(value)?.1);
            }
            after = page.last().map(|(key, _)| key.clone());
        }
        Ok(())
    }

    /// The contents that are bodies of entities.
    async fn find_bodies(&mut self) -> Done<()> {
        let mut after = None;
        while let Some(page) = page_of(self.from, b"y", b"z", after.clone()).await? {
            for (_, value) in &page {
                if let StoredBody::Segments { content, .. } = StoredEntity::decode(value)?.body {
                    self.bodies.insert(content.0);
                }
            }
            after = page.last().map(|(key, _)| key.clone());
        }
        Ok(())
    }

    async fn copy(&mut self, begun: Place) -> Done<()> {
        for (number, (start, end)) in PARTS.into_iter().enumerate() {
            let part = number as u8;
            if part < begun.part {
                continue;
            }
            let mut after = if part == begun.part { begun.after.clone() } else { None };
            while let Some(page) = page_of(self.from, start, end, after.clone()).await? {
                after = page.last().map(|(key, _)| key.clone());
                let rows = page.len() as u64;
                let place = Place { part, after: after.clone() };
                let page: Vec<(Key, Value)> = page.into_iter().filter(|(key, _)| !stays(key)).collect();
                let known = self.chunks_of(&page).await?;
                let mut txn = Txn::new(self.to.new_txn_id());
                for (key, value) in page {
                    let (key, value) = self.renamed(key, value, &known)?;
                    txn.writes.push(Write::Put(key, value));
                }
                txn.writes.push(note(&place));
                self.to.commit(txn).await?;
                self.moved.rows += rows;
                (self.tell)(self.moved);
            }
        }
        Ok(())
    }

    fn renamed(&self, key: Key, value: Value, known: &HashMap<u128, u128>) -> Done<(Key, Value)> {
        let renamed = renamed::row(&key, &value, &self.bodies, &mut |piece| known.get(&piece.id).copied())?;
        Ok(renamed.unwrap_or((key, value)))
    }

    /// Refuses if a server was started over what is moved from. The state first: a server that is started behind it, and has
    /// not ended again by then, is found when it is asked who works. One that comes and goes while the state is read, over a
    /// database, may not be noticed: who moves a store keeps servers away from it.
    async fn nobody_wrote(&self, source: [u8; 16]) -> Done<()> {
        if self.source_state().await? != source {
            return Err(MoveError::Refused(
                "the store that is moved was written to during the move: stop what serves it, empty what it is \
                 moved to, and move again"
                    .to_owned(),
            ));
        }
        self.nobody_works(self.from, "the store that is moved").await
    }

    async fn delete_chunk_notes(&self) -> Done<()> {
        while let Some(page) = page_of(self.to, b"lmc", b"lmd", None).await? {
            let mut txn = Txn::new(self.to.new_txn_id());
            txn.writes.extend(page.into_iter().map(|(key, _)| Write::Delete(key)));
            self.to.commit(txn).await?;
            (self.tell)(self.moved);
        }
        Ok(())
    }

    /// The last note: from now on a server may work over it.
    async fn delete_place(&self) -> Done<()> {
        let mut txn = Txn::new(self.to.new_txn_id());
        txn.writes.push(Write::Delete(key::move_place()));
        self.to.commit(txn).await?;
        Ok(())
    }
}

fn note(place: &Place) -> Write {
    let mut value = vec![place.part];
    value.extend_from_slice(place.after.as_deref().unwrap_or_default());
    Write::Put(key::move_place(), value.into())
}

/// The next rows; `None` when there are no more. Each page is a snapshot of its own: nothing else writes.
async fn page_of(
    engine: &Engine,
    start: &'static [u8],
    end: &'static [u8],
    after: Option<Key>,
) -> Done<Option<Vec<(Key, Value)>>> {
    let range = KeyRange::new(Key::from_static(start), Key::from_static(end));
    let scan = Scan { after, limit: PAGE, max_bytes: PAGE_BYTES, ..Scan::of(range) };
    let page = engine.reader().await?.scan(scan).await?;
    let items: Vec<(Key, Value)> = page.items.into_iter().map(|(key, entry)| (key, entry.value)).collect();
    Ok((!items.is_empty()).then_some(items))
}
