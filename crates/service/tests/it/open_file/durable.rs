//! Opens that outlive their connection.

use super::*;
use crate::support::with_clock;

const GUID: u128 = 77;

fn second(timeout: Duration, request: Create) -> Create {
    Create { durable: Some(DurableWanted::Two { create_guid: GUID, timeout }), ..request }
}

fn again(file: &OpenFile, name: &str) -> Reconnect {
    Reconnect { handle: file.handle(), create_guid: None, lease_key: None, path: path(name) }
}

#[tokio::test]
async fn an_open_survives_its_connection() {
    let bench = bench().await;
    let one = bench.smb(1).await;
    let request = Create { durable: Some(DurableWanted::One), ..oplock(OplockLevel::Batch, open_if("f")) };
    let created = one.share.create(request).await.unwrap();
    assert!(created.durable.is_some());
    let file = created.file;
    write(&file, 0, b"bytes").await.unwrap();
    file.lock(&[LockRange { offset: 0, length: 1, exclusive: true }], false).await.unwrap();
    let one = bench.smb(1).await;
    assert_eq!(told(one.share.reconnect(again(&file, "f")).await), "ObjectNameNotFound", "it is connected");
    file.disconnect().await;
    assert_eq!(told(file.close().await), "FileClosed", "it is not this connection's any more");
    let wrong = Reconnect { create_guid: Some(1), ..again(&file, "f") };
    assert_eq!(told(one.share.reconnect(wrong).await), "ObjectNameNotFound");
    let wrong = Reconnect { lease_key: Some(1), ..again(&file, "f") };
    assert_eq!(told(one.share.reconnect(wrong).await), "ObjectNameNotFound");
    let wrong = Reconnect { handle: 1, ..again(&file, "f") };
    assert_eq!(told(one.share.reconnect(wrong).await), "ObjectNameNotFound");
    let back = one.share.reconnect(again(&file, "f")).await.unwrap();
    assert_eq!((back.file.handle(), granted(&back)), (file.handle(), Caching::RWH));
    assert_eq!(read_all(&back.file).await, b"bytes");
    back.file.unlock(&[(0, 1)]).await.unwrap();
    back.file.close().await.unwrap();
    let keys = bench.keys().await;
    assert!(!keys.iter().any(|key| key.starts_with(['O', 'Z'])), "{keys:?}");
}

/// Nothing is kept for one that does not keep handles; of a lease, the client, the key and the path must be right.
#[tokio::test]
async fn what_is_durable_and_who_may_come_back() {
    let bench = bench().await;
    let (one, stranger) = (bench.smb(1).await, bench.smb(2).await);
    let timeout = Duration::from_secs(500);
    for (request, is_durable) in [
        (second(timeout, open_if("f")), false),
        (second(timeout, oplock(OplockLevel::Exclusive, open_if("f"))), false),
        (second(timeout, lease(7, Caching::R, open_if("f"))), false),
        (second(timeout, lease(7, Caching::RH, open_if("f"))), true),
    ] {
        let created = one.share.create(request).await.unwrap();
        assert_eq!(created.durable.is_some(), is_durable);
        if let Some(durable) = created.durable {
            assert_eq!(durable.timeout, Duration::from_secs(300), "not longer");
        }
        created.file.disconnect().await;
        let back = Reconnect { create_guid: Some(GUID), lease_key: Some(7), ..again(&created.file, "f") };
        for wrong in [
            Reconnect { create_guid: Some(GUID + 1), ..back.clone() },
            Reconnect { create_guid: Some(0), ..back.clone() },
            Reconnect { lease_key: None, ..back.clone() },
            Reconnect { lease_key: Some(8), ..back.clone() },
        ] {
            assert_eq!(told(one.share.reconnect(wrong).await), "ObjectNameNotFound");
        }
        assert_eq!(told(stranger.share.reconnect(back.clone()).await), "ObjectNameNotFound");
        if is_durable {
            let wrong = Reconnect { path: path("g"), ..back.clone() };
            assert_eq!(told(one.share.reconnect(wrong).await), "InvalidParameter");
        }
        assert_eq!(one.share.reconnect(back).await.is_ok(), is_durable);
    }
}

