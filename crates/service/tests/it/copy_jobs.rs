//! Copies under way whose server is gone, or whose source breaks off: another try follows, on any server, and each copy
//! ends once.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use futures_util::future::BoxFuture;
use lazuli_engine::{Engine, Host};
use lazuli_model::admission::Preconditions;
use lazuli_model::blob::{ContentHeaders, CopyState, CopyStatus};
use lazuli_model::error::{ErrorCode, Failure};
use lazuli_model::metadata::Metadata;
use lazuli_model::operation::{Op, WritingOp};
use lazuli_service::blob::*;
use lazuli_service::{Body, BodyError, ServiceOptions, Services};
use parking_lot::Mutex;
use tokio::sync::mpsc::UnboundedSender;

use crate::support::{Bench, at, copying};

const LARGE: usize = 9 * 1024 * 1024;

/// A source whose bytes come when the sender is given them, and which can be asked again.
fn slow() -> (UnboundedSender<Result<Bytes, BodyError>>, ForeignSource) {
    let (sender, mut receiver) = tokio::sync::mpsc::unbounded_channel();
    let frames = futures_util::stream::poll_fn(move |context| receiver.poll_recv(context));
    (sender, source(Body::new(frames, Some(LARGE as u64)), LARGE as u64))
}

fn source(body: Body, length: u64) -> ForeignSource {
    let again = ForeignAddress {
        url: "http://there/x?sig=s".into(),
        version: "v".into(),
        etag: Some("\"1\"".into()),
    };
    ForeignSource {
        headers: ContentHeaders::default(),
        metadata: Metadata::default(),
        body,
        length,
        of: SourceType::BLOCK,
        again: Some(again),
    }
}

/// What a source answers when it is asked again.
#[derive(Clone, Copy)]
enum Second {
    Bytes(u8),
    BreaksOff,
    Shorter,
    /// Other bytes of the same length, from a source that does not heed If-Match.
    Replaced,
    Refuses(u16),
}

struct There {
    second: Mutex<Second>,
    asked: Mutex<u32>,
}

impl There {
    fn new(second: Second) -> Arc<Self> {
        Arc::new(Self { second: Mutex::new(second), asked: Mutex::new(0) })
    }
}

impl Abroad for There {
    fn open<'a>(&'a self, address: &'a ForeignAddress) -> BoxFuture<'a, Result<ForeignSource, Failure>> {
        assert_eq!(address.url, "http://there/x?sig=s");
        *self.asked.lock() += 1;
        let answer = match *self.second.lock() {
            Second::Bytes(byte) => Ok(source(Body::from(Bytes::from(vec![byte; LARGE])), LARGE as u64)),
            Second::BreaksOff => {
                let frames = [
                    Ok(Bytes::from_static(b"xyz")),
                    Err(BodyError::Source { status: 500, why: "broken off" }),
                ];
                let body = Body::new(futures_util::stream::iter(frames), Some(LARGE as u64));
                Ok(source(body, LARGE as u64))
            }
            Second::Shorter => Ok(source(Body::from(Bytes::from_static(b"xyz")), 3)),
            Second::Replaced => {
                let mut replaced = source(Body::from(Bytes::from(vec![9; LARGE])), LARGE as u64);
                replaced.again =
                    replaced.again.map(|again| ForeignAddress { etag: Some("\"2\"".into()), ..again });
                Ok(replaced)
            }
            Second::Refuses(status) => {
                Err(Failure::new(ErrorCode::CannotVerifyCopySource).with_status(status))
            }
        };
        Box::pin(async { answer })
    }
}

/// One of the servers looks for what is to be taken up.
async fn look(bench: &Bench, there: &Arc<There>) -> usize {
    let abroad: Arc<dyn Abroad> = there.clone();
    take_up_copies(&bench.services, &abroad).await.unwrap()
}

/// All servers look at once.
async fn all_look(bench: &Bench, there: &Arc<There>) -> usize {
    let abroad: Arc<dyn Abroad> = there.clone();
    let looking = bench.services.all().iter().map(|server| take_up_copies(server, &abroad));
    futures_util::future::join_all(looking).await.into_iter().map(Result::unwrap).sum()
}

async fn copy_of(bench: &Bench, name: &str) -> CopyState {
    bench.properties(name).await.unwrap().extras().copy.clone().unwrap()
}

