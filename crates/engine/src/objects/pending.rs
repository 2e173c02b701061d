//! Chunks that are written and not yet published: how far each is, and who has it.

use crate::error::EngineError;
use crate::txn::ChunkId;
use foldhash::fast::RandomState;
use parking_lot::Mutex;
use std::collections::HashMap;
use tokio::sync::watch;

#[derive(Default)]
pub(super) struct Pending(Mutex<HashMap<ChunkId, Chunk, RandomState>>);

struct Chunk {
    put: watch::Sender<Put>,
    stage: Stage,
}

/// What became of the request that writes it.
#[derive(Clone, Debug)]
pub(super) enum Put {
    UnderWay,
    Durable,
    /// It may be there all the same.
    Failed(EngineError),
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Stage {
    /// Its guard has it.
    Written,
    /// A commit has it; `kept` is false once the guard was dropped.
    Claimed { kept: bool },
}

const GIVEN_UP: EngineError = EngineError::Unavailable("chunk was given up");

impl Pending {
    pub fn len(&self) -> usize {
        self.0.lock().len()
    }

    pub fn begin(&self, id: ChunkId) {
        let chunk = Chunk { put: watch::Sender::new(Put::UnderWay), stage: Stage::Written };
        self.0.lock().insert(id, chunk);
    }

    /// The request has ended. False when its guard was dropped meanwhile: its object is to be deleted.
    pub fn ended(&self, id: ChunkId, put: Put) -> bool {
        let chunks = self.0.lock();
        let wanted = chunks.get(&id);
        if let Some(chunk) = wanted {
            chunk.put.send_replace(put);
        }
        wanted.is_some()
    }

    /// Returns when the chunk is where it can be read: also when it is not pending at all.
    pub async fn readable(&self, id: ChunkId) -> Result<(), EngineError> {
        let put = self.0.lock().get(&id).map(|chunk| chunk.put.subscribe());
        match put {
            None => Ok(()),
            Some(put) => ended(put).await,
        }
    }

    pub fn failure(&self, id: ChunkId) -> Option<EngineError> {
        match self.0.lock().get(&id).map(|chunk| chunk.put.borrow().clone()) {
            Some(Put::Failed(error)) => Some(error),
            _ => None,
        }
    }

    /// Returns when all of these are durable.
    pub async fn durable(&self, publish: &[ChunkId]) -> Result<(), EngineError> {
        for id in publish {
            let put = self.0.lock().get(id).map(|chunk| chunk.put.subscribe());
            ended(put.ok_or(GIVEN_UP)?).await?;
        }
        Ok(())
    }

    /// A commit takes durable chunks from their guards: all or none.
    pub fn claim(&self, publish: &[ChunkId]) -> bool {
        let mut chunks = self.0.lock();
        let there = |id: &ChunkId| {
            let chunk = chunks.get(id);
            chunk.is_some_and(|chunk| {
                chunk.stage == Stage::Written && matches!(*chunk.put.borrow(), Put::Durable)
            })
        };
        if !publish.iter().all(there) {
            return false;
        }
        for id in publish {
            if let Some(chunk) = chunks.get_mut(id) {
                chunk.stage = Stage::Claimed { kept: true };
            }
        }
        true
    }

    pub fn published(&self, publish: &[ChunkId]) {
        let mut chunks = self.0.lock();
        for id in publish {
            chunks.remove(id);
        }
    }

    /// Claimed chunks go back to their guards. Returns those whose guards are gone.
    pub fn unclaim(&self, publish: &[ChunkId]) -> Vec<ChunkId> {
        let mut chunks = self.0.lock();
        let mut orphans = Vec::new();
        for id in publish {
            match chunks.get_mut(id) {
                Some(chunk) if chunk.stage == Stage::Claimed { kept: false } => {
                    chunks.remove(id);
                    orphans.push(*id);
                }
                Some(chunk) => chunk.stage = Stage::Written,
                None => {}
            }
        }
        orphans
    }

    /// The guard is dropped. True when the object is to be deleted now; else the request or the commit that has the chunk
    /// deletes it at its end.
    pub fn abandon(&self, id: ChunkId) -> bool {
        let mut chunks = self.0.lock();
        match chunks.get_mut(&id) {
            Some(Chunk { stage: stage @ Stage::Claimed { .. }, .. }) => {
                *stage = Stage::Claimed { kept: false };
                false
            }
            Some(_) => {
                let chunk = chunks.remove(&id);
                chunk.is_some_and(|chunk| !matches!(*chunk.put.borrow(), Put::UnderWay))
            }
            None => false,
        }
    }
}

async fn ended(mut put: watch::Receiver<Put>) -> Result<(), EngineError> {
    match put.wait_for(|put| !matches!(put, Put::UnderWay)).await.as_deref() {
        Ok(Put::Failed(error)) => Err(error.clone()),
        Ok(_) => Ok(()),
        Err(_) => Err(GIVEN_UP),
    }
}
