//! Shares that are deleted and can be restored.

use std::time::Duration;

use lazuli_engine::Host;
use lazuli_service::ServiceOptions;

use super::*;

const DAY: Duration = Duration::from_secs(86_400);

pub fn all_shares() -> ListShares {
    ListShares {
        prefix: String::new(),
        snapshots: true,
        deleted: true,
        marker: None,
        max_results: 1,
        max_bytes: 1 << 20,
    }
}

impl Bench {
    /// Of the share that the tests work in, from the oldest on.
    pub async fn deleted_versions(&self) -> Vec<Timestamp> {
        let all = self.list_shares(&all_shares()).await;
        let version = |listed: &ListedShare| match listed.state {
            ShareState::Deleted { version, .. } => Some(version),
            _ => None,
        };
        all.iter().filter_map(version).collect()
    }
}

async fn bench() -> Bench {
    let bench = Bench::over(crate::testing::engine(Host::test()).await, ServiceOptions::default()).await;
    bench.create_share().await;
    bench
}

#[tokio::test]
async fn a_share_comes_back_with_all_that_it_held_until_its_time_is_over() {
    let bench = bench().await;
    bench.make_directory("d").await.unwrap();
    bench.make_file("d/f", 100).await.unwrap();
    bench.write_range("d/f", 0..100, 1).await.unwrap();
    let moment = bench.snapshot_share().await;
    bench.write_range("d/f", 0..50, 2).await.unwrap();
    bench.keep_deleted_shares(3).await;
    for round in 0..2 {
        let include = Some(DeleteShareSnapshots::Include);
        bench.delete_share(None, include).await.unwrap();
        assert_eq!(code(bench.look(&at("d/f", None)).await).map(drop), Err(ErrorCode::ShareNotFound));
        let again = code(bench.delete_share(None, include).await);
        assert_eq!(again, Err(ErrorCode::ShareNotFound));
        bench.pass(3 * DAY - Duration::from_secs(1));
        bench.sweep().await;
        let [version] = bench.deleted_versions().await[..] else { panic!("one is deleted") };
        bench.restore_share(version).await.unwrap();
        let twice = code(bench.restore_share(version).await);
        assert_eq!(twice, Err(ErrorCode::ShareAlreadyExists), "{round}");
        // The first time was noted for the sweeper: it does not count for what came back.
        bench.pass(DAY);
        bench.sweep().await;
        assert_eq!(bench.deleted_versions().await, []);
        assert_eq!(bench.read_file(&at("d/f", Some(moment))).await.unwrap(), [1; 100]);
        assert_eq!(bench.read_file(&at("d/f", None)).await.unwrap(), [[2; 50], [1; 50]].concat());
        assert_eq!(bench.usage().await, 100);
    }
    bench.delete_share(Some(moment), None).await.unwrap();
    bench.delete_share(None, None).await.unwrap();
    let [version] = bench.deleted_versions().await[..] else { panic!("one is deleted") };
    bench.pass(3 * DAY);
    // Its time is judged by the clock, whether the sweeper came or not.
    assert_eq!(bench.deleted_versions().await, []);
    assert_eq!(code(bench.restore_share(version).await), Err(ErrorCode::ShareNotFound));
    bench.sweep().await;
    assert_eq!(bench.services.engine().extents().stats().live_bytes, 0, "chunks left behind");
    let left = bench.keys().await;
    assert!(left.iter().all(|key| key.starts_with(['c', 'o', 'p'])), "keys left behind: {left:?}");
}

/// Without a policy nothing is kept; a policy counts for what is deleted after it was set.
#[tokio::test]
async fn without_a_policy_a_share_is_gone() {
    let bench = bench().await;
    bench.make_file("f", 10).await.unwrap();
    bench.delete_share(None, None).await.unwrap();
    bench.keep_deleted_shares(1).await;
    assert_eq!(bench.deleted_versions().await, []);
    bench.create_share().await;
    assert_eq!(bench.names(&at("", None), "").await.unwrap(), [] as [&str; 0]);
    assert_eq!(bench.usage().await, 0);
}

/// Several deleted shares of one name, the snapshots of one that has it now, and others: whatever the size of a page, each
/// is listed once, and in the same order.
#[tokio::test]
async fn lists_of_deleted_shares_and_snapshots() {
    let bench = bench().await;
    bench.keep_deleted_shares(9).await;
    let mut versions = Vec::new();
    for _ in 0..3 {
        bench.delete_share(None, None).await.unwrap();
        versions = bench.deleted_versions().await;
        bench.create_share().await;
    }
    assert_eq!(versions.len(), 3);
    let moments = [bench.snapshot_share().await, bench.snapshot_share().await];
    for name in ["r", "sa", "t"] {
        let input = CreateShare { share: name.into(), new: NewShare::default() };
        input.execute(&bench.services, &bench.context).await.unwrap();
    }
    let state = |listed: &ListedShare| match listed.state {
        ShareState::Present => 0,
        ShareState::Snapshot(moment) => moment.0,
        ShareState::Deleted { version, .. } => version.0,
    };
    let of_s = versions.iter().chain(&moments).map(|moment| moment.0).chain([0]);
    let of_s = of_s.map(|moment| ("s".to_owned(), moment));
    let mut expected: Vec<(String, u64)> = vec![("r".into(), 0)];
    expected.extend(of_s);
    expected.extend([("sa".into(), 0), ("t".into(), 0)]);
    for max_results in 1..=10 {
        for max_bytes in [1, 1 << 20] {
            let asked = ListShares { max_results, max_bytes, ..all_shares() };
            let listed = bench.list_shares(&asked).await;
            let told: Vec<_> = listed.iter().map(|listed| (listed.name.clone(), state(listed))).collect();
            assert_eq!(told, expected, "{max_results} {max_bytes}");
            let asked = ListShares { deleted: false, prefix: "s".into(), ..asked };
            let told = bench.list_shares(&asked).await;
            let told: Vec<_> = told.iter().map(|listed| (listed.name.clone(), state(listed))).collect();
            assert_eq!(told, expected[4..8], "{max_results} {max_bytes}");
        }
    }
}

/// Clients that create, delete and restore shares of one name: there is one share at most, and none is lost.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn many_delete_and_restore() {
    let bench = std::sync::Arc::new(bench().await);
    bench.keep_deleted_shares(9).await;
    let mut clients = tokio::task::JoinSet::new();
    for client in 0..8 {
        let bench = std::sync::Arc::clone(&bench);
        clients.spawn(async move {
            let mut made = 0;
            for _ in 0..20 {
                match client % 3 {
                    0 => {
                        let input = CreateShare { share: "s".into(), new: NewShare::default() };
                        made += usize::from(input.execute(&bench.services, &bench.context).await.is_ok());
                    }
                    1 => drop(bench.delete_share(None, None).await),
                    _ => {
                        if let Some(version) = bench.deleted_versions().await.first() {
                            drop(bench.restore_share(*version).await);
                        }
                    }
                }
            }
            made
        });
    }
    let mut made = 1;
    while let Some(done) = clients.join_next().await {
        made += done.unwrap();
    }
    assert_eq!(bench.list_shares(&all_shares()).await.len(), made, "each that was made is there, or deleted");
}
