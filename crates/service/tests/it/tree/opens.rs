//! Opens are rows: operations are judged by them, on whichever server, and those of dead servers end.

use lazuli_model::admission::sharing::{ByteRangeLock, Open, Rights};
use lazuli_model::admission::{LeaseAction, LeaseDuration};
use lazuli_model::smb::{FileAttributes, Wish};
use lazuli_service::store::key::Incarnation;
use lazuli_service::store::{NewOpen, Unit};

use super::*;

fn new_open(access: Rights, share: Rights, server: Incarnation) -> NewOpen {
    NewOpen {
        path: "d/f".into(),
        session: 7,
        client_address: "127.0.0.1".into(),
        opened: Timestamp(1),
        ..NewOpen::new(Open { access, share, ..Open::default() }, server)
    }
}

async fn bench() -> Bench {
    let bench = Bench::new().await;
    bench.create_share().await;
    bench.make_directory("d").await.unwrap();
    bench.make_file("d/f", 100).await.unwrap();
    bench
}

impl Bench {
    async fn open_path(&self, name: &str, new: &NewOpen) -> Answer<u64> {
        let at = &at(name, None);
        let open = |unit: Unit| async move {
            unit.path(at).await?.admit(Attend, &given())?.present()?.open(new).await
        };
        self.services.commit(&self.context, open).await
    }

    async fn open_smb(&self, name: &str, access: Rights, share: Rights) -> Answer<u64> {
        // A server that is there, so that the sweeper lets it be.
        let server = self.services.all()[0].incarnation();
        self.open_path(name, &new_open(access, share, server)).await
    }

    async fn close(&self, name: &str, handle: u64) -> Answer<bool> {
        let at = &at(name, None);
        let close = |unit: Unit| async move { unit.path(at).await?.attend()?.close(handle).await };
        self.services.commit(&self.context, close).await
    }

    async fn lock(&self, name: &str, handle: u64, range: Range<u64>, exclusive: bool) -> Answer<bool> {
        let (at, lock) = (
            &at(name, None),
            &ByteRangeLock { offset: range.start, length: range.end - range.start, exclusive },
        );
        let change =
            |unit: Unit| async move { unit.path(at).await?.attend()?.lock(handle, lock.clone()).await };
        self.services.commit(&self.context, change).await
    }

    async fn set_pending(&self, name: &str, pending: bool) -> Answer<()> {
        let at = &at(name, None);
        let set =
            |unit: Unit| async move { unit.path(at).await?.attend()?.set_delete_pending(pending).await };
        self.services.commit(&self.context, set).await
    }

    async fn lease_path(&self, name: &str, begins: bool) -> Answer<()> {
        let at = &at(name, None);
        let (acquire, release) = (
            LeaseAction::Acquire { proposed: Some(ID), duration: LeaseDuration::Infinite },
            LeaseAction::Release { id: ID },
        );
        let action = if begins { &acquire } else { &release };
        let given = &Preconditions { begins_lease: begins, ..given() };
        let act = |unit: Unit| async move {
            unit.path(at).await?.admit(Lease, given)?.lease(action, ID).await.map(drop)
        };
        self.services.commit(&self.context, act).await
    }

    /// What each kind of operation is told.
    async fn answers(&self, name: &str) -> [Result<(), ErrorCode>; 6] {
        [
            code(self.look(&at(name, None)).await).map(drop),
            code(self.read_file(&at(name, None)).await).map(drop),
            code(self.write_range(name, 0..1, 7).await).map(drop),
            code(self.make_file(name, 100).await).map(drop),
            code(self.rename_path(name, "d/other", false).await).map(drop),
            code(self.delete_path(name).await),
        ]
    }
}

const ID: LeaseId = LeaseId(uuid::Uuid::from_u128(1));
const BUSY: Result<(), ErrorCode> = Err(ErrorCode::SharingViolation);

/// The open is judged by the commit of each operation, and the operation by the commit of the open.
#[tokio::test]
async fn operations_are_judged_by_the_opens_of_the_file() {
    let bench = bench().await;
    let handle = bench.open_smb("d/f", Rights::READ, Rights::NONE).await.unwrap();
    assert_eq!(bench.answers("d/f").await, [Ok(()), BUSY, BUSY, BUSY, BUSY, BUSY]);
    assert_eq!(code(bench.open_smb("d/f", Rights::READ, Rights::ALL).await).map(drop), BUSY);
    assert!(bench.close("d/f", handle).await.unwrap());
    assert!(!bench.close("d/f", handle).await.unwrap(), "it is closed");
    let handle = bench.open_smb("d/f", Rights::READ, Rights::READ.and(Rights::WRITE)).await.unwrap();
    assert_eq!(bench.answers("d/f").await, [Ok(()), Ok(()), Ok(()), BUSY, BUSY, BUSY]);
    // The lease is an open too.
    assert_eq!(code(bench.lease_path("d/f", true).await), BUSY);
    assert!(bench.close("d/f", handle).await.unwrap());
    bench.lease_path("d/f", true).await.unwrap();
    assert_eq!(code(bench.open_smb("d/f", Rights::WRITE, Rights::ALL).await).map(drop), BUSY);
    let handle = bench.open_smb("d/f", Rights::READ, Rights::ALL).await.unwrap();
    bench.lease_path("d/f", false).await.unwrap();
    assert!(bench.close("d/f", handle).await.unwrap());
    bench.delete_path("d/f").await.unwrap();
}

