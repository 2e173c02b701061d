//! A store is copied to another engine, whole or not at all.

use std::panic::AssertUnwindSafe;
use std::sync::atomic::{AtomicU64, Ordering};

use futures_util::FutureExt as _;
use lazuli_engine::{Engine, Host, Options};
use lazuli_model::time::Timestamp;
use lazuli_service::blob::BlockSource;
use lazuli_service::moving::{MoveError, Moved, is_unfinished, move_store};
use lazuli_service::{Members, ServiceOptions, Services};

use crate::support::{Bench, at};
use crate::testing::Servers;

const MIB: usize = 1 << 20;

fn bytes(length: usize, seed: usize) -> Vec<u8> {
    (0..length).map(|at| (at * 31 + at / 255 + seed) as u8).collect()
}

/// One of every kind of content, and the moment of a snapshot.
async fn filled() -> (Bench, Timestamp) {
    let bench = Bench::new().await;
    bench.put("small", b"few").await.unwrap();
    bench.put("large", &bytes(9 * MIB, 1)).await.unwrap();
    let moment = bench.snapshot("large").await.unwrap();
    bench.put("large", &bytes(5 * MIB, 2)).await.unwrap();
    for id in ["a1", "a2", "a3"] {
        bench.put_block("listed", id, &bytes(MIB, id.len())).await.unwrap();
    }
    let blocks = ["a1", "a2", "a3"].map(|id| (BlockSource::Latest, id));
    bench.put_block_list("listed", &blocks).await.unwrap();
    bench.put_block("listed", "a4", &bytes(MIB, 4)).await.unwrap();
    bench.create_append_blob("log").await.unwrap();
    for number in 0..40 {
        bench.append("log", &bytes(40_000, number)).await.unwrap();
    }
    bench.create_pages("disk", 4096).await;
    bench.put_pages("disk", 100, 256, 7).await.unwrap();
    // A chunk that two intervals share.
    bench.put_pages("disk", 200, 8, 8).await.unwrap();
    (bench, moment)
}

async fn assert_same(bench: &Bench, moment: Timestamp) {
    assert_eq!(bench.get("small", None).await.unwrap(), b"few");
    assert!(bench.get("large", None).await.unwrap() == bytes(5 * MIB, 2));
    assert!(bench.get("large", Some(moment)).await.unwrap() == bytes(9 * MIB, 1));
    let listed: Vec<u8> = (0..3).flat_map(|_| bytes(MIB, 2)).collect();
    assert!(bench.get("listed", None).await.unwrap() == listed);
    let log: Vec<u8> = (0..40).flat_map(|number| bytes(40_000, number)).collect();
    assert!(bench.get("log", None).await.unwrap() == log);
    let disk = bench.get("disk", None).await.unwrap();
    assert_eq!((disk.len(), disk[100 * 512], disk[200 * 512], disk[208 * 512]), (4096 * 512, 7, 8, 7));
}

async fn over(engine: Engine, context: &lazuli_service::Context) -> Bench {
    let services = Servers::new(engine, ServiceOptions::default(), crate::SERVERS).await;
    Bench { services, context: context.clone() }
}

