//! Ranges of bytes that opens have locked, as their clients meet them ([MS-FSA] sections 2.1.4.10 and 2.1.5.7).

use super::sharing::{ByteRangeLock, Open};

/// Whether an open may lock a range beside all locks there are: others' and its own. A shared one may lie on its own exclusive one.
pub fn may_lock(wanted: &ByteRangeLock, handle: u64, opens: &[Open]) -> bool {
    let stands_against = |open: &Open, lock: &ByteRangeLock| {
        let is_own = open.handle == handle;
        let conflicts = match (wanted.exclusive, lock.exclusive) {
            (false, false) => false,
            (false, true) => !is_own,
            (true, _) => true,
        };
        conflicts && lock.meets(wanted.offset, wanted.length)
    };
    !opens.iter().any(|open| open.locks.iter().any(|lock| stands_against(open, lock)))
}

/// Whether an open may lock a range beside those that it locks at the same time.
pub fn may_lock_beside(wanted: &ByteRangeLock, own: &[ByteRangeLock]) -> bool {
    !own.iter().any(|lock| wanted.exclusive && lock.meets(wanted.offset, wanted.length))
}

/// Whether an open may read or write a range. Its own shared lock keeps it from writing.
pub fn may_touch(writes: bool, handle: u64, offset: u64, length: u64, opens: &[Open]) -> bool {
    let stands_against = |open: &Open, lock: &ByteRangeLock| {
        let is_own = open.handle == handle;
        let conflicts = match (writes, lock.exclusive) {
            (false, exclusive) => exclusive && !is_own,
            (true, true) => !is_own,
            (true, false) => true,
        };
        conflicts && length > 0 && lock.meets(offset, length)
    };
    !opens.iter().any(|open| open.locks.iter().any(|lock| stands_against(open, lock)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lock(offset: u64, length: u64, exclusive: bool) -> ByteRangeLock {
        ByteRangeLock { offset, length, exclusive }
    }

    #[test]
    fn locks_beside_locks() {
        let opens = [
            Open { handle: 1, locks: vec![lock(10, 10, true)], ..Open::default() },
            Open { handle: 2, locks: vec![lock(30, 10, false)], ..Open::default() },
        ];
        for (wanted, by_first, by_second) in [
            (lock(0, 10, true), true, true),
            (lock(0, 11, false), true, false),
            (lock(15, 1, false), true, false),
            (lock(15, 1, true), false, false),
            (lock(20, 10, true), true, true),
            (lock(35, 1, false), true, true),
            (lock(35, 1, true), false, false),
            (lock(15, 0, true), false, false),
            (lock(10, 0, true), true, true),
            (lock(20, 0, true), true, true),
            (lock(u64::MAX, 1, true), true, true),
        ] {
            assert_eq!(may_lock(&wanted, 1, &opens), by_first, "{wanted:?} by the first");
            assert_eq!(may_lock(&wanted, 2, &opens), by_second, "{wanted:?} by the second");
        }
        let last = [Open { handle: 1, locks: vec![lock(u64::MAX, 1, true)], ..Open::default() }];
        assert!(!may_lock(&lock(u64::MAX, 1, true), 2, &last));
    }

    #[test]
    fn reads_and_writes_beside_locks() {
        let opens = [
            Open { handle: 1, locks: vec![lock(10, 10, true)], ..Open::default() },
            Open { handle: 2, locks: vec![lock(30, 10, false)], ..Open::default() },
        ];
        assert!(may_touch(false, 1, 10, 1, &opens) && may_touch(true, 1, 10, 1, &opens));
        assert!(!may_touch(false, 2, 19, 1, &opens) && !may_touch(true, 2, 0, 11, &opens));
        assert!(may_touch(false, 1, 30, 1, &opens) && !may_touch(true, 1, 30, 1, &opens));
        assert!(!may_touch(true, 2, 30, 1, &opens), "one's own shared lock");
        assert!(may_touch(true, 2, 20, 10, &opens) && may_touch(true, 2, 15, 0, &opens));
    }
}
