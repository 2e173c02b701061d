//! Reclamation: what is deleted or replaced is given back, whatever its size and even while downloads run, and an item
//! that cannot be given back holds up no other.

use std::time::Duration;

use lazuli_engine::{Plan, Scan};
use lazuli_model::time::Timestamp;
use lazuli_service::blob::{BlockSource, DeleteSnapshots, ListBlobs};
use lazuli_service::store::key::{self, ContentId};
use lazuli_service::store::record::Record;
use lazuli_service::store::record::content::{Content, DeadContent, ListedBlock, Piece, Segment, Shape};
use lazuli_service::{Fault, ServiceOptions};

use crate::support::{Bench, drain};

const MIB: usize = 1024 * 1024;
/// Longer than the pieces of an upload that gets no memory.
const SMALL_PIECE: usize = 64 * 1024;

fn live(bench: &Bench) -> u64 {
    bench.services.engine().extents().stats().live_bytes
}

async fn only_the_container_is_left(bench: &Bench) {
    bench.sweep().await;
    assert_eq!(bench.keys().await, vec!["cacct\\x00c".to_owned()], "keys left behind");
    assert_eq!(live(bench), 0, "chunks left behind");
    assert_eq!(bench.services.passed_over(), 0);
}

/// One reader that takes its time keeps its own bytes, and nothing else.
#[tokio::test]
async fn a_slow_download_keeps_its_own_content_only() {
    let bench = Bench::new().await;
    let body = vec![1; MIB];
    bench.put("read", &body).await.unwrap();
    let slow = bench.open("read", None, None).await.unwrap();
    for round in 0..5 {
        bench.put("read", &vec![round; MIB]).await.unwrap();
        bench.put("other", &vec![round; MIB]).await.unwrap();
    }
    let sweep = tokio::time::timeout(Duration::from_secs(20), bench.sweep());
    sweep.await.expect("the sweeper does not wait for a download");
    assert_eq!(live(&bench), 3 * MIB as u64, "the two blobs, and the one that is read");
    assert!(drain(slow).await.unwrap() == body);
    bench.sweep().await;
    assert_eq!(live(&bench), 2 * MIB as u64);
}

/// A blob with a snapshot does not keep the blocks that it replaces after the snapshot.
#[tokio::test]
async fn blocks_replaced_after_a_snapshot_are_given_back() {
    let bench = Bench::new().await;
    let stage = async |id: &str, fill: u8| bench.put_block("b", id, &vec![fill; MIB]).await.unwrap();
    stage("keep", 1).await;
    stage("edit", 2).await;
    let list = [(BlockSource::Latest, "keep"), (BlockSource::Latest, "edit")];
    bench.put_block_list("b", &list).await.unwrap();
    let snapshot = bench.snapshot("b").await.unwrap();
    for round in 0..40 {
        stage("edit", round).await;
        bench.put_block_list("b", &list).await.unwrap();
        if round % 7 == 0 {
            bench.sweep().await;
        }
    }
    bench.sweep().await;
    // The snapshot's two, and the one that took the place of the second.
    assert_eq!(live(&bench), 3 * MIB as u64);
    let expected = |fill| [vec![1; MIB], vec![fill; MIB]].concat();
    assert!(bench.get("b", None).await.unwrap() == expected(39));
    assert!(bench.get("b", Some(snapshot)).await.unwrap() == expected(2));
    // Without the snapshot, what only it had goes, though the block that both have came from it.
    bench.delete("b", Some(snapshot), None).await.unwrap();
    bench.sweep().await;
    assert_eq!(live(&bench), 2 * MIB as u64);
    assert!(bench.get("b", None).await.unwrap() == expected(39));
    bench.delete("b", None, None).await.unwrap();
    only_the_container_is_left(&bench).await;
}

