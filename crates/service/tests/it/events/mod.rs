//! Events: raised by the commit that they tell of and by no other, delivered whatever fails on the way.

mod bench;

use std::time::Duration;

use bench::{Hook, Nowhere, QUEUE, bench, options, to_hook, to_queue};
use bytes::Bytes;
use lazuli_engine::Host;
use lazuli_model::admission::Preconditions;
use lazuli_model::blob::{ContentHeaders, CopyStatus};
use lazuli_model::etag::ETagCondition;
use lazuli_model::event::{EventSchema, EventSubscription, EventType};
use lazuli_model::metadata::Metadata;
use lazuli_model::operation::{Op, Service};
use lazuli_model::service_properties::RetentionPolicy;
use lazuli_service::blob::*;
use lazuli_service::event::{EventStats, forget_unknown};
use lazuli_service::shared::service_properties::SetServiceProperties;
use lazuli_service::{Body, ServiceOptions};

use crate::support::{Bench, at};

const HOUR: Duration = Duration::from_secs(3_600);

#[tokio::test]
async fn what_makes_or_deletes_a_blob_is_told_and_nothing_else() {
    let bench = bench(vec![to_queue(QUEUE)]).await;
    bench.asked(Op::PutBlockBlob).put("put", b"1").await.unwrap();
    bench.asked(Op::PutBlock).put_block("list", "a", b"2").await.unwrap();
    let blocks = [(BlockSource::Latest, "a")];
    bench.asked(Op::PutBlockList).put_block_list("list", &blocks).await.unwrap();
    bench.asked(Op::PutAppendBlob).create_append_blob("append").await.unwrap();
    bench.asked(Op::AppendBlock).append("append", b"3").await.unwrap();
    bench.asked(Op::SnapshotBlob).snapshot("put").await.unwrap();
    let set = SetBlobMetadata {
        at: at("put"),
        preconditions: Preconditions::default(),
        metadata: Metadata::default(),
        customer_key: None,
    };
    let asked = bench.asked(Op::SetBlobMetadata);
    set.execute(&asked.services, &asked.context).await.unwrap();
    bench.asked(Op::CopyBlob).copy(Op::CopyBlob, "put", None, "copy").await.unwrap();
    bench.asked(Op::PutBlobFromUrl).copy(Op::PutBlobFromUrl, "put", None, "from").await.unwrap();
    // Over the one that is there.
    bench.asked(Op::PutBlockBlob).put("put", b"4").await.unwrap();
    let only = Some(DeleteSnapshots::Only);
    bench.asked(Op::DeleteBlob).delete("put", None, only).await.unwrap();
    bench.asked(Op::DeleteBlob).delete("put", None, None).await.unwrap();
    bench.asked(Op::PutBlockBlob).put("put", b"5").await.unwrap();
    let expected = [
        "BlobCreated PutBlob put",
        "BlobCreated PutBlockList list",
        "BlobCreated PutBlob append",
        "BlobCreated CopyBlob copy",
        "BlobCreated PutBlob from",
        "BlobCreated PutBlob put",
        "BlobDeleted DeleteBlob put",
        "BlobCreated PutBlob put",
    ];
    assert_eq!(bench.told().await, expected);
    assert_eq!(bench.waiting().await, 0);
}

#[tokio::test]
async fn an_event_says_what_the_blob_and_the_request_were() {
    let bench = bench(vec![to_queue(QUEUE)]).await;
    let stored = bench.asked(Op::PutBlockBlob).put("a b", b"four").await.unwrap();
    bench.deliver(&Nowhere).await;
    let [event] = &bench.taken(QUEUE).await[..] else { panic!("one event") };
    assert_eq!(event["subject"], "/blobServices/default/containers/c/blobs/a b");
    let data = &event["data"];
    assert_eq!(data["url"], "http://127.0.0.1:10000/acct/c/a b");
    assert_eq!(data["eTag"], stored.stamped.etag.to_string());
    assert_eq!((&data["contentLength"], &data["clientRequestId"]), (&4.into(), &"mine".into()));
    assert_eq!(data["requestId"], uuid::Uuid::from_u128(7).to_string());
}

#[tokio::test]
async fn a_commit_that_is_refused_raises_nothing() {
    let bench = bench(vec![to_queue(QUEUE)]).await;
    bench.put("b", b"1").await.unwrap();
    bench.deliver(&Nowhere).await;
    let input = PutBlockBlob {
        at: at("b"),
        preconditions: Preconditions { if_none_match: Some(ETagCondition::Any), ..Preconditions::default() },
        properties: BlobProperties::default(),
        digests: Digests::default(),
        body: Body::from(Bytes::from_static(b"2")),
        limit: u64::MAX,
    };
    input.execute(&bench.services, &bench.context).await.expect_err("there is one");
    bench.delete("none", None, None).await.expect_err("there is none");
    assert_eq!(bench.waiting().await, 0);
}

