//! Append blobs: blocks stand whole and in the order of their commits, every record over a content reads its own length of
//! it, and what is deleted or replaced is given back.

use std::collections::HashSet;
use std::sync::Arc;

use lazuli_engine::{Plan, Scan};
use lazuli_model::admission::Preconditions;
use lazuli_model::blob::BlobType;
use lazuli_model::error::ErrorCode;
use lazuli_model::etag::ETag;
use lazuli_model::operation::policy;
use lazuli_model::time::Timestamp;
use lazuli_service::Body;
use lazuli_service::Fault;
use lazuli_service::ServiceOptions;
use lazuli_service::blob::{Appended, BlobProperties, BlobRecord, DeleteSnapshots};
use lazuli_service::store::record::Record;
use lazuli_service::store::record::content::Shape;
use lazuli_service::store::upload::upload;
use lazuli_service::store::{Bytes, NewContent};
use proptest::prelude::*;

use crate::support::{Bench, at, drain};

const MIB: usize = 1024 * 1024;

fn live(bench: &Bench) -> u64 {
    bench.services.engine().extents().stats().live_bytes
}

async fn only_the_container_is_left(bench: &Bench) {
    bench.sweep().await;
    assert_eq!(bench.keys().await, vec!["cacct\\x00c".to_owned()], "keys left behind");
    assert_eq!(live(bench), 0, "chunks left behind");
    assert_eq!(bench.services.passed_over(), 0);
}

/// A block of this length whose bytes tell who wrote it, and which of its bytes each is.
fn block(writer: usize, length: usize) -> Vec<u8> {
    (0..length).map(|at| (writer * 31 + at / 97 + 1) as u8).collect()
}

/// Lengths of every kind: inline, one chunk, several, and more pieces than stand where a block is listed.
const LENGTHS: [usize; 6] = [1, 100, 16 * 1024, 16 * 1024 + 1, 300 * 1024, 5 * MIB];

#[tokio::test]
async fn blocks_of_every_length_are_read_back_whole_and_in_ranges() {
    for upload_memory in [ServiceOptions::default().upload_memory, 0] {
        let bench = Bench::with(ServiceOptions { upload_memory, ..Default::default() }).await;
        bench.create_append_blob("b").await.unwrap();
        let mut body = Vec::new();
        let lengths = LENGTHS.into_iter().chain(LENGTHS.into_iter().rev());
        for (number, length) in lengths.enumerate() {
            let appended = bench.append("b", &block(number, length)).await.unwrap();
            assert_eq!(appended.block.offset, body.len() as u64);
            assert_eq!(appended.block.blocks, number as u32 + 1);
            body.extend(block(number, length));
        }
        assert!(bench.get("b", None).await.unwrap() == body);
        for (from, to) in
            [(0, 0), (0, 101), (1, 1), (100, 16_485), (33_000, 400_000), (body.len() - 1, body.len() - 1)]
        {
            let part = bench.open("b", None, Some(&format!("bytes={from}-{to}"))).await.unwrap();
            assert!(drain(part).await.unwrap() == body[from..=to], "{from}-{to}");
        }
        bench.delete("b", None, None).await.unwrap();
        only_the_container_is_left(&bench).await;
    }
}

/// A log of many short lines is read with few requests to the engine, and sent in few parts.
#[tokio::test]
async fn many_small_blocks_are_sent_in_few_parts() {
    let bench = Bench::new().await;
    bench.create_append_blob("log").await.unwrap();
    let mut body = Vec::new();
    for number in 0..1_500 {
        bench.append("log", &block(number, 100)).await.unwrap();
        body.extend(block(number, 100));
    }
    let mut download = bench.open("log", None, None).await.unwrap();
    let (mut read, mut parts) = (Vec::new(), 0);
    while let Some(part) = download.next().await {
        read.extend_from_slice(&part.unwrap());
        parts += 1;
    }
    assert!(read == body);
    assert!(parts <= 12, "{parts} parts");
    drop(download);
    bench.delete("log", None, None).await.unwrap();
    only_the_container_is_left(&bench).await;
}

async fn crowd(
    bench: &Arc<Bench>,
    writers: usize,
    append: impl AsyncFn(Arc<Bench>, usize) -> Vec<Appended> + Clone + 'static,
) -> Vec<Appended> {
    let tasks = tokio::task::LocalSet::new();
    let running: Vec<_> = (0..writers)
        .map(|writer| {
            let (bench, append) = (Arc::clone(bench), append.clone());
            tasks.spawn_local(async move { append(bench, writer).await })
        })
        .collect();
    let mut done = Vec::new();
    tasks
        .run_until(async {
            for one in running {
                done.extend(one.await.unwrap());
            }
        })
        .await;
    done
}