/// A chain of lists, each with a snapshot, taken down in any order.
#[tokio::test]
async fn a_line_of_snapshots_is_taken_down_in_any_order() {
    for order in [[0, 1, 2, 3], [3, 2, 1, 0], [1, 3, 0, 2], [2, 0, 3, 1]] {
        let bench = Bench::new().await;
        let ids = ["b0", "b1", "b2", "b3", "b4"];
        let mut snapshots = Vec::new();
        for round in 0..4 {
            bench.put_block("b", ids[round], &vec![round as u8; MIB]).await.unwrap();
            let all: Vec<_> = ids[..=round].iter().map(|id| (BlockSource::Latest, *id)).collect();
            bench.put_block_list("b", &all).await.unwrap();
            let snapshot = bench.snapshot("b").await.unwrap();
            snapshots.push((snapshot, bench.get("b", None).await.unwrap()));
        }
        // The base keeps the second block only.
        bench.put_block_list("b", &[(BlockSource::Committed, "b1")]).await.unwrap();
        let mut left: Vec<_> = snapshots.iter().map(Some).collect();
        for at in order {
            bench.delete("b", Some(snapshots[at].0), None).await.unwrap();
            left[at] = None;
            bench.sweep().await;
            for (snapshot, body) in left.iter().flatten() {
                assert!(&bench.get("b", Some(*snapshot)).await.unwrap() == body);
            }
            assert!(bench.get("b", None).await.unwrap() == vec![1; MIB]);
            let longest = left.iter().flatten().map(|(_, body)| body.len()).max().unwrap_or(0);
            let extra = if longest > MIB { 0 } else { MIB };
            assert_eq!(live(&bench), (longest + extra) as u64, "{order:?} after {at}");
        }
        bench.delete("b", None, None).await.unwrap();
        only_the_container_is_left(&bench).await;
    }
}

/// A list refers to a block, it does not repeat it: neither on disk nor in memory.
#[tokio::test]
async fn a_block_that_is_mentioned_often_is_kept_once() {
    let bench = Bench::with(ServiceOptions { upload_memory: 0, ..Default::default() }).await;
    let block: Vec<u8> = (0..100 * SMALL_PIECE).map(|at| (at / 1000) as u8).collect();
    bench.put_block("b", "x", &block).await.unwrap();
    let list = vec![(BlockSource::Latest, "x"); 20_000];
    bench.put_block_list("b", &list).await.unwrap();
    bench.sweep().await;
    let reader = bench.services.engine().reader().await.unwrap();
    let scan =
        Scan { limit: 100_000, max_bytes: 1 << 30, ..Scan::of(lazuli_engine::KeyRange::prefix(&b"m"[..])) };
    let segments = reader.scan(scan).await.unwrap().items;
    let bytes: usize = segments.iter().map(|(_, entry)| entry.value.len()).sum();
    assert!(bytes < 20_000 * 60, "{bytes} bytes for 20,000 mentions of a block of 100 pieces");
    let start = 12_345 * block.len() + 7;
    let range = format!("bytes={start}-{}", start + block.len() - 1);
    let part = drain(bench.open("b", None, Some(&range)).await.unwrap()).await.unwrap();
    assert!(part == [&block[7..], &block[..7]].concat());
    drop(reader);
    bench.delete("b", None, None).await.unwrap();
    only_the_container_is_left(&bench).await;
}

