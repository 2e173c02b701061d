use std::time::Duration;

use lazuli_engine::{Engine, Host};
use lazuli_model::error::ErrorCode;
use lazuli_model::time::Timestamp;

use super::bench::{Bench, code};

#[tokio::test]
async fn first_in_first_out_by_the_moment_of_visibility() {
    let bench = Bench::new().await;
    // What several servers put at the very same moment has no order among itself.
    let moment = || bench.services.engine().advance_clock(Duration::from_millis(1));
    bench.put("a").await;
    moment();
    bench.put_with("later", 10, None).await.expect("put");
    moment();
    bench.put("b").await;
    moment();
    bench.put("c").await;
    assert_eq!(bench.texts(2).await, ["a", "b"]);
    moment();
    assert_eq!(bench.texts(2).await, ["c"]);
    assert!(bench.get(1).await.is_empty());
    bench.advance(10);
    assert_eq!(bench.texts(32).await, ["later"]);
    bench.advance(20);
    // Got together, they come back in the order in which they were got.
    assert_eq!(bench.texts(32).await, ["a", "b", "c"]);
    bench.advance(10);
    assert_eq!(bench.texts(32).await, ["later"]);
}

#[tokio::test]
async fn get_counts_and_peek_does_not() {
    let bench = Bench::new().await;
    let put = bench.put("a").await;
    assert_eq!(put.dequeue_count, 0);
    for _ in 0..3 {
        let peeked = bench.peek(32).await;
        assert_eq!((peeked.len(), peeked[0].dequeue_count, peeked[0].id), (1, 0, put.id));
    }
    for count in 1..=3 {
        let got = bench.get_for(1, 5).await.expect("got").remove(0);
        assert_eq!((got.dequeue_count, got.id, got.inserted), (count, put.id, put.inserted));
        assert_eq!(got.next_visible, bench.services.now().plus_seconds(5));
        assert!(bench.peek(1).await.is_empty(), "invisible");
        bench.advance(5);
    }
}

#[tokio::test]
async fn a_receipt_is_good_until_somebody_else_gets_the_message() {
    let bench = Bench::new().await;
    let put = bench.put("a").await;
    let first = bench.get(1).await.remove(0);
    assert_eq!(code(bench.delete(put.id, put.receipt).await), ErrorCode::MessageNotFound);
    bench.advance(31);
    // Visible again, and nobody came: still good.
    let renewed = bench.update(put.id, first.receipt, 0, None).await.expect("still good");
    let second = bench.get(1).await.remove(0);
    assert_eq!(second.dequeue_count, 2);
    for old in [put.receipt, first.receipt, renewed] {
        assert_eq!(code(bench.delete(put.id, old).await), ErrorCode::MessageNotFound);
        assert_eq!(code(bench.update(put.id, old, 0, None).await), ErrorCode::MessageNotFound);
    }
    bench.delete(put.id, second.receipt).await.expect("the newest");
    assert_eq!(code(bench.delete(put.id, second.receipt).await), ErrorCode::MessageNotFound);
    bench.advance(100);
    assert!(bench.get(1).await.is_empty());
}

#[tokio::test]
async fn the_receipt_of_put_deletes_without_a_get() {
    let bench = Bench::new().await;
    let put = bench.put("a").await;
    bench.put("b").await;
    assert_eq!(bench.peek(32).await.len(), 2);
    bench.delete(put.id, put.receipt).await.expect("deleted");
    assert_eq!(bench.texts(32).await, ["b"]);
    assert_eq!(bench.count().await, 1);
}

#[tokio::test]
async fn a_receipt_of_another_message_is_told_from_an_old_one() {
    let bench = Bench::new().await;
    let (a, b) = (bench.put("a").await, bench.put("b").await);
    assert_eq!(code(bench.delete(a.id, b.receipt).await), ErrorCode::PopReceiptMismatch);
    assert_eq!(bench.count().await, 2);
}

#[tokio::test]
async fn update_changes_the_text_and_the_moment_but_not_the_count() {
    let bench = Bench::new().await;
    let long = "long ".repeat(10_000);
    bench.put("short").await;
    let got = bench.get(1).await.remove(0);
    let receipt = bench.update(got.id, got.receipt, 0, Some(&long)).await.expect("updated");
    let got = bench.get(1).await.remove(0);
    assert_eq!((got.text.as_str(), got.dequeue_count), (long.as_str(), 2));
    assert_eq!(code(bench.update(got.id, receipt, 0, None).await), ErrorCode::MessageNotFound);
    let receipt = bench.update(got.id, got.receipt, 7, None).await.expect("kept");
    bench.advance(6);
    assert!(bench.get(1).await.is_empty());
    bench.advance(1);
    let again = bench.get(1).await.remove(0);
    assert_eq!(again.text, long);
    assert_ne!(again.receipt, receipt);
    bench.update(again.id, again.receipt, 0, Some("")).await.expect("short again");
    let last = bench.get(1).await.remove(0);
    assert_eq!(last.text, "");
    bench.delete(last.id, last.receipt).await.expect("deleted");
    assert!(bench.rest().await.is_empty(), "neither a text nor a place is left");
}

