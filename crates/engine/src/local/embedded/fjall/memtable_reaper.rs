//! Memtables are freed here.
//!
//! fjall lets go of a memtable that stands in a table now while it holds the lock that every reading and writing of
//! the keyspace passes. To free a hundred thousand rows takes a tenth of a second, in which nothing is committed. So
//! the committer keeps the memtable alive, and a thread of its own frees it once no other holder is left.

use super::background;
use fjall::{AbstractTree, Keyspace};
use std::any::Any;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::Duration;

/// How often to look whether it is still in use.
const LOOK: Duration = Duration::from_millis(20);

type Memtable = Arc<dyn Any + Send + Sync>;

pub(crate) struct MemtableReaper {
    /// What each keyspace writes to, in the order of the calls.
    latest: Vec<Memtable>,
    /// `None` when there is no thread: then fjall frees them.
    to: Option<Sender<Memtable>>,
}

impl MemtableReaper {
    pub fn new() -> Self {
        let (to, from) = channel();
        let thread = background::spawn("memtables", move || free(&from));
        Self { latest: Vec::new(), to: thread.ok().map(|_| to) }
    }

    /// To be called before each write, with the same keyspaces: a memtable that is written to is kept from then on. True
    /// when another one has taken a memtable's place.
    pub fn keep<const N: usize>(&mut self, spaces: [&Keyspace; N]) -> bool {
        let mut replaced = false;
        for (at, space) in spaces.into_iter().enumerate() {
            let now: Memtable = space.tree.active_memtable();
            match self.latest.get_mut(at) {
                Some(latest) if Arc::ptr_eq(latest, &now) => {}
                Some(latest) => {
                    replaced = true;
                    let old = std::mem::replace(latest, now);
                    // Without the thread it is freed right here.
                    if let Some(to) = &self.to {
                        drop(to.send(old));
                    }
                }
                None => self.latest.push(now),
            }
        }
        replaced
    }
}

fn free(from: &Receiver<Memtable>) {
    let mut held: Vec<Memtable> = Vec::new();
    loop {
        let next = match held.is_empty() {
            true => from.recv().map_err(RecvTimeoutError::from),
            false => from.recv_timeout(LOOK),
        };
        match next {
            Ok(memtable) => held.push(memtable),
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => return,
        }
        held.retain(|memtable| Arc::strong_count(memtable) > 1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Instant;

    const LONG: Duration = Duration::from_secs(10);

    /// Tells which thread it was freed by.
    struct Rows(Sender<Option<String>>);

    impl Drop for Rows {
        fn drop(&mut self) {
            let thread = std::thread::current().name().map(str::to_owned);
            self.0.send(thread).expect("the test waits");
        }
    }

    /// Rows that a reader still has, given to the thread; and who frees them.
    fn given(retired: &MemtableReaper) -> (Memtable, Receiver<Option<String>>) {
        let (freed, by) = channel();
        let rows: Memtable = Arc::new(Rows(freed));
        let reader = rows.clone();
        retired.to.as_ref().expect("a thread").send(rows).expect("is there");
        (reader, by)
    }

    #[test]
    fn freed_by_its_thread_once_nobody_else_has_it() {
        let retired = MemtableReaper::new();
        let (reader, by) = given(&retired);
        assert!(by.recv_timeout(3 * LOOK).is_err(), "a reader has it");
        drop(reader);
        assert_eq!(by.recv_timeout(LONG).expect("freed").as_deref(), Some("memtables"));
    }

    #[test]
    fn what_is_held_at_the_end_is_let_go() {
        let retired = MemtableReaper::new();
        let (reader, by) = given(&retired);
        drop(retired);
        drop(reader);
        by.recv_timeout(LONG).expect("freed");
    }

    #[test]
    fn a_memtable_is_kept_until_the_next_is_written_to() {
        let dir = tempfile::tempdir().expect("a directory");
        let db = fjall::Database::builder(dir.path()).open().expect("opens");
        let space = db.keyspace("rows", fjall::KeyspaceCreateOptions::default).expect("opens");
        let mut retired = MemtableReaper::new();
        retired.keep([&space]);
        space.insert("a", "1").expect("writes");
        let first = Arc::downgrade(&retired.latest[0]);
        space.rotate_memtable_and_wait().expect("is flushed");
        retired.keep([&space]);
        space.insert("a", "2").expect("writes");
        let second = Arc::downgrade(&retired.latest[0]);
        assert!(!first.ptr_eq(&second));
        let until = Instant::now() + LONG;
        // fjall lets go of what it flushed at the next rotation or so.
        while first.strong_count() > 0 && Instant::now() < until {
            space.rotate_memtable_and_wait().expect("is flushed");
            retired.keep([&space]);
            space.insert("a", "3").expect("writes");
            std::thread::sleep(LOOK);
        }
        assert_eq!(first.strong_count(), 0);
    }
}