/// More snapshots than a commit takes are deleted by one commit, and are gone for every request at once.
#[tokio::test]
async fn many_snapshots_are_deleted_at_once() {
    let bench = Bench::new().await;
    let name = "n".repeat(1024);
    bench.put(&name, b"base").await.unwrap();
    let mut snapshots = Vec::new();
    for _ in 0..400 {
        snapshots.push(bench.snapshot(&name).await.unwrap());
    }
    let listed = async || {
        let input = ListBlobs {
            container: "c".into(),
            max_results: 5_000,
            max_bytes: 1 << 20,
            snapshots: true,
            ..Default::default()
        };
        let list = input.execute(&bench.services, &bench.context).await.unwrap();
        assert!(list.next.is_none() || list.items.is_empty(), "one page, or an empty one of the dead");
        list.items.len()
    };
    assert_eq!(listed().await, 401);
    let quiet = bench.services.quiet().await;
    let before = bench.services.transactions();
    bench.delete(&name, None, Some(DeleteSnapshots::Only)).await.unwrap();
    assert_eq!(bench.services.transactions() - before, 1, "one commit");
    drop(quiet);
    assert!(bench.get(&name, Some(snapshots[0])).await.is_err());
    assert!(bench.get(&name, Some(snapshots[399])).await.is_err());
    assert!(bench.delete(&name, Some(snapshots[7]), None).await.is_err());
    assert_eq!(listed().await, 1, "the base alone");
    // A younger one is alive, also when the sweeper takes the old ones away, and when these are deleted with it.
    let young = bench.snapshot(&name).await.unwrap();
    assert!(young > snapshots[399]);
    assert_eq!(listed().await, 2);
    bench.sweep().await;
    assert!(bench.get(&name, Some(young)).await.unwrap() == b"base");
    assert_eq!(listed().await, 2);
    for _ in 0..400 {
        bench.snapshot(&name).await.unwrap();
    }
    bench.delete(&name, None, Some(DeleteSnapshots::Include)).await.unwrap();
    bench.put(&name, b"again").await.unwrap();
    assert_eq!(listed().await, 1);
    bench.delete(&name, None, None).await.unwrap();
    only_the_container_is_left(&bench).await;
}

/// Lists that leave out more than a commit takes.
#[tokio::test]
async fn a_list_that_leaves_out_much_is_one_step() {
    let bench = Bench::new().await;
    for number in 0..6_000 {
        bench.put_block("b", &format!("{number:064}"), b"x").await.unwrap();
    }
    let last = format!("{:064}", 5_999);
    bench.put_block_list("b", &[(BlockSource::Latest, &last)]).await.unwrap();
    assert!(bench.get("b", None).await.unwrap() == b"x");
    bench.put_block("b", &last, b"y").await.unwrap();
    bench
        .put_block_list("b", &[(BlockSource::Uncommitted, &last), (BlockSource::Committed, &last)])
        .await
        .unwrap();
    assert!(bench.get("b", None).await.unwrap() == b"yx");
    bench.delete("b", None, None).await.unwrap();
    only_the_container_is_left(&bench).await;
}

/// An item that cannot be read, and one whose list cannot: the others are given back.
#[tokio::test]
async fn what_cannot_be_given_back_is_passed_over() {
    let bench = Bench::new().await;
    let spoil = |_| async {
        let mut plan = Plan::new(());
        plan.put(key::dead_content(ContentId(1)), vec![200]);
        plan.put(key::dead_content(ContentId(2)), DeadContent::Manifest.encode());
        plan.put(key::segment(ContentId(2), 5, 0), vec![200]);
        Ok::<_, Fault>(plan)
    };
    bench.services.engine().run(None, spoil).await.unwrap();
    bench.put("b", &vec![1; MIB]).await.unwrap();
    bench.put("b", &vec![2; MIB]).await.unwrap();
    bench.sweep().await;
    assert_eq!(live(&bench), MIB as u64);
    assert!(bench.services.passed_over() >= 2);
    let keys = bench.keys().await;
    assert!(keys.iter().filter(|key| key.starts_with('g')).count() == 2, "the two that stay: {keys:?}");
}

