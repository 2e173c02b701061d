//! Oplocks and leases: what is granted, what others break of it, and how long they wait.

use super::*;
use crate::support::with_clock;

const RH: Caching = Caching::RH;
const RWH: Caching = Caching::RWH;

fn looks(request: Create) -> Create {
    access(request, AccessMask::READ_ATTRIBUTES, Rights::ALL)
}

/// What the first, the second and then the third open get of an oplock that each asks for.
#[tokio::test]
async fn oplocks_that_are_granted() {
    let bench = bench().await;
    let smb = bench.smb(1).await;
    for (asked, first) in [
        (OplockLevel::None, OplockLevel::None),
        (OplockLevel::Two, OplockLevel::Two),
        (OplockLevel::Exclusive, OplockLevel::Exclusive),
        (OplockLevel::Batch, OplockLevel::Batch),
    ] {
        let created = smb.share.create(oplock(asked, open_if("f"))).await.unwrap();
        assert_eq!(OplockLevel::of(granted(&created)), first);
        created.file.close().await.unwrap();
        // Beside another open there is a Level II at the most.
        let plain = smb.open(open("f")).await.unwrap();
        let created = smb.share.create(oplock(asked, open("f"))).await.unwrap();
        assert_eq!(granted(&created), asked.caching().both(Caching::R));
        created.file.close().await.unwrap();
        plain.close().await.unwrap();
        let looking = smb.open(looks(open("f"))).await.unwrap();
        let created = smb.share.create(oplock(asked, open("f"))).await.unwrap();
        assert_eq!(OplockLevel::of(granted(&created)), first, "beside one that looks");
        created.file.close().await.unwrap();
        looking.close().await.unwrap();
    }
    let created = smb.share.create(oplock(OplockLevel::Batch, directory("d"))).await.unwrap();
    assert!(granted(&created).is_none(), "a directory has none");
}

/// A second open breaks a batch oplock and waits until its client has written what it keeps.
#[tokio::test]
async fn an_open_breaks_an_oplock_and_waits() {
    let bench = bench().await;
    let (mut one, other) = (bench.smb(1).await, bench.smb(2).await);
    let first = one.open(oplock(OplockLevel::Batch, open_if("f"))).await.unwrap();
    // An open that looks breaks nothing.
    other.open(looks(open("f"))).await.unwrap().close().await.unwrap();
    assert!(one.is_quiet());
    let opening = tokio::spawn(async move {
        let created = other.share.create(oplock(OplockLevel::Batch, open("f"))).await;
        (other, created)
    });
    let notice = Notice::OplockBreak { handle: first.handle(), to: OplockLevel::Two, acknowledge: true };
    assert_eq!(one.notice().await, notice);
    assert!(!opening.is_finished());
    write(&first, 0, b"kept").await.unwrap();
    assert_eq!(told(first.acknowledge_oplock(OplockLevel::Exclusive).await), "InvalidOplockProtocol");
    let (mut other, created) = timeout(PATIENCE, opening).await.unwrap().unwrap();
    let created = created.unwrap();
    // What was acknowledged wrongly is none at all, so the second has a Level II.
    assert_eq!((granted(&created), read_all(&created.file).await), (Caching::R, b"kept".to_vec()));
    assert_eq!(told(first.acknowledge_oplock(OplockLevel::None).await), "InvalidOplockProtocol", "once");
    // A write breaks it without waiting.
    write(&first, 0, b"more").await.unwrap();
    let handle = created.file.handle();
    assert_eq!(
        other.notice().await,
        Notice::OplockBreak { handle, to: OplockLevel::None, acknowledge: false }
    );
    assert!(one.is_quiet());
}

