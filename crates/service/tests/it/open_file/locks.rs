//! Byte-range locks.

use super::*;
use crate::tree::code;
use lazuli_model::error::ErrorCode;

fn exclusive(offset: u64, length: u64) -> [LockRange; 1] {
    [LockRange { offset, length, exclusive: true }]
}

fn shared(offset: u64, length: u64) -> [LockRange; 1] {
    [LockRange { offset, length, exclusive: false }]
}

#[tokio::test]
async fn locks_keep_others_out() {
    let bench = bench().await;
    let (one, other) = (bench.smb(1).await, bench.smb(2).await);
    let file = one.open(open_if("f")).await.unwrap();
    write(&file, 0, &[1; 100]).await.unwrap();
    let second = other.open(open("f")).await.unwrap();
    file.lock(&exclusive(10, 10), false).await.unwrap();
    for (outcome, expected) in [
        (told(second.lock(&shared(19, 1), false).await), "LockNotGranted"),
        (told(second.lock(&exclusive(20, 5), false).await), "ok"),
        (told(second.read(0, 10).await), "ok"),
        (told(second.read(0, 11).await), "FileLockConflict"),
        (told(write(&second, 19, b"x").await), "FileLockConflict"),
        (told(write(&file, 15, b"x").await), "ok"),
        (told(file.read(0, 20).await), "ok"),
        (told(file.read(0, 21).await), "FileLockConflict"),
        (told(second.set_end_of_file(15).await), "FileLockConflict"),
        (told(second.zero_range(0..11).await), "FileLockConflict"),
        (told(second.unlock(&[(10, 10)]).await), "RangeNotLocked"),
        (
            told(second.lock(&[LockRange { offset: u64::MAX, length: 2, exclusive: true }], false).await),
            "InvalidLockRange",
        ),
    ] {
        assert_eq!(outcome, expected);
    }
    // Two ranges of which one cannot be had: none is.
    let both = [exclusive(50, 1)[0], exclusive(12, 1)[0]];
    assert_eq!(told(second.lock(&both, false).await), "LockNotGranted");
    file.lock(&exclusive(50, 1), false).await.unwrap();
    // REST sees them too.
    assert_eq!(code(bench.write_range("f", 90..91, 7).await).map(drop), Err(ErrorCode::FileLockConflict));
    file.unlock(&[(10, 10), (50, 1)]).await.unwrap();
    second.lock(&shared(10, 10), false).await.unwrap();
    file.lock(&shared(10, 10), false).await.unwrap();
    assert_eq!(told(write(&file, 10, b"x").await), "FileLockConflict", "a shared lock lets nobody write");
    // They go with their open.
    second.close().await.unwrap();
    file.unlock(&[(10, 10)]).await.unwrap();
    file.lock(&exclusive(0, 100), false).await.unwrap();
    file.close().await.unwrap();
    bench.write_range("f", 0..1, 7).await.unwrap();
}

/// Who waits for a lock has it when the other unlocks, or closes; who stops waiting has nothing.
#[tokio::test]
async fn a_lock_is_waited_for() {
    let bench = bench().await;
    let (one, other) = (bench.smb(1).await, bench.smb(2).await);
    let file = one.open(open_if("f")).await.unwrap();
    let second = other.open(open("f")).await.unwrap();
    file.lock(&exclusive(0, 10), false).await.unwrap();
    let waiting = {
        let second = second.clone();
        tokio::spawn(async move { second.lock(&exclusive(5, 1), true).await })
    };
    tokio::time::sleep(Duration::from_millis(50)).await;
    assert!(!waiting.is_finished());
    file.unlock(&[(0, 10)]).await.unwrap();
    timeout(PATIENCE, waiting).await.unwrap().unwrap().unwrap();
    assert_eq!(told(file.lock(&exclusive(5, 1), false).await), "LockNotGranted");
    // Cancelled: the range is free when the other unlocks it.
    assert!(timeout(Duration::from_millis(150), file.lock(&exclusive(5, 1), true)).await.is_err());
    second.unlock(&[(5, 1)]).await.unwrap();
    tokio::time::sleep(Duration::from_millis(300)).await;
    second.lock(&exclusive(5, 1), false).await.unwrap();
    let waiting = {
        let file = file.clone();
        tokio::spawn(async move { file.lock(&exclusive(5, 1), true).await })
    };
    tokio::time::sleep(Duration::from_millis(50)).await;
    second.close().await.unwrap();
    timeout(PATIENCE, waiting).await.unwrap().unwrap().unwrap();
}

/// One range, many clients: never two at a time.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_exclusive_lock_has_one_owner() {
    use std::sync::atomic::{AtomicU32, Ordering};
    let bench = bench().await;
    bench.smb(1).await.open(open_if("f")).await.unwrap().close().await.unwrap();
    let inside = std::sync::Arc::new(AtomicU32::new(0));
    let mut clients = tokio::task::JoinSet::new();
    for guid in 0..4 {
        let (smb, inside) = (bench.smb(guid).await, inside.clone());
        clients.spawn(async move {
            let file = smb.open(open("f")).await.unwrap();
            for _ in 0..5 {
                file.lock(&exclusive(0, 1), true).await.unwrap();
                assert_eq!(inside.fetch_add(1, Ordering::SeqCst), 0);
                tokio::task::yield_now().await;
                inside.fetch_sub(1, Ordering::SeqCst);
                file.unlock(&[(0, 1)]).await.unwrap();
            }
        });
    }
    timeout(PATIENCE, clients.join_all()).await.unwrap();
}
