//! Writes into one file wait in one line of this server, and all that wait and lie apart from one another go with one commit, as
//! appends to a blob do (decision 0038): each write changes the record of its file, so that of several at a time one would be committed
//! and the others tried again. Nothing depends on the line: what is decided is decided in the unit of work.

use std::collections::{HashMap, VecDeque};

use lazuli_engine::EngineError;
use parking_lot::Mutex;
use tokio::sync::oneshot;

use super::desk::Node;
use super::share::FileWrite;
use crate::Services;
use crate::open_file::Outcome;

/// Writes of one commit, and the bytes that it carries itself.
const WRITES_AT_ONCE: usize = 64;
const BYTES_AT_ONCE: usize = 512 * 1024;
/// Chunks of one commit.
const CHUNKS_AT_ONCE: usize = 256;
/// Writes that wait for one file.
const WAITING: usize = 4_096;

const BUSY: EngineError = EngineError::Unavailable("too many writes wait for one file");
/// The task that commits was ended.
const ENDED: EngineError = EngineError::Unknown;

/// The lines of all files that are written to at this moment. A line that is there has a task that works on it.
#[derive(Default)]
pub(super) struct WriteLines(Mutex<HashMap<Node, VecDeque<Waiting>>>);

struct Waiting {
    write: FileWrite,
    answer: oneshot::Sender<Turn>,
}

/// What became of a write in the line.
pub(crate) enum Turn {
    Done(Outcome<()>),
    /// It has to wait for others, or fails together with its neighbours: it is to be tried alone.
    Alone(Box<FileWrite>),
}

impl Services {
    pub(crate) async fn write_in_line(&self, write: FileWrite) -> Turn {
        let (answer, answered) = oneshot::channel();
        let node = write.key.node();
        match self.write_lines().enter(node, Waiting { write, answer }) {
            Err(error) => return Turn::Done(Err(error.into())),
            Ok(false) => {}
            Ok(true) => {
                let line = Line { services: self.clone(), node, is_open: true };
                tokio::spawn(line.work());
            }
        }
        answered.await.unwrap_or_else(|_| Turn::Done(Err(ENDED.into())))
    }
}

impl WriteLines {
    /// True for the first of a line, which has to start its task.
    fn enter(&self, node: Node, waiting: Waiting) -> Result<bool, EngineError> {
        let mut lines = self.0.lock();
        match lines.get_mut(&node) {
            Some(line) if line.len() >= WAITING => Err(BUSY),
            Some(line) => {
                line.push_back(waiting);
                Ok(false)
            }
            None => {
                lines.insert(node, VecDeque::from([waiting]));
                Ok(true)
            }
        }
    }

    /// The next commit's share of those who wait; the line is closed when there are none. A write that meets one before it
    /// comes after it.
    fn take(&self, node: Node) -> Vec<Waiting> {
        let mut lines = self.0.lock();
        let Some(line) = lines.get_mut(&node) else { return Vec::new() };
        let (mut bytes, mut chunks, mut fit) = (0, 0, 0);
        for waiting in line.iter().take(WRITES_AT_ONCE) {
            let own = waiting.write.range();
            let meets = |other: &Waiting| {
                let other = other.write.range();
                own.start < other.end && other.start < own.end
            };
            bytes += waiting.write.uploaded.inline_length();
            chunks += waiting.write.uploaded.chunks().count();
            let is_alone = waiting.write.appends;
            let is_full = bytes > BYTES_AT_ONCE || chunks > CHUNKS_AT_ONCE;
            if fit > 0 && (is_full || is_alone || line.iter().take(fit).any(meets)) {
                break;
            }
            fit += 1;
            // What it may do depends on how long the file is.
            if is_alone {
                break;
            }
        }
        if fit == 0 {
            lines.remove(&node);
            return Vec::new();
        }
        line.drain(..fit).collect()
    }
}

/// The task of one line. Where it ends early, those who wait are told, and the next write opens the line anew.
struct Line {
    services: Services,
    node: Node,
    /// Else it is no longer this task's, and the next write may have opened it for another one.
    is_open: bool,
}

impl Line {
    async fn work(mut self) {
        loop {
            let taken = self.services.write_lines().take(self.node);
            if taken.is_empty() {
                self.is_open = false;
                return;
            }
            self.commit(taken).await;
        }
    }

    async fn commit(&self, taken: Vec<Waiting>) {
        let (writes, answers): (Vec<_>, Vec<_>) =
            taken.into_iter().map(|Waiting { write, answer }| (write, answer)).unzip();
        let Some(first) = writes.first() else { return };
        let (all, context) = (&writes, first.context.clone());
        let committed =
            self.services.commit(&context, |unit| async move { unit.write_file(all).await }).await;
        let is_alone = writes.len() == 1;
        let mut told = match committed {
            Ok(told) => told.into_iter().map(Some).collect(),
            Err(refusal) if is_alone => vec![Some(Err(refusal))],
            // One that does not fit is not the end of its neighbours.
            Err(_) => Vec::new(),
        }
        .into_iter();
        for (write, answer) in writes.into_iter().zip(answers) {
            let turn = match told.next().flatten() {
                Some(Ok(true)) => Turn::Done(Ok(())),
                Some(Err(refusal)) => Turn::Done(Err(refusal)),
                Some(Ok(false)) | None => Turn::Alone(Box::new(write)),
            };
            // A client that has left needs no answer.
            let _ = answer.send(turn);
        }
    }
}

impl Drop for Line {
    fn drop(&mut self) {
        if self.is_open {
            self.services.write_lines().0.lock().remove(&self.node);
        }
    }
}