/// An open that would have to be asked for something, and cannot be, is closed.
#[tokio::test]
async fn who_comes_in_between_ends_it() {
    let bench = bench().await;
    let (one, other) = (bench.smb(1).await, bench.smb(2).await);
    let durable = async |name: &str, request: fn(Create) -> Create| {
        let file = one.open(second(Duration::ZERO, request(open_if(name)))).await.unwrap();
        file.disconnect().await;
        file
    };
    let come_back = async |file: &OpenFile, name: &str, key| {
        let back = Reconnect { create_guid: Some(GUID), lease_key: key, ..again(file, name) };
        told(one.share.reconnect(back).await)
    };
    // A second open breaks a batch oplock.
    let file = durable("a", |request| oplock(OplockLevel::Batch, request)).await;
    other.open(open("a")).await.unwrap();
    assert_eq!(come_back(&file, "a", None).await, "ObjectNameNotFound");
    // A reader does not break RH.
    let file = durable("b", |request| lease(7, Caching::RH, request)).await;
    other.open(access(open("b"), AccessMask::READ_DATA, Rights::ALL)).await.unwrap();
    assert_eq!(come_back(&file, "b", Some(7)).await, "ok");
    // An open that its share mode stands against does, and is let in.
    let file =
        durable("c", |request| lease(8, Caching::RH, access(request, AccessMask::FILE_ALL, Rights::NONE)))
            .await;
    other.open(open("c")).await.unwrap();
    assert_eq!(come_back(&file, "c", Some(8)).await, "ObjectNameNotFound");
    // So do a deletion over REST, and a write.
    let file = durable("d", |request| oplock(OplockLevel::Batch, request)).await;
    bench.delete_path("d").await.unwrap();
    assert_eq!(come_back(&file, "d", None).await, "ObjectNameNotFound");
    let file = durable("e", |request| lease(9, Caching::RH, request)).await;
    bench.make_file("e", 10).await.unwrap();
    assert_eq!(come_back(&file, "e", Some(9)).await, "ObjectNameNotFound");
}

/// Nobody comes back in time: from then on the open counts for nothing, and the sweeper closes it.
#[tokio::test]
async fn a_durable_open_has_its_time() {
    let (bench, clock) = with_clock(Default::default()).await;
    bench.create_share().await;
    let one = bench.smb(1).await;
    let alone = access(open_if("f"), AccessMask::FILE_ALL, Rights::NONE);
    let request = second(Duration::from_secs(10), lease(7, Caching::RH, alone));
    let options = CreateOptions { delete_on_close: true, ..CreateOptions::default() };
    let file = one.open(Create { options, ..request }).await.unwrap();
    file.disconnect().await;
    clock.advance(Duration::from_secs(9));
    bench.sweep().await;
    let back = Reconnect { create_guid: Some(GUID), lease_key: Some(7), ..again(&file, "f") };
    let created = one.share.reconnect(back.clone()).await.unwrap();
    created.file.disconnect().await;
    clock.advance(Duration::from_secs(10));
    assert_eq!(told(one.share.reconnect(back).await), "ObjectNameNotFound");
    bench.sweep().await;
    assert_eq!(told(one.open(open("f")).await), "ObjectNameNotFound", "it was to go with its open");
    let keys = bench.keys().await;
    assert!(!keys.iter().any(|key| key.starts_with(['O', 'Q', 'Z'])), "{keys:?}");
}

/// The sweeper has seen that the time is over, and the client has come back meanwhile: the open stays, and so does the file that was to go
/// with it.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn who_comes_back_beside_the_sweeper_stays() {
    let (bench, clock) = with_clock(Default::default()).await;
    bench.create_share().await;
    let one = bench.smb(1).await;
    let mut back_in_time = 0;
    for round in 0..60 {
        let name = format!("f{round}");
        let request = second(Duration::from_secs(10), lease(7 + round, Caching::RH, open_if(&name)));
        let options = CreateOptions { delete_on_close: true, ..CreateOptions::default() };
        let file = one.open(Create { options, ..request }).await.unwrap();
        file.disconnect().await;
        let back = Reconnect { create_guid: Some(GUID), lease_key: Some(7 + round), ..again(&file, &name) };
        let sweep = async {
            for _ in 0..round % 6 {
                tokio::task::yield_now().await;
            }
            // Where reading takes round trips, a client takes that long to come back.
            if round % 2 == 1 {
                tokio::time::sleep(Duration::from_millis(u64::try_from(round).unwrap())).await;
            }
            clock.advance(Duration::from_secs(10));
            bench.sweep().await;
        };
        let (created, ()) = tokio::join!(one.share.reconnect(back), sweep);
        let Ok(created) = created else { continue };
        back_in_time += 1;
        bench.sweep().await;
        write(&created.file, 0, b"bytes").await.expect("its client was told that it is back");
        created.file.close().await.unwrap();
    }
    assert!(back_in_time > 0, "none came back in time: nothing was tried");
}
