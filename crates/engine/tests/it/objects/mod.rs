//! Chunks as objects: what goes wrong with a store, who reads what, and what becomes of objects that nothing names.

mod faulty;
mod orphans;
mod reads;
mod writes;

use crate::contract::{put, txn};
use crate::postgres::Database;
use bytes::Bytes;
use faulty::Faulty;
use lazuli_engine::object_store::ObjectStore;
use lazuli_engine::object_store::aws::AmazonS3Builder;
use lazuli_engine::object_store::memory::InMemory;
use lazuli_engine::object_store::prefix::PrefixStore;
use lazuli_engine::{ChunkId, Dialect, Engine, EngineError, Host, ObjectOptions, RemoteBytes, Txn};
use lazuli_testing::seaweed::{ACCESS_KEY, SECRET_KEY, Seaweed};
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

fn over(store: Arc<dyn ObjectStore>, options: ObjectOptions) -> Option<Database> {
    let mut database = Database::new(Dialect::Locks)?;
    database.options.bytes = RemoteBytes::objects(store, options);
    Some(database)
}

pub fn in_memory() -> Option<Database> {
    over(Arc::new(InMemory::new()), ObjectOptions::default())
}

pub fn in_directory(directory: &Path) -> Option<Database> {
    let mut database = Database::new(Dialect::Locks)?;
    let url = format!("file://{}/bytes", directory.display());
    database.options.bytes = RemoteBytes::at(&url, ObjectOptions::default()).unwrap();
    Some(database)
}

/// With a bucket `tests`.
pub fn seaweed() -> Option<Seaweed> {
    Seaweed::start().inspect(|seaweed| seaweed.make_bucket("tests"))
}

pub fn in_seaweed(seaweed: &Seaweed) -> Option<Database> {
    let mut database = Database::new(Dialect::Locks)?;
    let store = AmazonS3Builder::new()
        .with_bucket_name("tests")
        .with_region("us-east-1")
        .with_endpoint(format!("http://127.0.0.1:{}", seaweed.port()))
        .with_allow_http(true)
        .with_access_key_id(ACCESS_KEY)
        .with_secret_access_key(SECRET_KEY)
        .build()
        .unwrap();
    let store = PrefixStore::new(store, database.options.schema.as_str());
    database.options.bytes = RemoteBytes::objects(Arc::new(store), ObjectOptions::default());
    Some(database)
}

/// A store whose faults are ours, and a database beside it.
fn faulty() -> Option<(Arc<Faulty>, Database)> {
    faulty_with(ObjectOptions::default())
}

fn faulty_with(options: ObjectOptions) -> Option<(Arc<Faulty>, Database)> {
    let store = Arc::new(Faulty::default());
    let database = over(store.clone(), options)?;
    Some((store, database))
}

fn publishing(engine: &Engine, id: ChunkId) -> Txn {
    Txn { publish: vec![id], ..txn(engine, vec![], vec![put("row", "1")]) }
}

/// Writes and publishes.
async fn published(engine: &Engine, payload: impl Into<Bytes>) -> ChunkId {
    let written = engine.extents().write(payload.into()).await.unwrap();
    engine.commit(publishing(engine, written.id)).await.unwrap();
    written.id
}

async fn release(engine: &Engine, release: Vec<ChunkId>) {
    engine.commit(Txn { release, ..txn(engine, vec![], vec![]) }).await.unwrap();
}

/// Within some seconds.
async fn soon(what: &str, so: impl AsyncFn() -> bool) {
    let began = Instant::now();
    while !so().await {
        assert!(began.elapsed() < Duration::from_secs(20), "not so: {what}");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

fn is_unavailable<T>(result: &Result<T, EngineError>) -> bool {
    matches!(result, Err(EngineError::Unavailable(_)))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_place_belongs_to_one_database() {
    let (store, other) = (Arc::new(InMemory::new()), Arc::new(InMemory::new()));
    let Some(database) = over(store.clone(), ObjectOptions::default()) else { return };
    let first = database.open(Host::real());
    let id = published(&first, &b"bytes"[..]).await;
    let refused = |database: &Database| {
        let options = database.options.clone();
        async move { Engine::connect(options, Host::real()).await.map(drop).unwrap_err().to_string() }
    };
    let stranger = over(store.clone(), ObjectOptions::default()).unwrap();
    assert!(refused(&stranger).await.contains("another database"));
    let mut elsewhere = Database::new(Dialect::Locks).unwrap();
    elsewhere.options.schema = database.options.schema.clone();
    elsewhere.options.bytes = RemoteBytes::objects(other, ObjectOptions::default());
    assert!(refused(&elsewhere).await.contains("not in this place"));
    // Other servers of the same database are at home there.
    let second = database.open(Host::real());
    assert_eq!(second.extents().read(id, 0..5).await.unwrap(), &b"bytes"[..]);
}