/// One's own write takes one's own Level II; so does a lock.
#[tokio::test]
async fn a_level_two_is_lost_by_writes_and_locks() {
    let bench = bench().await;
    let mut one = bench.smb(1).await;
    for locks in [false, true] {
        let file = one.open(oplock(OplockLevel::Two, open_if("f"))).await.unwrap();
        match locks {
            true => file.lock(&[LockRange { offset: 0, length: 1, exclusive: true }], false).await.unwrap(),
            false => write(&file, 0, b"x").await.unwrap(),
        }
        let handle = file.handle();
        assert_eq!(
            one.notice().await,
            Notice::OplockBreak { handle, to: OplockLevel::None, acknowledge: false }
        );
        file.close().await.unwrap();
    }
    let file = one.open(open("f")).await.unwrap();
    file.lock(&[LockRange { offset: 0, length: 1, exclusive: true }], false).await.unwrap();
    let created = one.share.create(oplock(OplockLevel::Two, open("f"))).await.unwrap();
    assert!(granted(&created).is_none(), "not beside a lock");
}

/// Leases: the state that is held, the act, the state that is left; `!` where the act waits for it ([MS-FSA] 2.1.4.12).
#[tokio::test]
async fn what_acts_break_of_leases() {
    let bench = bench().await;
    let read = |name: &str| access(open(name), AccessMask::READ_DATA, Rights::ALL);
    for (number, (held, act, left)) in [
        (RWH, "open", "!RH"),
        (Caching::RW, "open", "!R"),
        (RH, "open", "="),
        (Caching::R, "open", "="),
        (RWH, "overwrite", "!"),
        (RH, "overwrite", ""),
        (Caching::R, "overwrite", ""),
        (RWH, "conflict", "!RW"),
        (RH, "conflict", "!R"),
        (RH, "write", ""),
        (Caching::R, "write", ""),
        (RH, "delete", "!R"),
        (Caching::R, "delete", "="),
        (RH, "rename", "!R"),
    ]
    .into_iter()
    .enumerate()
    {
        let name = format!("f{number}");
        let (mut one, other) = (bench.smb(1).await, bench.smb(2).await);
        let key = number as u128 + 1;
        // One that stands in the way of a conflict shares nothing but reading.
        let share = if act == "conflict" { Rights::READ } else { Rights::ALL };
        let first = one
            .share
            .create(lease(
                key,
                held,
                access(open_if(&name), AccessMask::READ_DATA.and(AccessMask::WRITE_DATA), share),
            ))
            .await
            .unwrap();
        assert_eq!(granted(&first), held);
        let epoch = match first.caching {
            CachingGranted::Lease { epoch, .. } => epoch,
            _ => 0,
        };
        let (request, name) = (name.clone(), name);
        let acting = tokio::spawn(async move {
            let opened = match act {
                "open" => other.open(read(&request)).await,
                "overwrite" => {
                    other.open(Create { disposition: Disposition::Overwrite, ..read(&request) }).await
                }
                "conflict" => other.open(access(open(&request), AccessMask::WRITE_DATA, Rights::ALL)).await,
                // Another open of the first client's: it breaks no more than H.
                _ => other.open(access(open(&request), AccessMask::FILE_ALL, Rights::ALL)).await,
            };
            let file = opened?;
            match act {
                "write" => write(&file, 0, b"x").await?,
                "delete" => file.set_disposition(true, false).await?,
                "rename" => file.rename(Rename { to: path(&format!("{request}x")), replaces: false }).await?,
                _ => {}
            }
            Ok::<_, Refusal>(file)
        });
        let what = format!("{held:?} {act}");
        if left == "=" {
            timeout(PATIENCE, acting).await.expect(&what).unwrap().unwrap();
            assert!(one.is_quiet(), "{what}");
            continue;
        }
        let waits = left.starts_with('!');
        let to = Caching { read: left.contains('R'), write: left.contains('W'), handle: left.contains('H') };
        let acknowledge = held.write || held.handle;
        let notice = Notice::LeaseBreak { key, from: held, to, epoch: epoch.wrapping_add(1), acknowledge };
        assert_eq!(one.notice().await, notice, "{what}");
        if waits {
            tokio::time::sleep(Duration::from_millis(20)).await;
            assert!(!acting.is_finished(), "{what}");
            assert_eq!(told(one.share.acknowledge_lease(key, RWH).await), "RequestNotAccepted", "{what}");
        }
        if acknowledge {
            assert_eq!(one.share.acknowledge_lease(key, to).await.unwrap(), to, "{what}");
            assert_eq!(told(one.share.acknowledge_lease(key, to).await), "Unsuccessful", "{what}");
        }
        let outcome = timeout(PATIENCE, acting).await.expect(&what).unwrap();
        // Whoever has the file open still stands in the way.
        let expected = if act == "conflict" { "SharingViolation" } else { "ok" };
        assert_eq!(told(outcome), expected, "{what} {name}");
        assert!(one.is_quiet(), "{what}");
    }
}

