//! Reads that may have to wait for a disk leave the caller's thread.

use super::store::Snapshot;
use crate::error::EngineError;
use crate::key::Key;
use crate::txn::Entry;
use std::sync::Arc;

const ENDED_EARLY: EngineError = EngineError::Unavailable("the runtime is shutting down");

/// The whole batch goes together.
pub(crate) async fn get_many(
    snapshot: Arc<Snapshot>,
    keys: Vec<Key>,
) -> Result<Vec<Option<Entry>>, EngineError> {
    let turn = match snapshot.turns_aside() {
        Some(turns) => Some(turns.clone().acquire_owned().await.map_err(|_| ENDED_EARLY)?),
        None => None,
    };
    let read = move || {
        let found = keys.iter().map(|key| snapshot.entry_aside(key)).collect();
        // It goes with the work: a caller that leaves does not make room for more of it.
        drop(turn);
        found
    };
    tokio::task::spawn_blocking(read).await.unwrap_or(Err(ENDED_EARLY))
}
