//! Memory that requests share, counted in KiB. A request that gets no share does with less memory, or waits for a share.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::timeout;

#[derive(Clone, Debug)]
pub struct Budget {
    free: Arc<Semaphore>,
    total: usize,
}

impl Budget {
    pub fn new(bytes: usize) -> Self {
        let total = (bytes / KIB).min(Semaphore::MAX_PERMITS).min(u32::MAX as usize);
        Self { free: Arc::new(Semaphore::new(total)), total }
    }

    /// A share of so many bytes, if there is one now and no other request waits for one.
    pub fn try_take(&self, bytes: usize) -> Option<Share> {
        self.free.clone().try_acquire_many_owned(kib(bytes)).ok().map(Share)
    }

    /// Waits for a share, first come, first served. A request for more than the whole budget gets the whole budget.
    pub async fn take(&self, bytes: usize) -> Option<Share> {
        let wanted = kib(bytes).min(u32::try_from(self.total).unwrap_or(u32::MAX));
        self.free.clone().acquire_many_owned(wanted).await.ok().map(Share)
    }

    /// The same, for as long as `patience`.
    pub async fn take_within(&self, bytes: usize, patience: Duration) -> Option<Share> {
        timeout(patience, self.take(bytes)).await.ok().flatten()
    }

    /// What is not given out, in bytes.
    pub fn free(&self) -> usize {
        self.free.available_permits() * KIB
    }

    /// Less than half is left: uploads whose bytes stall should write what they hold, and downloads read less ahead.
    pub fn is_short(&self) -> bool {
        self.free.available_permits() < self.total / 2
    }
}

/// A part of the budget, given back when it is dropped.
#[derive(Debug)]
pub struct Share(OwnedSemaphorePermit);

impl Share {
    pub fn bytes(&self) -> usize {
        self.0.num_permits() * KIB
    }

    pub fn join(&mut self, other: Self) {
        self.0.merge(other.0);
    }

    /// Gives back what is over.
    pub fn shrink_to(&mut self, bytes: usize) {
        let over = self.0.num_permits().saturating_sub(kib(bytes) as usize);
        drop(self.0.split(over));
    }
}

const KIB: usize = 1024;

fn kib(bytes: usize) -> u32 {
    u32::try_from(bytes.div_ceil(KIB)).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_grow_shrink_and_come_back() {
        let budget = Budget::new(100 * KIB);
        let mut share = budget.try_take(10 * KIB).expect("there is room");
        share.join(budget.try_take(60 * KIB).expect("there is room"));
        assert_eq!((share.bytes(), budget.free()), (70 * KIB, 30 * KIB));
        assert!(budget.is_short() && budget.try_take(31 * KIB).is_none());
        share.shrink_to(20 * KIB - 1);
        assert_eq!((share.bytes(), budget.free()), (20 * KIB, 80 * KIB));
        share.shrink_to(90 * KIB);
        assert_eq!(share.bytes(), 20 * KIB);
        drop(share);
        assert_eq!(budget.free(), 100 * KIB);
    }

    #[tokio::test]
    async fn a_waiting_request_goes_before_one_that_only_tries() {
        let budget = Budget::new(100 * KIB);
        let held = budget.try_take(60 * KIB).expect("there is room");
        let waiting = tokio::spawn({
            let budget = budget.clone();
            async move { budget.take(90 * KIB).await }
        });
        tokio::task::yield_now().await;
        assert!(budget.try_take(10 * KIB).is_none(), "what is free is kept for the one that waits");
        drop(held);
        assert_eq!(waiting.await.expect("ends").expect("open").bytes(), 90 * KIB);
    }

    #[tokio::test]
    async fn a_wish_for_more_than_there_is_gets_everything() {
        let budget = Budget::new(10 * KIB);
        assert_eq!(budget.take(1 << 30).await.expect("open").bytes(), 10 * KIB);
        let _held = budget.try_take(10 * KIB).expect("there is room");
        assert!(budget.take_within(KIB, Duration::from_millis(1)).await.is_none());
    }
}
