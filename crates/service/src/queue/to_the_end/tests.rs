use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use tokio::sync::{Notify, oneshot};

use super::to_the_end;

#[tokio::test]
async fn answers_what_the_work_answers() {
    assert_eq!(to_the_end(async { 7 }).await, 7);
    let (tell, told) = oneshot::channel();
    let work = tokio::spawn(to_the_end(told));
    tokio::task::yield_now().await;
    tell.send(8).expect("somebody waits");
    assert_eq!(work.await.expect("a task that ends"), Ok(8));
}

#[tokio::test]
async fn goes_on_when_nobody_waits_any_more() {
    let (begun, go_on) = (Arc::new(AtomicUsize::new(0)), Arc::new(Notify::new()));
    let (tell, told) = oneshot::channel();
    let (counter, gate) = (begun.clone(), go_on.clone());
    let mut work = Box::pin(to_the_end(async move {
        counter.fetch_add(1, Ordering::Relaxed);
        gate.notified().await;
        let _ = tell.send("done");
    }));
    let waited = tokio::time::timeout(Duration::from_millis(10), &mut work).await;
    assert!(waited.is_err(), "it waits for the gate");
    drop(work);
    go_on.notify_one();
    let told = tokio::time::timeout(Duration::from_secs(10), told).await;
    assert_eq!(told.expect("it went on"), Ok("done"));
    assert_eq!(begun.load(Ordering::Relaxed), 1, "it was gone on with, not begun again");
}

#[tokio::test]
async fn work_that_panicked_is_not_gone_on_with() {
    let panicking = tokio::spawn(to_the_end(async {
        tokio::task::yield_now().await;
        panic!("as a defect would");
    }));
    assert!(panicking.await.is_err_and(|error| error.is_panic()));
}
