//! Memory of what is on its way to clients: pages and other answers that are built and not yet taken, and what downloads
//! have read ahead. A client that reads slowly, or not at all, holds its share; others then get smaller pages.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use lazuli_model::error::{ErrorCode, Failure};
use tokio::sync::Semaphore;

use crate::budget::{Budget, Share};

/// Each answer may be this large without asking.
const FREE: usize = 64 * 1024;
/// The longest page.
const PAGE: usize = 8 * 1024 * 1024;
/// A page may take this part of what is left.
const PART: usize = 4;
/// How long an answer that cannot be shortened waits for memory.
const PATIENCE: Duration = Duration::from_secs(5);
/// So many answers may wait, each with its bytes in memory.
const WAITING: usize = 8;

#[derive(Clone, Debug)]
pub struct Outgoing {
    budget: Budget,
    waiting: Arc<Semaphore>,
}

/// What a page may hold.
#[derive(Debug)]
pub struct Page {
    pub bytes: usize,
    pub share: Option<Share>,
}

impl Outgoing {
    pub fn new(bytes: usize) -> Self {
        Self { budget: Budget::new(bytes), waiting: Arc::new(Semaphore::new(WAITING)) }
    }

    /// What the page that is about to be built may hold: much while there is much, little when memory is short, and
    /// never so little that the next page would not get on.
    pub fn page(&self) -> Page {
        self.page_of(PAGE)
    }

    /// The same for a page that ends at `most` bytes in any case.
    pub fn page_of(&self, most: usize) -> Page {
        let wanted = (self.budget.free() / PART).min(most);
        let share = if wanted > FREE { self.budget.try_take(wanted) } else { None };
        Page { bytes: share.as_ref().map_or(FREE, Share::bytes), share }
    }

    /// Memory for an answer of up to so many bytes, before what it tells is done. While there is enough, its real size
    /// is counted afterwards; when memory is short, all of it is set aside first. A request that waits here holds nothing yet.
    pub async fn reserve(&self, bytes: usize) -> Result<Option<Share>, Failure> {
        if bytes <= FREE || !self.budget.is_short() {
            return Ok(None);
        }
        self.budget.take_within(bytes, PATIENCE).await.map(Some).ok_or_else(busy)
    }

    /// Memory for all of an answer before any of it is found. A request that waits here holds nothing yet.
    pub async fn set_aside(&self, bytes: usize) -> Result<Share, Failure> {
        self.budget.take_within(bytes, PATIENCE).await.ok_or_else(busy)
    }

    /// Memory for reading ahead of a client; none when memory is short, and then little is read ahead.
    pub(crate) fn ahead(&self, bytes: usize) -> Option<Share> {
        if self.budget.is_short() { None } else { self.budget.try_take(bytes) }
    }

    /// Memory for work that makes an answer piece by piece, if there is any now.
    pub(crate) fn for_work(&self, bytes: usize) -> Option<Share> {
        self.budget.try_take(bytes)
    }

    /// Counts the bytes of an answer until the last of them was taken. `reserved` is what was set aside for it.
    pub async fn count(&self, bytes: Bytes, reserved: Option<Share>) -> Result<Bytes, Failure> {
        let missing = bytes.len().saturating_sub(reserved.as_ref().map_or(0, Share::bytes));
        if bytes.len() <= FREE {
            return Ok(bytes);
        }
        let more = if missing == 0 { None } else { Some(self.take(missing).await?) };
        Ok(held(bytes, joined(reserved, more)))
    }

    /// The same for an answer that must not be refused any more: what it tells has been done.
    pub fn count_done(&self, bytes: Bytes, reserved: Option<Share>) -> Bytes {
        let missing = bytes.len().saturating_sub(reserved.as_ref().map_or(0, Share::bytes));
        let more = if missing == 0 { None } else { self.budget.try_take(missing) };
        if bytes.len() <= FREE { bytes } else { held(bytes, joined(reserved, more)) }
    }

    /// Takes a share at once, or waits up to [`PATIENCE`]. A waiting answer holds its bytes, so at most [`WAITING`] answers
    /// wait.
    async fn take(&self, bytes: usize) -> Result<Share, Failure> {
        if let Some(share) = self.budget.try_take(bytes) {
            return Ok(share);
        }
        let _turn = self.waiting.try_acquire().map_err(|_| busy())?;
        self.budget.take_within(bytes, PATIENCE).await.ok_or_else(busy)
    }
}

fn busy() -> Failure {
    Failure::new(ErrorCode::ServerBusy).cause("too many answers wait for their clients")
}

fn joined(one: Option<Share>, other: Option<Share>) -> Option<Share> {
    match (one, other) {
        (Some(mut one), Some(other)) => {
            one.join(other);
            Some(one)
        }
        (one, other) => one.or(other),
    }
}

/// Bytes that give their share back when the last slice of them is gone.
pub(crate) fn held(bytes: Bytes, share: Option<Share>) -> Bytes {
    struct Held {
        bytes: Bytes,
        _share: Share,
    }
    impl AsRef<[u8]> for Held {
        fn as_ref(&self) -> &[u8] {
            &self.bytes
        }
    }
    match share {
        None => bytes,
        Some(mut share) => {
            share.shrink_to(bytes.len());
            Bytes::from_owner(Held { bytes, _share: share })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MIB: usize = 1024 * 1024;

    #[tokio::test]
    async fn pages_shrink_while_answers_are_not_taken_and_grow_again() {
        let outgoing = Outgoing::new(64 * MIB);
        assert_eq!(outgoing.page().bytes, PAGE);
        let mut unread = Vec::new();
        let mut held = 0;
        for _ in 0..1000 {
            let Page { bytes, share } = outgoing.page();
            held += if share.is_some() { bytes } else { 0 };
            unread.push(outgoing.count(vec![0; bytes].into(), share).await.expect("counted"));
        }
        assert!(held <= 64 * MIB, "{held}");
        assert_eq!(outgoing.page().bytes, FREE, "never less");
        drop(unread);
        assert_eq!(outgoing.page().bytes, PAGE);
    }

    #[tokio::test(start_paused = true)]
    async fn what_cannot_shrink_waits_and_is_refused() {
        let outgoing = Outgoing::new(4 * MIB);
        let whole = outgoing.count(vec![0; 3 * MIB].into(), None).await.expect("there is room");
        let refused = outgoing.count(vec![0; 2 * MIB].into(), None).await.expect_err("no room");
        assert_eq!(refused.code, ErrorCode::ServerBusy);
        assert_eq!(outgoing.count_done(vec![0; 2 * MIB].into(), None).len(), 2 * MIB, "it was done already");
        let last = whole.slice(3 * MIB - 1..);
        drop(whole);
        outgoing.reserve(2 * MIB).await.expect_err("a slice holds the whole");
        drop(last);
        outgoing.reserve(2 * MIB).await.expect("there is room again");
        outgoing.count(vec![0; FREE].into(), None).await.expect("small answers do not ask");
    }

    #[tokio::test]
    async fn a_share_is_cut_to_what_the_answer_needs() {
        let outgoing = Outgoing::new(64 * MIB);
        let Page { share, .. } = outgoing.page();
        let bytes = outgoing.count(vec![0; 100 * 1024].into(), share).await.expect("counted");
        assert_eq!(outgoing.budget.free(), 64 * MIB - 100 * 1024);
        drop(bytes);
        assert_eq!(outgoing.budget.free(), 64 * MIB);
    }
}