/// Without a condition everyone's block is taken, whole, where its answer says.
#[tokio::test]
async fn blocks_of_many_appenders_never_interleave() {
    const ROUNDS: usize = 6;
    let bench = Arc::new(Bench::new().await);
    bench.create_append_blob("b").await.unwrap();
    let length = |writer: usize, round: usize| LENGTHS[(writer + round) % 5];
    let writers = 24;
    let appended = crowd(&bench, writers, async move |bench, writer| {
        let mut done = Vec::new();
        for round in 0..ROUNDS {
            done.push(bench.append("b", &block(writer, length(writer, round))).await.unwrap());
        }
        done
    })
    .await;
    let body = bench.get("b", None).await.unwrap();
    let counts: HashSet<u32> = appended.iter().map(|one| one.block.blocks).collect();
    assert_eq!(counts, (1..=(writers * ROUNDS) as u32).collect(), "every count is told once");
    let etags: HashSet<ETag> = appended.iter().map(|one| one.block.stamped.etag).collect();
    assert_eq!(etags.len(), writers * ROUNDS, "every ETag is told once");
    let mut total = 0;
    for (number, one) in appended.iter().enumerate() {
        let (writer, round) = (number / ROUNDS, number % ROUNDS);
        let (offset, length) = (one.block.offset as usize, length(writer, round));
        assert!(body[offset..offset + length] == block(writer, length), "{writer} {round} at {offset}");
        total += length;
    }
    assert_eq!(body.len(), total);
}

/// Of those who name the same position one wins, and the others are told so.
#[tokio::test]
async fn of_the_appenders_at_one_position_exactly_one_wins() {
    let bench = Arc::new(Bench::new().await);
    bench.create_append_blob("b").await.unwrap();
    for round in 0..5u64 {
        let won = crowd(&bench, 20, async move |bench, writer| {
            let given = Preconditions { append_position: Some(round * 10), ..Preconditions::default() };
            match bench.append_if("b", &block(writer, 10), given).await {
                Ok(won) => vec![won],
                Err(refused) => {
                    assert_eq!(refused.0.code, ErrorCode::AppendPositionConditionNotMet);
                    Vec::new()
                }
            }
        })
        .await;
        assert_eq!(won.len(), 1, "round {round}");
        assert_eq!(won[0].block.offset, round * 10);
    }
    assert_eq!(bench.get("b", None).await.unwrap().len(), 50);
}

/// A limit of the size holds for the sum of what all of them append.
#[tokio::test]
async fn appenders_with_a_maximum_stop_at_it() {
    let bench = Arc::new(Bench::new().await);
    bench.create_append_blob("b").await.unwrap();
    let won = crowd(&bench, 30, async move |bench, writer| {
        let given = Preconditions { max_size: Some(105), ..Preconditions::default() };
        bench.append_if("b", &block(writer, 10), given).await.into_iter().collect()
    })
    .await;
    assert_eq!(won.len(), 10);
    assert_eq!(bench.get("b", None).await.unwrap().len(), 100);
}

/// A download goes on with what its record had, whatever is appended meanwhile, and even when all of it is replaced.
#[tokio::test]
async fn a_download_ends_where_its_record_ended() {
    let bench = Bench::new().await;
    bench.create_append_blob("b").await.unwrap();
    for writer in 0..20 {
        bench.append("b", &block(writer, 100 * 1024)).await.unwrap();
    }
    let body = bench.get("b", None).await.unwrap();
    let open = bench.open("b", None, None).await.unwrap();
    let later = bench.open("b", None, None).await.unwrap();
    bench.append("b", &block(21, 100 * 1024)).await.unwrap();
    assert!(drain(open).await.unwrap() == body);
    bench.create_append_blob("b").await.unwrap();
    bench.append("b", &block(22, MIB)).await.unwrap();
    bench.sweep().await;
    assert!(drain(later).await.unwrap() == body);
    bench.sweep().await;
    assert_eq!(live(&bench), MIB as u64, "what was replaced is given back");
}

/// An append blob that begins with bytes, as a copy of one does, can be appended to like any other.
#[tokio::test]
async fn a_blob_that_begins_with_bytes_grows() {
    let bench = Bench::with(ServiceOptions { upload_memory: 0, ..Default::default() }).await;
    for length in [0, 10, 100 * 1024, 2 * MIB] {
        let first = block(1, length);
        let uploaded = upload(
            &bench.services,
            Body::from(bytes::Bytes::from(first.clone())),
            u64::MAX,
            false,
            &Default::default(),
        )
        .await
        .unwrap();
        let mut new = NewContent::of_blob(&bench.services, uploaded).await.unwrap();
        let (place, content) = (&at("b"), &new);
        let made = bench.services.commit(&bench.context, |unit| async move {
            let admitted = unit.blob(place).await?.admit(policy::PutAppendBlob, &Preconditions::default())?;
            let bytes = Bytes::Uploaded(content);
            admitted.replace(BlobType::Append, &BlobProperties::default(), bytes).await
        });
        made.await.map_err(|fault: Fault| fault.0).unwrap();
        new.settle();
        assert!(bench.get("b", None).await.unwrap() == first);
        let snapshot = bench.snapshot("b").await.unwrap();
        let appended = bench.append("b", &block(2, 1_000)).await.unwrap();
        assert_eq!(appended.block.offset, length as u64);
        assert!(bench.get("b", None).await.unwrap() == [first.clone(), block(2, 1_000)].concat());
        assert!(bench.get("b", Some(snapshot)).await.unwrap() == first);
        bench.delete("b", None, Some(DeleteSnapshots::Include)).await.unwrap();
        only_the_container_is_left(&bench).await;
    }
}

