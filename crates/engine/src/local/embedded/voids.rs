//! Stretches of keys in which nothing is alive, so that a walk steps over deleted keys instead of reading them.
//!
//! fjall keeps a deleted key until a merge takes it to the last level, and a walk reads every one of them: a list of one
//! blob behind sixty thousand deleted ones took as long as a list of sixty thousand. So what a walk found empty is
//! remembered, and the walks after it begin behind it. A commit that puts a key into a void splits the void before any
//! snapshot shows the key.
//!
//! Where to look is told by samples of the deleted keys: a walk that comes over enough of them remembers the gap, and
//! [`super::survey`] walks to the rest in the background. All of it is in memory and can be forgotten at any time.

#[cfg(test)]
mod tests;

use crate::caps::{OWN, WIDE};
use crate::key::{Key, KeyRange};
use crate::txn::Write;
use parking_lot::{Condvar, Mutex, RwLock};
use std::collections::{BTreeMap, VecDeque};
use std::ops::{Bound, RangeInclusive};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// One in so many deleted keys is a sample. No small multiple, since a transaction deletes keys in patterns.
pub(super) const SAMPLE: u32 = if cfg!(test) { 3 } else { 61 };
/// A gap with so many samples is worth remembering: to begin a walk anew costs about as much as to read thirty keys.
const WORTH: usize = if cfg!(test) { 2 } else { 4 };
/// Over this, deleted keys are read as before.
const MOST_SAMPLES: usize = 16_384;
const MOST_VOIDS: usize = 4_096;
/// So many of the last puts are remembered, to tell whether what a walk found is still so.
const MOST_PUTS: usize = 8_192;

#[derive(Default)]
pub(super) struct Voids {
    state: RwLock<State>,
    /// Nothing is known and nothing to be found out while this is false.
    any: AtomicBool,
    /// The last commit that was shown.
    shown: AtomicU64,
    waiting: Mutex<Waiting>,
    wake: Condvar,
}

#[derive(Default)]
struct State {
    /// By their first key. They do not overlap.
    voids: BTreeMap<Key, Void>,
    /// Samples of deleted keys which lie in no void; true until the survey has been there.
    samples: BTreeMap<Key, bool>,
    deleted: u32,
    /// Every put of a commit behind `floor`, up to the last one shown.
    puts: VecDeque<(u64, Key)>,
    floor: u64,
    /// How many puts there have been in all.
    puts_ever: u64,
}

/// Of a gap that a walk found.
enum Judged {
    /// Too few deleted keys are known in it.
    Little,
    /// A put may lie in it that the walk could not see: it is walked again another time.
    Changed,
    /// Worth remembering, if none of the puts after so many lies in it.
    Worth { puts: u64 },
}

/// Nothing from its first key up to `end` is alive, in any snapshot from `since` on.
struct Void {
    end: Key,
    since: u64,
}

#[derive(Default)]
struct Waiting {
    samples: bool,
    stop: bool,
}

/// A stretch to be walked, and the rest of the range behind it in the direction of the walk.
pub(super) struct Stretch {
    pub range: KeyRange,
    pub rest: Option<KeyRange>,
}

impl Voids {
    /// Takes the writes of a group, before any snapshot shows them. Groups come in order.
    pub fn written(&self, writes: &[(u64, Write)], seqs: RangeInclusive<u64>) {
        // Before looking whether anything is known: see `sampled`.
        self.shown.store(*seqs.end(), Ordering::SeqCst);
        let worth = |write: &Write| matches!(write, Write::Delete(key) | Write::DeleteWithoutTrace(key) if is_worth_a_sample(key));
        if !self.any.load(Ordering::SeqCst) && !writes.iter().any(|(_, write)| worth(write)) {
            return;
        }
        let mut state = self.state.write();
        if !self.any.swap(true, Ordering::SeqCst) {
            state.floor = seqs.start().saturating_sub(1);
        }
        let before = state.samples.len();
        for (seq, write) in writes.iter().filter(|(_, write)| is_visible(write.key())) {
            match write {
                Write::Put(key, _) => state.put(*seq, key),
                Write::Delete(key) | Write::DeleteWithoutTrace(key) if is_worth_a_sample(key) => {
                    state.deleted(key)
                }
                Write::Delete(_) | Write::DeleteWithoutTrace(_) => {}
            }
        }
        let more = state.samples.len() > before;
        drop(state);
        if more {
            self.wake();
        }
    }

    /// Deleted keys that were found in tables and in the log.
    pub fn sampled(&self, key: Key) {
        let mut state = self.state.write();
        if !self.any.swap(true, Ordering::SeqCst) {
            // What is shown from now on comes here; of what was shown before, nothing is known.
            state.floor = self.shown.load(Ordering::SeqCst);
        }
        state.sample(&key);
    }

