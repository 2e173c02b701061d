//! Copies to files: no byte moves where none must, and nothing shows through; those that take a while end once, wherever
//! their file has been moved.

use std::sync::Arc;
use std::time::Duration;

use futures_util::future::BoxFuture;
use lazuli_engine::{Engine, Host};
use lazuli_model::blob::{CopyState, CopyStatus};
use lazuli_model::error::Failure;
use lazuli_service::blob::{
    Abroad, BlobState, ForeignAddress, ForeignSource, OwnSource, PutPage, PutPageBlob, SourceType,
    take_up_copies,
};
use lazuli_service::{BodyError, ServiceOptions, Services};
use tokio::sync::mpsc::UnboundedSender;

use super::*;
use crate::support;

const LARGE: usize = 9 * 1024 * 1024;

async fn bench() -> Bench {
    let bench = Bench::new().await;
    bench.create_share().await;
    bench.make_directory("d").await.unwrap();
    bench
}

fn own(name: &str) -> CopySource {
    CopySource::Own(OwnSource {
        account: "acct".into(),
        at: support::at(name),
        state: BlobState::Base,
        preconditions: given(),
        customer_key: None,
    })
}

impl Bench {
    async fn written(&self) -> u64 {
        self.services.engine().extents().stats().live_bytes
    }

    async fn copy_state(&self, name: &str) -> CopyState {
        self.look(&at(name, None)).await.unwrap().file().unwrap().copy.clone().unwrap()
    }

