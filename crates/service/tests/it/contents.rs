//! Contents under writes, block lists, snapshots, deletes and sweeps: what is read is what a plain map says, and
//! when everything is deleted nothing is left, neither a key nor a chunk.

use std::collections::{BTreeMap, HashMap};

use futures_util::FutureExt;
use lazuli_engine::Scan;
use lazuli_model::Timestamp;
use lazuli_model::admission::Preconditions;
use lazuli_model::etag::ETagCondition;
use lazuli_model::operation::Op;
use lazuli_service::ServiceOptions;
use lazuli_service::blob::{BlobProperties, BlockSource, DeleteSnapshots, PutBlockList};
use proptest::prelude::*;

use crate::reclaim::sweep_and_stop;
use crate::support::{Bench, at, drain};

#[derive(Clone, Debug)]
enum Act {
    Put {
        blob: u8,
        size: usize,
    },
    Block {
        blob: u8,
        id: u8,
        size: usize,
    },
    /// Which of the known blocks to list, and where to look for each.
    Commit {
        blob: u8,
        picks: Vec<(u8, u8)>,
    },
    Snapshot {
        blob: u8,
    },
    DeleteSnapshot {
        blob: u8,
        which: usize,
    },
    Delete {
        blob: u8,
        only: bool,
    },
    /// Over another blob, or over itself; of the base, or of one of its snapshots.
    Copy {
        from: u8,
        to: u8,
        snapshot: Option<usize>,
        puts: bool,
    },
    Sweep,
    /// A sweep that is cut short.
    Stop {
        polls: usize,
    },
}

/// Empty, inline, one chunk, more small chunks than a list keeps of a block, and more than one large chunk.
const SIZES: [usize; 6] = [0, 100, 16 * 1024, 20_000, 330_000, 4 * 1024 * 1024 + 3];

fn act() -> impl Strategy<Value = Act> {
    let blob = 0u8..2;
    let small = prop::sample::select(SIZES[..5].to_vec());
    prop_oneof![
        2 => (blob.clone(), prop::sample::select(SIZES.to_vec())).prop_map(|(blob, size)| Act::Put { blob, size }),
        6 => (blob.clone(), 0u8..5, small).prop_map(|(blob, id, size)| Act::Block { blob, id, size }),
        5 => (blob.clone(), prop::collection::vec((0u8..5, 0u8..3), 0..7))
            .prop_map(|(blob, picks)| Act::Commit { blob, picks }),
        2 => blob.clone().prop_map(|blob| Act::Snapshot { blob }),
        1 => (blob.clone(), 0usize..4).prop_map(|(blob, which)| Act::DeleteSnapshot { blob, which }),
        3 => (blob.clone(), blob.clone(), prop::option::of(0usize..3), any::<bool>())
            .prop_map(|(from, to, snapshot, puts)| Act::Copy { from, to, snapshot, puts }),
        1 => (blob, any::<bool>()).prop_map(|(blob, only)| Act::Delete { blob, only }),
        1 => Just(Act::Sweep),
        2 => (1usize..8).prop_map(|polls| Act::Stop { polls }),
    ]
}

/// The blocks that a list named.
type Listed = Vec<(u8, Vec<u8>)>;

/// What the service should hold under one name.
#[derive(Clone, Default)]
struct Model {
    base: Option<Vec<u8>>,
    committed: Listed,
    staged: HashMap<u8, Vec<u8>>,
    /// Bytes and the blocks that a list named.
    snapshots: BTreeMap<Timestamp, (Vec<u8>, Listed)>,
}

fn bytes(seed: usize, size: usize) -> Vec<u8> {
    (0..size).map(|at| (at.wrapping_mul(31) ^ seed.wrapping_mul(131) ^ (at >> 9)) as u8).collect()
}