    /// Where to begin in this range; `None` when nothing in it is alive.
    pub fn stretch(&self, range: KeyRange, seq: u64, reverse: bool) -> Option<Stretch> {
        if range.end.as_ref().is_some_and(|end| *end <= range.start) {
            return None;
        }
        if !self.any.load(Ordering::Relaxed) {
            return Some(Stretch { range, rest: None });
        }
        let state = self.state.read();
        if reverse { state.last_stretch(range, seq) } else { state.first_stretch(range, seq) }
    }

    /// The first sample in the range.
    pub fn sample_in(&self, range: &KeyRange) -> Option<Key> {
        if !self.any.load(Ordering::Relaxed) {
            return None;
        }
        self.state.read().samples.range::<Key, _>(bounds(range)).next().map(|(sample, _)| sample.clone())
    }

    /// The first sample from here on that the survey has not been at.
    pub fn fresh_sample(&self, from: &Key) -> Option<Key> {
        let state = self.state.read();
        state.samples.range::<Key, _>(from..).find(|(_, fresh)| **fresh).map(|(sample, _)| sample.clone())
    }

    /// A walk in the snapshot `seq` found nothing alive here. False when that may have changed since.
    pub fn found_empty(&self, range: KeyRange, seq: u64) -> bool {
        let KeyRange { start, end: Some(end) } = range else { return true };
        if start >= end {
            return true;
        }
        // Commits and walks wait for the write lock: it is taken only for what will be remembered.
        let judged = self.state.read().judge(&start, &end, seq);
        match judged {
            Judged::Little => true,
            Judged::Changed => false,
            Judged::Worth { puts } => self.state.write().remember(start, end, seq, puts),
        }
    }

    /// The survey has been here, and found too little to remember.
    pub fn seen(&self, range: &KeyRange) {
        for (_, fresh) in self.state.write().samples.range_mut::<Key, _>(bounds(range)) {
            *fresh = false;
        }
    }

    /// Waits until there are samples to look at, or for so long; true when it is time to end.
    pub fn wait(&self, at_most: Duration) -> bool {
        let mut waiting = self.waiting.lock();
        if !waiting.samples && !waiting.stop {
            self.wake.wait_for(&mut waiting, at_most);
        }
        waiting.samples = false;
        waiting.stop
    }

    /// Lets so much time pass, samples or not; true when it is time to end.
    pub fn pause(&self, time: Duration) -> bool {
        let end = Instant::now() + time;
        let mut waiting = self.waiting.lock();
        while !waiting.stop && !self.wake.wait_until(&mut waiting, end).timed_out() {}
        waiting.stop
    }

    pub fn is_stopped(&self) -> bool {
        self.waiting.lock().stop
    }

    pub fn stop(&self) {
        self.waiting.lock().stop = true;
        self.wake.notify_all();
    }

    fn wake(&self) {
        self.waiting.lock().samples = true;
        self.wake.notify_one();
    }
}

impl State {
    fn put(&mut self, seq: u64, key: &Key) {
        self.puts.push_back((seq, key.clone()));
        self.puts_ever += 1;
        if self.puts.len() > MOST_PUTS
            && let Some((seq, _)) = self.puts.pop_front()
        {
            self.floor = self.floor.max(seq);
        }
        let around = self.voids.range::<Key, _>(..=key).next_back();
        let Some(start) = around.filter(|(_, void)| *key < void.end).map(|(start, _)| start.clone()) else {
            return;
        };
        let Some(Void { end, since }) = self.voids.remove(&start) else { return };
        let behind = successor(key);
        for (start, end) in [(start, key.clone()), (behind, end)] {
            if start < end && self.voids.len() < MOST_VOIDS {
                let (start, end) = (Key::copy_from_slice(&start), Key::copy_from_slice(&end));
                self.voids.insert(start, Void { end, since });
            }
        }
    }

    fn deleted(&mut self, key: &Key) {
        self.deleted += 1;
        if self.deleted >= SAMPLE {
            self.deleted = 0;
            self.sample(key);
        }
    }

    fn sample(&mut self, key: &Key) {
        let around = self.voids.range::<Key, _>(..=key).next_back();
        let known = around.is_some_and(|(_, void)| *key < void.end);
        if known {
            return;
        }
        if self.samples.len() >= MOST_SAMPLES {
            self.samples.retain(|_, fresh| *fresh);
        }
        if self.samples.len() < MOST_SAMPLES {
            self.samples.insert(Key::copy_from_slice(key), true);
        }
    }

    fn judge(&self, start: &Key, end: &Key, since: u64) -> Judged {
        if !self.is_worth(start, end) {
            return Judged::Little;
        }
        match self.is_still_empty(start, end, since, self.puts.len()) {
            true => Judged::Worth { puts: self.puts_ever },
            false => Judged::Changed,
        }
    }

