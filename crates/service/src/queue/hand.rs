//! What this process remembers of a queue: who comes next, how many there are. Everything here is rebuilt from the
//! engine by one scan when the queue is first used.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use lazuli_engine::{Key, KeyRange, Scan};
use lazuli_model::time::Timestamp;
use parking_lot::Mutex;
use tokio::sync::{Mutex as FairMutex, OnceCell};

use super::count::Count;
use super::expiry;
use super::window::{Lent, Window};
use crate::fault::Answer;
use crate::key::{self, Generation};
use crate::record::queue::Slot;
use crate::{Services, store};

/// How many messages one scan takes into the window.
const SCANNED: usize = 256;
/// Consumers in a crowd may take what one of them has made ready before it does; it tries again, up to so often.
const FILLS: usize = 32;
/// An expiry later than any clock.
pub const NEVER: u64 = u64::MAX;

/// The queues in use, by the generation of their messages.
#[derive(Default)]
pub struct Hands(Mutex<HashMap<Generation, Arc<OnceCell<Hand>>>>);

impl Hands {
    /// Whoever changes a queue opens its hand first: until the one scan is done, nothing moves under it.
    pub async fn open(&self, services: &Services, messages: Generation) -> Answer<Opened> {
        let cell = Arc::clone(self.0.lock().entry(messages).or_default());
        cell.get_or_try_init(|| Hand::load(services, messages)).await?;
        Ok(Opened(cell))
    }

    /// Only for a generation that no queue has any more: while one is in use, there must not be two hands.
    pub fn close(&self, messages: Generation) {
        self.0.lock().remove(&messages);
    }
}

/// A hand that was loaded.
#[derive(Clone)]
pub struct Opened(Arc<OnceCell<Hand>>);

impl Opened {
    pub fn get(&self) -> Answer<&Hand> {
        Ok(self.0.get().ok_or(lazuli_model::ErrorCode::InternalError)?)
    }
}

pub struct Hand {
    messages: Generation,
    window: Mutex<Window>,
    count: Mutex<Count>,
    /// One scan at a time.
    scanner: FairMutex<()>,
    last_receipt: AtomicU64,
}

impl Hand {
    async fn load(services: &Services, messages: Generation) -> Answer<Self> {
        let reader = services.engine().reader().await?;
        let now = store::now(&reader);
        let mut count = Count::default();
        let mut frontier = None;
        let mut after = None;
        let mut expired = Vec::new();
        loop {
            let page = reader.scan(Scan { after, ..Scan::of(key::all_visible(messages)) }).await?;
            for (key, entry) in &page.items {
                let Some((slot, expires)) = read_slot(key, &entry.value) else { continue };
                if expires <= now.0 {
                    expired.push(slot);
                    continue;
                }
                frontier.get_or_insert(slot);
                count.add(expires);
            }
            expiry::delete(services, messages, std::mem::take(&mut expired));
            after = page.items.last().map(|(key, _)| key.clone());
            if !page.more {
                break;
            }
        }
        Ok(Self {
            messages,
            window: Mutex::new(Window::new(frontier.unwrap_or(Slot::FIRST))),
            count: Mutex::new(count),
            scanner: FairMutex::new(()),
            last_receipt: AtomicU64::new(0),
        })
    }

    pub fn messages(&self) -> Generation {
        self.messages
    }

    /// The time of a receipt: now, and later than every one before, so that it also tells who came first.
    pub fn next_receipt(&self, now: Timestamp) -> u64 {
        let next = |last: u64| Some(now.0.max(last + 1));
        match self.last_receipt.fetch_update(Ordering::Relaxed, Ordering::Relaxed, next) {
            Ok(last) | Err(last) => now.0.max(last + 1),
        }
    }

    /// The next messages that are visible. To be given back unless they were got.
    pub async fn lend(&self, services: &Services, count: usize) -> Answer<Vec<(Slot, u64)>> {
        let mut lent = self.lend_ready(services, count);
        for _ in 0..FILLS {
            if lent.len() >= count {
                break;
            }
            let ready = match self.fill(services, count - lent.len()).await {
                Ok(ready) => ready,
                Err(fault) => {
                    self.give_back(lent);
                    return Err(fault);
                }
            };
            let more = self.lend_ready(services, count - lent.len());
            take(&mut lent, more);
            // What was ready may be gone to others by now, and more stand behind it.
            if !ready || !lent.is_empty() {
                break;
            }
        }
        Ok(lent)
    }

    fn lend_ready(&self, services: &Services, count: usize) -> Vec<(Slot, u64)> {
        let now = services.now();
        let Lent { slots, expired } = self.window.lock().lend(now.0, count);
        expiry::delete(services, self.messages, expired);
        slots
    }

    pub fn give_back(&self, slots: impl IntoIterator<Item = (Slot, u64)>) {
        self.window.lock().give_back(slots);
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

    pub fn counted(&self, expires: Option<u64>) {
        self.count.lock().add(expires.unwrap_or(NEVER));
    }

    pub fn uncounted(&self, expires: Option<u64>) {
        self.count.lock().remove(expires.unwrap_or(NEVER));
    }

    pub fn count(&self, now: Timestamp) -> u64 {
        self.count.lock().at(now)
    }

    /// Moves the frontier until `wanted` messages are ready, or to where nothing is visible yet: false then.
    async fn fill(&self, services: &Services, wanted: usize) -> Answer<bool> {
        let _turn = self.scanner.lock().await;
        loop {
            if self.window.lock().first(services.now().0, wanted).len() >= wanted {
                return Ok(true);
            }
            if !self.scan(services).await? {
                return Ok(false);
            }
        }
    }

    /// True while there is more that is visible.
    async fn scan(&self, services: &Services) -> Answer<bool> {
        let end = Slot::at(services.now().0 + 1);
        let start = self.window.lock().begin_scan(end);
        let reader = services.engine().reader().await?;
        let range = KeyRange::new(self.key(start), self.key(end));
        let page = reader.scan(Scan { limit: SCANNED, ..Scan::of(range) }).await?;
        let now = store::now(&reader);
        let slots = page.items.iter().filter_map(|(key, entry)| read_slot(key, &entry.value));
        let (found, expired): (Vec<_>, Vec<_>) = slots.partition(|(_, expires)| *expires > now.0);
        let last = page.items.last().and_then(|(key, entry)| read_slot(key, &entry.value));
        let frontier = match last {
            Some((last, _)) if page.more => Slot { id: last.id.saturating_add(1), ..last },
            _ => end,
        };
        self.window.lock().end_scan(found, frontier);
        expiry::delete(services, self.messages, expired.into_iter().map(|(slot, _)| slot).collect());
        Ok(page.more)
    }

    fn key(&self, slot: Slot) -> Key {
        slot_key(self.messages, slot)
    }
}

/// A scan finds again what was lent before it and is not committed yet: a message that appeared above the frontier, while
/// an earlier scan was under way. One Get must not hold it twice; between two the commit decides.
fn take(lent: &mut Vec<(Slot, u64)>, more: Vec<(Slot, u64)>) {
    for (slot, expires) in more {
        if lent.iter().all(|(held, _)| *held != slot) {
            lent.push((slot, expires));
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
