//! Servers that die, that are silent, that are taken for dead.

use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt as _;
use lazuli_engine::host::{Clock, ManualClock};
use lazuli_engine::{Engine, Host, KeyRange, Plan, Scan};
use lazuli_model::account::AccountFeatures;
use lazuli_model::version::ApiVersion;
use lazuli_service::blob::BlockSource;
use lazuli_service::store::key::{self, ContentId, Incarnation};
use lazuli_service::store::record::Record;
use lazuli_service::store::record::server::{Intent, JobRow};
use lazuli_service::{Context, Fault, Formats, Members, ServiceOptions, Services, upkeep};

use crate::support::{Bench, drain};

const EXPIRED: Duration = Duration::from_secs(31);

/// An engine with a clock that the test moves, by time that passes.
async fn engine() -> (Engine, Arc<ManualClock>) {
    let host = Host::test();
    let Clock::Manual(clock) = &host.clock else { panic!("a test's clock") };
    let clock = Arc::clone(clock);
    (crate::testing::engine(host).await, clock)
}

async fn server(engine: &Engine) -> Services {
    let options = ServiceOptions { members: Members::Several, ..ServiceOptions::default() };
    let server = Services::new(engine.clone(), options);
    server.join().await.unwrap();
    server
}

/// A server that beats until this is dropped: as long as it does, no sweep waits for it in vain.
struct Awake(tokio::task::JoinHandle<()>);

impl Awake {
    fn new(server: &Services) -> Self {
        let server = server.clone();
        Self(tokio::spawn(async move {
            loop {
                server.beat().await.unwrap();
                tokio::time::sleep(Duration::from_millis(2)).await;
            }
        }))
    }

