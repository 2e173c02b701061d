//! The message ids that a client may use: each one once, and no more of them at a time than it was granted
//! (MS-SMB2 3.3.1.1, 3.3.1.2). A message that is sent twice is refused by this.

use super::limits::CREDITS_MAX;

const WORDS: usize = CREDITS_MAX as usize / 64;

pub struct Credits {
    /// The lowest id that was not used; ids from here to `high` were granted.
    low: u64,
    high: u64,
    /// A bit for each id from `low` on that was used, in a ring.
    used: Box<[u64; WORDS]>,
}

impl Default for Credits {
    fn default() -> Self {
        Self { low: 0, high: 1, used: Box::new([0; WORDS]) }
    }
}

impl Credits {
    /// True if all of these ids were granted and none of them was used; they are from now on.
    pub fn consume(&mut self, first: u64, charge: u16) -> bool {
        let charge = u64::from(charge.max(1));
        let Some(end) = first.checked_add(charge) else { return false };
        if first < self.low || end > self.high || (first..end).any(|id| self.is_used(id)) {
            return false;
        }
        (first..end).for_each(|id| self.set(id, true));
        while self.low < self.high && self.is_used(self.low) {
            self.set(self.low, false);
            self.low += 1;
        }
        true
    }

    /// As many as are asked for and there is room for. A client that has none left gets one, where there is room at all.
    pub fn grant(&mut self, wanted: u16) -> u16 {
        let room = u64::from(CREDITS_MAX).saturating_sub(self.high - self.low);
        let granted = u64::from(wanted.max(1)).min(room);
        self.high += granted;
        granted as u16
    }

    fn is_used(&self, id: u64) -> bool {
        self.used.get(Self::word(id)).is_some_and(|word| word & Self::bit(id) != 0)
    }

    fn set(&mut self, id: u64, used: bool) {
        if let Some(word) = self.used.get_mut(Self::word(id)) {
            if used { *word |= Self::bit(id) } else { *word &= !Self::bit(id) }
        }
    }

    fn word(id: u64) -> usize {
        (id / 64) as usize % WORDS
    }

    fn bit(id: u64) -> u64 {
        1 << (id % 64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_is_good_once() {
        let mut credits = Credits::default();
        assert!(credits.consume(0, 1));
        assert!(!credits.consume(0, 1), "used");
        assert!(!credits.consume(1, 1), "not granted");
        assert_eq!(credits.grant(10), 10);
        assert!(credits.consume(5, 3), "in any order");
        assert!(!credits.consume(7, 1));
        assert!(!credits.consume(3, 3), "one of them was used");
        assert!(credits.consume(1, 4));
        assert!(credits.consume(8, 0), "no charge is a charge of one");
        assert!(!credits.consume(9, 3), "beyond what was granted");
        assert!(!credits.consume(u64::MAX, 2));
    }

    #[test]
    fn the_window_does_not_grow_beyond_its_bound() {
        let mut credits = Credits::default();
        assert!(credits.consume(0, 1));
        assert_eq!(credits.grant(u16::MAX), CREDITS_MAX as u16);
        assert_eq!(credits.grant(5), 0);
        // An id that is never used holds the window where it is.
        for id in 2..=u64::from(CREDITS_MAX) {
            assert!(credits.consume(id, 1));
            assert_eq!(credits.grant(1), 0);
        }
        assert!(credits.consume(1, 1));
        assert_eq!(credits.grant(u16::MAX), CREDITS_MAX as u16);
    }

    #[test]
    fn ids_go_round_the_ring_for_long() {
        let mut credits = Credits::default();
        for id in 0..u64::from(CREDITS_MAX) * 3 {
            assert!(credits.consume(id, 1), "{id}");
            assert_eq!(credits.grant(1), 1);
        }
    }
}
