//! What a transaction does that lost a race for a key, so that many contenders for one key get through.
//!
//! After the first loss it waits for its share of the [crowd](crowd); after [`RACES`] losses it stops racing and stands in
//! the key's [line](line). Nothing depends on it: each attempt decides anew, on a fresh snapshot. With several servers
//! on one engine each has its own crowds and lines, and contenders race only with other servers.

mod crowd;
mod line;

use crate::error::EngineError;
use crate::host::Random;
use crate::key::Key;
use crowd::Crowd;
use line::{Lines, Turn};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Lost races before a transaction waits in line for the key that it lost on.
const RACES: u32 = 2;
/// Attempts in all, before the caller is told to come back later.
const ATTEMPTS: u32 = 24;
const LONGEST_PAUSE: Duration = Duration::from_millis(50);

const DEADLINE: EngineError = EngineError::Unavailable("deadline passed");
const BUSY: EngineError = EngineError::Unavailable("busy");

#[derive(Default)]
pub(crate) struct Contention {
    crowd: Crowd,
    lines: Arc<Lines>,
}

impl Contention {
    /// These keys have been written, and every new snapshot shows it.
    pub fn wrote<'a>(&self, keys: impl Iterator<Item = &'a Key>) {
        self.crowd.wrote(keys);
    }
}

/// A transaction that is tried until it is committed or refused.
pub(crate) struct Contender<'a> {
    contention: &'a Contention,
    random: &'a Random,
    deadline: Option<Instant>,
    attempts: u32,
    lost: u32,
    turn: Option<Turn>,
}

impl<'a> Contender<'a> {
    pub fn new(contention: &'a Contention, random: &'a Random, deadline: Option<Instant>) -> Self {
        Self { contention, random, deadline, attempts: 0, lost: 0, turn: None }
    }

    /// Before each attempt: an error when there were too many.
    pub fn attempt(&mut self) -> Result<(), EngineError> {
        if self.attempts == ATTEMPTS {
            return Err(BUSY);
        }
        self.attempts += 1;
        Ok(())
    }

    /// Where other transactions stand in line for one of these keys, waits for its own turn: true when it waited, so that
    /// what was read before is old.
    pub async fn waits_in_line<'k>(
        &mut self,
        keys: impl Iterator<Item = &'k Key>,
    ) -> Result<bool, EngineError> {
        if self.turn.is_some() {
            return Ok(false);
        }
        let Some(key) = self.contention.lines.line_for(keys) else { return Ok(false) };
        self.stand_in_line(key).await?;
        Ok(true)
    }

    /// Returns when it is time to try again after a race for this key was lost. The winner is published by now.
    pub async fn lost(&mut self, key: Key) -> Result<(), EngineError> {
        self.lost += 1;
        match self.lost {
            1 if self.turn.is_none() => self.contention.crowd.lost(&key).await,
            RACES.. if self.turn.is_none() => self.stand_in_line(key).await?,
            _ => self.pause().await,
        }
        Ok(())
    }

    /// After an attempt that could not be decided, with no key to blame: an error when the deadline has passed.
    pub fn undecided(&self) -> Result<(), EngineError> {
        match self.deadline {
            Some(deadline) if deadline <= Instant::now() => Err(DEADLINE),
            _ => Ok(()),
        }
    }

    async fn stand_in_line(&mut self, key: Key) -> Result<(), EngineError> {
        self.turn = Some(self.contention.lines.turn(key, self.deadline).await.ok_or(DEADLINE)?);
        Ok(())
    }

    async fn pause(&self) {
        let before = self.attempts.saturating_sub(1);
        let longest = Duration::from_micros(500).saturating_mul(1 << before.min(8)).min(LONGEST_PAUSE);
        if before > 0 {
            let micros = self.random.below(longest.as_micros() as u64);
            tokio::time::sleep(Duration::from_micros(micros)).await;
        }
    }
}