/// Stores written before blocks were contents of their own hold stages of many pieces, lists that repeat them, and
/// chains of parents that no key leads to from above.
#[tokio::test]
async fn stages_and_lists_of_any_size_are_swept_in_bounded_commits() {
    let bench = Bench::new().await;
    let pieces = |block: u128, count: u128| -> Vec<Piece> {
        (0..count)
            .map(|at| Piece::Inline { id: ContentId(1 + block * 10_000 + at), len: 1, seal: None })
            .collect()
    };
    let block = |number: u128, count: u128| {
        let pieces = pieces(number, count);
        Content { id: ContentId(1 + number * 10_000), length: count as u64, shape: Shape::Pieces(pieces) }
    };
    let (stage, list, child) = (ContentId(11), ContentId(12), ContentId(13));
    let staged =
        |content| lazuli_service::store::record::block::BlockRecord { content, staged_at: Timestamp(0) };
    for number in 0..60u128 {
        let block = &block(number, 1_500);
        let (id, staged) = (number.to_be_bytes(), &staged(block.clone()));
        let write = |_| async move {
            let mut plan = Plan::new(());
            // The same bytes are not in two places: one half is staged, the other listed, each piece exists.
            match number % 2 {
                0 => plan.put(key::block(stage, &id), staged.encode()),
                _ => {
                    let listed = ListedBlock { name: id.to_vec(), content: block.clone() };
                    let segment = Segment { start: number as u64, blocks: vec![listed.clone(), listed] };
                    plan.put(key::segment(list, number as u64 + 1, number as u32), segment.encode());
                }
            }
            Ok::<_, Fault>(plan)
        };
        bench.services.engine().run(None, write).await.unwrap();
        for some in pieces(number, 1_500).chunks(500) {
            let write = |_| async move {
                let mut plan = Plan::new(());
                for piece in some {
                    if let Piece::Inline { id, .. } = piece {
                        plan.put(key::inline(*id), vec![1]);
                    }
                }
                Ok::<_, Fault>(plan)
            };
            bench.services.engine().run(None, write).await.unwrap();
        }
    }
    let die = |_| async {
        let mut plan = Plan::new(());
        plan.put(key::dead_content(stage), DeadContent::Stage.encode());
        // A dead child that lists nothing is all that holds the list.
        let parent = Content { id: list, length: 0, shape: Shape::Manifest { blocks: 60, named: true } };
        plan.put(key::parent(child), parent.encode());
        plan.put(key::dead_content(child), DeadContent::Manifest.encode());
        Ok::<_, Fault>(plan)
    };
    bench.services.engine().run(None, die).await.unwrap();
    only_the_container_is_left(&bench).await;
}

/// Readers, writers and the sweeper at once: a download never meets bytes that were given back under it.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn downloads_are_whole_beside_writers_and_the_sweeper() {
    const ROUNDS: u32 = 150;
    let bench = std::sync::Arc::new(Bench::new().await);
    let list = [(BlockSource::Latest, "keep"), (BlockSource::Latest, "edit")];
    bench.put_block("b", "keep", &vec![0; SMALL_PIECE]).await.unwrap();
    bench.put_block("b", "edit", &vec![0; SMALL_PIECE]).await.unwrap();
    bench.put_block_list("b", &list).await.unwrap();
    let ended = std::sync::Arc::new(std::sync::atomic::AtomicBool::new(false));
    let is_over = || ended.load(std::sync::atomic::Ordering::Relaxed);

    let sweeper = tokio::spawn({
        let (bench, ended) = (bench.clone(), ended.clone());
        async move {
            while !ended.load(std::sync::atomic::Ordering::Relaxed) {
                bench.services.sweep_once().await;
                tokio::task::yield_now().await;
            }
        }
    });
    let readers: Vec<_> = (0..3)
        .map(|_| {
            let (bench, ended) = (bench.clone(), ended.clone());
            tokio::spawn(async move {
                let mut read = 0;
                while !ended.load(std::sync::atomic::Ordering::Relaxed) {
                    let body = bench.get("b", None).await.expect("a blob that is always there");
                    assert_eq!(body.len(), 2 * SMALL_PIECE);
                    let (keep, edit) = body.split_at(SMALL_PIECE);
                    assert!(
                        keep.iter().all(|byte| *byte == keep[0]) && edit.iter().all(|byte| *byte == edit[0])
                    );
                    read += 1;
                }
                read
            })
        })
        .collect();
    let mut snapshots = Vec::new();
    for round in 1..=ROUNDS {
        let id = if round % 10 == 0 { "keep" } else { "edit" };
        bench.put_block("b", id, &vec![round as u8; SMALL_PIECE]).await.unwrap();
        bench.put_block_list("b", &list).await.unwrap();
        if round % 3 == 0 {
            snapshots.push((bench.snapshot("b").await.unwrap(), bench.get("b", None).await.unwrap()));
        }
        if snapshots.len() > 4 {
            let (snapshot, body) = snapshots.swap_remove(round as usize % snapshots.len());
            let open = bench.open("b", Some(snapshot), None).await.unwrap();
            bench.delete("b", Some(snapshot), None).await.unwrap();
            tokio::time::sleep(Duration::from_millis(5)).await;
            assert!(drain(open).await.unwrap() == body);
        }
        assert!(!is_over() && !sweeper.is_finished());
    }
    ended.store(true, std::sync::atomic::Ordering::Relaxed);
    sweeper.await.unwrap();
    for reader in readers {
        assert!(reader.await.unwrap() > 0);
    }
    bench.delete("b", None, Some(DeleteSnapshots::Include)).await.unwrap();
    only_the_container_is_left(&bench).await;
}

