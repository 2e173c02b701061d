use super::*;

fn slot(visible: u64) -> Slot {
    Slot { visible, receipt: 0, id: u128::from(visible) }
}

/// Found over HTTP: a Get of 32 that emptied the window while others put was answered with a message twice.
#[test]
fn a_message_that_appears_in_a_scan_is_not_lent_twice_to_one_get() {
    let mut window = Window::default();
    window.begin_scan(slot(100));
    window.end_scan([], slot(10));
    window.begin_scan(slot(100));
    window.appeared(slot(5), NEVER);
    let mut lent = window.lend(50, 32, None).slots;
    // Its snapshot was taken after the message was put, and before it was got.
    window.end_scan([(slot(5), NEVER), (slot(6), NEVER)], slot(100));
    lent.extend(window.lend(50, 31, None).slots);
    assert_eq!(lent, [(slot(5), NEVER), (slot(6), NEVER)]);
}

#[test]
fn a_queue_that_is_not_used_is_forgotten() {
    let queue_caches = QueueCaches::default();
    let (used, idle, held) = (generation(1), generation(2), generation(3));
    let start = Instant::now();
    queue_caches.open_at(idle, start);
    let under_way = queue_caches.open_at(held, start);
    let mut now = start;
    while now < start + IDLE + LOOK_FOR_IDLE * 2 {
        queue_caches.open_at(used, now);
        now += Duration::from_secs(1);
    }
    let known = |messages| queue_caches.0.lock().queue_caches.contains_key(&messages);
    assert!(known(used) && known(held) && !known(idle));
    drop(under_way);
    queue_caches.open_at(used, now + LOOK_FOR_IDLE);
    assert!(!known(held), "and the one that an operation had, once it is over");
}

fn generation(number: u64) -> Generation {
    Generation::new(number, 0)
}

/// Found by consumers at several servers: a Get was answered with nothing while messages were there.
#[tokio::test]
async fn what_was_forgotten_since_a_pass_is_looked_for_again() {
    use crate::queue::{CreateQueue, PutMessage};
    use futures_util::FutureExt as _;

    let engine = lazuli_engine::Engine::memory(lazuli_engine::Host::test());
    let options = crate::ServiceOptions { members: Members::Several, ..crate::ServiceOptions::default() };
    let services = Services::new(engine, options);
    services.join().await.expect("joined");
    let context = crate::Context::reading("acct");
    let create = CreateQueue { queue: "q".into(), metadata: lazuli_model::metadata::Metadata::default() };
    create.execute(&services, &context).await.expect("a queue");
    let put = PutMessage { queue: "q".into(), text: "m".into(), visibility_timeout: 0, time_to_live: None };
    put.execute(&services, &context).await.expect("a message");
    let found = services.view(&context).await.expect("a view").queue("q").await.expect("read");
    let cache = services.queue_caches().open(found.record().expect("the queue").messages);

    let mut scanned = cache.scanner.lock().await;
    let mut claiming = Box::pin(cache.claim(&services, 1));
    cache.window.lock().forget();
    assert!((&mut claiming).now_or_never().is_none(), "it waits for the scan");
    // A pass from the floor ends that began after the Get asked, and what it found is forgotten.
    (scanned.all_seen_by, scanned.forgotten) = (1, cache.forgotten());
    cache.window.lock().forget();
    drop(scanned);
    assert_eq!(claiming.await.expect("claimed").slots().len(), 1);
}
