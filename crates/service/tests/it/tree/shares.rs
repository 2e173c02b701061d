//! Shares and their snapshots by themselves.

use lazuli_model::admission::{LeaseAction, LeaseDuration};
use lazuli_service::store::Unit;

use super::*;

const ID: LeaseId = LeaseId(uuid::Uuid::from_u128(1));

async fn bench() -> Bench {
    let bench = Bench::new().await;
    bench.create_share().await;
    bench
}

impl Bench {
    async fn lease_share(&self, snapshot: Option<Timestamp>, action: &LeaseAction) {
        let act = |unit: Unit| async move {
            let share = unit.share(&share(snapshot)).await?.admit(Lease, &given())?;
            Ok::<_, Fault>(share.lease(action, ID)?)
        };
        self.services.commit(&self.context, act).await.unwrap();
    }

    async fn snapshots(&self) -> Vec<Timestamp> {
        let view = self.services.view(&self.context).await.unwrap();
        let found = view.share(&share(None)).await.unwrap().admit(Look, &given()).unwrap();
        let all = view.share_snapshots(found.record().unwrap()).await.unwrap();
        all.into_iter().map(|(moment, _)| moment).collect()
    }
}

#[tokio::test]
async fn a_share_with_snapshots_is_deleted_with_them() {
    let bench = bench().await;
    let (one, other) = (bench.snapshot_share().await, bench.snapshot_share().await);
    assert_eq!(bench.snapshots().await, [one, other]);
    let include = Some(DeleteShareSnapshots::Include);
    assert_eq!(code(bench.delete_share(None, None).await), Err(ErrorCode::ShareHasSnapshots));
    // A snapshot has a lease of its own, the share has not.
    let acquire = LeaseAction::Acquire { proposed: Some(ID), duration: LeaseDuration::Infinite };
    bench.lease_share(Some(one), &acquire).await;
    assert_eq!(code(bench.delete_share(Some(one), None).await), Err(ErrorCode::LeaseIdMissing));
    assert_eq!(code(bench.delete_share(None, include).await), Err(ErrorCode::DeleteShareWhenSnapshotLeased));
    bench.delete_share(Some(other), None).await.unwrap();
    assert_eq!(bench.snapshots().await, [one]);
    let gone = Err(ErrorCode::ShareNotFound);
    assert_eq!(code(bench.delete_share(Some(other), None).await), gone);
    assert_eq!(code(bench.look(&at("", Some(other))).await).map(drop), gone);
    bench.delete_share(None, Some(DeleteShareSnapshots::IncludeLeased)).await.unwrap();
    assert_eq!(code(bench.look(&at("f", None)).await).map(drop), Err(ErrorCode::ShareNotFound));
    assert_eq!(code(bench.look(&at("f", Some(one))).await).map(drop), Err(ErrorCode::ShareNotFound));
    // The name is free at once, and what is swept is not the new share's.
    bench.create_share().await;
    bench.make_file("f", 1).await.unwrap();
    bench.sweep().await;
    assert_eq!(bench.names(&at("", None), "").await.unwrap(), ["f"]);
    bench.delete_share(None, None).await.unwrap();
}

/// Nothing is written into a snapshot, by whatever policy it was let through.
#[tokio::test]
async fn a_snapshot_stays_as_it_is() {
    let bench = bench().await;
    bench.make_directory("d").await.unwrap();
    bench.make_file("d/f", 100).await.unwrap();
    bench.write_range("d/f", 0..100, 1).await.unwrap();
    let moment = bench.snapshot_share().await;
    let refused = Err(ErrorCode::ShareSnapshotOperationNotSupported);
    let then = &at("d/f", Some(moment));
    assert_eq!(code(bench.create_path(then, NewBody::Directory).await).map(drop), refused);
    let kinds: [&str; 4] = ["put", "clear", "delete", "rename"];
    for kind in kinds {
        let change = |unit: Unit| async move {
            let file = unit.path(then).await?.admit(Change, &given())?.present()?;
            match kind {
                "put" => file.put().await.map(drop),
                "clear" => file.clear_range(0..10).await.map(drop),
                "delete" => file.delete().await.map(drop),
                _ => {
                    let to = unit.path(&at("d/g", None)).await?.admit(Create, &given())?;
                    file.rename(to, true, &renamed()).await.map(drop)
                }
            }
        };
        assert_eq!(code(bench.services.commit(&bench.context, change).await), refused, "{kind}");
    }
    // Its root too, which is in the record of the share.
    bench.describe("", "new").await.unwrap();
    assert_eq!(bench.look(&at("", Some(moment))).await.unwrap().metadata.get("m"), None);
    assert_eq!(bench.look(&at("", None)).await.unwrap().metadata.get("m"), Some("new"));
    assert_eq!(bench.read_file(then).await.unwrap(), [1; 100]);
}