#[tokio::test]
async fn what_expired_is_neither_got_nor_counted_nor_kept() {
    let bench = Bench::new().await;
    let short = bench.put_with("short", 0, Some(10)).await.expect("put");
    let held = bench.put_with("held", 0, Some(20)).await.expect("put");
    let ever = bench.put_with("ever", 0, None).await.expect("put");
    assert_eq!(short.expires, Some(short.inserted.plus_seconds(10)));
    assert_eq!(ever.expires, None);
    let receipts = bench.get_for(2, 100).await.expect("got");
    assert_eq!(receipts[1].id, held.id);
    assert_eq!(bench.count().await, 3);
    bench.advance(10);
    assert_eq!(bench.count().await, 2);
    assert_eq!(code(bench.delete(short.id, receipts[0].receipt).await), ErrorCode::MessageNotFound);
    bench.advance(10);
    assert_eq!(code(bench.update(held.id, receipts[1].receipt, 1, None).await), ErrorCode::MessageNotFound);
    assert_eq!(bench.count().await, 1);
    bench.advance(1_000_000_000);
    assert_eq!(bench.texts(32).await, ["ever"]);
    // Deleted behind the back of whoever met them.
    for _ in 0..100 {
        if bench.rest().await.len() == 2 {
            return;
        }
        tokio::time::sleep(std::time::Duration::from_millis(10)).await;
    }
    panic!("expired messages are still there");
}

#[tokio::test]
async fn visibility_may_go_beyond_the_expiry_on_get() {
    let bench = Bench::new().await;
    bench.put_with("a", 0, Some(10)).await.expect("put");
    let got = bench.get_for(1, 604_800).await.expect("got").remove(0);
    assert_eq!(got.next_visible, bench.services.now().plus_seconds(604_800));
    bench.delete(got.id, got.receipt).await.expect("in time");
}

#[tokio::test]
async fn a_reopened_queue_goes_on_where_it_stood() {
    let dir = tempfile::tempdir().expect("dir");
    let open = || Engine::open(dir.path(), lazuli_engine::Options::default(), Host::real()).expect("open");
    let bench = Bench::over(open()).await;
    bench.create(&[]).await.expect("queue");
    for text in ["a", "b", "c", "d"] {
        bench.put(text).await;
    }
    let gone = bench.get(1).await.remove(0);
    bench.delete(gone.id, gone.receipt).await.expect("deleted");
    let held = bench.get(1).await.remove(0);
    bench.services.engine().close().await.expect("closed");
    bench.services.end().await;
    let bench = Bench::over(open()).await;
    assert_eq!(bench.count().await, 3);
    assert_eq!(bench.peek(32).await.iter().map(|message| &message.text).collect::<Vec<_>>(), ["c", "d"]);
    bench.delete(held.id, held.receipt).await.expect("the receipt outlives the process");
    bench.put("e").await;
    assert_eq!(bench.texts(32).await, ["c", "d", "e"]);
    assert_eq!(bench.count().await, 3);
}

/// A queue that is full of messages for later costs the search nothing, and none is early.
#[tokio::test]
async fn messages_for_later_are_not_early() {
    let bench = Bench::new().await;
    for delay in (1..=600).rev() {
        bench.put_with(&delay.to_string(), delay, None).await.expect("put");
    }
    assert!(bench.get(32).await.is_empty());
    for second in 1..=600u32 {
        bench.advance(1);
        let got = bench.get_for(32, 604_800).await.expect("got");
        let texts: Vec<_> = got.iter().map(|message| message.text.clone()).collect();
        assert_eq!(texts, [second.to_string()]);
        assert!(got[0].next_visible > Timestamp(0));
    }
}

/// A deleted head leaves room for one that was behind it, also when a window was full of it.
#[tokio::test]
async fn peek_and_get_see_through_a_window_of_vanished_messages() {
    let bench = Bench::new().await;
    let mut put = Vec::new();
    for number in 0..600 {
        put.push(bench.put(&number.to_string()).await);
    }
    assert_eq!(bench.peek(1).await.len(), 1);
    for message in &put[..599] {
        bench.delete(message.id, message.receipt).await.expect("deleted");
    }
    assert_eq!(bench.peek(32).await.len(), 1);
    assert_eq!(bench.texts(32).await, ["599"]);
    assert_eq!(bench.count().await, 1);
}

#[tokio::test]
async fn where_nobody_comes_by_the_expired_are_deleted_all_the_same() {
    let bench = Bench::new().await;
    for _ in 0..1200 {
        bench.put_with("short", 0, Some(10)).await.expect("put");
    }
    bench.put_with(&"long ".repeat(1000), 5, Some(10)).await.expect("put");
    bench.put_with("ever", 0, None).await.expect("put");
    lazuli_service::queue::delete_expired(&bench.services).await.expect("too early");
    assert_eq!(bench.rest().await.len(), 2 * 1202 + 1);
    bench.advance(10);
    lazuli_service::queue::delete_expired(&bench.services).await.expect("in time");
    assert_eq!(bench.rest().await.len(), 2);
    assert_eq!(bench.texts(32).await, ["ever"]);
}

/// The walk over all queues passes over one that cannot be read.
#[tokio::test]
async fn a_queue_that_cannot_be_read_holds_up_no_other() {
    let bench = Bench::new().await;
    bench.put_with("short", 0, Some(10)).await.expect("put");
    let spoil = |_| async {
        let mut plan = lazuli_engine::Plan::new(());
        plan.put(lazuli_service::store::key::queue("acct", "a"), vec![200]);
        Ok::<_, lazuli_service::Fault>(plan)
    };
    bench.services.engine().run(None, spoil).await.expect("spoiled");
    bench.advance(10);
    lazuli_service::queue::delete_expired(&bench.services).await.expect("passed over");
    assert!(bench.rest().await.is_empty());
    assert_eq!(bench.services.passed_over(), 1);
}
