//! The channel sequence of an open (MS-SMB2 3.3.5.2.10): a client that has lost a connection counts it up, and sends again what it has no answer
//! to over another. What it sent before must then change nothing any more, and what it sends again waits for what is under way.

use std::sync::Arc;

use parking_lot::Mutex;

use crate::status::NtStatus;

pub struct Sequence(Mutex<Counts>);

struct Counts {
    current: u16,
    /// Changes under way that were sent with this number, and with one before it.
    now: u32,
    before: u32,
}

impl Sequence {
    pub fn new(first: u16) -> Self {
        Self(Mutex::new(Counts { current: first, now: 0, before: 0 }))
    }

    /// For every request: the client may have given up a connection since the one before.
    pub fn see(&self, number: u16) {
        self.0.lock().see(number);
    }

    /// For a request that changes the file; it is under way until the guard is dropped.
    pub fn enter(self: &Arc<Self>, number: u16, is_replay: bool) -> Result<UnderWay, NtStatus> {
        let mut counts = self.0.lock();
        if !counts.see(number) || (is_replay && counts.before > 0) {
            return Err(NtStatus::FILE_NOT_AVAILABLE);
        }
        counts.now += 1;
        Ok(UnderWay { of: Arc::clone(self), number })
    }
}

impl Counts {
    /// False where it was sent before a connection was given up.
    fn see(&mut self, number: u16) -> bool {
        // Numbers go round: what is less than half of them ahead is later.
        let ahead = number.wrapping_sub(self.current) as i16;
        if ahead > 0 {
            self.before += std::mem::take(&mut self.now);
            self.current = number;
        }
        ahead >= 0
    }
}

pub struct UnderWay {
    of: Arc<Sequence>,
    number: u16,
}

impl Drop for UnderWay {
    fn drop(&mut self) {
        let mut counts = self.of.0.lock();
        let place = if counts.current == self.number { &mut counts.now } else { &mut counts.before };
        *place = place.saturating_sub(1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LATE: NtStatus = NtStatus::FILE_NOT_AVAILABLE;

    #[test]
    fn what_was_sent_before_changes_nothing_after() {
        let sequence = Arc::new(Sequence::new(0));
        assert!(sequence.enter(0, false).is_ok());
        assert!(sequence.enter(1, false).is_ok());
        assert_eq!(sequence.enter(0, false).err(), Some(LATE));
        assert!(sequence.enter(0x8000, false).is_ok());
        assert_eq!(sequence.enter(1, false).err(), Some(LATE));
        assert!(sequence.enter(0xFFFF, false).is_ok());
        assert!(sequence.enter(0, false).is_ok(), "numbers go round");
        assert_eq!(sequence.enter(0xFFFF, true).err(), Some(LATE));
        sequence.see(5);
        sequence.see(3);
        assert_eq!(
            sequence.enter(4, false).err(),
            Some(LATE),
            "a read tells that a connection was given up, too"
        );
    }

    #[test]
    fn what_is_sent_again_waits_for_what_is_under_way() {
        let sequence = Arc::new(Sequence::new(7));
        let lost = sequence.enter(7, false).ok();
        assert_eq!(sequence.enter(8, true).err(), Some(LATE));
        let other = sequence.enter(8, false).ok();
        assert!(other.is_some(), "what is new need not wait");
        assert_eq!(sequence.enter(8, true).err(), Some(LATE));
        drop(lost);
        assert!(sequence.enter(8, true).is_ok());
    }
}