/// Opens with one key keep one lease: they do not break it, and it grows.
#[tokio::test]
async fn opens_of_one_lease() {
    let bench = bench().await;
    let (mut one, other) = (bench.smb(1).await, bench.smb(2).await);
    let first = one.share.create(lease(7, Caching::R, open_if("f"))).await.unwrap();
    let again = async |state| {
        let created = one.share.create(lease(7, state, open("f"))).await.unwrap();
        (granted(&created), created)
    };
    let (state, second) = again(RWH).await;
    assert_eq!(state, RWH);
    let (state, third) = again(RH).await;
    assert_eq!(state, RWH, "it does not shrink");
    assert!(matches!(third.caching, CachingGranted::Lease { epoch: 2, .. }), "{:?}", third.caching);
    write(&second.file, 0, b"x").await.unwrap();
    assert_eq!(read_all(&third.file).await, b"x");
    // The key is that file's.
    one.open(open_if("g")).await.unwrap();
    if crate::SERVERS == 1 {
        assert_eq!(told(one.open(lease(7, RH, open("g"))).await), "InvalidParameter");
    }
    for file in [first.file, second.file] {
        file.close().await.unwrap();
    }
    assert!(one.is_quiet());
    let opening =
        tokio::spawn(async move { other.share.create(lease(7, RWH, open("f"))).await.map(|c| granted(&c)) });
    assert!(matches!(one.notice().await, Notice::LeaseBreak { key: 7, to: RH, epoch: 3, .. }));
    // The last open of the lease is closed: that is an answer too.
    third.file.close().await.unwrap();
    assert_eq!(timeout(PATIENCE, opening).await.unwrap().unwrap().unwrap(), RWH);
}

/// An application that has closed the file is found out by a break: then the share mode stands against nobody.
#[tokio::test]
async fn a_cached_handle_is_given_up() {
    let bench = bench().await;
    let (mut one, other) = (bench.smb(1).await, bench.smb(2).await);
    let first =
        one.open(lease(7, RH, access(open_if("f"), AccessMask::READ_DATA, Rights::NONE))).await.unwrap();
    let opening = tokio::spawn(async move { other.open(open("f")).await.map(|_| other) });
    assert!(matches!(one.notice().await, Notice::LeaseBreak { to: Caching::R, .. }));
    first.close().await.unwrap();
    timeout(PATIENCE, opening).await.unwrap().unwrap().unwrap();
}

/// A client that does not answer loses all that it keeps after 35 seconds.
#[tokio::test]
async fn a_break_that_nobody_acknowledges() {
    let (bench, clock) = with_clock(Default::default()).await;
    bench.create_share().await;
    let (mut one, other) = (bench.smb(1).await, bench.smb(2).await);
    let first = one.open(oplock(OplockLevel::Batch, open_if("f"))).await.unwrap();
    let opening = tokio::spawn(async move {
        other.share.create(oplock(OplockLevel::Batch, open("f"))).await.map(|c| granted(&c))
    });
    one.notice().await;
    clock.advance(Duration::from_secs(34));
    tokio::time::sleep(Duration::from_millis(250)).await;
    assert!(!opening.is_finished());
    clock.advance(Duration::from_secs(1));
    assert_eq!(timeout(PATIENCE, opening).await.unwrap().unwrap().unwrap(), Caching::R);
    assert_eq!(told(first.acknowledge_oplock(OplockLevel::Two).await), "InvalidOplockProtocol", "too late");
}

