//! Walks to deleted keys in the background, so that no client's walk has to read them first: see [`super::voids`].

use super::voids::{SAMPLE, successor};
use super::walk::part_of;
use super::{EmbeddedSnapshot, Spaces, background};
use crate::core::Published;
use crate::error::EngineError;
use crate::key::{Key, KeyRange};
use crate::store::{Row, Snapshot, Step};
use fjall::{AbstractTree, Keyspace};
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

/// Between two rounds: what is deleted meanwhile is looked at together.
const ROUND: Duration = Duration::from_millis(50);
const IDLE: Duration = Duration::from_secs(3_600);
/// A table with fewer deleted keys is not read for them.
const FEW: u64 = 256;

pub(super) struct Survey {
    spaces: Arc<Spaces>,
    thread: Option<JoinHandle<()>>,
}

impl Survey {
    pub fn start(spaces: &Arc<Spaces>, published: &Arc<Published>) -> Self {
        let (mine, published) = (spaces.clone(), published.clone());
        let thread = background::spawn("survey", move || run(&mine, &published));
        if let Err(error) = &thread {
            tracing::warn!(%error, "deleted keys are not looked for in the background");
        }
        Self { spaces: spaces.clone(), thread: thread.ok() }
    }
}

impl Drop for Survey {
    fn drop(&mut self) {
        self.spaces.voids.stop();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

fn run(spaces: &Spaces, published: &Published) {
    let voids = &spaces.voids;
    for space in [&spaces.rows, &spaces.wide] {
        if let Err(error) = samples_left(spaces, space) {
            tracing::warn!(%error, "deleted keys of earlier runs could not be read");
        }
    }
    let mut patience = Duration::ZERO;
    while !voids.wait(patience) {
        // What the engine is stopped by, it is told by others.
        let done = round(spaces, &published.get());
        patience = if done.is_ok_and(|done| done) { IDLE } else { ROUND };
        if voids.pause(ROUND) {
            return;
        }
    }
}

/// Samples of what earlier runs deleted.
fn samples_left(spaces: &Spaces, space: &Keyspace) -> Result<(), fjall::LsmError> {
    let mut deleted = 0;
    let mut seen = |key: &[u8]| {
        deleted += 1;
        if deleted % SAMPLE == 0 {
            spaces.voids.sampled(Key::copy_from_slice(key));
        }
    };
    for row in space.tree.active_memtable().iter().filter(|row| row.is_tombstone()) {
        seen(&row.key.user_key);
    }
    for table in space.tree.current_version().iter_tables().filter(|table| table.tombstone_count() >= FEW) {
        for row in table.scan()? {
            let row = row?;
            if row.is_tombstone() {
                seen(&row.key.user_key);
            }
        }
        if spaces.voids.is_stopped() {
            break;
        }
    }
    Ok(())
}

/// Walks to each sample that the survey has not visited. True when none is left.
fn round(spaces: &Spaces, snapshot: &Snapshot) -> Result<bool, EngineError> {
    let Snapshot::Embedded(snapshot) = snapshot else { return Ok(true) };
    let voids = &spaces.voids;
    let mut from = Key::new();
    let mut all = true;
    while let Some(sample) = voids.fresh_sample(&from) {
        if voids.is_stopped() {
            return Ok(true);
        }
        let gap = gap_around(snapshot, &sample)?;
        let behind = successor(&sample);
        from = gap.end.clone().map_or(behind.clone(), |end| end.max(behind));
        match voids.found_empty(gap.clone(), snapshot.seq()) {
            true => voids.seen(&gap),
            false => all = false,
        }
    }
    Ok(all)
}

/// From behind the last live key before this one up to the first live key that is not before it.
fn gap_around(snapshot: &EmbeddedSnapshot, key: &Key) -> Result<KeyRange, EngineError> {
    let KeyRange { mut start, mut end } = part_of(key);
    let next = |range: KeyRange, reverse, found: &mut dyn FnMut(Key)| {
        snapshot.walk(&range, reverse, &mut |Row { key, .. }| {
            found(key);
            Step::Stop
        })
    };
    next(KeyRange { start: key.clone(), end: end.clone() }, false, &mut |key| end = Some(key))?;
    next(KeyRange { start: start.clone(), end: Some(key.clone()) }, true, &mut |key| {
        start = successor(&key)
    })?;
    Ok(KeyRange { start, end })
}
