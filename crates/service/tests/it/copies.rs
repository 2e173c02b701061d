//! Copies: what is shared, what is moved, and what a copy under way keeps others from.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use futures_util::future::BoxFuture;
use lazuli_engine::Host;
use lazuli_model::account::AccountFeatures;
use lazuli_model::admission::{LeaseAction, LeaseDuration, Preconditions};
use lazuli_model::blob::{ContentHeaders, CopyStatus};
use lazuli_model::error::{ErrorCode, Failure};
use lazuli_model::metadata::Metadata;
use lazuli_model::operation::{Op, WritingOp, policy};
use lazuli_service::blob::*;
use lazuli_service::{Answer, Body, BodyError, ServiceOptions, Services};

use crate::support::{Bench, at, copying};

const LARGE: usize = 9 * 1024 * 1024;

/// A source elsewhere whose bytes come when the sender is given them.
fn slow(length: usize) -> (tokio::sync::mpsc::UnboundedSender<Result<Bytes, BodyError>>, CopySource) {
    let (sender, mut receiver) = tokio::sync::mpsc::unbounded_channel();
    let frames = futures_util::stream::poll_fn(move |context| receiver.poll_recv(context));
    let body = Body::new(frames, Some(length as u64));
    let headers = ContentHeaders { content_type: Some("text/plain".into()), ..ContentHeaders::default() };
    let source = ForeignSource {
        headers,
        metadata: Metadata::default(),
        body,
        length: length as u64,
        of: SourceType::BLOCK,
        again: None,
    };
    (sender, CopySource::Foreign(source))
}

/// The source cannot be asked again.
struct Nowhere;

impl Abroad for Nowhere {
    fn open<'a>(&'a self, _: &'a ForeignAddress) -> BoxFuture<'a, Result<ForeignSource, Failure>> {
        Box::pin(async { Err(ErrorCode::CannotVerifyCopySource.into()) })
    }
}

/// Every server looks for copies that no server works at.
async fn look(bench: &Bench) {
    let abroad: Arc<dyn Abroad> = Arc::new(Nowhere);
    for server in bench.services.all() {
        take_up_copies(server, &abroad).await.unwrap();
    }
}

fn code<T>(answer: Answer<T>) -> ErrorCode {
    answer.err().expect("refused").0.code
}