/// The same of a lease. The client may ask for it again.
#[tokio::test]
async fn a_lease_that_is_acknowledged_too_late() {
    let (bench, clock) = with_clock(Default::default()).await;
    bench.create_share().await;
    let (mut one, other) = (bench.smb(1).await, bench.smb(2).await);
    let _first = one.open(lease(7, RWH, open_if("f"))).await.unwrap();
    let opening = tokio::spawn(async move { other.open(open("f")).await.map(|file| (other, file)) });
    one.notice().await;
    clock.advance(Duration::from_secs(35));
    let _second = timeout(PATIENCE, opening).await.unwrap().unwrap().unwrap();
    assert_eq!(told(one.share.acknowledge_lease(7, RH).await), "Unsuccessful");
    let again = one.share.create(lease(7, Caching::NONE, open("f"))).await.unwrap();
    assert_eq!(granted(&again), Caching::NONE);
    let again = one.share.create(lease(7, Caching::R, open("f"))).await.unwrap();
    assert_eq!(granted(&again), Caching::R);
}

/// What is broken of what a client has just acknowledged to keep is told it, whatever comes first.
#[tokio::test]
async fn a_break_right_behind_an_acknowledgement() {
    let bench = bench().await;
    let (mut one, other) = (bench.smb(1).await, bench.smb(2).await);
    for round in 0..20 {
        let name = format!("f{round}");
        let first = one.open(oplock(OplockLevel::Batch, open_if(&name))).await.unwrap();
        let (share, wanted) = (other.share.clone(), open(&name));
        let writing = tokio::spawn(async move {
            let file = share.create(wanted).await.unwrap().file;
            file.write(0, bytes::Bytes::from_static(b"x")).await.unwrap();
        });
        let broken =
            |to| Notice::OplockBreak { handle: first.handle(), to, acknowledge: to == OplockLevel::Two };
        assert_eq!(one.notice().await, broken(OplockLevel::Two));
        assert_eq!(first.acknowledge_oplock(OplockLevel::Two).await.unwrap(), OplockLevel::Two);
        assert_eq!(timeout(PATIENCE, one.notice()).await.unwrap(), broken(OplockLevel::None));
        writing.await.unwrap();
    }
}

/// A handle that a client keeps for an application which has closed the file does not keep it from being deleted.
#[tokio::test]
async fn an_open_to_delete_asks_for_kept_handles() {
    let bench = bench().await;
    let (mut one, other) = (bench.smb(1).await, bench.smb(2).await);
    let kept = one.open(lease(7, RH, open_if("f"))).await.unwrap();
    let mut request = open("f");
    request.options.delete_on_close = true;
    let deleting = tokio::spawn(async move {
        other.open(request).await.unwrap().close().await.unwrap();
        other
    });
    assert!(matches!(one.notice().await, Notice::LeaseBreak { to: Caching::R, acknowledge: true, .. }));
    kept.close().await.unwrap();
    let other = timeout(PATIENCE, deleting).await.unwrap().unwrap();
    assert_eq!(told(other.open(open("f")).await), "ObjectNameNotFound");
}

/// To stop waiting for a break leaves nothing open.
#[tokio::test]
async fn an_open_that_is_cancelled() {
    let bench = bench().await;
    let (mut one, other) = (bench.smb(1).await, bench.smb(2).await);
    let first = one.open(oplock(OplockLevel::Batch, open_if("f"))).await.unwrap();
    assert!(timeout(Duration::from_millis(100), other.open(open("f"))).await.is_err());
    one.notice().await;
    first.acknowledge_oplock(OplockLevel::Two).await.unwrap();
    tokio::time::sleep(Duration::from_millis(300)).await;
    first.close().await.unwrap();
    let keys = bench.keys().await;
    assert!(!keys.iter().any(|key| key.starts_with('O')), "{keys:?}");
}