#[tokio::test]
async fn locks_and_the_read_only_attribute() {
    let bench = bench().await;
    let (one, other) = (
        bench.open_smb("d/f", Rights::ALL, Rights::ALL).await.unwrap(),
        bench.open_smb("d/f", Rights::ALL, Rights::ALL).await.unwrap(),
    );
    bench.lock("d/f", one, 10..20, true).await.unwrap();
    let locked = Err(ErrorCode::FileLockConflict);
    assert_eq!(code(bench.lock("d/f", other, 19..30, false).await).map(drop), locked);
    bench.lock("d/f", other, 20..30, false).await.unwrap();
    let told = bench.answers("d/f").await;
    // It may be renamed: the opens go with it.
    assert_eq!(told[..5], [Ok(()), locked, locked, locked, Ok(())]);
    assert!(bench.close("d/other", one).await.unwrap() && bench.close("d/other", other).await.unwrap());
    bench.rename_path("d/other", "d/f", false).await.unwrap();
    bench.write_range("d/f", 0..1, 1).await.unwrap();
    let new = &NewPath {
        smb: SmbWishes { attributes: Wish::Value(FileAttributes::READ_ONLY), ..SmbWishes::NEW },
        ..new_path(NewBody::File { length: 1, headers: ContentHeaders::default() })
    };
    let create = |unit: Unit| async move {
        unit.path(&at("d/f", None)).await?.admit(Create, &given())?.create(new).await
    };
    bench.services.commit(&bench.context, create).await.unwrap();
    let refused = Err(ErrorCode::ReadOnlyAttribute);
    assert_eq!(bench.answers("d/f").await, [Ok(()), Ok(()), refused, refused, refused, refused]);
}

/// A file that goes when it is closed: refused to all, listed to none, gone with the last open.
#[tokio::test]
async fn delete_pending() {
    let bench = bench().await;
    assert_eq!(code(bench.set_pending("d/f", true).await), Err(ErrorCode::InvalidInput), "it is not open");
    let one = bench.open_smb("d/f", Rights::DELETE, Rights::ALL).await.unwrap();
    let other = bench.open_smb("d/f", Rights::READ, Rights::ALL).await.unwrap();
    let moment = bench.snapshot_share().await;
    bench.set_pending("d/f", true).await.unwrap();
    assert_eq!(bench.answers("d/f").await, [Err(ErrorCode::DeletePending); 6]);
    assert!(bench.names(&at("d", None), "").await.unwrap().is_empty());
    bench.set_pending("d/f", false).await.unwrap();
    assert_eq!(bench.names(&at("d", None), "").await.unwrap(), ["f"]);
    bench.set_pending("d/f", true).await.unwrap();
    // Where it was moved before does not matter: an open is of the node. The directory moves with it.
    bench.rename_path("d", "e", false).await.unwrap();
    assert!(bench.close("e/f", one).await.unwrap());
    assert_eq!(code(bench.look(&at("e/f", None)).await).map(drop), Err(ErrorCode::DeletePending));
    assert!(bench.close("e/f", other).await.unwrap());
    assert_eq!(code(bench.look(&at("e/f", None)).await).map(drop), Err(ErrorCode::ResourceNotFound));
    assert_eq!(bench.names(&at("d", Some(moment)), "").await.unwrap(), ["f"], "the snapshot shows it");
    bench.delete_path("e").await.unwrap();
    let keys = bench.keys().await;
    assert!(!keys.iter().any(|key| key.starts_with(['O', 'Q', 'F', 'I'])), "{keys:?}");
}

