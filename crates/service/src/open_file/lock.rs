//! Ranges of bytes that an open locks.

use lazuli_model::admission::caching::Act;
use lazuli_model::admission::locks;
use lazuli_model::admission::sharing::ByteRangeLock;
use lazuli_model::error::ErrorCode;
use tokio::sync::oneshot;

use super::attempt::{PAUSE, Step};
use super::{AccessMask, OpenFile, Outcome, Refusal};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LockRange {
    pub offset: u64,
    pub length: u64,
    pub exclusive: bool,
}

/// Ranges that one open may have locked: its row has to hold them.
const LOCKS: usize = 1_000;

impl OpenFile {
    /// All of the ranges, or none. `waits` until they can be had (then it is one range); to drop the future is to cancel it.
    pub async fn lock(&self, ranges: &[LockRange], waits: bool) -> Outcome<()> {
        self.needs(
            AccessMask::READ_DATA
                .and(AccessMask::WRITE_DATA)
                .and(AccessMask::APPEND_DATA)
                .and(AccessMask::EXECUTE),
        )?;
        self.writable()?;
        if self.is_directory() {
            return Err(Refusal::InvalidParameter);
        }
        let lock = |range: &LockRange| {
            let last = u128::from(range.offset) + u128::from(range.length);
            let LockRange { offset, length, exclusive } = *range;
            (last <= 1 << 64).then_some(ByteRangeLock { offset, length, exclusive })
        };
        let locks: Option<Vec<ByteRangeLock>> = ranges.iter().map(lock).collect();
        let locks = locks.ok_or(Refusal::InvalidLockRange)?;
        let (file, (answer, answered)) = (self.clone(), oneshot::channel());
        tokio::spawn(async move {
            let mut answer = answer;
            let Some(outcome) = file.lock_unless(&locks, waits, answer.closed()).await else { return };
            // The caller has dropped its future: the lock is taken back.
            if let Err(Ok(())) = answer.send(outcome) {
                let ranges: Vec<_> = locks.iter().map(|lock| (lock.offset, lock.length)).collect();
                drop(file.unlock(&ranges).await);
            }
        });
        answered.await.unwrap_or(Err(ErrorCode::InternalError.into()))
    }

    /// None where it was cancelled while it waited.
    async fn lock_unless(
        &self,
        locks: &[ByteRangeLock],
        waits: bool,
        cancelled: impl Future<Output = ()>,
    ) -> Option<Outcome<()>> {
        tokio::pin!(cancelled);
        loop {
            let services = self.client().services();
            let waiting = services.opens().wait(self.key().node());
            let changed = waiting.change();
            let had = self.work(|unit| async move {
                let mut opened = unit.opened(self.key()).await?;
                if opened.own().is_none_or(|own| own.open.locks.len() + locks.len() > LOCKS) {
                    return Err(Refusal::InsufficientResources);
                }
                for (number, lock) in locks.iter().enumerate() {
                    let before = locks.get(..number).unwrap_or_default();
                    if !opened.may_lock(lock) || !locks::may_lock_beside(lock, before) {
                        return Ok(Step::Done(false));
                    }
                }
                if opened.must_wait(Act::Lock).await? {
                    return Ok(Step::Wait);
                }
                opened.change_own(|row| row.open.locks.extend_from_slice(locks));
                Ok(Step::Done(true))
            });
            match had.await {
                Ok(true) => return Some(Ok(())),
                Ok(false) if !waits => return Some(Err(Refusal::LockNotGranted)),
                Ok(false) => {}
                Err(refusal) => return Some(Err(refusal)),
            }
            tokio::select! {
                () = &mut cancelled => return None,
                _ = tokio::time::timeout(PAUSE, changed) => {}
            }
        }
    }

    /// Ranges as they were locked, by offset and length, one after the other: those before one that is not locked stay unlocked.
    pub async fn unlock(&self, ranges: &[(u64, u64)]) -> Outcome<()> {
        let all = self
            .work(|unit| async move {
                let opened = unit.opened(self.key()).await?;
                let mut locks = opened.own().map(|own| own.open.locks.clone()).unwrap_or_default();
                let mut all = true;
                for (offset, length) in ranges {
                    let is_it = |lock: &ByteRangeLock| lock.offset == *offset && lock.length == *length;
                    // Of two on one range the exclusive one goes first.
                    let exclusive = locks.iter().position(|lock| is_it(lock) && lock.exclusive);
                    let Some(place) = exclusive.or_else(|| locks.iter().position(is_it)) else {
                        all = false;
                        break;
                    };
                    locks.remove(place);
                }
                opened.change_own(|row| row.open.locks = locks);
                Ok(Step::Done(all))
            })
            .await?;
        if all { Ok(()) } else { Err(Refusal::RangeNotLocked) }
    }
}
