//! What a connection is doing, shared by its socket (which sees bytes) and its requests (which see meaning).

use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use parking_lot::Mutex;

use super::body::{Ended, Unsent};
use super::limits::{PRESSURE_HEAD, PRESSURE_IDLE};
use super::line_ends::{Framing, LineEnds};

/// Answers of one connection that wait for the socket. Further ones are not waited for.
const MOST_UNSENT: usize = 64;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// Between requests: may be kept for long, and may be closed when room is short.
    Idle,
    /// Some bytes of a TLS handshake or of a request's head have come, not all.
    Head,
    /// A request is being answered.
    Request,
}

/// Relaxed everywhere: each value is read alone, for a timeout that need not be exact.
pub struct Activity {
    start: Instant,
    phase: AtomicU8,
    /// When the phase began, in milliseconds since `start`.
    since: AtomicU64,
    /// The socket and the requests of a connection are of one task: never waited for.
    line_ends: Mutex<LineEnds>,
    /// What is left here when the connection ends never reached its client.
    unsent: Mutex<Vec<Unsent>>,
}

impl Activity {
    pub fn new() -> Self {
        Self {
            start: Instant::now(),
            phase: AtomicU8::new(Phase::Idle as u8),
            since: AtomicU64::new(0),
            line_ends: Mutex::default(),
            unsent: Mutex::default(),
        }
    }

    /// hyper has all of an answer; it is complete when the socket has it, too. A client that sends requests without
    /// reading answers makes several wait.
    pub fn wait_for_flush(&self, answer: Unsent) {
        let mut unsent = self.unsent.lock();
        if unsent.len() < MOST_UNSENT {
            unsent.push(answer);
        } else {
            drop(unsent);
            answer.finish(Ended::Complete);
        }
    }

    /// The socket has everything that hyper was given.
    pub fn flushed(&self) {
        for answer in self.unsent.lock().drain(..) {
            answer.finish(Ended::Complete);
        }
    }

    pub fn phase(&self) -> Phase {
        match self.phase.load(Ordering::Relaxed) {
            0 => Phase::Idle,
            1 => Phase::Head,
            _ => Phase::Request,
        }
    }

    pub fn enter(&self, phase: Phase) {
        let elapsed = u64::try_from(self.start.elapsed().as_millis()).unwrap_or(u64::MAX);
        self.since.store(elapsed, Ordering::Relaxed);
        self.phase.store(phase as u8, Ordering::Relaxed);
    }

    /// These bytes were read.
    pub fn read(&self, bytes: &[u8]) {
        self.line_ends.lock().read(bytes);
    }

    /// A request's head was parsed. True when one of its lines ends in a bare line feed.
    pub fn request(&self, framing: Framing) -> bool {
        self.enter(Phase::Request);
        self.line_ends.lock().request(framing)
    }

    /// When the present phase began.
    pub fn since(&self) -> Instant {
        self.start + Duration::from_millis(self.since.load(Ordering::Relaxed))
    }

    /// When room is short, this connection makes room: it has been idle for a while, or does not finish what it began.
    pub fn gives_way(&self) -> bool {
        self.has_been(Phase::Idle, PRESSURE_IDLE) || self.has_been(Phase::Head, PRESSURE_HEAD)
    }

    /// In this phase for so long already.
    fn has_been(&self, phase: Phase, least: Duration) -> bool {
        self.phase() == phase && self.since().elapsed() >= least
    }
}
