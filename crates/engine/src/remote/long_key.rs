//! Keys that are too long for an index of the database.
//!
//! An index takes 2,704 bytes. A key of up to [`PLAIN`] bytes is its own index key. Of a longer one the index key is its
//! first [`PLAIN`] bytes and the SHA-256 of the rest, and the row has the whole key beside it. So index keys are ordered as
//! the keys are, but among those that share their first [`PLAIN`] bytes: such a run is always read whole, and sorted here.

use crate::key::Key;
use aws_lc_rs::digest::{SHA256, digest};

pub(super) const PLAIN: usize = 2_560;
const HASH: usize = 32;

pub(super) fn is_long(key: &[u8]) -> bool {
    key.len() > PLAIN
}

/// What is stored in the column `k`.
pub(super) fn index_key(key: &Key) -> Key {
    match key.split_at_checked(PLAIN) {
        Some((beginning, rest)) if !rest.is_empty() => {
            [beginning, digest(&SHA256, rest).as_ref()].concat().into()
        }
        _ => key.clone(),
    }
}

/// What the keys of a run share: the first bytes of a long key, or of its index key.
pub(super) fn shared(key: &[u8]) -> &[u8] {
    key.get(..PLAIN).unwrap_or(key)
}

/// The lowest index key of a run.
pub(super) fn run_start(key: &[u8]) -> Key {
    [shared(key), &[0]].concat().into()
}

/// An index key behind a whole run.
pub(super) fn run_end(key: &[u8]) -> Key {
    [shared(key), &[0xFF; HASH + 1]].concat().into()
}

/// From here on stand the index keys of all keys from the bound on; and, of a long bound, others of its run.
pub(super) fn lower(bound: &Key) -> Key {
    if is_long(bound) { run_start(bound) } else { bound.clone() }
}

/// Before this stand the index keys of all keys before the bound; and, of a long bound, others of its run.
pub(super) fn upper(bound: Option<&Key>) -> Key {
    match bound {
        Some(bound) if is_long(bound) => run_end(bound),
        Some(bound) => bound.clone(),
        None => Key::from_static(&[0xFF; PLAIN + HASH + 1]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn long(rest: &[u8]) -> Key {
        [&[b'm'; PLAIN], rest].concat().into()
    }

    #[test]
    fn index_keys_are_in_order_but_within_a_run() {
        let mut keys = vec![
            Key::from_static(b"a"),
            long(b"").slice(..PLAIN - 1),
            long(b""),
            long(b"\0"),
            long(b"a"),
            long(&[0xFF; 1_000]),
            [&[b'm'; PLAIN - 1][..], b"n"].concat().into(),
            Key::from_static(b"n"),
            Key::from_static(&[0xFF; 3_600]),
        ];
        assert!(keys.is_sorted());
        keys.sort_by_key(index_key);
        let run = 3..6;
        assert!(keys[..run.start].is_sorted() && keys[run.end..].is_sorted());
        assert!(keys[run.clone()].iter().all(|key| shared(key) == [b'm'; PLAIN]));
        for key in &keys {
            assert!(index_key(key) < upper(None) && index_key(key).len() <= PLAIN + HASH);
            assert_eq!(is_long(key), is_long(&index_key(key)), "told by its length");
        }
    }

    #[test]
    fn bounds_take_in_all_keys_and_of_others_only_the_run() {
        let keys = [b"".as_slice(), b"\0", b"a", b"b", &[0xFF; 900]].map(long);
        for bound in &keys {
            for key in &keys {
                let from = index_key(key) >= lower(bound);
                let before = index_key(key) < upper(Some(bound));
                assert!(from || key < bound);
                assert!(before || key >= bound);
                if !is_long(key) {
                    assert_eq!((from, before), (key >= bound, key < bound));
                }
            }
        }
    }
}