async fn ends(bench: &Bench, name: &str) -> BlobRecord {
    for _ in 0..500 {
        let blob = bench.properties(name).await.unwrap();
        if blob.pending_copy().is_none() {
            return blob;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    panic!("the copy does not end");
}

async fn abort(bench: &Bench, name: &str, id: uuid::Uuid) -> Answer<()> {
    let input = AbortCopyBlob { at: at(name), preconditions: Preconditions::default(), id };
    input.execute(&bench.services, &bench.context).await
}

/// The chunks of a copy are those of its source: no byte more is stored, and the last holder gives them back.
#[tokio::test]
async fn a_copy_within_the_engine_moves_no_byte() {
    let bench = Bench::new().await;
    bench.put("source", &vec![7; LARGE]).await.unwrap();
    let before = bench.services.engine().extents().stats().live_bytes;
    for (op, to) in [(Op::CopyBlob, "a"), (Op::CopyBlobFromUrl, "b"), (Op::PutBlobFromUrl, "c")] {
        let copied = bench.copy(op, "source", None, to).await.unwrap();
        assert_eq!(copied.status, CopyStatus::Success, "{op:?}");
        assert_eq!(bench.services.engine().extents().stats().live_bytes, before, "{op:?}");
    }
    bench.delete("source", None, None).await.unwrap();
    bench.sweep().await;
    for to in ["a", "b", "c"] {
        assert!(bench.get(to, None).await.unwrap() == vec![7; LARGE], "{to}");
        bench.delete(to, None, None).await.unwrap();
    }
    bench.sweep().await;
    assert_eq!(bench.services.engine().extents().stats().live_bytes, 0);
}

/// Two blobs over one block list, each of which goes on with blocks of its own.
#[tokio::test]
async fn both_blobs_of_a_copied_block_list_go_on_alone() {
    let bench = Bench::new().await;
    let latest = |id| (BlockSource::Latest, id);
    bench.put_block("one", "b0", b"0").await.unwrap();
    bench.put_block("one", "b1", b"1").await.unwrap();
    bench.put_block_list("one", &[latest("b0"), latest("b1")]).await.unwrap();
    bench.copy(Op::CopyBlob, "one", None, "two").await.unwrap();
    for (name, id, byte) in [("one", "b2", b"2"), ("two", "b3", b"3")] {
        bench.put_block(name, id, byte).await.unwrap();
        bench.put_block_list(name, &[latest("b1"), latest(id)]).await.unwrap();
        bench.sweep().await;
    }
    assert_eq!(bench.get("one", None).await.unwrap(), b"12");
    assert_eq!(bench.get("two", None).await.unwrap(), b"13");
    bench.delete("one", None, None).await.unwrap();
    bench.sweep().await;
    assert_eq!(bench.get("two", None).await.unwrap(), b"13");
    // Of a blob put from a source the blocks are not known.
    bench.copy(Op::PutBlobFromUrl, "two", None, "three").await.unwrap();
    assert_eq!(code(bench.put_block_list("three", &[latest("b1")]).await), ErrorCode::InvalidBlockList);
}

#[tokio::test]
async fn a_pending_copy_keeps_other_writes_away_until_it_ends() {
    let bench = Bench::new().await;
    bench.put("b", b"old").await.unwrap();
    let (sender, source) = slow(LARGE);
    let copied = bench.copy_from(Op::CopyBlob, source, "b").await.unwrap();
    assert_eq!(copied.status, CopyStatus::Pending);
    let blob = bench.properties("b").await.unwrap();
    assert_eq!((blob.length(), blob.headers.content_type.as_deref()), (0, Some("text/plain")));
    assert_eq!(blob.extras().copy.as_ref().map(|copy| copy.total), Some(LARGE as u64));

    let pending = ErrorCode::PendingCopyOperation;
    assert_eq!(code(bench.put("b", b"new").await), pending);
    assert_eq!(code(bench.put_block("b", "b0", b"new").await), pending);
    assert_eq!(code(bench.snapshot("b").await), pending);
    assert_eq!(code(bench.delete("b", None, None).await), pending);
    assert_eq!(code(bench.copy(Op::CopyBlob, "b", None, "b").await), pending);
    assert_eq!(code(bench.copy(Op::CopyBlob, "b", None, "other").await), pending);
    let action = LeaseAction::Acquire { proposed: None, duration: LeaseDuration::Infinite };
    let lease = LeaseBlob { at: at("b"), preconditions: Preconditions::default(), action };
    let leased = lease.execute(&bench.services, &bench.context, policy::AcquireBlobLease).await;
    assert_eq!(code(leased), pending);

    sender.send(Ok(Bytes::from(vec![1; LARGE]))).unwrap();
    drop(sender);
    let blob = ends(&bench, "b").await;
    let copy = blob.extras().copy.clone().unwrap();
    assert_eq!((copy.status, copy.copied, copy.id), (CopyStatus::Success, LARGE as u64, copied.id));
    assert!(blob.etag > copied.stamped.etag, "the end of the copy changes the blob");
    assert!(bench.get("b", None).await.unwrap() == vec![1; LARGE]);
    assert_eq!(code(abort(&bench, "b", copied.id).await), ErrorCode::NoPendingCopyOperation);
    bench.delete("b", None, None).await.unwrap();
    bench.sweep().await;
    assert_eq!(bench.keys().await, vec!["cacct\\x00c".to_owned()], "keys left behind");
}

#[tokio::test]
async fn a_copy_is_aborted_by_its_id_and_leaves_an_empty_blob() {
    let bench = Bench::new().await;
    let (sender, source) = slow(LARGE);
    let copied = bench.copy_from(Op::CopyBlob, source, "b").await.unwrap();
    assert_eq!(code(abort(&bench, "b", uuid::Uuid::nil()).await), ErrorCode::CopyIdMismatch);
    abort(&bench, "b", copied.id).await.unwrap();
    let blob = bench.properties("b").await.unwrap();
    assert_eq!(blob.extras().copy.as_ref().map(|copy| copy.status), Some(CopyStatus::Aborted));
    // What still comes in is not taken.
    let _ = sender.send(Ok(Bytes::from(vec![1; LARGE])));
    drop(sender);
    tokio::time::sleep(Duration::from_millis(300)).await;
    assert_eq!(bench.get("b", None).await.unwrap(), b"");
    bench.put("b", b"new").await.unwrap();
    assert!(bench.properties("b").await.unwrap().extras().copy.is_none());
}

/// A source that breaks off, and one that is shorter than it said.
#[tokio::test]
async fn a_copy_whose_source_ends_early_fails() {
    let bench = Bench::new().await;
    for broken in [true, false] {
        let (sender, source) = slow(LARGE);
        bench.copy_from(Op::CopyBlob, source, "b").await.unwrap();
        sender.send(Ok(Bytes::from(vec![1; 100]))).unwrap();
        if broken {
            sender.send(Err(BodyError::Incomplete)).unwrap();
        }
        drop(sender);
        let copy = ends(&bench, "b").await.extras().copy.clone().unwrap();
        assert_eq!(copy.status, CopyStatus::Failed);
        assert!(copy.description.is_some_and(|why| why.contains("reading the source")));
        assert_eq!(bench.get("b", None).await.unwrap(), b"");
    }
}

/// The container of a pending copy may be deleted: the copy is then no longer wanted.
#[tokio::test]
async fn a_copy_into_a_deleted_container_leaves_nothing() {
    let bench = Bench::new().await;
    let (sender, source) = slow(LARGE);
    bench.copy_from(Op::CopyBlob, source, "b").await.unwrap();
    let input = DeleteContainer { container: "c".into(), preconditions: Preconditions::default() };
    input.execute(&bench.services, &bench.context).await.unwrap();
    bench.create_container("c").await;
    // The job may have noticed already, and read no more.
    let _ = sender.send(Ok(Bytes::from(vec![1; LARGE])));
    drop(sender);
    tokio::time::sleep(Duration::from_millis(500)).await;
    bench.sweep().await;
    assert_eq!(code(bench.get("b", None).await), ErrorCode::BlobNotFound);
    assert_eq!(bench.services.engine().extents().stats().live_bytes, 0);
}

/// A soft-deleted container comes back, also under another name; no copy is pending in it for ever, whether its server is
/// there when the container is deleted or lost.
#[tokio::test]
async fn a_copy_into_a_soft_deleted_container_is_not_pending_when_that_comes_back() {
    for restored_as in ["c", "d"] {
        for loses_server in [false, true] {
            let engine = crate::testing::engine(Host::test()).await;
            let mut features = AccountFeatures::default();
            features.entry("acct").container_soft_delete = Some(3);
            let options = ServiceOptions { features: Arc::new(features), ..ServiceOptions::default() };
            let bench = Bench::over(engine.clone(), options.clone()).await;
            let own =
                tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
            let (sender, source) = slow(LARGE);
            let (services, context) = (Services::new(engine.clone(), options), bench.context.clone());
            let begun = own.spawn(async move {
                let op = WritingOp::of(Op::CopyBlob).unwrap();
                copying(source, "b").execute(&services, &context, op).await.unwrap().status
            });
            assert_eq!(begun.await.unwrap(), CopyStatus::Pending);
            let input = DeleteContainer { container: "c".into(), preconditions: Preconditions::default() };
            input.execute(&bench.services, &bench.context).await.unwrap();
            let listed = ListContainers {
                prefix: String::new(),
                deleted: true,
                marker: None,
                max_results: 10,
                max_bytes: 1 << 20,
            };
            let listed = listed.execute(&bench.services, &bench.context).await.unwrap();
            let version = listed.items[0].deleted.unwrap().0;
            if loses_server {
                own.shutdown_background();
            } else {
                // The copy may have noticed already.
                let _ = sender.send(Ok(Bytes::from(vec![1; LARGE])));
                drop(sender);
                for _ in 0..500 {
                    if !bench.keys().await.iter().any(|key| key.starts_with('J')) {
                        break;
                    }
                    tokio::time::sleep(Duration::from_millis(10)).await;
                }
                own.shutdown_background();
            }
            // Servers look while the container is deleted, or when it is there again.
            bench.sweep().await;
            if restored_as == "d" {
                look(&bench).await;
            }
            let input = RestoreContainer {
                container: restored_as.into(),
                preconditions: Preconditions::default(),
                deleted: "c".into(),
                version,
            };
            input.execute(&bench.services, &bench.context).await.unwrap();
            look(&bench).await;
            bench.sweep().await;
            let input = GetBlobProperties {
                at: BlobAddress { container: restored_as.into(), blob: "b".into() },
                state: BlobState::Base,
                preconditions: Preconditions::default(),
                customer_key: None,
            };
            let found =
                input.execute(&bench.services, &bench.context, policy::GetBlobProperties).await.unwrap();
            let copy = found.blob.extras().copy.clone().unwrap();
            assert_eq!(copy.status, CopyStatus::Failed, "{restored_as} {loses_server}");
            assert!(!bench.keys().await.iter().any(|key| key.starts_with('J')));
            assert_eq!(bench.services.engine().extents().stats().live_bytes, 0);
            assert_eq!(bench.services.passed_over(), 0);
        }
    }
}

/// Many copies of a blob that is replaced, listed anew and deleted all the while: each copy is whole, of one moment, and
/// when all are gone nothing is left.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn copies_race_with_what_happens_to_their_source() {
    let bench = std::sync::Arc::new(Bench::new().await);
    let mut tasks = tokio::task::JoinSet::new();
    for writer in 0u8..2 {
        let bench = bench.clone();
        tasks.spawn(async move {
            for round in 0u8..40 {
                let byte = writer * 100 + round;
                match round % 4 {
                    0 | 1 => drop(bench.put("source", &vec![byte; 20_000]).await.unwrap()),
                    2 => {
                        // The other writer may have replaced what is staged.
                        let _ = bench.put_block("source", "b", &vec![byte; 20_000]).await;
                        let _ = bench.put_block_list("source", &[(BlockSource::Latest, "b")]).await;
                    }
                    _ => drop(bench.delete("source", None, None).await),
                }
            }
        });
    }
    for (copier, op) in [Op::CopyBlob, Op::PutBlobFromUrl, Op::CopyBlobFromUrl].into_iter().enumerate() {
        let bench = bench.clone();
        tasks.spawn(async move {
            let to = format!("copy{}", copier % 2);
            for _ in 0..40 {
                match bench.copy(op, "source", None, &to).await {
                    Ok(_) => {
                        let read = bench.get(&to, None).await.unwrap();
                        assert!(read.len() == 20_000 && read.iter().all(|byte| *byte == read[0]), "torn");
                    }
                    Err(fault) => {
                        let code = fault.0.code;
                        let absent = [ErrorCode::BlobNotFound, ErrorCode::CannotVerifyCopySource];
                        assert!(absent.contains(&code), "{code:?}");
                    }
                }
            }
        });
    }
    while let Some(done) = tasks.join_next().await {
        done.unwrap();
    }
    for name in ["source", "copy0", "copy1"] {
        let _ = bench.delete(name, None, None).await;
    }
    bench.sweep().await;
    assert_eq!(bench.services.engine().extents().stats().live_bytes, 0);
    assert_eq!(bench.keys().await, vec!["cacct\\x00c".to_owned()], "keys left behind");
}
