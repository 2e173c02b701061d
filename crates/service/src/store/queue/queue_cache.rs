//! What this process remembers of a queue: which messages come next, as far as it knows. All of it are hints, and none
//! is needed: a queue that was not used for a while is forgotten.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use lazuli_engine::{Key, KeyRange, Scan};
use lazuli_model::time::Timestamp;
use parking_lot::Mutex;
use tokio::sync::Mutex as FairMutex;

use super::count::Count;
use super::expiry;
use super::head_cache::{Lent, Window};
use crate::Services;
use crate::fault::Answer;
use crate::store;
use crate::store::key::{self, Generation};
use crate::store::members::Members;
use crate::store::record::queue::Slot;

/// How many messages one scan takes into the window.
const SCANNED: usize = 256;
/// Consumers in a crowd may take what one of them has made ready before it does; it tries again, up to so often.
const FILLS: usize = 32;
/// An expiry later than any clock.
pub const NEVER: u64 = u64::MAX;
/// A queue that was not used for so long is forgotten.
const IDLE: Duration = Duration::from_secs(60);
/// How often it is looked for such queues.
const LOOK_FOR_IDLE: Duration = Duration::from_secs(10);
/// A scan from the floor starts so long before the moment from which on messages may have been put.
const MARGIN: Duration = Duration::from_secs(60);
/// What other servers put below the frontier is found after so long also when there are always messages above it.
const REVIEW: Duration = Duration::from_secs(1);
/// For so long after other servers got what was ready here, each server tries its share of the messages first.
const CONTENDED: Duration = Duration::from_secs(1);
/// When there are no other servers, the window knows of every message. It is made sure of now and then.
const REVIEW_ALONE: Duration = Duration::from_secs(30);

/// The queues in use, by the generation of their messages.
#[derive(Default)]
pub struct QueueCaches(Mutex<State>);

#[derive(Default)]
struct State {
    queue_caches: HashMap<Generation, Used>,
    looked: Option<Instant>,
}

struct Used {
    cache: Arc<QueueCache>,
    last: Instant,
}

impl QueueCaches {
    pub fn open(&self, messages: Generation) -> Arc<QueueCache> {
        self.open_at(messages, Instant::now())
    }

    fn open_at(&self, messages: Generation, now: Instant) -> Arc<QueueCache> {
        let mut state = self.0.lock();
        if state.looked.is_none_or(|looked| now.duration_since(looked) >= LOOK_FOR_IDLE) {
            state.looked = Some(now);
            // One that an operation has is in use, however long that takes.
            let in_use =
                |used: &Used| now.duration_since(used.last) < IDLE || Arc::strong_count(&used.cache) > 1;
            state.queue_caches.retain(|_, used| in_use(used));
        }
        let fresh = || Used { cache: Arc::new(QueueCache::new(messages)), last: now };
        let used = state.queue_caches.entry(messages).or_insert_with(fresh);
        used.last = now;
        Arc::clone(&used.cache)
    }

    /// No queue has this generation any more.
    pub fn close(&self, messages: Generation) {
        self.0.lock().queue_caches.remove(&messages);
    }
}

pub struct QueueCache {
    messages: Generation,
    window: Mutex<Window>,
    count: Count,
    /// One scan at a time.
    scanner: FairMutex<Scanned>,
    /// How many passes from the floor have begun.
    passes: AtomicU64,
    last_receipt: AtomicU64,
    /// When other servers last got what was ready here.
    contended: Mutex<Option<Instant>>,
    /// The next scan starts from the floor.
    doubted: AtomicBool,
}

/// What the scans have come to.
#[derive(Default)]
struct Scanned {
    /// The last pass from the floor that went to the end.
    all_seen_by: u64,
    /// [`Window::forgotten`] before that pass.
    forgotten: u64,
    reviewed: Option<Instant>,
}

/// Where a scan starts.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Start {
    Frontier,
    Floor,
    /// Where the one before it ended.
    At(Slot),
}

impl QueueCache {
    fn new(messages: Generation) -> Self {
        Self {
            messages,
            window: Mutex::default(),
            count: Count::default(),
            scanner: FairMutex::default(),
            passes: AtomicU64::new(0),
            last_receipt: AtomicU64::new(0),
            contended: Mutex::default(),
            doubted: AtomicBool::new(false),
        }
    }

    pub fn messages(&self) -> Generation {
        self.messages
    }