/// A share has no more than 200 snapshots, and one file that changes after each of them is each time what it was.
#[tokio::test]
async fn two_hundred_snapshots() {
    let bench = bench().await;
    bench.make_file("f", 10).await.unwrap();
    let mut moments = Vec::new();
    for number in 0..200u8 {
        bench.write_range("f", 0..10, number).await.unwrap();
        moments.push(bench.snapshot_share().await);
    }
    let take = |unit: Unit| async move {
        let share = unit.share(&share(None)).await?.admit(Attend, &given())?.present()?;
        Ok::<_, Fault>(share.snapshot(&Metadata::default())?.0)
    };
    let told = bench.services.commit(&bench.context, take).await;
    assert_eq!(code(told).map(drop), Err(ErrorCode::ShareSnapshotCountExceeded));
    for number in [0, 1, 99, 198, 199u8] {
        let then = at("f", Some(moments[usize::from(number)]));
        assert_eq!(bench.read_file(&then).await.unwrap(), [number; 10]);
        assert_eq!(bench.names(&at("", then.snapshot), "").await.unwrap(), ["f"]);
    }
    bench.delete_share(Some(moments[100]), None).await.unwrap();
    bench.sweep().await;
    for number in [99, 101u8] {
        let then = at("f", Some(moments[usize::from(number)]));
        assert_eq!(bench.read_file(&then).await.unwrap(), [number; 10]);
    }
    bench.snapshot_share().await;
}

#[tokio::test]
async fn shares_are_listed_by_name() {
    let bench = bench().await;
    for name in ["s1", "s2", "t"] {
        let address = &ShareAddress { share: name.into(), snapshot: None };
        let create = |unit: Unit| async move {
            let share = unit.share(address).await?.admit(Create, &given())?;
            Ok::<_, Fault>(share.create(&NewShare::default())?)
        };
        bench.services.commit(&bench.context, create).await.unwrap();
        let again = bench.services.commit(&bench.context, create).await;
        assert_eq!(code(again).map(drop), Err(ErrorCode::ShareAlreadyExists));
    }
    let view = bench.services.view(&bench.context).await.unwrap();
    let asked = ListShares {
        prefix: "s".into(),
        snapshots: false,
        deleted: false,
        marker: None,
        max_results: 2,
        max_bytes: 1 << 20,
    };
    let (page, marker) = view.shares(&asked).await.unwrap();
    assert_eq!(page.iter().map(|listed| listed.name.as_str()).collect::<Vec<_>>(), ["s", "s1"]);
    let (page, next) = view.shares(&ListShares { marker, ..asked }).await.unwrap();
    assert_eq!((page.len(), page[0].name.as_str(), next), (1, "s2", None));
}

/// The root is 0, and so is the parent of what stands in it; every other number stays the same wherever it is moved.
#[tokio::test]
async fn numbers_of_files() {
    let bench = bench().await;
    bench.make_directory("d").await.unwrap();
    bench.make_file("d/f", 0).await.unwrap();
    let numbers = async |name: &str| {
        let view = bench.services.view(&bench.context).await.unwrap();
        let found = view.path(&at(name, None)).await.unwrap().admit(Look, &given()).unwrap();
        let described = found.present().unwrap().described();
        (described.id, described.parent_id)
    };
    let (directory, file) = (numbers("d").await, numbers("d/f").await);
    assert_eq!(numbers("").await, (0, 0));
    assert_eq!((directory.1, file.1), (0, directory.0));
    assert!(directory.0 > 0 && file.0 > 0 && directory.0 != file.0);
    bench.rename_path("d/f", "g", false).await.unwrap();
    assert_eq!(numbers("g").await, (file.0, 0));
}