fn nothing(_: Moved) {}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn everything_is_there_and_on_its_own_feet() {
    let (bench, moment) = filled().await;
    let place = tempfile::tempdir().unwrap();
    let to = Engine::open(place.path(), Options::default(), Host::real()).unwrap();
    let from = bench.services.engine().clone();
    let moved = move_store(&from, &to, &nothing).await.unwrap();
    assert!(moved.chunks > 5 && moved.rows == moved.of && moved.verified == moved.of, "{moved:?}");
    let there = over(to.clone(), &bench.context).await;
    assert_same(&there, moment).await;
    assert_eq!(there.keys().await.len(), bench.keys().await.len());
    // What is uncommitted came along, and what is replaced gives its bytes back.
    there.put_block_list("listed", &[(BlockSource::Uncommitted, "a4")]).await.unwrap();
    assert!(there.get("listed", None).await.unwrap() == bytes(MIB, 4));
    for name in ["large", "listed"] {
        there.put(name, b"x").await.unwrap();
    }
    there.sweep().await;
    let left = to.extents().stats().live_bytes;
    assert!(left < 12 * MIB as u64, "the snapshot, the log and the disk are left, not {left}");
    assert_same(&bench, moment).await;
    // And to an engine of another kind again.
    let back = Engine::memory(Host::real());
    move_store(&from, &back, &nothing).await.unwrap();
    assert_same(&over(back, &bench.context).await, moment).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_that_was_interrupted_goes_on() {
    let (bench, moment) = filled().await;
    let from = bench.services.engine().clone();
    let place = tempfile::tempdir().unwrap();
    let to = Engine::open(place.path(), Options::default(), Host::real()).unwrap();
    let mut interrupted = 0;
    for patience in 1..1_000 {
        let (told, enough) = (AtomicU64::new(0), tokio::sync::Notify::new());
        let tell = |_: Moved| {
            if told.fetch_add(1, Ordering::Relaxed) + 1 == patience {
                enough.notify_one();
            }
        };
        let done = tokio::select! {
            biased;
            () = enough.notified() => None,
            done = move_store(&from, &to, &tell) => Some(done.unwrap()),
        };
        if let Some(moved) = done {
            assert_eq!((moved.rows, moved.verified), (moved.of, moved.of), "also what earlier tries moved");
            assert!(moved.chunks > 5, "also those whose notes earlier tries deleted: {moved:?}");
            break;
        }
        interrupted += 1;
        assert!(is_unfinished(&to).await.unwrap());
    }
    assert!(interrupted > 3, "it was never interrupted");
    assert!(!is_unfinished(&to).await.unwrap());
    let again = move_store(&from, &to, &nothing).await;
    assert!(matches!(again, Err(MoveError::Refused(why)) if why.contains("not empty")));
    assert_same(&over(to, &bench.context).await, moment).await;
}

/// Everything was compared, and it ended before the notes were deleted.
async fn interrupted_when_all_was_compared(from: &Engine, to: &Engine) {
    let tell = |_: Moved| {
        if is_compared(to) {
            std::panic::resume_unwind(Box::new(()));
        }
    };
    let ended = AssertUnwindSafe(move_store(from, to, &tell)).catch_unwind().await;
    assert!(ended.is_err(), "it was not interrupted: {ended:?}");
}

fn is_compared(to: &Engine) -> bool {
    let place = async {
        let reader = to.reader().await.unwrap();
        reader.get_untracked(lazuli_service::store::key::move_place()).await.unwrap()
    };
    let place = tokio::task::block_in_place(|| tokio::runtime::Handle::current().block_on(place));
    place.is_some_and(|place| place.value[0] == 3)
}

/// The old store may serve while a move of it is interrupted. What it acknowledges then is not lost silently.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_written_behind_the_comparison_is_not_called_moved() {
    let (bench, moment) = filled().await;
    let from = bench.services.engine().clone();
    let to = Engine::memory(Host::real());
    interrupted_when_all_was_compared(&from, &to).await;
    // Without a write it goes on, and tells what was moved.
    let untouched = Engine::memory(Host::real());
    interrupted_when_all_was_compared(&from, &untouched).await;
    let moved = move_store(&from, &untouched, &nothing).await.unwrap();
    let whole = move_store(&from, &Engine::memory(Host::real()), &nothing).await.unwrap();
    assert_eq!(moved, whole);
    assert_same(&over(untouched, &bench.context).await, moment).await;
    bench.put("small", b"new").await.unwrap();
    let again = move_store(&from, &to, &nothing).await;
    assert!(matches!(&again, Err(MoveError::Refused(why)) if why.contains("was written since")), "{again:?}");
    assert!(is_unfinished(&to).await.unwrap());
}

/// Waits for what a test does while a move tells how far it is.
fn now<T>(work: impl Future<Output = T>) -> T {
    tokio::task::block_in_place(|| tokio::runtime::Handle::current().block_on(work))
}

/// Every row was read to be compared, and its chunks are read now: no comparison sees a write any more.
fn all_rows_are_compared(moved: Moved) -> bool {
    moved.verified > 0 && moved.verified == moved.of
}