    /// It beats no more when this returns.
    async fn sleep(self) {
        self.0.abort();
        while !self.0.is_finished() {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    }
}

impl Drop for Awake {
    fn drop(&mut self) {
        self.0.abort();
    }
}

async fn keys(engine: &Engine, prefix: &'static [u8]) -> Vec<lazuli_engine::Key> {
    let reader = engine.reader().await.unwrap();
    let page = reader.scan(Scan::of(KeyRange::prefix(prefix))).await.unwrap();
    page.items.into_iter().map(|(key, _)| key).collect()
}

async fn write(engine: &Engine, rows: &[(lazuli_engine::Key, Vec<u8>)]) {
    let put = |_| async {
        let mut plan = Plan::new(());
        rows.iter().for_each(|(key, value)| plan.put(key.clone(), value.clone()));
        Ok::<_, Fault>(plan)
    };
    engine.run(None, put).await.unwrap();
}

fn intent(content: u128, owner: Incarnation) -> (lazuli_engine::Key, Vec<u8>) {
    (key::intent(ContentId(content)), Intent { owner }.encode().to_vec())
}

async fn only_server(engine: &Engine) -> Incarnation {
    let rows = keys(engine, b"z").await;
    assert_eq!(rows.len(), 1);
    key::incarnation_of(&rows[0]).unwrap()
}

/// Given up is what a dead server left, and what was left before intents named a server; nothing of a live one.
#[tokio::test]
async fn intents_are_given_up_when_their_server_is_dead() {
    let (engine, clock) = engine().await;
    let dying = server(&engine).await;
    let owner = only_server(&engine).await;
    let sweeping = server(&engine).await;
    let (alive, _awake) = (Awake::new(&dying), Awake::new(&sweeping));
    let nobodys = (key::intent(ContentId(1)), Vec::new());
    write(&engine, &[nobodys, intent(2, owner), intent(3, Incarnation(77))]).await;
    upkeep::sweep(&sweeping).await.unwrap();
    assert_eq!(keys(&engine, b"w").await, [key::intent(ContentId(2))]);
    // The test's own moves of the clock kill no server.
    engine.advance_clock(Duration::from_secs(86_400));
    upkeep::sweep(&sweeping).await.unwrap();
    assert_eq!(keys(&engine, b"w").await.len(), 1);
    alive.sleep().await;
    clock.advance(EXPIRED);
    sweeping.beat().await.unwrap();
    upkeep::sweep(&sweeping).await.unwrap();
    assert!(keys(&engine, b"w").await.is_empty());
    assert_eq!(keys(&engine, b"z").await.len(), 1, "the dead one's row is deleted");
}

/// A server that is alone takes all others for dead.
#[tokio::test]
async fn alone_it_gives_up_what_others_left_and_writes_no_rows() {
    let (engine, _) = engine().await;
    let before = server(&engine).await;
    let owner = only_server(&engine).await;
    drop(before);
    write(&engine, &[intent(1, owner), (key::intent(ContentId(2)), Vec::new())]).await;
    let alone = Services::new(engine.clone(), ServiceOptions::default());
    alone.join().await.unwrap();
    while upkeep::sweep(&alone).await.unwrap() > 0 {}
    assert_eq!(keys(&engine, &[1]).await.len() + keys(&engine, b"w").await.len(), 0);
    let all = KeyRange { start: vec![1].into(), end: None };
    let left = engine.reader().await.unwrap().scan(Scan::of(all)).await.unwrap().items;
    assert!(left.is_empty(), "{left:?}");
    let idle = engine.stats().transactions;
    alone.beat().await.unwrap();
    upkeep::sweep(&alone).await.unwrap();
    assert_eq!(engine.stats().transactions, idle, "nothing is written while nothing is asked");
}

/// A server that wakes after it was taken for dead is another one: it does not go on with what it read, and says so.
#[tokio::test]
async fn a_server_taken_for_dead_reads_nothing_from_before() {
    let (engine, clock) = engine().await;
    let (sleeping, awake) = (server(&engine).await, server(&engine).await);
    let context = Context::of_owner("acct", ApiVersion::NEWEST);
    let bench = Bench::of(engine.clone(), vec![sleeping.clone()], context);
    bench.create_container("c").await;
    bench.put("b", &vec![1; 3 << 20]).await.unwrap();
    bench.put("kept", &vec![1; 3 << 20]).await.unwrap();
    let open = bench.open_on(&sleeping, "b").await.unwrap();
    let mut kept = bench.open_on(&sleeping, "kept").await.unwrap();
    kept.next().await.unwrap().expect("alive");
    bench.put("b", b"new").await.unwrap();
    clock.advance(EXPIRED);
    awake.beat().await.unwrap();
    let _awake = Awake::new(&awake);
    upkeep::sweep(&awake).await.unwrap();
    assert_eq!(engine.extents().stats().live_bytes, 3 << 20, "nobody waits for it for ever");
    sleeping.beat().await.unwrap();
    assert!(drain(open).await.is_err(), "an error, and no byte of anything else");
    assert!(drain(kept).await.is_err(), "it does not know what is still there");
    assert_eq!(keys(&engine, b"z").await.len(), 2);
    let open = bench.open_on(&sleeping, "b").await.unwrap();
    assert!(drain(open).await.unwrap() == b"new");
}

async fn is_known(engine: &Engine, server: Incarnation) -> bool {
    engine.reader().await.unwrap().get_untracked(key::server(server)).await.unwrap().is_some()
}

async fn declare_dead(engine: &Engine, server: Incarnation) {
    let delete = |_| async move {
        let mut plan = Plan::new(());
        plan.delete(key::server(server));
        Ok::<_, Fault>(plan)
    };
    engine.run(None, delete).await.unwrap();
}

/// A server does not know that its first row was written, and others delete the row. It has none again: who found it dead has
/// given up what it had under way.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_row_that_was_perhaps_written_is_not_written_again() {
    let (engine, _) = engine().await;
    let options = ServiceOptions { members: Members::Several, ..ServiceOptions::default() };
    let mut interrupted = 0;
    for _ in 0..100 {
        let server = Services::new(engine.clone(), options.clone());
        let mut joining = Box::pin(server.join());
        let mut joined = None;
        // It is polled so seldom that the row is mostly written before it looks again.
        while joined.is_none() && keys(&engine, b"z").await.is_empty() {
            joined = (&mut joining).now_or_never();
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        drop(joining);
        let written = only_server(&engine).await;
        declare_dead(&engine, written).await;
        if joined.is_none() {
            interrupted += 1;
            server.beat().await.unwrap();
            assert!(!is_known(&engine, written).await, "a server that was found dead is alive again");
            assert!(is_known(&engine, server.incarnation()).await);
            server.leave().await.unwrap();
            if interrupted == 5 {
                return;
            }
        }
    }
    panic!("it was never interrupted");
}

/// What is opened under a new name must not look like that of a dead server: the row is there before the name is used.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_server_has_a_row_before_it_goes_by_its_name() {
    let (engine, _) = engine().await;
    let server = server(&engine).await;
    for _ in 0..200 {
        let before = server.incarnation();
        declare_dead(&engine, before).await;
        let beating = server.clone();
        let beating = tokio::spawn(async move { beating.beat().await });
        while server.incarnation() == before && !beating.is_finished() {
            tokio::task::yield_now().await;
        }
        assert!(is_known(&engine, server.incarnation()).await);
        beating.await.unwrap().unwrap();
    }
}