async fn run(acts: Vec<Act>, scarce: bool) {
    // Without memory for uploads, bodies are written in small pieces, and blocks have manifests of their own.
    let upload_memory = if scarce { 0 } else { ServiceOptions::default().upload_memory };
    let options = ServiceOptions { upload_memory, ..ServiceOptions::default() };
    let bench = Bench::with(options).await;
    let mut models: Vec<Model> = vec![Model::default(), Model::default()];
    for (step, act) in acts.into_iter().enumerate() {
        match act {
            Act::Put { blob, size } => {
                let body = bytes(step, size);
                bench.put(name(blob), &body).await.unwrap();
                let model = &mut models[usize::from(blob)];
                (model.base, model.committed) = (Some(body), Vec::new());
                model.staged.clear();
            }
            Act::Block { blob, id, size } => {
                let body = bytes(step, size);
                bench.put_block(name(blob), BLOCKS[usize::from(id)], &body).await.unwrap();
                models[usize::from(blob)].staged.insert(id, body);
            }
            Act::Commit { blob, picks } => commit(&bench, blob, &picks, &mut models[usize::from(blob)]).await,
            Act::Snapshot { blob } => {
                let model = &mut models[usize::from(blob)];
                let made = bench.snapshot(name(blob)).await;
                assert_eq!(made.is_ok(), model.base.is_some());
                if let (Ok(at), Some(base)) = (made, &model.base) {
                    model.snapshots.insert(at, (base.clone(), model.committed.clone()));
                }
            }
            Act::DeleteSnapshot { blob, which } => {
                let model = &mut models[usize::from(blob)];
                if let Some(at) = model.snapshots.keys().nth(which).copied() {
                    bench.delete(name(blob), Some(at), None).await.unwrap();
                    model.snapshots.remove(&at);
                }
            }
            Act::Copy { from, to, snapshot, puts } => {
                let source = &models[usize::from(from)];
                let at = snapshot.and_then(|which| source.snapshots.keys().nth(which).copied());
                let expected = match at {
                    Some(at) => source.snapshots.get(&at).cloned(),
                    None => source.base.clone().map(|base| (base, source.committed.clone())),
                };
                let op = if puts { Op::PutBlobFromUrl } else { Op::CopyBlob };
                let copied = bench.copy(op, name(from), at, name(to)).await;
                assert_eq!(copied.is_ok(), expected.is_some());
                if let (Ok(copied), Some((base, committed))) = (copied, expected) {
                    if puts {
                        assert_eq!(copied.crc64, Some(lazuli_service::crc64(&base)));
                    }
                    let model = &mut models[usize::from(to)];
                    model.base = Some(base);
                    model.committed = if puts { Vec::new() } else { committed };
                    model.staged.clear();
                }
            }
            Act::Delete { blob, only } => {
                let model = &mut models[usize::from(blob)];
                let what = if only { DeleteSnapshots::Only } else { DeleteSnapshots::Include };
                let done = bench.delete(name(blob), None, Some(what)).await.is_ok();
                assert_eq!(done, model.base.is_some() || !model.staged.is_empty());
                if model.base.is_none() || !only {
                    *model = Model::default();
                }
                model.snapshots.clear();
            }
            Act::Sweep => bench.sweep().await,
            Act::Stop { polls } => sweep_and_stop(&bench, polls).await,
        }
        check(&bench, &models).await;
    }
    for (blob, model) in models.iter().enumerate() {
        if model.base.is_some() || !model.staged.is_empty() {
            bench.delete(name(blob as u8), None, Some(DeleteSnapshots::Include)).await.unwrap();
        }
    }
    bench.sweep().await;
    assert_eq!(bench.keys().await, vec!["cacct\\x00c".to_owned()], "keys left behind");
    assert_eq!(bench.services.engine().extents().stats().live_bytes, 0, "chunks left behind");
    assert_eq!(bench.services.passed_over(), 0);
}

const BLOCKS: [&str; 5] = ["b0", "b1", "b2", "b3", "b4"];

fn name(blob: u8) -> &'static str {
    ["one", "two/three"][usize::from(blob)]
}

async fn commit(bench: &Bench, blob: u8, picks: &[(u8, u8)], model: &mut Model) {
    let sources = [BlockSource::Latest, BlockSource::Committed, BlockSource::Uncommitted];
    let mut expected = Some(Vec::new());
    for (id, source) in picks {
        let staged = model.staged.get(id).filter(|_| *source != 1);
        let committed = model.committed.iter().find(|(known, _)| known == id).map(|(_, body)| body);
        let found = staged.or(committed.filter(|_| *source != 2)).cloned();
        expected = expected.zip(found).map(|(mut list, body)| {
            list.push((*id, body));
            list
        });
    }
    let list: Vec<_> =
        picks.iter().map(|(id, source)| (sources[usize::from(*source)], BLOCKS[usize::from(*id)])).collect();
    let done = bench.put_block_list(name(blob), &list).await;
    assert_eq!(done.is_ok(), expected.is_some());
    if let Some(list) = expected {
        model.base = Some(list.iter().flat_map(|(_, body)| body.clone()).collect());
        model.committed = list;
        model.staged.clear();
    }
}