async fn until(bench: &Bench, name: &str, is: impl Fn(&CopyState) -> bool) -> CopyState {
    for _ in 0..1_000 {
        let copy = copy_of(bench, name).await;
        if is(&copy) {
            return copy;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    panic!("it does not come to that: {:?}", copy_of(bench, name).await);
}

async fn ends(bench: &Bench, name: &str) -> CopyState {
    until(bench, name, |copy| copy.status != CopyStatus::Pending).await
}

async fn has_job(bench: &Bench) -> bool {
    bench.keys().await.iter().any(|key| key.starts_with('J'))
}

/// Begins a copy on a server of its own, which is gone before it has moved a byte.
async fn begun_by_another(engine: &Engine, bench: &Bench, from: CopySource, to: BlobAddress) {
    let services = another(engine, bench);
    let context = bench.context.clone();
    let begun = tokio::task::spawn_blocking(move || {
        let op = WritingOp::of(Op::CopyBlob).unwrap();
        let copying = CopyBlob { at: to, ..copying(from, "") };
        // What is spawned runs only while the thread waits for something.
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let copied = runtime.block_on(copying.execute(&services, &context, op));
        runtime.shutdown_background();
        copied.unwrap().status
    });
    assert_eq!(begun.await.unwrap(), CopyStatus::Pending);
}

/// A server that the others do not know of: they take it for dead.
fn another(engine: &Engine, bench: &Bench) -> Services {
    let features = bench.services.options().features.clone();
    Services::new(engine.clone(), ServiceOptions { features, ..ServiceOptions::default() })
}

async fn abandoned() -> (Engine, Bench) {
    let engine = crate::testing::engine(Host::test()).await;
    let bench = Bench::over(engine.clone(), ServiceOptions::default()).await;
    let (_, source) = slow();
    begun_by_another(&engine, &bench, CopySource::Foreign(source), at("b")).await;
    (engine, bench)
}

/// One server begins it again, whichever looks first, and it ends well.
#[tokio::test]
async fn a_copy_that_lost_its_server_is_taken_up_by_one() {
    let (_, bench) = abandoned().await;
    let there = There::new(Second::Bytes(7));
    assert_eq!(all_look(&bench, &there).await, 1);
    let copy = ends(&bench, "b").await;
    assert_eq!((copy.status, copy.copied), (CopyStatus::Success, LARGE as u64));
    assert!(bench.get("b", None).await.unwrap() == vec![7; LARGE]);
    assert!(!has_job(&bench).await);
    assert_eq!((all_look(&bench, &there).await, *there.asked.lock()), (0, 1));
    bench.delete("b", None, None).await.unwrap();
    bench.sweep().await;
    assert_eq!(bench.keys().await, vec!["cacct\\x00c".to_owned()], "keys left behind");
}

/// A server that works at a copy keeps it, wherever a test moves the clock; two weeks are the end of it.
#[tokio::test]
async fn a_jump_of_the_clock_takes_no_copy_from_its_server() {
    let engine = crate::testing::engine(Host::test()).await;
    let bench = Bench::over(engine.clone(), ServiceOptions::default()).await;
    let there = There::new(Second::Bytes(7));
    let (sender, source) = slow();
    let (late, latest) = slow();
    bench.copy_from(Op::CopyBlob, CopySource::Foreign(source), "b").await.unwrap();
    engine.advance_clock(Duration::from_secs(13 * 24 * 3600));
    bench.copy_from(Op::CopyBlob, CopySource::Foreign(latest), "late").await.unwrap();
    bench.sweep().await;
    assert_eq!(all_look(&bench, &there).await, 0);
    assert_eq!(copy_of(&bench, "b").await.status, CopyStatus::Pending);
    sender.send(Ok(Bytes::from(vec![1; LARGE]))).unwrap();
    drop(sender);
    assert_eq!(ends(&bench, "b").await.status, CopyStatus::Success);
    engine.advance_clock(Duration::from_secs(15 * 24 * 3600));
    let copy = ends(&bench, "late").await;
    assert!(copy.description.is_some_and(|why| why.contains("two weeks")), "{:?}", copy.status);
    drop(late);
}

/// Each try may break off; after so many the copy fails. What refuses the read refuses it again.
#[tokio::test]
async fn tries_are_bounded() {
    let (engine, bench) = abandoned().await;
    let there = There::new(Second::BreaksOff);
    for _ in 0..1_000 {
        look(&bench, &there).await;
        if copy_of(&bench, "b").await.status != CopyStatus::Pending {
            break;
        }
        engine.advance_clock(Duration::from_secs(1));
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    let copy = ends(&bench, "b").await;
    assert_eq!((copy.status, *there.asked.lock()), (CopyStatus::Failed, 5));
    assert!(!has_job(&bench).await);
    for second in [Second::Refuses(404), Second::Refuses(412), Second::Shorter, Second::Replaced] {
        let (_, bench) = abandoned().await;
        let there = There::new(second);
        assert_eq!(look(&bench, &there).await, 1);
        assert_eq!(ends(&bench, "b").await.status, CopyStatus::Failed);
        assert!(!has_job(&bench).await);
    }
}

/// The first try is followed by another one too when its source breaks off. Meanwhile any server may abort the copy.
#[tokio::test]
async fn a_copy_can_be_aborted_between_two_tries_and_during_one() {
    let engine = crate::testing::engine(Host::test()).await;
    let bench = Bench::over(engine.clone(), ServiceOptions::default()).await;
    let there = There::new(Second::Bytes(7));
    for is_due in [false, true] {
        let (sender, source) = slow();
        let id = bench.copy_from(Op::CopyBlob, CopySource::Foreign(source), "b").await.unwrap().id;
        sender.send(Ok(Bytes::from(vec![1; 1_000]))).unwrap();
        sender.send(Err(BodyError::Source { status: 500, why: "broken off" })).unwrap();
        tokio::time::sleep(Duration::from_millis(200)).await;
        assert_eq!(copy_of(&bench, "b").await.status, CopyStatus::Pending, "it is not over");
        assert_eq!(look(&bench, &there).await, 0, "nor due at once");
        if is_due {
            engine.advance_clock(Duration::from_secs(10));
            *there.second.lock() = Second::Refuses(500);
            assert_eq!(all_look(&bench, &there).await, 1);
        }
        let abort = AbortCopyBlob { at: at("b"), preconditions: Preconditions::default(), id };
        abort.execute(&bench.services, &bench.context).await.unwrap();
        *there.second.lock() = Second::Bytes(7);
        engine.advance_clock(Duration::from_secs(3_600));
        tokio::time::sleep(Duration::from_millis(100)).await;
        assert_eq!(all_look(&bench, &there).await, 0);
        assert_eq!(copy_of(&bench, "b").await.status, CopyStatus::Aborted);
        assert_eq!(bench.get("b", None).await.unwrap(), b"");
        assert!(!has_job(&bench).await);
    }
}

/// A server that is taken for dead and is not: what it still does changes nothing.
#[tokio::test]
async fn an_older_try_writes_nothing() {
    let engine = crate::testing::engine(Host::test()).await;
    let bench = Bench::over(engine.clone(), ServiceOptions::default()).await;
    let (sender, source) = slow();
    let op = WritingOp::of(Op::CopyBlob).unwrap();
    let copying = copying(CopySource::Foreign(source), "b");
    copying.execute(&another(&engine, &bench), &bench.context, op).await.unwrap();
    sender.send(Ok(Bytes::from(vec![1; 1_000_000]))).unwrap();
    until(&bench, "b", |copy| copy.copied == 1_000_000).await;
    let there = There::new(Second::Bytes(7));
    assert_eq!(all_look(&bench, &there).await, 1);
    assert_eq!(ends(&bench, "b").await.status, CopyStatus::Success);
    let etag = bench.properties("b").await.unwrap().etag;
    // The older try may have noticed already, and read no more.
    let _ = sender.send(Ok(Bytes::from(vec![1; LARGE - 1_000_000])));
    drop(sender);
    tokio::time::sleep(Duration::from_millis(300)).await;
    assert!(bench.get("b", None).await.unwrap() == vec![7; LARGE]);
    assert_eq!(bench.properties("b").await.unwrap().etag, etag);
}

/// A blob of this server whose bytes are encrypted anew is found again by its name, if it has not changed.
#[tokio::test]
async fn a_source_of_this_server_is_read_again() {
    for changes in [false, true] {
        let engine = crate::testing::engine(Host::test()).await;
        let mut features = lazuli_model::account::AccountFeatures::default();
        features.entry("acct").encryption_scopes = vec!["secret".into()];
        let options = ServiceOptions { features: Arc::new(features), ..ServiceOptions::default() };
        let bench = Bench::over(engine.clone(), options).await;
        let input = CreateContainer {
            container: "sealed".into(),
            metadata: Metadata::default(),
            public_access: lazuli_model::access::PublicAccess::Private,
            default_encryption_scope: Some("secret".into()),
            deny_encryption_scope_override: false,
        };
        input.execute(&bench.services, &bench.context).await.unwrap();
        bench.put("source", &vec![5; LARGE]).await.unwrap();
        let own = OwnSource {
            account: "acct".into(),
            at: at("source"),
            state: BlobState::Base,
            preconditions: Preconditions::default(),
            customer_key: None,
        };
        let to = BlobAddress { container: "sealed".into(), blob: "b".into() };
        begun_by_another(&engine, &bench, CopySource::Own(own), to.clone()).await;
        if changes {
            bench.put("source", &vec![6; LARGE]).await.unwrap();
        }
        let there = There::new(Second::Refuses(500));
        let state = || async {
            let input = GetBlobProperties {
                at: to.clone(),
                state: BlobState::Base,
                preconditions: Preconditions::default(),
                customer_key: None,
            };
            let op = lazuli_model::operation::policy::GetBlobProperties;
            let blob = input.execute(&bench.services, &bench.context, op).await.unwrap().blob;
            (blob.extras().copy.as_ref().unwrap().status, blob.length())
        };
        assert_eq!(state().await.0, CopyStatus::Pending);
        assert_eq!(all_look(&bench, &there).await, 1);
        for _ in 0..1_000 {
            if state().await.0 != CopyStatus::Pending {
                break;
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        let expected = if changes { (CopyStatus::Failed, 0) } else { (CopyStatus::Success, LARGE as u64) };
        assert_eq!((state().await, *there.asked.lock()), (expected, 0));
    }
}