/// The 50,000th block is the last. The blob is given the others by hand: what counts is its record.
#[tokio::test]
async fn a_blob_has_50000_blocks_at_the_most() {
    let bench = Bench::new().await;
    bench.create_append_blob("b").await.unwrap();
    bench.append("b", b"first").await.unwrap();
    let engine = bench.services.engine();
    let reader = engine.reader().await.unwrap();
    let page = reader.scan(Scan::of(lazuli_engine::KeyRange::prefix(&b"b"[..]))).await.unwrap();
    let (key, entry) = page.items.into_iter().next().unwrap();
    let mut record = BlobRecord::decode(&entry.value).unwrap();
    assert_eq!(record.kind, BlobType::Append);
    record.content.shape = Shape::Manifest { blocks: 49_999, named: false };
    let (key, value) = (&key, &record.encode());
    engine
        .run(None, |_| async move {
            let mut plan = Plan::new(());
            plan.put(key.clone(), value.clone());
            Ok::<_, Fault>(plan)
        })
        .await
        .unwrap();
    assert_eq!(bench.append("b", b"last").await.unwrap().block.blocks, 50_000);
    let refused = bench.append("b", b"one too many").await.unwrap_err();
    assert_eq!((refused.0.code, refused.0.status()), (ErrorCode::BlockCountExceedsLimit, 409));
    assert_eq!(bench.get("b", None).await.unwrap(), b"firstlast");
}

#[derive(Clone, Debug)]
enum Act {
    Append { length: usize },
    Snapshot,
    DeleteSnapshot { which: usize },
    DeleteSnapshots,
    Replace,
    Sweep,
}

fn act() -> impl Strategy<Value = Act> {
    prop_oneof![
        8 => (0usize..LENGTHS.len() - 1).prop_map(|which| Act::Append { length: LENGTHS[which] }),
        3 => Just(Act::Snapshot),
        2 => (0usize..8).prop_map(|which| Act::DeleteSnapshot { which }),
        1 => Just(Act::DeleteSnapshots),
        1 => Just(Act::Replace),
        2 => Just(Act::Sweep),
    ]
}

/// What the blob and its snapshots should read as.
#[derive(Default)]
struct Expected {
    body: Vec<u8>,
    snapshots: Vec<(Timestamp, Vec<u8>)>,
}

async fn perform(bench: &Bench, expected: &mut Expected, number: usize, act: Act) {
    match act {
        Act::Append { length } => {
            bench.append("b", &block(number, length)).await.unwrap();
            expected.body.extend(block(number, length));
        }
        Act::Snapshot => {
            let snapshot = bench.snapshot("b").await.unwrap();
            expected.snapshots.push((snapshot, expected.body.clone()));
        }
        Act::DeleteSnapshot { which } => {
            if !expected.snapshots.is_empty() {
                let (snapshot, _) = expected.snapshots.remove(which % expected.snapshots.len());
                bench.delete("b", Some(snapshot), None).await.unwrap();
            }
        }
        Act::DeleteSnapshots => {
            bench.delete("b", None, Some(DeleteSnapshots::Only)).await.unwrap();
            expected.snapshots.clear();
        }
        Act::Replace => {
            bench.create_append_blob("b").await.unwrap();
            expected.body.clear();
        }
        Act::Sweep => bench.sweep().await,
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    /// Appended to, snapshotted at different lengths, replaced and taken down in any order.
    #[test]
    fn every_record_reads_its_own_length_and_all_is_given_back(acts in prop::collection::vec(act(), 1..40)) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let bench = Bench::new().await;
            bench.create_append_blob("b").await.unwrap();
            let mut expected = Expected::default();
            for (number, act) in acts.into_iter().enumerate() {
                perform(&bench, &mut expected, number, act).await;
                assert!(bench.get("b", None).await.unwrap() == expected.body);
            }
            for (snapshot, body) in &expected.snapshots {
                assert!(&bench.get("b", Some(*snapshot)).await.unwrap() == body);
            }
            bench.delete("b", None, Some(DeleteSnapshots::Include)).await.unwrap();
            only_the_container_is_left(&bench).await;
        });
    }
}