async fn check(bench: &Bench, models: &[Model]) {
    for (blob, model) in models.iter().enumerate() {
        let found = bench.get(name(blob as u8), None).await.ok();
        assert!(found == model.base, "base of {blob}: {:?} bytes", found.map(|bytes| bytes.len()));
        for (at, (body, _)) in &model.snapshots {
            let found = bench.get(name(blob as u8), Some(*at)).await.unwrap();
            assert!(&found == body, "snapshot of {blob}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, max_shrink_iters: 200, ..ProptestConfig::default() })]

    #[test]
    fn contents_follow_the_model_and_leave_nothing(acts in prop::collection::vec(act(), 1..40), scarce: bool) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(run(acts, scarce));
    }
}

/// A download goes on with the bytes it began with, though the blob is replaced, its blocks move and the sweeper
/// would like them.
#[tokio::test]
async fn a_download_outlives_what_it_reads() {
    let bench = Bench::new().await;
    let bodies: Vec<Vec<u8>> = (0..3).map(|seed| bytes(seed, 3 * 1024 * 1024)).collect();
    for (id, body) in BLOCKS.iter().zip(&bodies) {
        bench.put_block("b", id, body).await.unwrap();
    }
    let all: Vec<_> = BLOCKS[..3].iter().map(|id| (BlockSource::Latest, *id)).collect();
    bench.put_block_list("b", &all).await.unwrap();
    let download = bench.open("b", None, Some("bytes=1000-8000000")).await.unwrap();

    bench.put_block_list("b", &[(BlockSource::Committed, "b1")]).await.unwrap();
    bench.put("b", b"new").await.unwrap();
    let services = bench.services.clone();
    let sweeper = tokio::spawn(async move { services.sweep_once().await });
    let found = drain(download).await.unwrap();
    assert!(found == bodies.concat()[1000..=8_000_000]);
    sweeper.await.unwrap();
    bench.sweep().await;
    assert_eq!(bench.services.engine().extents().stats().live_bytes, 0);
}

/// More blocks than one commit takes: the manifest is written ahead, the stage is cleared later, and a second list
/// borrows from the first.
#[tokio::test]
async fn a_long_block_list_is_still_one_step() {
    const COUNT: usize = 12_000;
    let bench = Bench::new().await;
    let ids: Vec<String> = (0..COUNT).map(|number| format!("{number:06}")).collect();
    for (number, id) in ids.iter().enumerate() {
        bench.put_block("b", id, &[number as u8, (number >> 8) as u8]).await.unwrap();
    }
    bench.put_block("b", "unused", b"never listed").await.unwrap();
    let all: Vec<_> = ids.iter().map(|id| (BlockSource::Latest, id.as_str())).collect();
    bench.put_block_list("b", &all).await.unwrap();
    let expected: Vec<u8> = (0..COUNT).flat_map(|number| [number as u8, (number >> 8) as u8]).collect();
    assert!(bench.get("b", None).await.unwrap() == expected);

    // The first list lives on as the parent of the second, also when it is dead and swept in between.
    let snapshot = bench.snapshot("b").await.unwrap();
    let mut again: Vec<_> = ids[..9_000].iter().map(|id| (BlockSource::Committed, id.as_str())).collect();
    bench.put_block("b", "000000", b"new").await.unwrap();
    again.push((BlockSource::Uncommitted, "000000"));
    bench.put_block_list("b", &again).await.unwrap();
    bench.delete("b", Some(snapshot), None).await.unwrap();
    bench.sweep().await;
    assert!(bench.get("b", None).await.unwrap() == [&expected[..18_000], b"new"].concat());
    let part = bench.open("b", None, Some("bytes=17990-18002")).await.unwrap();
    assert!(drain(part).await.unwrap() == [&expected[17_990..18_000], b"new"].concat());

    bench.delete("b", None, None).await.unwrap();
    bench.sweep().await;
    assert_eq!(bench.keys().await, vec!["cacct\\x00c".to_owned()], "keys left behind");
}

/// Enough blocks, with long enough names, for a list that is written ahead in more than one step: its intent is there
/// to be seen between them.
async fn stage_many(bench: &Bench) -> Vec<String> {
    let ids: Vec<String> = (0..7_000).map(|number| format!("{number:064}")).collect();
    for id in &ids {
        bench.put_block("b", id, b"x").await.unwrap();
    }
    ids
}

async fn intents(bench: &Bench) -> usize {
    let reader = bench.services.engine().reader().await.unwrap();
    let scan = Scan { keys_only: true, ..Scan::of(lazuli_service::store::key::intents()) };
    reader.scan(scan).await.unwrap().items.len()
}

async fn until(bench: &Bench, count: usize) {
    let wait = async {
        while intents(bench).await != count {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(std::time::Duration::from_secs(20), wait).await.expect("intents stay as they are");
}

/// Polls the work until its list is written ahead, and no further. False when it was over before that was seen: a
/// commit may be answered while it is being asked for.
async fn written_ahead(bench: &Bench, work: &mut (impl Future + Unpin)) -> bool {
    for _ in 0..1_000 {
        if (&mut *work).now_or_never().is_some() {
            return false;
        }
        for _ in 0..20 {
            if intents(bench).await == 1 {
                return true;
            }
            tokio::time::sleep(std::time::Duration::from_millis(1)).await;
        }
    }
    panic!("the list is neither written ahead nor committed");
}

/// A list written ahead whose client leaves is given up at once, not at the next start.
#[tokio::test]
async fn a_list_that_nobody_waits_for_is_given_up() {
    let bench = Bench::new().await;
    let ids = stage_many(&bench).await;
    let all: Vec<_> = ids.iter().map(|id| (BlockSource::Latest, id.as_str())).collect();
    let mut seen = false;
    for _ in 0..20 {
        let mut work = Box::pin(bench.put_block_list("b", &all));
        seen = written_ahead(&bench, &mut work).await;
        if seen {
            break;
        }
    }
    assert!(seen, "a long list is written ahead");
    until(&bench, 0).await;
    // Given up, or committed by then: in both cases nothing is lost and nothing stays.
    bench.put_block_list("b", &all).await.unwrap();
    assert!(bench.get("b", None).await.unwrap() == vec![b'x'; ids.len()]);
    bench.delete("b", None, None).await.unwrap();
    bench.sweep().await;
    assert_eq!(bench.keys().await, vec!["cacct\\x00c".to_owned()], "keys left behind");
}

/// And so is one whose commit loses.
#[tokio::test]
async fn a_list_that_comes_too_late_is_given_up() {
    let bench = Bench::new().await;
    let ids = stage_many(&bench).await;
    // The list may also be committed before `first` is, when its commit was asked for in the poll that wrote it ahead.
    let mut lost = false;
    for _ in 0..20 {
        let input = PutBlockList {
            at: at("b"),
            preconditions: Preconditions {
                if_none_match: Some(ETagCondition::Any),
                ..Preconditions::default()
            },
            properties: BlobProperties::default(),
            blocks: ids.iter().map(|id| (BlockSource::Latest, id.as_bytes().to_vec())).collect(),
        };
        let mut work = Box::pin(input.execute(&bench.services, &bench.context));
        if written_ahead(&bench, &mut work).await {
            bench.put("b", b"first").await.unwrap();
            lost = work.await.is_err();
            assert!(
                bench.get("b", None).await.unwrap() == b"first",
                "the list came after what it was conditional on"
            );
            if lost {
                break;
            }
        }
        bench.delete("b", None, None).await.unwrap();
        stage_many(&bench).await;
    }
    assert!(lost, "a list written ahead loses to who commits before it");
    until(&bench, 0).await;
    assert!(bench.get("b", None).await.unwrap() == b"first");
    bench.delete("b", None, None).await.unwrap();
    bench.sweep().await;
    assert_eq!(bench.keys().await, vec!["cacct\\x00c".to_owned()], "keys left behind");
}

/// Replaced by many clients at once, given back by one sweeper: it must not need a commit for each.
#[tokio::test]
async fn many_contents_are_given_back_with_few_commits() {
    let bench = Bench::new().await;
    let body = vec![7; 20_000];
    for _ in 0..2 {
        for number in 0..300 {
            bench.put(&format!("b{number}"), &body).await.unwrap();
        }
    }
    let before = bench.services.engine().stats().transactions;
    bench.sweep().await;
    let commits = bench.services.engine().stats().transactions - before;
    // Several servers also write their rows meanwhile.
    if crate::SERVERS == 1 {
        assert!((1..=10).contains(&commits), "{commits} commits for 300 contents");
    }
    assert!(bench.keys().await.iter().all(|key| !key.starts_with('g')), "all are given back");
    assert!(bench.get("b0", None).await.unwrap() == body);
}
