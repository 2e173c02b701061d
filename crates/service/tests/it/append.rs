//! Append blobs: blocks stand whole and in the order of their commits, every record over a content reads its own length of
//! it, and what is deleted or replaced is given back.

use std::collections::HashSet;
use std::sync::Arc;

use lazuli_engine::{Plan, Scan};
use lazuli_model::admission::{LeaseId, Preconditions};
use lazuli_model::blob::BlobType;
use lazuli_model::error::ErrorCode;
use lazuli_model::etag::ETag;
use lazuli_model::operation::policy;
use lazuli_model::time::Timestamp;
use lazuli_service::Body;
use lazuli_service::Fault;
use lazuli_service::blob::{AppendBlock, Appended, BlobProperties, BlobRecord, DeleteSnapshots, Digests};
use lazuli_service::store::record::Record;
use lazuli_service::store::record::content::Shape;
use lazuli_service::store::upload::upload;
use lazuli_service::store::{Bytes, NewContent};
use lazuli_service::{ServiceOptions, Services};
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

/// How many rows the blob's blocks stand in.
async fn rows_of_blocks(bench: &Bench) -> usize {
    bench.keys().await.iter().filter(|key| key.starts_with(['m', '~'])).count()
}

/// Short lines become few rows, and read the same: as a whole, in ranges, and in downloads that began before.
#[tokio::test]
async fn small_blocks_are_packed_by_the_sweeper() {
    for (length, count) in [(10, 2_000), (4_096, 1_200)] {
        let bench = Bench::new().await;
        bench.create_append_blob("log").await.unwrap();
        let mut body = Vec::new();
        for round in 0..4 {
            let append = |line| {
                let bench = &bench;
                async move { (line, bench.append("log", &block(line, length)).await.unwrap()) }
            };
            let lines = (0..count / 4).map(|line| append(round * count / 4 + line));
            let mut lines = futures_util::future::join_all(lines).await;
            lines.sort_by_key(|(_, appended)| appended.block.offset);
            body.extend(lines.into_iter().flat_map(|(line, _)| block(line, length)));
        }
        let mut open = bench.open("log", None, None).await.unwrap();
        let mut read = open.next().await.unwrap().unwrap().to_vec();
        let before = rows_of_blocks(&bench).await;
        assert!(before > count, "{before} rows");
        bench.sweep().await;
        read.extend(drain(open).await.unwrap());
        assert!(read == body, "a download that began before");
        bench.sweep().await;
        let after = rows_of_blocks(&bench).await;
        assert!(after < 2 * 512 + 20 && after < before / 2, "{before} rows became {after}");
        assert!(bench.get("log", None).await.unwrap() == body);
        for (from, to) in [(0, 0), (9, 4_100), (body.len() / 2, body.len() / 2 + 700), (1, body.len() - 1)] {
            let part = bench.open("log", None, Some(&format!("bytes={from}-{to}"))).await.unwrap();
            assert!(drain(part).await.unwrap() == body[from..=to], "{from}-{to}");
        }
        let appended = bench.append("log", &block(7, length)).await.unwrap();
        assert_eq!((appended.block.offset, appended.block.blocks), (body.len() as u64, count as u32 + 1));
        bench.delete("log", None, None).await.unwrap();
        only_the_container_is_left(&bench).await;
    }
}

/// Each of those who wait together is judged on what the one before it left.
#[tokio::test]
async fn blocks_that_are_committed_together_are_judged_one_by_one() {
    let bench = Bench::new().await;
    bench.create_append_blob("b").await.unwrap();
    let (bench, server): (&Bench, &Services) = (&bench, &bench.services);
    let append = |given: Preconditions| async move {
        let appended = bench.append_on(server, "b", b"ten bytes!", given).await;
        appended.map(|appended| appended.block.offset).map_err(|fault| fault.0.code)
    };
    let position = |at| Preconditions { append_position: Some(at), ..Preconditions::default() };
    let most = |size| Preconditions { max_size: Some(size), ..Preconditions::default() };
    let told = futures_util::future::join_all([
        append(Preconditions::default()),
        append(position(10)),
        append(position(10)),
        append(most(30)),
        append(most(30)),
        append(Preconditions::default()),
        append(position(40)),
    ])
    .await;
    let refused = (ErrorCode::AppendPositionConditionNotMet, ErrorCode::MaxBlobSizeConditionNotMet);
    assert_eq!(told, [Ok(0), Ok(10), Err(refused.0), Ok(20), Err(refused.1), Ok(30), Ok(40)]);
    assert_eq!(bench.get("b", None).await.unwrap().len(), 50);
}