fn refusal(moved: Result<Moved, MoveError>) -> String {
    match moved {
        Err(MoveError::Refused(why)) => why,
        other => panic!("not refused: {other:?}"),
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_written_during_the_comparison_is_not_called_moved() {
    let (bench, _) = filled().await;
    let from = bench.services.engine().clone();
    let to = Engine::memory(Host::real());
    let written = AtomicU64::new(0);
    let tell = |moved: Moved| {
        if all_rows_are_compared(moved) && written.fetch_add(1, Ordering::Relaxed) == 0 {
            now(bench.put("small", b"new")).unwrap();
        }
    };
    let why = refusal(move_store(&from, &to, &tell).await);
    assert!(why.contains("written to during the move"), "{why}");
    assert!(is_unfinished(&to).await.unwrap(), "no server starts over it");
    // A later try finds it too.
    refusal(move_store(&from, &to, &nothing).await);
    assert!(is_unfinished(&to).await.unwrap());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_that_is_started_during_the_comparison_is_noticed() {
    let (bench, _) = filled().await;
    let from = bench.services.engine().clone();
    let options = ServiceOptions { members: Members::Several, ..ServiceOptions::default() };
    let server = Services::new(from.clone(), options);
    let to = Engine::memory(Host::real());
    let tell = |moved: Moved| {
        if all_rows_are_compared(moved) {
            now(server.join()).unwrap();
        }
    };
    let why = refusal(move_store(&from, &to, &tell).await);
    assert!(why.contains("1 servers work over"), "{why}");
    assert!(is_unfinished(&to).await.unwrap() && !is_compared(&to));
    // It wrote nothing and has left: the move goes on.
    server.leave().await.unwrap();
    move_store(&from, &to, &nothing).await.unwrap();
}

/// The deletion of the notes is part of the move: what is written then is found before the last of them is gone.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_written_while_the_notes_are_deleted_is_not_called_moved() {
    for only_joins in [false, true] {
        let (bench, _) = filled().await;
        let from = bench.services.engine().clone();
        let options = ServiceOptions { members: Members::Several, ..ServiceOptions::default() };
        let server = Services::new(from.clone(), options);
        let to = Engine::memory(Host::real());
        let done = AtomicU64::new(0);
        let tell = |_: Moved| {
            if is_compared(&to) && done.fetch_add(1, Ordering::Relaxed) == 0 {
                match only_joins {
                    true => now(server.join()).unwrap(),
                    false => drop(now(bench.put("small", b"new")).unwrap()),
                }
            }
        };
        let why = refusal(move_store(&from, &to, &tell).await);
        let expected = if only_joins { "1 servers work over" } else { "written to during the move" };
        assert!(why.contains(expected), "{why}");
        assert!(is_unfinished(&to).await.unwrap());
    }
}

/// A row that was deleted where it is moved from, after it was copied, and behind which there is none of its part.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_was_deleted_meanwhile_does_not_come_along() {
    for key in [&b"dlast"[..], b"f0123456789abcdef", b"\xfelast"] {
        let (bench, _) = filled().await;
        let from = bench.services.engine().clone();
        let to = Engine::memory(Host::real());
        let added = AtomicU64::new(0);
        let tell = |moved: Moved| {
            if moved.rows == moved.of && moved.verified == 0 && added.fetch_add(1, Ordering::Relaxed) == 0 {
                let mut txn = lazuli_engine::Txn::new(to.new_txn_id());
                txn.writes
                    .push(lazuli_engine::Write::Put(lazuli_engine::Key::from_static(key), vec![1].into()));
                now(to.commit(txn)).unwrap();
            }
        };
        let moved = move_store(&from, &to, &tell).await;
        assert!(matches!(moved, Err(MoveError::Refused(_))), "{}: {moved:?}", key.escape_ascii());
        assert!(added.load(Ordering::Relaxed) > 0);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_differs_is_found() {
    let (bench, _) = filled().await;
    let from = bench.services.engine().clone();
    let to = Engine::memory(Host::real());
    let tell = |moved: Moved| {
        // All is copied, and not yet compared: a row changes.
        if moved.rows == moved.of && moved.verified == 0 {
            let to = to.clone();
            let spoil = async move {
                let mut txn = lazuli_engine::Txn::new(to.new_txn_id());
                let key = lazuli_engine::Key::from_static(b"cacct\0c");
                txn.writes.push(lazuli_engine::Write::Put(key, b"other".to_vec().into()));
                to.commit(txn).await.unwrap();
            };
            tokio::task::block_in_place(|| tokio::runtime::Handle::current().block_on(spoil));
        }
    };
    let moved = move_store(&from, &to, &tell).await;
    assert!(matches!(moved, Err(MoveError::Refused(why)) if why.contains("not moved as it is")));
    assert_eq!(at("small").container, "c");
}
