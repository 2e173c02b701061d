//! Memory that requests and answers take: each connection has its own, the connections of one account share a part of it, and there is so much
//! of it in all. Whoever has an account's key can hold that account's part, and no more. What is small has memory of its own at each of them: a client that
//! stands still in the middle of a long answer keeps no other from small ones. A request that waits for something to happen gives the memory of its frame
//! back, and what is kept of it takes memory of another pool: there is room for it at once, or it does not wait.

use std::collections::HashMap;
use std::sync::Arc;

use parking_lot::Mutex;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::timeout;

use super::limits;

/// In bytes.
pub struct Pool {
    small: Arc<Semaphore>,
    large: Arc<Semaphore>,
}

impl Pool {
    pub fn new(small: usize, large: usize) -> Self {
        Self { small: Arc::new(Semaphore::new(small)), large: Arc::new(Semaphore::new(large)) }
    }

    fn of(&self, bytes: usize) -> &Arc<Semaphore> {
        if bytes <= limits::SMALL { &self.small } else { &self.large }
    }
}

pub struct Memory {
    pub requests: Pool,
    pub answers: Pool,
    /// Of requests that wait for something to happen.
    parked: Arc<Semaphore>,
}

/// Of all connections of a server.
pub struct ServerMemory {
    pub all: Memory,
    /// Requests of connections without a session: all of them are small.
    pub early_requests: Pool,
    /// Only accounts that have logged on are here.
    accounts: Mutex<HashMap<Arc<str>, Arc<Memory>>>,
}

impl Default for ServerMemory {
    fn default() -> Self {
        Self {
            all: Memory {
                requests: Pool::new(limits::SMALL_MEMORY, limits::REQUEST_MEMORY),
                answers: Pool::new(limits::SMALL_MEMORY, limits::ANSWER_MEMORY),
                parked: Arc::new(Semaphore::new(limits::PARKED_MEMORY)),
            },
            early_requests: Pool::new(limits::EARLY_REQUEST_MEMORY, 0),
            accounts: Mutex::default(),
        }
    }
}

impl ServerMemory {
    pub fn of_account(&self, account: &Arc<str>) -> Arc<Memory> {
        let fresh = || {
            Arc::new(Memory {
                requests: Pool::new(limits::ACCOUNT_SMALL_MEMORY, limits::ACCOUNT_REQUEST_MEMORY),
                answers: Pool::new(limits::ACCOUNT_SMALL_MEMORY, limits::ACCOUNT_ANSWER_MEMORY),
                parked: Arc::new(Semaphore::new(limits::ACCOUNT_PARKED_MEMORY)),
            })
        };
        Arc::clone(self.accounts.lock().entry(Arc::clone(account)).or_insert_with(fresh))
    }
}

/// So many bytes of each, taken one after the other. None where one of them has had no room for long.
pub async fn take(from: &[&Pool], bytes: usize) -> Option<Vec<OwnedSemaphorePermit>> {
    let mut taken = Vec::with_capacity(from.len());
    for pool in from {
        taken.push(timeout(limits::MEMORY, take_own(pool, bytes)).await.ok()??);
    }
    Some(taken)
}

/// However long that takes: for what comes free when the same client's requests are done.
pub async fn take_own(from: &Pool, bytes: usize) -> Option<OwnedSemaphorePermit> {
    let count = u32::try_from(bytes).ok()?;
    Arc::clone(from.of(bytes)).acquire_many_owned(count).await.ok()
}

/// For what is kept of a request that waits. None where one of them has no room now.
pub fn park(from: [&Memory; 2], bytes: usize) -> Option<[OwnedSemaphorePermit; 2]> {
    let count = u32::try_from(bytes).ok()?;
    let [own, all] = from.map(|memory| Arc::clone(&memory.parked).try_acquire_many_owned(count).ok());
    Some([own?, all?])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn an_account_holds_its_part_and_leaves_the_rest() {
        let memory = ServerMemory::default();
        let (own, other) = (memory.of_account(&"a".into()), memory.of_account(&"b".into()));
        assert!(Arc::ptr_eq(&own, &memory.of_account(&"a".into())));
        let part = limits::ACCOUNT_REQUEST_MEMORY;
        let held = take(&[&own.requests, &memory.all.requests], part).await.unwrap();
        assert!(take(&[&own.requests, &memory.all.requests], limits::SMALL + 1).await.is_none());
        assert!(
            take(&[&own.requests, &memory.all.requests], limits::SMALL).await.is_some(),
            "small ones go on"
        );
        assert!(take(&[&other.requests, &memory.all.requests], part).await.is_some());
        drop(held);
        assert_eq!(own.requests.large.available_permits(), part);
        assert_eq!(memory.all.requests.large.available_permits(), limits::REQUEST_MEMORY);
    }

    #[test]
    fn what_waits_has_an_account_s_part_of_the_memory() {
        let memory = ServerMemory::default();
        let (own, other) = (memory.of_account(&"a".into()), memory.of_account(&"b".into()));
        let part = limits::ACCOUNT_PARKED_MEMORY;
        let held = park([&own, &memory.all], part).unwrap();
        assert!(park([&own, &memory.all], 1).is_none());
        assert_eq!(memory.all.parked.available_permits(), limits::PARKED_MEMORY - part);
        assert!(park([&other, &memory.all], part).is_some());
        drop(held);
        assert_eq!(own.parked.available_permits(), part);
        assert_eq!(memory.all.parked.available_permits(), limits::PARKED_MEMORY);
    }

    #[tokio::test(start_paused = true)]
    async fn who_gets_nothing_for_long_holds_nothing() {
        let (first, second) = (Pool::new(10, 0), Pool::new(5, 0));
        assert!(take(&[&first, &second], 10).await.is_none());
        assert_eq!(first.small.available_permits(), 10);
    }
}