/// Polls a pass of the sweeper so often, and drops it: it stops between two commits, as it does when the server dies.
pub async fn sweep_and_stop(bench: &Bench, polls: usize) {
    use futures_util::FutureExt as _;
    let mut pass = Box::pin(bench.services.sweep_once());
    for _ in 0..polls {
        if (&mut pass).now_or_never().is_some() {
            return;
        }
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
}

/// Lists of several segments, each a parent of the next, with a snapshot of each. A sweep that stops half-way in one of
/// them must not make its neighbours give back what others still list.
#[tokio::test]
async fn a_sweep_that_stops_half_way_takes_nothing_from_its_neighbours() {
    const COUNT: usize = 900;
    let ids: Vec<String> = (0..COUNT).map(|number| format!("{number:064}")).collect();
    // Which snapshot goes first, and what then becomes of its neighbours.
    for (polls, first) in (0..14).flat_map(|polls| [(polls, 0), (polls, 1)]) {
        let bench = Bench::new().await;
        for id in &ids {
            bench.put_block("b", id, id.as_bytes()).await.unwrap();
        }
        let mut snapshots = Vec::new();
        for round in 0..3 {
            // Each list leaves out some blocks at its beginning and has one new block.
            let new = format!("{:064}", COUNT + round);
            bench.put_block("b", &new, new.as_bytes()).await.unwrap();
            let mut list: Vec<_> =
                ids[round * 5..].iter().map(|id| (BlockSource::Latest, id.as_str())).collect();
            list.push((BlockSource::Latest, &new));
            bench.put_block_list("b", &list).await.unwrap();
            let body = bench.get("b", None).await.unwrap();
            snapshots.push((bench.snapshot("b").await.unwrap(), body));
        }
        bench.put_block_list("b", &[(BlockSource::Committed, &ids[100])]).await.unwrap();
        bench.sweep().await;
        let second = 1 - first;
        bench.delete("b", Some(snapshots[first].0), None).await.unwrap();
        sweep_and_stop(&bench, polls).await;
        bench.delete("b", Some(snapshots[second].0), None).await.unwrap();
        sweep_and_stop(&bench, polls).await;
        let whole = async |what: &str| {
            assert!(bench.get("b", None).await.unwrap() == ids[100].as_bytes(), "{what}: the base");
            let (snapshot, body) = &snapshots[2];
            assert!(&bench.get("b", Some(*snapshot)).await.unwrap() == body, "{what}: the last snapshot");
        };
        whole("stopped").await;
        bench.sweep().await;
        whole("swept").await;
        // And when what is in the middle of being absorbed loses its child.
        bench.put("b", b"replaced").await.unwrap();
        sweep_and_stop(&bench, polls).await;
        let (snapshot, body) = &snapshots[2];
        assert!(&bench.get("b", Some(*snapshot)).await.unwrap() == body);
        bench.sweep().await;
        assert!(&bench.get("b", Some(*snapshot)).await.unwrap() == body);
        bench.delete("b", None, Some(DeleteSnapshots::Include)).await.unwrap();
        only_the_container_is_left(&bench).await;
    }
}
