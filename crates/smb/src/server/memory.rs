//! Memory that requests and answers take: each connection has its own, the connections of one account share a part of it, and there is so much
//! of it in all. Whoever has an account's key can hold that account's part, and no more.

use std::collections::HashMap;
use std::sync::Arc;

use parking_lot::Mutex;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::timeout;

use super::limits;

/// In bytes.
pub struct Memory {
    pub requests: Arc<Semaphore>,
    pub answers: Arc<Semaphore>,
}

impl Memory {
    pub fn new(requests: usize, answers: usize) -> Self {
        Self { requests: Arc::new(Semaphore::new(requests)), answers: Arc::new(Semaphore::new(answers)) }
    }
}

/// Of all connections of a server.
pub struct ServerMemory {
    pub all: Memory,
    /// Requests of connections without a session.
    pub early_requests: Arc<Semaphore>,
    /// Only accounts that have logged on are here.
    accounts: Mutex<HashMap<Arc<str>, Arc<Memory>>>,
}

impl Default for ServerMemory {
    fn default() -> Self {
        Self {
            all: Memory::new(limits::REQUEST_MEMORY, limits::ANSWER_MEMORY),
            early_requests: Arc::new(Semaphore::new(limits::EARLY_REQUEST_MEMORY)),
            accounts: Mutex::default(),
        }
    }
}

impl ServerMemory {
    pub fn of_account(&self, account: &Arc<str>) -> Arc<Memory> {
        let fresh = || Arc::new(Memory::new(limits::ACCOUNT_REQUEST_MEMORY, limits::ACCOUNT_ANSWER_MEMORY));
        Arc::clone(self.accounts.lock().entry(Arc::clone(account)).or_insert_with(fresh))
    }
}

/// So many bytes of each, taken one after the other. None where one of them has had no room for long.
pub async fn take(from: &[&Arc<Semaphore>], bytes: usize) -> Option<Vec<OwnedSemaphorePermit>> {
    let bytes = u32::try_from(bytes).ok()?;
    let mut taken = Vec::with_capacity(from.len());
    for memory in from {
        let permit = timeout(limits::MEMORY, Arc::clone(memory).acquire_many_owned(bytes)).await;
        taken.push(permit.ok()?.ok()?);
    }
    Some(taken)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn an_account_holds_its_part_and_leaves_the_rest() {
        let memory = ServerMemory::default();
        let (own, other) = (memory.of_account(&"a".into()), memory.of_account(&"b".into()));
        assert!(Arc::ptr_eq(&own, &memory.of_account(&"a".into())));
        let part = limits::ACCOUNT_REQUEST_MEMORY;
        let held = take(&[&own.requests, &memory.all.requests], part).await.unwrap();
        assert_eq!(own.requests.available_permits(), 0);
        assert!(take(&[&other.requests, &memory.all.requests], part).await.is_some());
        drop(held);
        assert_eq!(own.requests.available_permits(), part);
        assert_eq!(memory.all.requests.available_permits(), limits::REQUEST_MEMORY);
    }

    #[tokio::test(start_paused = true)]
    async fn who_gets_nothing_for_long_holds_nothing() {
        let (first, second) = (Arc::new(Semaphore::new(10)), Arc::new(Semaphore::new(5)));
        assert!(take(&[&first, &second], 10).await.is_none());
        assert_eq!(first.available_permits(), 10);
    }
}