    /// With enough samples in it, or beside a void that it makes longer.
    fn is_worth(&self, start: &Key, end: &Key) -> bool {
        let samples = self.samples.range::<Key, _>((Bound::Included(start), Bound::Excluded(end)));
        let met = || self.voids.range::<Key, _>((Bound::Included(start), Bound::Included(end)));
        samples.take(WORTH).count() == WORTH || self.void_up_to(start).is_some() || met().next().is_some()
    }

    /// The void that begins before this key and reaches it.
    fn void_up_to(&self, key: &Key) -> Option<&Key> {
        let before = self.voids.range::<Key, _>(..key).next_back();
        before.filter(|(_, void)| void.end >= *key).map(|(start, _)| start)
    }

    /// Whether no put behind `since` lies here, of the last so many. The newest is at the back.
    fn is_still_empty(&self, start: &Key, end: &Key, since: u64, newest: usize) -> bool {
        let mut unseen = self.puts.iter().rev().take(newest).take_while(|(seq, _)| *seq > since);
        since >= self.floor && !unseen.any(|(_, key)| start <= key && key < end)
    }

    /// False when one of the puts after the first `puts` lies here.
    fn remember(&mut self, mut start: Key, mut end: Key, mut since: u64, puts: u64) -> bool {
        let newest = usize::try_from(self.puts_ever - puts).unwrap_or(usize::MAX);
        if !self.is_still_empty(&start, &end, since, newest) {
            return false;
        }
        let samples = self.samples.range::<Key, _>((Bound::Included(&start), Bound::Excluded(&end)));
        let samples: Vec<Key> = samples.map(|(sample, _)| sample.clone()).collect();
        // What it meets at its ends grows; what lies within is a part of it.
        let first = self.void_up_to(&start).unwrap_or(&start).clone();
        let met: Vec<Key> = self
            .voids
            .range::<Key, _>((Bound::Included(&first), Bound::Included(&end)))
            .map(|(start, _)| start.clone())
            .collect();
        for sample in &samples {
            self.samples.remove(sample);
        }
        for met_start in met {
            let Some(met) = self.voids.remove(&met_start) else { continue };
            start = start.min(met_start);
            end = end.max(met.end);
            since = since.max(met.since);
        }
        if self.voids.len() < MOST_VOIDS {
            self.voids.insert(start, Void { end, since });
        }
        true
    }

    fn first_stretch(&self, mut range: KeyRange, seq: u64) -> Option<Stretch> {
        let usable = |(_, void): &(&Key, &Void)| void.since <= seq;
        // Voids may stand end to end.
        while let Some((_, void)) = self
            .voids
            .range::<Key, _>(..=&range.start)
            .next_back()
            .filter(usable)
            .filter(|(_, void)| range.start < void.end)
        {
            range.start = void.end.clone();
            if range.end.as_ref().is_some_and(|end| *end <= range.start) {
                return None;
            }
        }
        let next = self.voids.range::<Key, _>(bounds(&range)).find(usable);
        let Some((start, void)) = next else { return Some(Stretch { range, rest: None }) };
        let rest = KeyRange { start: void.end.clone(), end: range.end };
        Some(Stretch { range: KeyRange { start: range.start, end: Some(start.clone()) }, rest: Some(rest) })
    }

    fn last_stretch(&self, mut range: KeyRange, seq: u64) -> Option<Stretch> {
        let usable = |(_, void): &(&Key, &Void)| void.since <= seq;
        while let Some(end) = &range.end
            && let Some((start, _)) = self
                .voids
                .range::<Key, _>(..end)
                .next_back()
                .filter(usable)
                .filter(|(_, void)| *end <= void.end)
        {
            if *start <= range.start {
                return None;
            }
            range.end = Some(start.clone());
        }
        let until = range.end.as_ref().map_or(Bound::Unbounded, Bound::Excluded);
        let next = self.voids.range::<Key, _>((Bound::Unbounded, until)).rev().find(usable);
        let Some((start, void)) = next.filter(|(_, void)| range.start < void.end) else {
            return Some(Stretch { range, rest: None });
        };
        let rest = KeyRange { start: range.start, end: Some(start.clone()) };
        let rest = (rest.start < *start).then_some(rest);
        Some(Stretch { range: KeyRange { start: void.end.clone(), end: range.end }, rest })
    }
}

/// The engine's own rows are not walked after it is opened.
fn is_visible(key: &Key) -> bool {
    key.first() != Some(&OWN)
}

/// Wide rows are read by their keys: no walk has to step over those that were deleted, and they are deleted with every
/// small value that is replaced. Puts of wide rows are followed all the same, since a void may reach over them.
fn is_worth_a_sample(key: &Key) -> bool {
    is_visible(key) && key.first() != Some(&WIDE)
}

fn bounds(range: &KeyRange) -> (Bound<&Key>, Bound<&Key>) {
    (Bound::Included(&range.start), range.end.as_ref().map_or(Bound::Unbounded, Bound::Excluded))
}

/// The smallest key greater than this one.
pub(super) fn successor(key: &Key) -> Key {
    [key, &[0][..]].concat().into()
}