    async fn copy_ends(&self, name: &str) -> CopyState {
        for _ in 0..1_000 {
            let copy = self.copy_state(name).await;
            if copy.status != CopyStatus::Pending {
                return copy;
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        panic!("the copy does not end");
    }
}

/// A file that is copied, copied again and onto itself takes no room, and each goes its own way.
#[tokio::test]
async fn copies_of_files_share_their_bytes() {
    let bench = bench().await;
    bench.make_file("f", 1 << 20).await.unwrap();
    bench.write_range("f", 0..1 << 20, 1).await.unwrap();
    let room = bench.written().await;
    for number in 0..20 {
        bench.copy_path(&at("f", None), &format!("d/{number}")).await.unwrap();
        bench.copy_path(&at(&format!("d/{number}"), None), &format!("d/{number}")).await.unwrap();
    }
    bench.copy_path(&at("d/7", None), "d/7a").await.unwrap();
    assert_eq!(bench.written().await, room, "no byte was written");
    bench.write_range("f", 0..10, 2).await.unwrap();
    bench.write_range("d/7", 10..20, 3).await.unwrap();
    let expected = |from: usize, to: usize, fill: u8| {
        let mut bytes = vec![1; 1 << 20];
        bytes[from..to].fill(fill);
        bytes
    };
    assert!(bench.read_file(&at("f", None)).await.unwrap() == expected(0, 10, 2));
    assert!(bench.read_file(&at("d/7", None)).await.unwrap() == expected(10, 20, 3));
    for untouched in ["d/0", "d/7a", "d/19"] {
        assert!(bench.read_file(&at(untouched, None)).await.unwrap() == expected(0, 0, 0), "{untouched}");
    }
    for name in (0..20).map(|number| number.to_string()).chain(["7a".to_owned()]) {
        bench.delete_path(&format!("d/{name}")).await.unwrap();
    }
    bench.sweep().await;
    assert!(bench.read_file(&at("f", None)).await.unwrap() == expected(0, 10, 2));
    bench.delete_path("f").await.unwrap();
    bench.sweep().await;
    assert_eq!(bench.written().await, 0, "bytes left behind");
    assert_eq!(bench.usage().await, 0);
}

/// The pages of a blob become the ranges of a file, without being read; what is written to either is its own.
#[tokio::test]
async fn pages_become_ranges() {
    let bench = bench().await;
    let blob = || support::at("pages");
    let make = PutPageBlob {
        at: blob(),
        preconditions: given(),
        length: 1 << 20,
        sequence_number: 0,
        properties: Default::default(),
    };
    make.execute(&bench.services, &bench.context).await.unwrap();
    let put = async |range: Range<u64>, fill: u8| {
        let length = (range.end - range.start) as usize;
        let input = PutPage {
            at: blob(),
            preconditions: given(),
            range,
            digests: Default::default(),
            customer_key: None,
            body: Body::from(Bytes::from(vec![fill; length])),
        };
        input.execute(&bench.services, &bench.context).await.unwrap();
    };
    put(65_536..131_072, 5).await;
    let room = bench.written().await;
    bench.copy_to(own("pages"), "f").await.unwrap();
    assert_eq!((bench.written().await, bench.usage().await), (room, 1 << 20));
    put(65_536..66_048, 6).await;
    bench.write_range("f", 66_048..66_050, 7).await.unwrap();
    let bytes = bench.read_file(&at("f", None)).await.unwrap();
    assert_eq!((bytes[65_535], bytes[65_536], bytes[66_048], bytes[66_050]), (0, 5, 7, 5));
    assert_eq!(bytes.len(), 1 << 20);
    let blob = bench.get("pages", None).await.unwrap();
    assert_eq!((blob[65_536], blob[66_048]), (6, 5));
    bench.delete("pages", None, None).await.unwrap();
    bench.sweep().await;
    assert_eq!(bench.read_file(&at("f", None)).await.unwrap(), bytes);
}

/// A quota is judged before a copy begins, whether its bytes move or not.
#[tokio::test]
async fn a_copy_does_not_go_past_the_quota() {
    let bench = bench().await;
    bench.set_quota(1).await;
    bench.make_file("f", 700 << 20).await.unwrap();
    let told = bench.copy_path(&at("f", None), "g").await;
    assert_eq!(code(told).map(drop), Err(ErrorCode::ShareSizeLimitReached));
    bench.make_file("f", (1 << 30) - LARGE as u64 + 1).await.unwrap();
    let (_, source) = slow();
    let told = bench.copy_to(CopySource::Foreign(source), "g").await;
    assert_eq!(code(told).map(drop), Err(ErrorCode::ShareSizeLimitReached));
    assert!(!bench.keys().await.iter().any(|key| key.starts_with('J')));
}

/// What is copied while others write is one of the states that the source had.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_copy_is_of_one_moment() {
    let bench = Arc::new(bench().await);
    bench.make_file("f", 100_000).await.unwrap();
    let mut clients = tokio::task::JoinSet::new();
    for client in 0..4_u8 {
        let bench = Arc::clone(&bench);
        clients.spawn(async move {
            for round in 0..15_u8 {
                match client {
                    0 | 1 => {
                        drop(bench.write_range("f", 0..100_000, client * 100 + round + 1).await.unwrap())
                    }
                    _ => {
                        let name = format!("d/{client}-{round}");
                        bench.copy_path(&at("f", None), &name).await.unwrap();
                        let bytes = bench.read_file(&at(&name, None)).await.unwrap();
                        assert!(bytes.iter().all(|byte| *byte == bytes[0]), "{name} is a mixture");
                    }
                }
            }
        });
    }
    while let Some(done) = clients.join_next().await {
        done.unwrap();
    }
}

/// A source whose bytes come when the sender is given them, and which can be asked again.
fn slow() -> (UnboundedSender<Result<Bytes, BodyError>>, ForeignSource) {
    let (sender, mut receiver) = tokio::sync::mpsc::unbounded_channel();
    let frames = futures_util::stream::poll_fn(move |context| receiver.poll_recv(context));
    (sender, source(Body::new(frames, Some(LARGE as u64))))
}

fn source(body: Body) -> ForeignSource {
    let again = ForeignAddress { url: "http://there/x".into(), version: "v".into(), etag: None };
    ForeignSource {
        headers: ContentHeaders::default(),
        metadata: Metadata::default(),
        body,
        length: LARGE as u64,
        of: SourceType::BLOCK,
        again: Some(again),
    }
}

struct There;

impl Abroad for There {
    fn open<'a>(&'a self, _: &'a ForeignAddress) -> BoxFuture<'a, Result<ForeignSource, Failure>> {
        Box::pin(async { Ok(source(Body::from(Bytes::from(vec![7; LARGE])))) })
    }
}

/// Begins a copy to a file on a server of its own, which is gone before it has moved a byte.
async fn abandoned(to: &str) -> (Engine, Bench) {
    let engine = Engine::memory(Host::test());
    let bench = Bench::over(engine.clone(), ServiceOptions::default()).await;
    bench.create_share().await;
    bench.make_directory("d").await.unwrap();
    let services = Services::new(engine.clone(), ServiceOptions::default());
    let (context, to) = (bench.context.clone(), to.to_owned());
    let begun = tokio::task::spawn_blocking(move || {
        let (_sender, source) = slow();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let copying = copying(CopySource::Foreign(source), &to);
        let copied = runtime.block_on(copying.execute(&services, &context));
        runtime.shutdown_background();
        copied.unwrap().status
    });
    assert_eq!(begun.await.unwrap(), CopyStatus::Pending);
    (engine, bench)
}

async fn all_look(bench: &Bench) -> usize {
    let abroad: Arc<dyn Abroad> = Arc::new(There);
    let looking = bench.services.all().iter().map(|server| take_up_copies(server, &abroad));
    futures_util::future::join_all(looking).await.into_iter().map(Result::unwrap).sum()
}

/// One server takes it up, whichever looks first, also where a directory above the file has been moved meanwhile and a
/// snapshot was taken, which shows what there was.
#[tokio::test]
async fn a_copy_that_lost_its_server_is_taken_up_by_one() {
    let (_, bench) = abandoned("d/f").await;
    assert_eq!(bench.usage().await, LARGE as u64);
    assert_eq!(code(bench.write_range("d/f", 0..2, 1).await).map(drop), Err(ErrorCode::PendingCopyOperation));
    bench.rename_path("d", "e", false).await.unwrap();
    let moment = bench.snapshot_share().await;
    assert_eq!(all_look(&bench).await, 1);
    let copy = bench.copy_ends("e/f").await;
    assert_eq!((copy.status, copy.copied), (CopyStatus::Success, LARGE as u64));
    assert!(bench.read_file(&at("e/f", None)).await.unwrap() == vec![7; LARGE]);
    assert_eq!(all_look(&bench).await, 0);
    let then = bench.look(&at("e/f", Some(moment))).await.unwrap();
    assert_eq!(then.file().unwrap().copy.as_ref().unwrap().status, CopyStatus::Aborted);
    bench.delete_share(Some(moment), None).await.unwrap();
    bench.delete_path("e/f").await.unwrap();
    bench.sweep().await;
    let left = bench.keys().await;
    assert!(!left.iter().any(|key| key.starts_with(['J', 'P', 'L'])), "{left:?}");
    assert_eq!((bench.written().await, bench.usage().await), (0, 0));
}

/// A share that is deleted ends the copies in it; where it is restored, the file says so and can be written.
#[tokio::test]
async fn a_deleted_share_ends_its_copies() {
    for keeps in [true, false] {
        let (_, bench) = abandoned("d/f").await;
        if keeps {
            bench.keep_deleted_shares(1).await;
        }
        bench.delete_share(None, None).await.unwrap();
        assert_eq!(all_look(&bench).await, 0);
        assert!(!bench.keys().await.iter().any(|key| key.starts_with('J')));
        if keeps {
            bench.restore_share(bench.deleted_versions().await[0]).await.unwrap();
            let copy = bench.copy_state("d/f").await;
            assert_eq!(copy.status, CopyStatus::Failed);
            assert!(copy.description.is_some_and(|why| why.contains("ShareBeingDeleted")));
            assert_eq!(bench.usage().await, 0);
            bench.make_file("d/f", 1).await.unwrap();
        }
    }
}

/// An abort ends it on whichever server: nothing is written afterwards, and the file is empty.
#[tokio::test]
async fn an_aborted_copy_writes_nothing() {
    let bench = bench().await;
    let (sender, source) = slow();
    let id = bench.copy_to(CopySource::Foreign(source), "f").await.unwrap().id;
    sender.send(Ok(Bytes::from(vec![1; 1_000_000]))).unwrap();
    let abort = |id| AbortCopyFile { at: at("f", None), preconditions: given(), id };
    let told = abort(uuid::Uuid::nil()).execute(&bench.services, &bench.context).await;
    assert_eq!(code(told), Err(ErrorCode::CopyIdMismatch));
    abort(id).execute(&bench.services, &bench.context).await.unwrap();
    let etag = bench.look(&at("f", None)).await.unwrap().etag;
    // The job may have noticed already, and read no more.
    let _ = sender.send(Ok(Bytes::from(vec![1; LARGE - 1_000_000])));
    drop(sender);
    tokio::time::sleep(Duration::from_millis(300)).await;
    let file = bench.look(&at("f", None)).await.unwrap();
    assert_eq!((file.etag, file.length(), bench.usage().await), (etag, 0, 0));
    assert_eq!(bench.copy_state("f").await.status, CopyStatus::Aborted);
    assert_eq!(bench.read_file(&at("f", None)).await.unwrap(), b"");
}
