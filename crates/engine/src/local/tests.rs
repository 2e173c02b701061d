//! What cannot be seen from outside: a store that fails, what memory keeps, what the window forgets.

use crate::error::EngineError;
use crate::error::Refusal;
use crate::host::Host;
use crate::key::{Key, KeyRange};
use crate::local::commit::committer::Committer;
use crate::local::commit::judge::Judge;
use crate::local::commit::notify::{Reply, VerdictReceiver};
use crate::local::commit::pending::{Ended, PendingCommit, PendingCommits};
use crate::local::commit::recent_writes::{Last, RecentWrites};
use crate::local::extent::LocalExtents;
use crate::local::memory::Memory;
use crate::local::shared::{Published, Shared};
use crate::local::store::Store;
use crate::outcomes::RecentOutcomes;
use crate::txn::{Ticks, Txn, TxnId, Write};
use std::sync::Arc;
use std::sync::atomic::Ordering;

fn put(key: &'static str) -> Write {
    Write::Put(Key::from_static(key.as_bytes()), Key::from_static(b"value"))
}

fn txn(id: u128, writes: Vec<Write>) -> Txn {
    Txn { writes, ..Txn::new(TxnId(id)) }
}

struct Fixture {
    memory: Arc<Memory>,
    shared: Arc<Shared>,
    pending: Arc<PendingCommits>,
}

impl Fixture {
    fn new() -> Self {
        let host = Host::test();
        let clock = crate::local::clock::EngineClock::new(host.clock.clone(), Ticks(0));
        let memory = Arc::new(Memory::default());
        let store = Store::Memory(memory.clone());
        let published = Arc::new(Published::new(store.snapshot(0)));
        let shared = Shared::new(store, LocalExtents::memory(), clock, published, RecentOutcomes::default());
        Self { memory, shared: Arc::new(shared), pending: Arc::default() }
    }

    fn send(&self, txn: Txn) -> VerdictReceiver {
        let (reply, answer) = Reply::channel();
        self.pending.push(PendingCommit { txn, size: 1, read_at: None, reply }).expect("room");
        answer
    }

    /// Everything that waits, on this thread.
    fn commit(&self) {
        self.pending.end(Ended::Dropped);
        Committer::new(self.shared.clone(), self.pending.clone()).run();
    }
}

#[test]
fn a_failed_sync_stops_the_engine_for_good() {
    let fixture = Fixture::new();
    fixture.memory.fails.store(true, Ordering::Relaxed);
    let mut answers = [fixture.send(txn(1, vec![put("a")])), fixture.send(txn(2, vec![put("b")]))];
    fixture.commit();
    for answer in &mut answers {
        let answer = answer.try_recv().expect("is answered");
        assert!(matches!(answer, Err(Refusal::Error(EngineError::Unknown))), "{answer:?}");
    }
    assert!(fixture.shared.stopped().is_some());
    assert_eq!(fixture.shared.published.get().seq(), 0, "nothing unsynced is ever shown");
    assert!(fixture.shared.recent.lock().get(TxnId(1)).is_none());

    // Never tried again, even if it would work now.
    fixture.memory.fails.store(false, Ordering::Relaxed);
    let again = Fixture { pending: Arc::default(), ..fixture };
    let mut answer = again.send(txn(3, vec![put("a")]));
    again.commit();
    let answer = answer.try_recv().expect("is answered");
    assert!(matches!(answer, Err(Refusal::Error(EngineError::Unavailable(_)))), "{answer:?}");
}

#[test]
fn nothing_is_written_behind_a_group_that_could_not_be_written() {
    let fixture = Fixture::new();
    fixture.memory.fails.store(true, Ordering::Relaxed);
    let mut judge = Judge::new(fixture.shared.clone());
    let written = judge.write(&mut [(txn(1, vec![put("a")]), None)]).expect("is judged");
    assert!(written.written.is_some_and(|written| written.snapshot.is_none()));
    // The other thread may write before this group's end is known.
    fixture.memory.fails.store(false, Ordering::Relaxed);
    let next = judge.write(&mut [(txn(2, vec![put("b")]), None)]).expect("is judged");
    assert!(
        next.written.is_none() && next.verdicts.iter().all(Result::is_err),
        "it would take the same numbers"
    );
}

#[test]
fn what_waits_is_committed_in_one_group() {
    let fixture = Fixture::new();
    let mut answers: Vec<_> = (1..=50).map(|id| fixture.send(txn(id, vec![put("same")]))).collect();
    fixture.commit();
    let versions: Vec<_> = answers
        .iter_mut()
        .map(|answer| answer.try_recv().expect("is answered").expect("commits").version.0)
        .collect();
    assert_eq!(versions, (1..=50).collect::<Vec<_>>(), "in the order of arrival, each with its own version");
    assert_eq!(fixture.shared.groups.load(Ordering::Relaxed), 1);
    assert_eq!(fixture.shared.published.get().get(b"same").expect("reads").expect("is there").0, 50);
}

#[test]
fn memory_keeps_only_what_somebody_can_see() {
    let fixture = Fixture::new();
    for id in 1..=100 {
        let one = Fixture {
            pending: Arc::default(),
            shared: fixture.shared.clone(),
            memory: fixture.memory.clone(),
        };
        let write = if id % 10 == 0 { Write::Delete(Key::from_static(b"k")) } else { put("k") };
        drop(one.send(txn(id, vec![write])));
        one.commit();
    }
    assert!(fixture.memory.stored_versions() <= 2, "{}", fixture.memory.stored_versions());
}

#[test]
fn the_window_forgets_the_oldest_and_knows_it() {
    let mut window = RecentWrites::new(0);
    let range = KeyRange::prefix("k/");
    for seq in 1..=100_000 {
        window.insert(format!("k/{seq}").into(), Last { seq, present: true, private: false, slot: 0 }, seq);
        window.trim();
    }
    assert!(window.covers(99_999) && !window.covers(1));
    assert!(window.get(b"k/1").is_none());
    assert_eq!(window.get(b"k/100000").map(|last| last.seq), Some(100_000));
    assert_eq!(window.written_since(&range, 1), Err(()));
    assert_eq!(window.written_since(&range, 100_000), Ok(None));
    assert_eq!(window.written_since(&range, 99_999), Ok(Some(&Key::from_static(b"k/100000"))));
    assert_eq!(window.written_since(&KeyRange::prefix("x/"), 99_000), Ok(None));
}

/// As with an engine that takes no lock for a private key, the check would be lost there.
#[test]
#[cfg(debug_assertions)]
#[should_panic(expected = "wrote as private")]
fn a_check_of_a_private_key_is_noticed() {
    let fixture = Fixture::new();
    let mut judge = Judge::new(fixture.shared.clone());
    let mut fresh = txn(1, vec![]);
    fresh.private_writes.push(put("fresh"));
    judge.write(&mut [(fresh, None)]).expect("is judged");
    let mut checked = txn(2, vec![put("a")]);
    checked.checks.push((Key::from_static(b"fresh"), crate::txn::ExpectedVersion::Absent));
    let _ = judge.write(&mut [(checked, None)]);
}
