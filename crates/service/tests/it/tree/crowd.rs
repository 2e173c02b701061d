//! Many clients at once: what each of them is told is true, and together it is a tree.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use rand::rngs::StdRng;
use rand::{Rng as _, SeedableRng as _};
use tokio::task::JoinSet;

use super::*;

async fn bench() -> Arc<Bench> {
    let bench = Bench::new().await;
    bench.create_share().await;
    Arc::new(bench)
}

/// Every node stands once; every directory leads to the root; the paths that nodes know are those that lead to them.
async fn check_tree(bench: &Bench) -> BTreeMap<String, PathRecord> {
    let all = bench.everything(None).await.unwrap();
    let nodes: HashSet<_> = all.iter().map(|(_, record)| record.node).collect();
    assert_eq!(nodes.len(), all.len(), "each stands once");
    // Rows of entries and of their places: as many as the walk finds, so none lies where no path leads.
    let keys = bench.keys().await;
    let count = |tag: char| keys.iter().filter(|key| key.starts_with(tag)).count();
    assert_eq!(count('F'), all.len(), "an entry to which no path leads");
    assert_eq!(count('I'), all.len(), "a node that stands nowhere");
    all.into_iter().map(|(path, record)| (path.join("/"), record)).collect()
}

/// Clients that create files in one directory do not meet: none of their commits is decided again.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn sixteen_clients_in_one_directory_do_not_meet() {
    assert_eq!(sixteen_clients(0).await, 320);
    // Those whose files are counted in the same one of 256 parts do: of the fifteen others that are under way, seldom one.
    let decisions = sixteen_clients(10).await;
    assert!(decisions < 400, "{decisions}");
}

/// How often their creations were decided.
async fn sixteen_clients(length: u64) -> usize {
    let bench = bench().await;
    bench.make_directory("d").await.unwrap();
    let decisions = Arc::new(AtomicUsize::new(0));
    let mut clients = JoinSet::new();
    for client in 0..16 {
        let (bench, decisions) = (Arc::clone(&bench), Arc::clone(&decisions));
        clients.spawn(async move {
            let new = &new_path(NewBody::File { length, headers: ContentHeaders::default() });
            for number in 0..20 {
                let (at, decisions) = (&at(&format!("d/{client}-{number}"), None), &decisions);
                let create = |unit: lazuli_service::store::Unit| async move {
                    decisions.fetch_add(1, Ordering::Relaxed);
                    unit.path(at).await?.admit(Create, &given())?.create(new).await
                };
                bench.services.commit(&bench.context, create).await.unwrap();
            }
        });
    }
    while let Some(done) = clients.join_next().await {
        done.unwrap();
    }
    assert_eq!(check_tree(&bench).await.len(), 321);
    decisions.load(Ordering::Relaxed)
}

/// Files are created in directories that others delete: a file is there with its directory, or was refused.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_directory_is_deleted_only_when_it_is_empty() {
    let bench = bench().await;
    for round in 0..30 {
        let directory = format!("d{round}");
        bench.make_directory(&directory).await.unwrap();
        let mut clients = JoinSet::new();
        for client in 0..6 {
            let (bench, directory) = (Arc::clone(&bench), directory.clone());
            clients.spawn(async move {
                match client {
                    0 | 1 => code(bench.delete_path(&directory).await),
                    _ => code(bench.make_file(&format!("{directory}/{client}"), 1).await).map(drop),
                }
            });
        }
        let (mut made, mut deleted) = (0, 0);
        let mut told = Vec::new();
        while let Some(done) = clients.join_next().await {
            told.push(done.unwrap());
        }
        let left = bench.look(&at(&directory, None)).await.is_ok();
        for told in told {
            match told {
                Ok(()) if left => made += 1,
                Ok(()) => deleted += 1,
                Err(ErrorCode::ParentNotFound | ErrorCode::ResourceNotFound) => assert!(!left),
                Err(ErrorCode::DirectoryNotEmpty) => assert!(left),
                Err(other) => panic!("{other:?}"),
            }
        }
        match left {
            true => assert_eq!(made, bench.names(&at(&directory, None), "").await.unwrap().len()),
            false => assert_eq!(deleted, 1, "of two deletions one finds it"),
        }
    }
    check_tree(&bench).await;
}

