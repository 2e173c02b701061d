//! Walks to deleted keys in the background, so that no client's walk has to read them first: see [`super::voids`].

use super::fjall::background;
use super::voids::{SAMPLE, successor};
use super::walk::part_of;
use super::{EmbeddedSnapshot, Spaces};
use crate::error::EngineError;
use crate::key::{Key, KeyRange};
use crate::local::shared::Published;
use crate::local::store::{Row, Snapshot, Step};
use fjall::{AbstractTree, Keyspace};
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

/// Between two rounds: what is deleted meanwhile is looked at together.
const ROUND: Duration = Duration::from_millis(50);
const IDLE: Duration = Duration::from_secs(3_600);
/// Between two rounds that fail.
const LONGEST_REST: Duration = Duration::from_secs(60);
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
    let mut rests = Rests::default();
    while !voids.wait(patience) {
        let done = round(spaces, &published.get());
        let rest = rests.after(&done);
        patience = if done.is_ok_and(|done| done) { IDLE } else { ROUND };
        if voids.pause(rest) {
            return;
        }
    }
}

/// How long the survey rests after a round. While its reads fail, each rest is twice as long as the one before; the
/// samples stay, and clients' walks read deleted keys meanwhile.
#[derive(Default)]
struct Rests {
    failed: u32,
}

impl Rests {
    fn after(&mut self, round: &Result<bool, EngineError>) -> Duration {
        match round {
            Ok(_) => self.failed = 0,
            Err(error) => {
                if self.failed == 0 {
                    tracing::warn!(%error, "deleted keys cannot be looked for now");
                }
                self.failed = self.failed.saturating_add(1);
            }
        }
        ROUND.saturating_mul(1 << self.failed.min(20)).min(LONGEST_REST)
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lasting_failure_is_tried_ever_more_seldom() {
        let mut rests = Rests::default();
        assert_eq!(rests.after(&Ok(false)), ROUND);
        let failing: Vec<Duration> = (0..40).map(|_| rests.after(&Err(EngineError::Unknown))).collect();
        assert_eq!(failing[..3], [ROUND * 2, ROUND * 4, ROUND * 8]);
        assert_eq!(failing[11..], [LONGEST_REST; 29]);
        assert_eq!(rests.after(&Ok(true)), ROUND, "reads work again");
    }
}