/// Racing writers of one name: each that won is told, once, and the order is that of the sequencers.
#[tokio::test]
async fn racing_writers_are_told_once_each_whoever_delivers() {
    let bench =
        Bench::over(crate::testing::engine(Host::real()).await, options(vec![to_queue(QUEUE)], false)).await;
    bench.create_queue(QUEUE).await;
    const WRITERS: usize = 40;
    let writing = (0..WRITERS).map(|number| {
        let bench = &bench;
        async move { bench.put("b", number.to_string().as_bytes()).await.unwrap().stamped.etag.to_string() }
    });
    let delivering = (0..8).map(|_| bench.deliver(&Nowhere));
    let (mut etags, _) = futures_util::future::join(
        futures_util::future::join_all(writing),
        futures_util::future::join_all(delivering),
    )
    .await;
    bench.deliver(&Nowhere).await;
    let mut events = bench.taken(QUEUE).await;
    events.sort_by_key(|event| event["data"]["sequencer"].as_str().unwrap().to_owned());
    let told: Vec<&str> = events.iter().map(|event| event["data"]["eTag"].as_str().unwrap()).collect();
    etags.sort();
    assert_eq!(told, etags);
}

#[tokio::test]
async fn subscriptions_get_what_they_want_in_the_schema_that_they_want() {
    let deletions = EventSubscription { types: vec![EventType::BlobDeleted], ..to_queue("deletions") };
    let photos = EventSubscription {
        subject_begins_with: "/blobServices/default/containers/c/blobs/photos/".into(),
        subject_ends_with: ".jpg".into(),
        schema: EventSchema::CloudEvents,
        ..to_queue("photos")
    };
    let bench = bench(vec![to_queue(QUEUE), deletions, photos]).await;
    for queue in ["deletions", "photos"] {
        bench.create_queue(queue).await;
    }
    for name in ["photos/1.jpg", "photos/1.txt", "1.jpg"] {
        bench.put(name, b"").await.unwrap();
    }
    bench.delete("1.jpg", None, None).await.unwrap();
    bench.deliver(&Nowhere).await;
    assert_eq!(bench.taken(QUEUE).await.len(), 4);
    let deleted = bench.taken("deletions").await;
    assert_eq!(deleted.len(), 1);
    assert_eq!(deleted[0]["eventType"], "Microsoft.Storage.BlobDeleted");
    let photos = bench.taken("photos").await;
    assert_eq!(photos.len(), 1);
    assert_eq!(photos[0]["specversion"], "1.0");
    assert_eq!(photos[0]["subject"], "/blobServices/default/containers/c/blobs/photos/1.jpg");
}

#[tokio::test]
async fn an_account_without_events_writes_none() {
    let bench = Bench::with(ServiceOptions::default()).await;
    bench.put("b", b"1").await.unwrap();
    bench.delete("b", None, None).await.unwrap();
    assert_eq!(bench.waiting().await, 0);
}

#[tokio::test]
async fn events_wait_for_their_queue() {
    let bench = bench(vec![to_queue("later")]).await;
    bench.put("b", b"1").await.unwrap();
    assert_eq!(bench.deliver(&Nowhere).await, EventStats { failed: 1, ..EventStats::default() });
    assert_eq!(bench.waiting().await, 1, "kept, to be tried again");
    bench.create_queue("later").await;
    assert_eq!(bench.deliver(&Nowhere).await, EventStats::default(), "not yet");
    bench.pass(Duration::from_secs(10));
    assert_eq!(bench.deliver(&Nowhere).await, EventStats { delivered: 1, ..EventStats::default() });
    assert_eq!(bench.taken("later").await.len(), 1);
}

#[tokio::test]
async fn a_dead_webhook_holds_up_no_other_and_its_events_end() {
    let (dead, alive) = (to_hook("https://dead.example/a"), to_hook("https://alive.example/b"));
    let bench = bench(vec![dead, alive, to_queue(QUEUE)]).await;
    bench.put("b", b"1").await.unwrap();
    let hook = Hook::default();
    let first = bench.deliver(&hook).await;
    assert_eq!((first.delivered, first.failed), (2, 1));
    let mut last = EventStats::default();
    for _ in 0..48 {
        bench.pass(HOUR / 2);
        let some = bench.deliver(&hook).await;
        assert_eq!(some.delivered, 0);
        last.failed += some.failed;
        last.given_up += some.given_up;
    }
    assert_eq!((last.given_up, bench.waiting().await), (1, 0));
    let brought = hook.brought.lock();
    let tries: Vec<u32> =
        brought.iter().filter(|(name, ..)| name.contains("dead")).map(|(_, tries, _)| *tries).collect();
    assert_eq!(tries, (0..tries.len() as u32).collect::<Vec<_>>());
    assert!((8..=30).contains(&tries.len()), "{tries:?}");
}