/// The opens of a directory and of what is below it, wherever it stands now.
#[tokio::test]
async fn handles_below_a_directory() {
    let bench = bench().await;
    bench.make_directory("d/sub").await.unwrap();
    bench.make_file("d/sub/g", 0).await.unwrap();
    bench.make_file("h", 0).await.unwrap();
    for name in ["", "d", "d/f", "d/sub/g", "h"] {
        bench.open_smb(name, Rights::READ, Rights::ALL).await.unwrap();
    }
    bench.rename_path("d/sub", "moved", false).await.unwrap();
    let below = async |name: &str| {
        let (mut count, mut after) = (0, None);
        loop {
            let view = bench.services.view(&bench.context).await.unwrap();
            let found = view.path(&at(name, None)).await.unwrap();
            let directory = found.watch().unwrap();
            let (handles, next) = directory.handles_below(after, 1).await.unwrap();
            count += handles.len();
            match next {
                Some(next) => after = Some(next),
                None => return (count, directory.handles(None, 100).await.unwrap().0.len()),
            }
        }
    };
    assert_eq!(below("").await, (5, 1));
    assert_eq!(below("d").await, (2, 1));
    assert_eq!(below("moved").await, (1, 0));
    // Nothing is open in a snapshot, and nothing can be opened in one by a row.
    let moment = bench.snapshot_share().await;
    let then = &at("d/f", Some(moment));
    let view = bench.services.view(&bench.context).await.unwrap();
    let file = view.path(then).await.unwrap().watch().unwrap();
    assert!(file.handles(None, 100).await.unwrap().0.is_empty());
    let new = &new_open(Rights::READ, Rights::ALL, Incarnation(1));
    let open = |unit: Unit| async move {
        unit.path(then).await?.admit(Attend, &given())?.present()?.open(new).await
    };
    let told = bench.services.commit(&bench.context, open).await;
    assert_eq!(code(told).map(drop), Err(ErrorCode::ShareSnapshotOperationNotSupported));
}

/// An open ends with the server that its client speaks to.
#[tokio::test]
async fn the_opens_of_a_dead_server_end() {
    let bench = bench().await;
    let living = bench.open_smb("d/f", Rights::READ, Rights::READ).await.unwrap();
    let dead = new_open(Rights::READ, Rights::ALL, Incarnation(77));
    bench.open_path("d/f", &NewOpen { delete_on_close: true, ..dead.clone() }).await.unwrap();
    bench.make_file("d/g", 0).await.unwrap();
    bench.open_path("d/g", &NewOpen { delete_on_close: true, ..dead }).await.unwrap();
    assert_eq!(code(bench.delete_path("d/g").await), BUSY);
    bench.sweep().await;
    assert_eq!(code(bench.look(&at("d/g", None)).await).map(drop), Err(ErrorCode::ResourceNotFound));
    assert_eq!(code(bench.look(&at("d/f", None)).await).map(drop), Err(ErrorCode::DeletePending));
    assert!(bench.close("d/f", living).await.unwrap());
    assert_eq!(bench.names(&at("d", None), "").await.unwrap(), Vec::<String>::new());
}

/// Opens that share nothing, writers and deletions at once: never are two of them let in together.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_open_and_an_operation_never_slip_past_each_other() {
    let bench = std::sync::Arc::new(bench().await);
    for _ in 0..20 {
        bench.make_file("d/f", 100).await.unwrap();
        let mut clients = tokio::task::JoinSet::new();
        for client in 0..5 {
            let bench = std::sync::Arc::clone(&bench);
            clients.spawn(async move {
                match client {
                    0..4 => bench.open_smb("d/f", Rights::WRITE, Rights::NONE).await.ok(),
                    _ => {
                        let _ = bench.delete_path("d/f").await;
                        None
                    }
                }
            });
        }
        let mut handles = Vec::new();
        while let Some(done) = clients.join_next().await {
            handles.extend(done.unwrap());
        }
        let there = bench.look(&at("d/f", None)).await.is_ok();
        // It is there with one open, or gone with none.
        assert_eq!(handles.len(), usize::from(there));
        for handle in handles {
            assert!(bench.close("d/f", handle).await.unwrap());
        }
    }
}

/// An open outlives the file that another one was put in the place of, and is closed by what it is an open of.
#[tokio::test]
async fn an_open_of_a_file_that_was_replaced() {
    let bench = bench().await;
    let handle = bench.open_smb("d/f", Rights::READ, Rights::ALL).await.unwrap();
    let node = bench.look(&at("d/f", None)).await.unwrap().node;
    bench.make_file("d/g", 1).await.unwrap();
    bench.rename_path("d/g", "d/f", true).await.unwrap();
    assert!(!bench.close("d/f", handle).await.unwrap(), "it is of another file");
    bench.delete_path("d/f").await.unwrap();
    let close = |mut unit: Unit| async move { unit.close_open("s", node, handle).await };
    assert!(bench.services.commit(&bench.context, close).await.unwrap());
    assert!(!bench.keys().await.iter().any(|key| key.starts_with('O')));
}