/// Directories are moved into one another: no circle, and nothing is lost.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn renames_into_one_another_make_no_circle() {
    let bench = bench().await;
    let mut seeds = HashMap::new();
    for name in ["a", "b", "c", "d"] {
        seeds.insert(bench.make_directory(name).await.unwrap().node, name);
        bench.make_file(&format!("{name}/f{name}"), 1).await.unwrap();
    }
    for round in 0..40 {
        // Each of them below the next one, all at once.
        let standing: HashMap<_, _> = check_tree(&bench)
            .await
            .into_iter()
            .filter_map(|(path, record)| Some((*seeds.get(&record.node)?, path)))
            .collect();
        let mut clients = JoinSet::new();
        for (from, to) in [("a", "b"), ("b", "c"), ("c", "d"), ("d", "a")] {
            let (bench, from_path) = (Arc::clone(&bench), standing[from].clone());
            let to_path = match round % 4 {
                // Back to the root now and then, so that there is something to do.
                3 => from.to_owned(),
                _ => format!("{}/{from}", standing[to]),
            };
            clients.spawn(async move { code(bench.rename_path(&from_path, &to_path, false).await) });
        }
        let mut moved = 0;
        while let Some(done) = clients.join_next().await {
            match done.unwrap() {
                Ok(_) => moved += 1,
                Err(
                    ErrorCode::InvalidInput
                    | ErrorCode::ParentNotFound
                    | ErrorCode::ResourceNotFound
                    | ErrorCode::ResourceAlreadyExists,
                ) => {}
                Err(other) => panic!("{other:?}"),
            }
        }
        let after = check_tree(&bench).await;
        assert_eq!(after.len(), 8, "four directories, four files");
        assert!(moved < 4 || round % 4 == 3, "all four would be a circle");
    }
}

/// Everything at once, at random, with snapshots and the sweeper: what is left is a tree, each snapshot stays what it was,
/// and every file that was created and not deleted is there.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_crowd() {
    let bench = bench().await;
    let mut clients = JoinSet::new();
    for client in 0..8u64 {
        let bench = Arc::clone(&bench);
        clients.spawn(async move {
            let mut random = StdRng::seed_from_u64(client);
            let mut mine = 0i64;
            for number in 0..80 {
                let mut place = || -> String {
                    let names = ["a", "b", "c"];
                    let depth = random.random_range(1..4);
                    let parts: Vec<_> = (0..depth).map(|_| names[random.random_range(0..3)]).collect();
                    parts.join("/")
                };
                let (one, other) = (place(), place());
                let told = match random.random_range(0..10) {
                    0..4 => code(bench.make_directory(&one).await).map(drop),
                    4..6 => {
                        let told = code(bench.make_file(&format!("{one}/{client}-{number}"), 9).await);
                        mine += i64::from(told.is_ok());
                        told.map(drop)
                    }
                    6 => code(bench.delete_path(&one).await),
                    _ => code(bench.rename_path(&one, &other, false).await).map(drop),
                };
                match told {
                    Ok(())
                    | Err(
                        ErrorCode::ParentNotFound
                        | ErrorCode::ResourceNotFound
                        | ErrorCode::ResourceAlreadyExists
                        | ErrorCode::DirectoryNotEmpty
                        | ErrorCode::InvalidInput,
                    ) => {}
                    Err(other) => panic!("{other:?}"),
                }
            }
            mine
        });
    }
    let mut snapshots = Vec::new();
    for _ in 0..6 {
        let moment = bench.snapshot_share().await;
        let then = bench.everything(Some(moment)).await.unwrap();
        let nodes: HashSet<_> = then.iter().map(|(_, record)| record.node).collect();
        assert_eq!(nodes.len(), then.len());
        snapshots.push((moment, then));
        bench.sweep().await;
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    }
    let mut files = 0;
    while let Some(done) = clients.join_next().await {
        files += done.unwrap();
    }
    let now = check_tree(&bench).await;
    // No client deletes a file: only directories are named by those that delete.
    assert_eq!(now.values().filter(|record| record.file().is_some()).count() as i64, files, "a file is lost");
    for (number, (moment, then)) in snapshots.iter().enumerate() {
        assert_eq!(bench.everything(Some(*moment)).await.unwrap(), *then, "snapshot {number}");
    }
    for (moment, _) in snapshots {
        bench.delete_share(Some(moment), None).await.unwrap();
    }
    bench.sweep().await;
    assert_eq!(check_tree(&bench).await, now);
    let left = bench.keys().await;
    assert!(!left.iter().any(|key| key.starts_with(['E', 'L', 'A', 'Y', 'T'])), "left behind: {left:?}");
}