    /// The time of a receipt: now, and later than every one before, so that it also tells which came first.
    pub fn next_receipt(&self, now: Timestamp) -> u64 {
        let next = |last: u64| Some(now.0.max(last + 1));
        match self.last_receipt.fetch_update(Ordering::Relaxed, Ordering::Relaxed, next) {
            Ok(last) | Err(last) => now.0.max(last + 1),
        }
    }

    /// The next messages that are visible: fewer only when no more were, at some moment since this was called.
    pub async fn claim(&self, services: &Services, count: usize) -> Answer<Claim<'_>> {
        let mut claim = Claim { cache: self, slots: self.lend_ready(services, count) };
        for _ in 0..FILLS {
            if claim.slots.len() >= count {
                break;
            }
            let ready = self.fill(services, count - claim.slots.len()).await?;
            claim.slots.extend(self.lend_ready(services, count - claim.slots.len()));
            // What was ready may be gone to others by now, and more stand behind it.
            if !ready {
                break;
            }
        }
        Ok(claim)
    }

    /// The same, of what is ready without a look at the store; none when that is fewer.
    pub fn claim_ready(&self, services: &Services, count: usize) -> Option<Claim<'_>> {
        let claim = Claim { cache: self, slots: self.lend_ready(services, count) };
        (claim.slots.len() >= count).then_some(claim)
    }

    fn lend_ready(&self, services: &Services, count: usize) -> Vec<(Slot, u64)> {
        let now = services.now();
        let is_contended = self.contended.lock().is_some_and(|at| at.elapsed() < CONTENDED);
        let share = if is_contended { services.membership().share() } else { None };
        let Lent { slots, expired } = self.window.lock().lend(now.0, count, share);
        expiry::delete(services, self.messages, expired);
        slots
    }

    /// The next messages that are visible, without a claim on them.
    pub async fn first(&self, services: &Services, count: usize) -> Answer<Vec<Slot>> {
        let first = self.window.lock().first(services.now().0, count);
        if first.len() >= count {
            return Ok(first);
        }
        self.fill(services, count).await?;
        Ok(self.window.lock().first(services.now().0, count))
    }

    pub fn appeared(&self, slot: Slot, expires: Option<u64>) {
        self.window.lock().appeared(slot, expires.unwrap_or(NEVER));
    }

    pub fn vanished(&self, slot: &Slot) {
        self.window.lock().vanished(slot);
    }

    /// Some of what was claimed was no longer there. When other servers may have got it, so may they have the rest.
    pub fn doubt(&self, services: &Services) {
        if services.members() == Members::Several {
            *self.contended.lock() = Some(Instant::now());
            self.doubted.store(true, Ordering::Relaxed);
            self.window.lock().forget();
        }
    }

    pub async fn count(&self, services: &Services) -> Answer<u64> {
        self.count.of(services, self.messages).await
    }

    /// Makes `wanted` messages ready; false when there are fewer. That is known of a pass from the floor that began after
    /// this was called, or from the window when no other server puts messages.
    async fn fill(&self, services: &Services, wanted: usize) -> Answer<bool> {
        let before = self.passes.load(Ordering::Relaxed);
        let mut scanned = self.scanner.lock().await;
        if self.has_ready(services, wanted) {
            return Ok(true);
        }
        // Others waited for the same.
        if scanned.all_seen_by > before && scanned.forgotten == self.forgotten() {
            return Ok(false);
        }
        let alone = services.members() == Members::Alone;
        let review = if alone { REVIEW_ALONE } else { REVIEW };
        let is_doubted = self.doubted.swap(false, Ordering::Relaxed);
        if !is_doubted && scanned.reviewed.is_some_and(|reviewed| reviewed.elapsed() < review) {
            let to_the_end = self.pass(services, Start::Frontier, wanted).await?;
            let is_ready = self.has_ready(services, wanted);
            if is_ready || (alone && to_the_end) {
                return Ok(is_ready);
            }
        }
        let number = self.passes.fetch_add(1, Ordering::Relaxed) + 1;
        scanned.reviewed = Some(Instant::now());
        let forgotten = self.forgotten();
        if self.pass(services, Start::Floor, wanted).await? {
            (scanned.all_seen_by, scanned.forgotten) = (number, forgotten);
        }
        // What the pass found may have been forgotten by now: then nothing is known, and it is tried again.
        Ok(self.has_ready(services, wanted) || forgotten != self.forgotten())
    }

    fn forgotten(&self) -> u64 {
        self.window.lock().forgotten()
    }

    fn has_ready(&self, services: &Services, wanted: usize) -> bool {
        self.window.lock().first(services.now().0, wanted).len() >= wanted
    }

    /// Scans on until enough is ready, or to where nothing is visible yet: true then.
    async fn pass(&self, services: &Services, mut start: Start, wanted: usize) -> Answer<bool> {
        loop {
            match self.scan(services, start).await? {
                None => return Ok(true),
                Some(_) if self.has_ready(services, wanted) => return Ok(false),
                Some(next) => start = Start::At(next),
            }
        }
    }

    /// Answers where to go on, while there is more that is visible.
    async fn scan(&self, services: &Services, from: Start) -> Answer<Option<Slot>> {
        let end = Slot::at(services.now().0 + 1);
        let start = {
            let mut window = self.window.lock();
            window.begin_scan(end);
            match from {
                Start::Frontier => window.frontier(),
                Start::Floor => window.floor(margin(services)),
                Start::At(slot) => slot,
            }
        };
        let reader = services.engine().reader().await?;
        let range = KeyRange::new(self.key(start), self.key(end));
        let page = reader.scan(Scan { limit: SCANNED, ..Scan::of(range) }).await?;
        let now = store::now(&reader);
        let slots = page.items.iter().filter_map(|(key, entry)| read_slot(key, &entry.value));
        let (found, expired): (Vec<_>, Vec<_>) = slots.partition(|(_, expires)| *expires > now.0);
        let last = page.items.last().and_then(|(key, entry)| read_slot(key, &entry.value));
        let next = match last {
            Some((last, _)) if page.more => Some(Slot { id: last.id.saturating_add(1), ..last }),
            _ => None,
        };
        let mut window = self.window.lock();
        if from == Start::Floor {
            let first = page.items.first().and_then(|(key, entry)| read_slot(key, &entry.value));
            window.raise_floor(first.map_or(end, |(first, _)| first), now.0);
        }
        window.end_scan(found, next.unwrap_or(end));
        drop(window);
        expiry::delete(services, self.messages, expired.into_iter().map(|(slot, _)| slot).collect());
        Ok(next)
    }

    fn key(&self, slot: Slot) -> Key {
        slot_key(self.messages, slot)
    }
}