#[tokio::test]
async fn a_webhook_that_fails_first_gets_every_event_at_least_once() {
    let bench = bench(vec![to_hook("https://alive.example/b")]).await;
    for number in 0..20 {
        bench.put(&number.to_string(), b"1").await.unwrap();
    }
    let hook = Hook::failing(7);
    for _ in 0..5 {
        bench.deliver(&hook).await;
        bench.pass(Duration::from_secs(60));
    }
    assert_eq!(bench.waiting().await, 0);
    let mut ids: Vec<String> =
        hook.brought.lock().iter().map(|(.., event)| event["id"].to_string()).collect();
    assert_eq!(ids.len(), 27);
    ids.sort();
    ids.dedup();
    assert_eq!(ids.len(), 20, "a second try has the id of the first");
}

#[tokio::test]
async fn a_soft_delete_is_told_and_an_undelete_is_not() {
    for versioning in [false, true] {
        let bench = Bench::over(
            crate::testing::engine(Host::test()).await,
            options(vec![to_queue(QUEUE)], versioning),
        )
        .await;
        bench.create_queue(QUEUE).await;
        let policy = RetentionPolicy { enabled: true, days: Some(7), allow_permanent_delete: None };
        let input = SetServiceProperties { delete_retention: Some(policy), ..Default::default() };
        input.execute(&bench.services, &bench.context, Service::Blob).await.unwrap();
        bench.asked(Op::PutBlockBlob).put("b", b"1").await.unwrap();
        bench.asked(Op::PutBlockBlob).put("b", b"2").await.unwrap();
        bench.asked(Op::DeleteBlob).delete("b", None, None).await.unwrap();
        let undelete = UndeleteBlob { at: at("b"), preconditions: Preconditions::default() };
        let asked = bench.asked(Op::UndeleteBlob);
        undelete.execute(&asked.services, &asked.context).await.unwrap();
        let expected = ["BlobCreated PutBlob b", "BlobCreated PutBlob b", "BlobDeleted DeleteBlob b"];
        assert_eq!(bench.told().await, expected, "versioning: {versioning}");
    }
}

#[tokio::test]
async fn a_copy_that_takes_a_while_is_told_when_it_is_done() {
    const LARGE: usize = 9 * 1024 * 1024;
    let bench =
        Bench::over(crate::testing::engine(Host::real()).await, options(vec![to_queue(QUEUE)], false)).await;
    bench.create_queue(QUEUE).await;
    let (sender, mut receiver) = tokio::sync::mpsc::unbounded_channel();
    let frames = futures_util::stream::poll_fn(move |context| receiver.poll_recv(context));
    let source = ForeignSource {
        headers: ContentHeaders::default(),
        metadata: Metadata::default(),
        body: Body::new(frames, Some(LARGE as u64)),
        length: LARGE as u64,
        of: SourceType::BLOCK,
        again: None,
    };
    let asked = bench.asked(Op::CopyBlob);
    let copied = asked.copy_from(Op::CopyBlob, CopySource::Foreign(source), "b").await.unwrap();
    assert_eq!(copied.status, CopyStatus::Pending);
    assert_eq!(bench.waiting().await, 0, "there is no blob yet");
    sender.send(Ok(Bytes::from(vec![1; LARGE]))).unwrap();
    drop(sender);
    for _ in 0..500 {
        if bench.properties("b").await.unwrap().pending_copy().is_none() {
            break;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    bench.deliver(&Nowhere).await;
    let [event] = &bench.taken(QUEUE).await[..] else { panic!("one event") };
    assert_eq!(event["data"]["api"], "CopyBlob");
    assert_eq!(event["data"]["contentLength"], LARGE);
    assert_eq!(event["data"]["clientRequestId"], "mine");
    assert_eq!(event["data"]["eTag"], bench.properties("b").await.unwrap().etag.to_string());
}

/// A server that is started without a subscription by mistake loses nothing for a day.
#[tokio::test]
async fn rows_of_a_subscription_that_is_gone_are_forgotten_after_a_day() {
    let engine = crate::testing::engine(Host::test()).await;
    let with = options(vec![to_queue("gone"), to_queue(QUEUE)], false);
    let before = Bench::over(engine.clone(), with).await;
    before.put("b", b"1").await.unwrap();
    assert_eq!(before.waiting().await, 2);
    let services = crate::testing::Servers::new(engine, options(vec![to_queue(QUEUE)], false), 1).await;
    let after = Bench { services, context: before.context.clone() };
    for (time, left) in [(HOUR, 2), (23 * HOUR, 1)] {
        after.pass(time);
        forget_unknown(&after.services).await.unwrap();
        assert_eq!(after.waiting().await, left);
    }
}