/// Bytes that are not those that their sender meant, and a lease that is not the blob's, are refused alone, and nothing of them
/// is left.
#[tokio::test]
async fn a_block_that_is_refused_does_not_hurt_those_committed_with_it() {
    let bench = Bench::new().await;
    bench.create_append_blob("b").await.unwrap();
    let (bench, server): (&Bench, &Services) = (&bench, &bench.services);
    let append = |md5, lease_id| async move {
        let input = AppendBlock {
            at: at("b"),
            preconditions: Preconditions { lease_id, ..Preconditions::default() },
            digests: Digests { md5, crc64: None },
            body: Body::from(bytes::Bytes::from_static(b"ten bytes!")),
            limit: u64::MAX,
            customer_key: None,
        };
        let appended = input.execute(server, &bench.context, policy::AppendBlock).await;
        appended.map(|appended| appended.block.offset).map_err(|fault| fault.0.code)
    };
    let foreign = Some(LeaseId(uuid::Uuid::from_u128(7)));
    let told = futures_util::future::join_all([
        append(Some([0; 16]), None),
        append(None, None),
        append(None, foreign),
        append(Some([0; 16]), None),
        append(None, None),
    ])
    .await;
    let (wrong, leased) = (ErrorCode::Md5Mismatch, ErrorCode::LeaseNotPresentWithBlobOperation);
    assert_eq!(told, [Err(wrong), Ok(0), Err(leased), Err(wrong), Ok(10)]);
    assert_eq!(bench.get("b", None).await.unwrap(), b"ten bytes!ten bytes!");
    let bytes = bench.keys().await.iter().filter(|key| key.starts_with('~')).count();
    assert_eq!(bytes, 2);
}

/// A client that leaves takes neither its own block back nor those that wait with it.
#[tokio::test]
async fn an_appender_that_leaves_does_not_hurt_the_others() {
    let bench = Bench::new().await;
    bench.create_append_blob("b").await.unwrap();
    for round in 0..20 {
        let large = block(1, 100 * 1024);
        let first = bench.append("b", &large);
        let others = futures_util::future::join_all((0..4).map(|_| bench.append("b", b"another")));
        let (left, others) =
            tokio::join!(tokio::time::timeout(std::time::Duration::from_micros(round * 20), first), others);
        drop(left);
        for other in others {
            other.unwrap();
        }
    }
}

#[derive(Clone, Debug)]
enum Act {
    Append {
        length: usize,
    },
    /// Many at a time, each of a few kilobytes.
    Lines {
        count: usize,
    },
    Snapshot,
    DeleteSnapshot {
        which: usize,
    },
    DeleteSnapshots,
    Replace,
    Sweep,
}

fn act() -> impl Strategy<Value = Act> {
    prop_oneof![
        8 => (0usize..LENGTHS.len() - 1).prop_map(|which| Act::Append { length: LENGTHS[which] }),
        4 => (10usize..80).prop_map(|count| Act::Lines { count }),
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
        Act::Lines { count } => {
            let append = |line| async move { (line, bench.append("b", &block(line, 9_000)).await.unwrap()) };
            let mut lines = futures_util::future::join_all((0..count).map(append)).await;
            lines.sort_by_key(|(_, appended)| appended.block.offset);
            for (line, appended) in lines {
                assert_eq!(appended.block.offset, expected.body.len() as u64);
                expected.body.extend(block(line, 9_000));
            }
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