/// A message that is put is visible from the clock that its commit read, or later, and no commit is made that began
/// before its patience: this is longer.
fn margin(services: &Services) -> u64 {
    let margin = MARGIN.max(services.options().commit_patience * 2);
    u64::try_from(margin.as_nanos() / 100).unwrap_or(u64::MAX)
}

/// Messages that one Get is about to get. What it has not settled goes back to the window.
pub struct Claim<'a> {
    cache: &'a QueueCache,
    slots: Vec<(Slot, u64)>,
}

impl<'a> Claim<'a> {
    pub fn cache(&self) -> &'a QueueCache {
        self.cache
    }

    pub fn is_empty(&self) -> bool {
        self.slots.is_empty()
    }

    /// In the order of the queue, whichever of them this server preferred.
    pub fn slots(&self) -> Vec<Slot> {
        let mut slots: Vec<Slot> = self.slots.iter().map(|(slot, _)| *slot).collect();
        slots.sort_unstable();
        slots
    }

    /// A commit has got them, or has found that they were no longer there.
    pub fn settle(mut self) {
        self.cache.window.lock().settle(self.slots.drain(..).map(|(slot, _)| slot));
    }
}

impl Drop for Claim<'_> {
    fn drop(&mut self) {
        if !self.slots.is_empty() {
            self.cache.window.lock().give_back(self.slots.drain(..));
        }
    }
}

pub fn slot_key(messages: Generation, slot: Slot) -> Key {
    key::visible(messages, slot.visible, slot.receipt, slot.id)
}

/// The value is the moment of expiry.
pub fn read_slot(key: &[u8], value: &[u8]) -> Option<(Slot, u64)> {
    let (visible, rest) = key.get(key::VISIBLE_AT..)?.split_first_chunk::<8>()?;
    let (receipt, id) = rest.split_first_chunk::<8>()?;
    let slot = Slot {
        visible: u64::from_be_bytes(*visible),
        receipt: u64::from_be_bytes(*receipt),
        id: u128::from_be_bytes(id.try_into().ok()?),
    };
    Some((slot, u64::from_be_bytes(value.try_into().ok()?)))
}

#[cfg(test)]
mod tests;
