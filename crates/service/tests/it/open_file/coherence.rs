//! Clients that keep what they write in their memory, as their leases let them, beside readers over REST: what one has written in its
//! memory is seen by whoever asks later.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::*;
use crate::tree::at;

const CLIENTS: u128 = 4;
const ROUNDS: usize = 12;

async fn number(file: &OpenFile) -> u64 {
    u64::from_be_bytes(read_all(file).await.try_into().unwrap())
}

/// Counts up by one in its memory while it holds a lease to write; writes it back when it is asked, or when it is done.
async fn count_up(smb: &mut Smb, key: u128, counted: &AtomicU64, round: usize) {
    while smb.notices.try_recv().is_ok() {}
    let created =
        timeout(PATIENCE, smb.share.create(lease(key, Caching::RWH, open("f")))).await.unwrap().unwrap();
    if granted(&created).write {
        let next = number(&created.file).await + 1;
        counted.fetch_add(1, Ordering::SeqCst);
        let pause = Duration::from_millis((key as u64 * 7 + round as u64 * 3) % 10);
        let asked = timeout(pause, smb.notices.recv()).await;
        write(&created.file, 0, &next.to_be_bytes()).await.unwrap();
        if let Ok(Some(Notice::LeaseBreak { to, .. })) = asked {
            // Of a lease from before there is nothing to acknowledge.
            drop(smb.share.acknowledge_lease(key, to).await);
        }
    }
    created.file.close().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_that_was_written_in_memory_is_missed() {
    let bench = Arc::new(bench().await);
    let file = bench.smb(0).await.open(open_if("f")).await.unwrap();
    write(&file, 0, &0_u64.to_be_bytes()).await.unwrap();
    file.close().await.unwrap();
    let counted = Arc::new(AtomicU64::new(0));
    let mut clients = tokio::task::JoinSet::new();
    for key in 1..=CLIENTS {
        let (mut smb, counted) = (bench.smb(key).await, Arc::clone(&counted));
        clients.spawn(async move {
            for round in 0..ROUNDS {
                count_up(&mut smb, key, &counted, round).await;
            }
        });
    }
    let reader = {
        let (bench, counted) = (Arc::clone(&bench), Arc::clone(&counted));
        tokio::spawn(async move {
            for _ in 0..20 {
                let before = counted.load(Ordering::SeqCst);
                let read = timeout(PATIENCE, bench.read_file(&at("f", None))).await.unwrap().unwrap();
                let read = u64::from_be_bytes(read.try_into().unwrap());
                assert!(read >= before, "{read} after {before} were counted");
                tokio::time::sleep(Duration::from_millis(3)).await;
            }
        })
    };
    timeout(PATIENCE * 3, clients.join_all()).await.unwrap();
    reader.await.unwrap();
    let read = bench.read_file(&at("f", None)).await.unwrap();
    let all = counted.load(Ordering::SeqCst);
    assert_eq!(u64::from_be_bytes(read.try_into().unwrap()), all);
    assert!(all > 0, "somebody could write");
    let keys = bench.keys().await;
    assert!(!keys.iter().any(|key| key.starts_with(['O', 'Q', 'Z'])), "{keys:?}");
}