/// What a server wrote ahead before it was taken for dead is given up as a whole: it cannot go on with it.
#[tokio::test]
async fn a_list_of_a_server_taken_for_dead_is_not_published() {
    let (engine, clock) = engine().await;
    let (sleeping, awake) = (server(&engine).await, server(&engine).await);
    let context = Context::of_owner("acct", ApiVersion::NEWEST);
    let bench = Bench::of(engine.clone(), vec![sleeping.clone()], context);
    bench.create_container("c").await;
    let ids: Vec<String> = (0..12_000).map(|number| format!("{number:064}")).collect();
    for id in &ids {
        bench.put_block("b", id, b"x").await.unwrap();
    }
    let all: Vec<_> = ids.iter().map(|id| (BlockSource::Latest, id.as_str())).collect();
    let _awake = Awake::new(&awake);
    let mut refused = 0;
    for _ in 0..5 {
        let mut work = Box::pin(bench.put_block_list("b", &all));
        let mut done = None;
        for _ in 0..1_000 {
            done = (&mut work).now_or_never();
            if done.is_some() || !keys(&engine, b"w").await.is_empty() {
                break;
            }
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        clock.advance(EXPIRED);
        awake.beat().await.unwrap();
        upkeep::sweep(&awake).await.unwrap();
        let done = match done {
            Some(done) => done,
            None => work.await,
        };
        refused += i32::from(done.is_err());
        sleeping.beat().await.unwrap();
        if done.is_ok() {
            assert!(bench.get("b", None).await.unwrap() == vec![b'x'; ids.len()], "published whole");
        }
    }
    assert!(refused > 0, "a list is given up between two of its batches, or before its commit");
    bench.put_block_list("b", &all).await.unwrap();
    assert!(bench.get("b", None).await.unwrap() == vec![b'x'; ids.len()]);
    assert!(keys(&engine, b"w").await.is_empty(), "no intent is left behind");
}

/// Of two sweepers one acts; one that was too slow finds that it is no longer its turn, at its next commit.
#[tokio::test]
async fn one_server_sweeps_at_a_time() {
    let (engine, clock) = engine().await;
    let (first, second) = (server(&engine).await, server(&engine).await);
    let _awake = [Awake::new(&first), Awake::new(&second)];
    let job = |epoch, owner| JobRow { owner, epoch, until: u64::MAX }.encode().to_vec();
    let stuck = (key::intent(ContentId(1)), Vec::new());
    // The first holds the job.
    upkeep::sweep(&first).await.unwrap();
    let row = engine.reader().await.unwrap().get_untracked(key::job("sweep")).await.unwrap().unwrap();
    let mut held = JobRow::decode(&row.value).unwrap();
    held.until = engine.steady_now().0 + 300_000_000;
    write(&engine, &[(key::job("sweep"), held.encode().to_vec()), stuck.clone()]).await;
    assert_eq!(upkeep::sweep(&second).await.unwrap(), 0);
    assert_eq!(keys(&engine, b"w").await.len(), 1, "it is the turn of the first");
    clock.advance(EXPIRED);
    first.beat().await.unwrap();
    second.beat().await.unwrap();
    upkeep::sweep(&second).await.unwrap();
    assert!(keys(&engine, b"w").await.is_empty());
    // Of a server that is dead it is free at once.
    write(&engine, &[(key::job("sweep"), job(held.epoch + 9, Incarnation(5))), stuck]).await;
    upkeep::sweep(&first).await.unwrap();
    assert!(keys(&engine, b"w").await.is_empty());
    let row = engine.reader().await.unwrap().get_untracked(key::job("sweep")).await.unwrap().unwrap();
    assert_eq!(JobRow::decode(&row.value).unwrap().epoch, held.epoch + 10);
}

/// A server that ends in order is not waited for.
#[tokio::test]
async fn a_server_that_leaves_is_gone_at_once() {
    let (engine, _) = engine().await;
    let (leaving, staying) = (server(&engine).await, server(&engine).await);
    leaving.leave().await.unwrap();
    assert_eq!(keys(&engine, b"z").await.len(), 1);
    staying.beat().await.unwrap();
    assert_eq!(keys(&engine, b"z").await.len(), 1);
}

#[tokio::test]
async fn servers_with_other_settings_are_known() {
    let (engine, _) = engine().await;
    let (first, second) = (server(&engine).await, server(&engine).await);
    for server in [&first, &second] {
        server.set_settings_digest(1);
        server.beat().await.unwrap();
    }
    first.beat().await.unwrap();
    assert_eq!(first.servers_with_other_settings(), 0);
    second.set_settings_digest(2);
    second.beat().await.unwrap();
    first.beat().await.unwrap();
    assert_eq!(first.servers_with_other_settings(), 1);
    second.set_settings_digest(1);
    let mut features = AccountFeatures::default();
    features.entry("acct").versioning = true;
    let options = ServiceOptions {
        members: Members::Several,
        features: Arc::new(features.clone()),
        ..ServiceOptions::default()
    };
    let third = Services::new(engine.clone(), options.clone());
    // The same, said in another order; and a plain account that is named.
    features.entry("plain");
    let fourth = Services::new(engine, ServiceOptions { features: Arc::new(features), ..options });
    for server in [&second, &third, &fourth, &first, &third, &fourth] {
        server.set_settings_digest(1);
        server.beat().await.unwrap();
    }
    for server in [first, third, fourth] {
        assert_eq!(server.servers_with_other_settings(), 2, "two of the four have the feature");
    }
}

/// Servers of two versions work together, and the older keep the newer from writing what they cannot read.
#[tokio::test]
async fn a_format_is_raised_when_no_older_server_is_left() {
    let (engine, _) = engine().await;
    let of = |highest| {
        let formats = Formats { lowest: 1, highest };
        Services::new(
            engine.clone(),
            ServiceOptions { members: Members::Several, formats, ..ServiceOptions::default() },
        )
    };
    let (older, newer) = (of(1), of(2));
    older.open_format().await.unwrap();
    older.join().await.unwrap();
    newer.open_format().await.unwrap();
    newer.join().await.unwrap();
    let refused = newer.raise_format().await.unwrap_err();
    assert!(refused.0.cause.unwrap().contains("older version"));
    assert_eq!(newer.store_format().await.unwrap(), 1);
    older.leave().await.unwrap();
    assert_eq!(newer.raise_format().await.unwrap(), (1, 2));
    assert_eq!(newer.raise_format().await.unwrap(), (2, 2));
    // The older one neither starts nor goes on.
    assert!(of(1).open_format().await.is_err());
    assert!(of(1).join().await.is_err() && older.beat().await.is_err());
    newer.beat().await.unwrap();
}

/// However a start and the raising meet, no server is left that cannot read what is written.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn no_older_server_joins_beside_the_raising() {
    for _ in 0..50 {
        let engine = crate::testing::engine(Host::real()).await;
        let of = |highest| {
            let formats = Formats { lowest: 1, highest };
            let options = ServiceOptions { members: Members::Several, formats, ..ServiceOptions::default() };
            Services::new(engine.clone(), options)
        };
        let (older, newer) = (of(1), of(2));
        newer.join().await.unwrap();
        let raising = newer.clone();
        let raised = tokio::spawn(async move { raising.raise_format().await });
        let joined = older.join().await;
        let raised = raised.await.unwrap();
        assert!(joined.is_ok() != raised.is_ok(), "{joined:?} {raised:?}");
    }
}
