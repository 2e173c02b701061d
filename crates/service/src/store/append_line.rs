//! Appends to one blob wait in one line of this server, and all that wait go with one commit.
//!
//! Each append changes the record of its blob, so that of several at a time one would be committed and the others tried
//! again. Instead the first to come is given a task that commits for all: while one commit is under way, blocks gather for
//! the next one. Nothing depends on the line: what is decided is decided in the unit of work, on what the commit checks, so
//! that appends of other servers are seen (decision 0038).

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use std::time::Instant;

use lazuli_engine::EngineError;
use parking_lot::Mutex;
use tokio::sync::oneshot;

use super::append::{AppendedBlock, NewBlock};
use crate::Services;
use crate::blob::BlobAddress;
use crate::fault::Answer;

/// Blocks of one commit, and the bytes that it carries itself: they fit into a transaction and into a segment.
const BLOCKS_AT_ONCE: usize = 128;
const BYTES_AT_ONCE: usize = 512 * 1024;
/// Blocks that wait for one blob. At a hundred commits a second, which is a slow disk, the last of them waits for less than
/// a second.
const WAITING: usize = 8_192;

const DEADLINE: EngineError = EngineError::Unavailable("deadline passed");
const BUSY: EngineError = EngineError::Unavailable("too many appends wait for one blob");
/// The task that commits was ended.
const ENDED: EngineError = EngineError::Unknown;

/// The lines of all blobs that are appended to at this moment. A line that is there has a task that works on it.
#[derive(Default)]
pub(super) struct AppendLines(Mutex<HashMap<Blob, VecDeque<Waiting>>>);

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Blob {
    account: Arc<str>,
    at: BlobAddress,
}

struct Waiting {
    block: NewBlock,
    deadline: Option<Instant>,
    answer: oneshot::Sender<Answer<AppendedBlock>>,
}

impl Services {
    /// Adds a block behind the last one. A client that leaves does not take its block back.
    pub async fn append(&self, at: BlobAddress, block: NewBlock) -> Answer<AppendedBlock> {
        let (answer, answered) = oneshot::channel();
        let blob = Blob { account: block.context.account.clone(), at };
        let waiting = Waiting { block, deadline: self.deadline(), answer };
        if self.append_lines().enter(&blob, waiting)? {
            let line = Line { services: self.clone(), blob, is_open: true };
            tokio::spawn(line.work());
        }
        answered.await.unwrap_or_else(|_| Err(ENDED.into()))
    }
}

impl AppendLines {
    /// True for the first of a line, which has to start its task.
    fn enter(&self, blob: &Blob, waiting: Waiting) -> Answer<bool> {
        let mut lines = self.0.lock();
        match lines.get_mut(blob) {
            Some(line) if line.len() >= WAITING => Err(BUSY.into()),
            Some(line) => {
                line.push_back(waiting);
                Ok(false)
            }
            None => {
                lines.insert(blob.clone(), VecDeque::from([waiting]));
                Ok(true)
            }
        }
    }

    /// The next commit's share of those who wait; the line is closed when there are none.
    fn take(&self, blob: &Blob) -> Vec<Waiting> {
        let mut lines = self.0.lock();
        let Some(line) = lines.get_mut(blob) else { return Vec::new() };
        let mut bytes = 0;
        let fit = line.iter().take(BLOCKS_AT_ONCE).enumerate().take_while(|(at, waiting)| {
            bytes += waiting.block.content.inline_length();
            // What was written ahead may have been given up, which must not be the end of its neighbours.
            *at == 0 || (bytes <= BYTES_AT_ONCE && !waiting.block.content.is_written_ahead())
        });
        let fit = match line.front() {
            Some(first) if first.block.content.is_written_ahead() => 1,
            _ => fit.count(),
        };
        if fit == 0 {
            lines.remove(blob);
            return Vec::new();
        }
        line.drain(..fit).collect()
    }
}

/// The task of one line. Where it ends early, those who wait are told, and the next append opens the line anew.
struct Line {
    services: Services,
    blob: Blob,
    /// Else it is no longer this task's, and the next append may have opened it for another one.
    is_open: bool,
}

impl Line {
    async fn work(mut self) {
        loop {
            let taken = self.services.append_lines().take(&self.blob);
            if taken.is_empty() {
                self.is_open = false;
                return;
            }
            self.commit(taken).await;
        }
    }

    async fn commit(&self, taken: Vec<Waiting>) {
        let now = Instant::now();
        let (mut blocks, mut answers) = (Vec::with_capacity(taken.len()), Vec::with_capacity(taken.len()));
        for Waiting { block, deadline, answer } in taken {
            if deadline.is_some_and(|deadline| deadline <= now) {
                let _ = answer.send(Err(DEADLINE.into()));
            } else {
                blocks.push(block);
                answers.push(answer);
            }
        }
        let Some(first) = blocks.first() else { return };
        let (at, all) = (&self.blob.at, &blocks);
        let committed = self.services.commit(&first.context, |unit| unit.append(at, all)).await;
        let told: Vec<Answer<AppendedBlock>> = match committed {
            Ok(told) => told,
            Err(fault) => blocks.iter().map(|_| Err(fault.clone())).collect(),
        };
        for ((mut block, answer), told) in blocks.into_iter().zip(answers).zip(told) {
            if told.is_ok() {
                block.content.settle();
            }
            // A client that has left needs no answer.
            let _ = answer.send(told);
        }
    }
}

impl Drop for Line {
    fn drop(&mut self) {
        if self.is_open {
            self.services.append_lines().0.lock().remove(&self.blob);
        }
    }
}
