//! Reads that may have to wait for a disk leave the caller's thread.

use super::store::Snapshot;
use crate::error::EngineError;
use crate::key::Key;
use crate::txn::Entry;
use std::sync::Arc;

const ENDED_EARLY: EngineError = EngineError::Unavailable("the runtime is shutting down");

/// On the caller's thread when the row is in memory, so far as that is known; else aside.
pub(crate) async fn get(snapshot: &Arc<Snapshot>, key: &Key) -> Result<Option<Entry>, EngineError> {
    match snapshot.entry_at_once(key) {
        Some(found) => found,
        // Boxed: the futures of callers stay small.
        None => Ok(Box::pin(read_aside(snapshot.clone(), vec![key.clone()])).await?.pop().flatten()),
    }
}

/// The same for a batch; what goes aside goes together.
pub(crate) async fn get_many(
    snapshot: &Arc<Snapshot>,
    keys: &[Key],
) -> Result<Vec<Option<Entry>>, EngineError> {
    let mut found = Vec::with_capacity(keys.len());
    for (at, key) in keys.iter().enumerate() {
        let Some(entry) = snapshot.entry_at_once(key) else {
            found.extend(Box::pin(read_aside(snapshot.clone(), keys[at..].to_vec())).await?);
            break;
        };
        found.push(entry?);
    }
    Ok(found)
}

async fn read_aside(snapshot: Arc<Snapshot>, keys: Vec<Key>) -> Result<Vec<Option<Entry>>, EngineError> {
    let reader = snapshot.clone();
    let _turn = match snapshot.turns_aside() {
        Some(turns) => Some(turns.acquire().await.map_err(|_| ENDED_EARLY)?),
        None => None,
    };
    let read = move || keys.iter().map(|key| reader.entry_aside(key)).collect();
    tokio::task::spawn_blocking(read).await.unwrap_or(Err(ENDED_EARLY))
}
