//! Uploads share memory: a stalled sender keeps none of it, and want of it shows in no byte and no limit.

use std::time::Duration;

use bytes::Bytes;
use futures_util::StreamExt;
use lazuli_engine::{Engine, Host, Options};
use lazuli_model::admission::Preconditions;
use lazuli_service::blob::{BlobProperties, Digests, PutBlock, PutBlockBlob, Stored};
use lazuli_service::{Answer, Body, ServiceOptions, md5, upload};
use tokio::time::timeout;

use crate::support::{Bench, at, drain};

const MIB: usize = 1024 * 1024;
const FRAME: usize = 64 * 1024;

fn bytes(length: usize) -> Bytes {
    (0..length).map(|at| (at.wrapping_mul(31) ^ (at >> 9) ^ (at >> 17)) as u8).collect()
}

fn frames(
    bytes: &Bytes,
) -> impl futures_util::Stream<Item = Result<Bytes, lazuli_service::BodyError>> + use<> {
    let parts: Vec<Bytes> =
        (0..bytes.len()).step_by(FRAME).map(|at| bytes.slice(at..bytes.len().min(at + FRAME))).collect();
    futures_util::stream::iter(parts.into_iter().map(Ok))
}

/// A sender that announces a lot, sends so much of it and then nothing more.
fn stalled(sent: usize) -> Body {
    let body = frames(&bytes(sent)).chain(futures_util::stream::pending());
    Body::new(body, Some(100 * MIB as u64))
}

async fn put(bench: &Bench, name: &str, body: Body, digests: Digests) -> Answer<Stored> {
    let input = PutBlockBlob {
        at: at(name),
        preconditions: Preconditions::default(),
        properties: BlobProperties::default(),
        digests,
        body,
        limit: u64::MAX,
    };
    input.execute(&bench.services, &bench.context).await
}

/// On disk: what was written is read back from files, not from memory.
async fn on_disk(upload_memory: usize) -> (Bench, tempfile::TempDir) {
    let place = tempfile::tempdir().expect("a directory");
    let engine = Engine::open(place.path(), Options::default(), Host::real()).expect("opens");
    let options = ServiceOptions { upload_memory, ..ServiceOptions::default() };
    (Bench::over(engine, options).await, place)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn stalled_uploads_keep_no_memory_from_others() {
    let (bench, _place) = on_disk(8 * MIB).await;
    let bench = std::sync::Arc::new(bench);
    let mut held = Vec::new();
    for number in 0..16 {
        let (bench, body) = (bench.clone(), stalled(3 * MIB));
        held.push(tokio::spawn(async move {
            put(&bench, &format!("stalled-{number}"), body, Digests::default()).await
        }));
    }
    tokio::time::sleep(Duration::from_millis(200)).await;
    let whole = bytes(48 * MIB);
    let body = Body::new(frames(&whole), Some(whole.len() as u64));
    let stored = timeout(Duration::from_secs(30), put(&bench, "other", body, Digests::default()));
    stored.await.expect("nobody is waited for").expect("stored");
    assert!(bench.get("other", None).await.expect("there") == whole[..], "every byte");
    held.iter().for_each(tokio::task::JoinHandle::abort);
}

/// Without any memory each frame is a piece of its own; the list of pieces stays short all the same.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn pieces_stay_few_when_memory_is_scarce() {
    let (bench, _place) = on_disk(0).await;
    let whole = bytes(150 * MIB + 12_345);
    let body = Body::new(frames(&whole), Some(whole.len() as u64));
    let uploaded =
        upload::upload(&bench.services, body, u64::MAX, true, &Default::default()).await.expect("uploaded");
    let most = whole.len() / (4 * MIB) + 512;
    assert!(uploaded.pieces.len() <= most, "{} pieces of at most {most}", uploaded.pieces.len());
    assert_eq!(
        uploaded.pieces.iter().map(lazuli_service::store::record::content::Piece::size).sum::<u64>(),
        uploaded.length
    );
    assert_eq!(uploaded.crc64, lazuli_service::crc64(&whole));
    assert_eq!(uploaded.md5, Some(md5(&whole)));

    let body = Body::new(frames(&whole), None);
    let digests = Digests { md5: Some(md5(&whole)), crc64: None };
    put(&bench, "blob", body, digests.clone()).await.expect("stored");
    assert!(bench.get("blob", None).await.expect("there") == whole[..], "every byte");
    let part = bench.open("blob", None, Some("bytes=33554000-37749000")).await.expect("there");
    assert!(drain(part).await.expect("read") == whole[33_554_000..=37_749_000], "every byte of a range");

    let input = PutBlock {
        at: at("blocks"),
        preconditions: Preconditions::default(),
        block_id: b"1".to_vec(),
        digests,
        body: Body::new(frames(&whole), Some(whole.len() as u64)),
        limit: u64::MAX,
        customer_key: None,
    };
    input.execute(&bench.services, &bench.context).await.expect("stored");
}
