//! What one server does, the others know: each of these failed while it lived in one process.

use std::time::Duration;

use futures_util::FutureExt as _;
use lazuli_engine::{Host, Scan};
use lazuli_model::admission::Preconditions;
use lazuli_service::blob::{BlobProperties, BlockSource, PutBlockList};
use lazuli_service::queue::{GetMessages, GetQueueMetadata, PeekMessages, PutMessage};
use lazuli_service::store::key;
use lazuli_service::{ServiceOptions, Services, upkeep};

use crate::queue::Bench as Queue;
use crate::support::{Bench, at, drain};

const MIB: usize = 1024 * 1024;

/// A list that one server has written ahead is not given up by the start, or by a sweep, of another.
#[tokio::test]
async fn what_another_server_is_writing_is_left_alone() {
    let bench = Bench::new().await;
    let [first, second, _] = bench.services.all() else { panic!("three") };
    let ids: Vec<String> = (0..7_000).map(|number| format!("{number:064}")).collect();
    for id in &ids {
        bench.put_block("b", id, b"x").await.unwrap();
    }
    let mut between = 0;
    for _ in 0..10 {
        let input = PutBlockList {
            at: at("b"),
            preconditions: Preconditions::default(),
            properties: BlobProperties::default(),
            blocks: ids.iter().map(|id| (BlockSource::Latest, id.as_bytes().to_vec())).collect(),
        };
        let mut work = Box::pin(input.execute(first, &bench.context));
        let mut done = None;
        for _ in 0..1_000 {
            done = (&mut work).now_or_never();
            let reader = bench.services.engine().reader().await.unwrap();
            if done.is_some() || !reader.scan(Scan::of(key::intents())).await.unwrap().items.is_empty() {
                break;
            }
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        between += i32::from(done.is_none());
        upkeep::sweep(second).await.unwrap();
        match done {
            Some(done) => done.expect("stored"),
            None => work.await.expect("another server's sweep is no reason to fail"),
        };
        bench.sweep().await;
        assert!(bench.get("b", None).await.unwrap() == vec![b'x'; ids.len()]);
    }
    assert!(between > 0, "a list is seen that is written ahead");
}

/// A download on one server has its bytes to the end, though another replaces the blob and sweeps.
#[tokio::test]
async fn a_download_outlives_the_sweep_of_another_server() {
    let bench = Bench::new().await;
    for server in bench.services.all() {
        let body: Vec<u8> = (0..5 * MIB).map(|at| (at / 1000) as u8).collect();
        bench.put("b", &body).await.unwrap();
        // A sweep waits for what this server says of its readers: this one has said nothing for some time.
        let open = bench.open_on(server, "b").await.unwrap();
        bench.put("b", b"new").await.unwrap();
        bench.sweep().await;
        assert!(drain(open).await.unwrap() == body);
        bench.sweep().await;
        assert_eq!(bench.services.engine().extents().stats().live_bytes, 0, "and is given back after it");
    }
}

fn put(text: &str) -> PutMessage {
    PutMessage { queue: "q".into(), text: text.into(), visibility_timeout: 0, time_to_live: None }
}

async fn get(bench: &Queue, server: &Services) -> Vec<String> {
    let input = GetMessages { queue: "q".into(), count: 32, visibility_timeout: 3_600 };
    let got = input.execute(server, &bench.context).await.unwrap();
    got.into_iter().map(|message| message.text).collect()
}

/// At one and the same moment, so that it lies where the other server has looked already.
#[tokio::test]
async fn a_message_that_another_server_put_is_seen() {
    let bench = Queue::new().await;
    for getting in bench.services.all() {
        for putting in bench.services.all() {
            assert!(get(&bench, getting).await.is_empty());
            put("one").execute(putting, &bench.context).await.unwrap();
            put("two").execute(putting, &bench.context).await.unwrap();
            let peek = PeekMessages { queue: "q".into(), count: 32 };
            assert_eq!(peek.execute(getting, &bench.context).await.unwrap().len(), 2);
            assert_eq!(get(&bench, getting).await, ["one", "two"]);
        }
    }
}

/// One that lies below where this server looks is got also when there is always another above it.
#[tokio::test]
async fn a_message_that_another_server_put_is_not_passed_for_ever() {
    let bench = Queue::new().await;
    let [first, second, _] = bench.services.all() else { panic!("three") };
    let get = async |server: &Services| {
        let input = GetMessages { queue: "q".into(), count: 1, visibility_timeout: 3_600 };
        input.execute(server, &bench.context).await.unwrap().remove(0).text
    };
    put("own").execute(first, &bench.context).await.unwrap();
    assert_eq!(get(first).await, "own");
    put("other").execute(second, &bench.context).await.unwrap();
    let wait = async {
        loop {
            bench.services.engine().advance_clock(Duration::from_millis(1));
            put("own").execute(first, &bench.context).await.unwrap();
            if get(first).await == "other" {
                return;
            }
        }
    };
    tokio::time::timeout(Duration::from_secs(10), wait).await.expect("it has its turn");
}

#[tokio::test]
async fn messages_are_counted_whoever_put_or_deleted_them() {
    let bench = Queue::new().await;
    let [first, second, third] = bench.services.all() else { panic!("three") };
    let count = async |server: &Services| {
        let input = GetQueueMetadata { queue: "q".into() };
        input.execute(server, &bench.context).await.unwrap().message_count
    };
    for number in 1..=5 {
        put("x").execute(first, &bench.context).await.unwrap();
        assert_eq!((count(first).await, count(second).await, count(third).await), (number, number, number));
    }
    let got = bench.get(5).await;
    for (number, message) in got.iter().enumerate() {
        bench.delete(message.id, message.receipt).await.unwrap();
        let left = 4 - number as u64;
        assert_eq!((count(first).await, count(second).await, count(third).await), (left, left, left));
    }
}

#[tokio::test]
async fn one_secret_and_one_clock() {
    let engine = crate::testing::engine(Host::test()).await;
    let options = ServiceOptions { test_clock: true, ..ServiceOptions::default() };
    let first = Services::new(engine.clone(), options.clone());
    let second = Services::new(engine, options);
    assert_eq!(first.delegation_secret([1; 32]).await.unwrap(), [1; 32]);
    assert_eq!(second.delegation_secret([2; 32]).await.unwrap(), [1; 32]);
    let (now, wall) = (second.now(), second.wall_now());
    first.advance_clock(Duration::from_secs(3_600)).await.unwrap();
    assert_eq!((second.now(), second.wall_now()), (now.plus_seconds(3_600), wall.plus_seconds(3_600)));
    second.advance_clock(Duration::from_secs(60)).await.unwrap();
    assert_eq!(first.now(), now.plus_seconds(3_660));
}
