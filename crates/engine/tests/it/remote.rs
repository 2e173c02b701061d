//! An engine whose way to its database is cut, again and again.

use crate::contract::{delete, key, put, text, txn, write};
use crate::postgres::Database;
use lazuli_engine::{Dialect, Engine, EngineError, Host, Outcome, Plan, Reads, Write};
use lazuli_testing::postgres::shared;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::time::{Duration, Instant};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, UnixStream};
use tokio::task::JoinSet;

/// Stands between an engine and its server.
pub struct Proxy {
    pub port: u16,
    pub faults: Arc<Faults>,
}

#[derive(Default)]
pub struct Faults {
    /// Of so many answers, one is not handed on: the connection is cut instead. 0: none.
    pub cut_answers: AtomicU32,
    /// The same of what is sent to the server: it does not get there.
    cut_questions: AtomicU32,
    /// New connections are refused, and open ones cut.
    pub down: AtomicU32,
    /// Nothing is handed on, and nothing is cut.
    frozen: AtomicU32,
    /// Answers are not handed on, and nothing is cut.
    pub frozen_answers: AtomicU32,
    /// The same in both directions of connections with a lower number than this.
    frozen_below: AtomicU64,
    opened: AtomicU64,
    /// New connections are refused, and open ones stay.
    full: AtomicU32,
    passed: AtomicU64,
    pub cuts: AtomicU64,
}

impl Proxy {
    pub async fn start(socket: PathBuf) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let faults = Arc::new(Faults::default());
        let of_each = faults.clone();
        tokio::spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                let (faults, socket) = (of_each.clone(), socket.clone());
                tokio::spawn(async move {
                    if faults.down.load(Ordering::Relaxed) > 0 || faults.full.load(Ordering::Relaxed) > 0 {
                        return;
                    }
                    let number = faults.opened.fetch_add(1, Ordering::Relaxed);
                    let Ok(server) = UnixStream::connect(&socket).await else { return };
                    let (from_client, to_client) = client.into_split();
                    let (from_server, to_server) = server.into_split();
                    tokio::select! {
                        () = pass(from_client, to_server, number, &faults, &faults.cut_questions) => {}
                        () = pass(from_server, to_client, number, &faults, &faults.cut_answers) => {}
                    }
                });
            }
        });
        Self { port, faults }
    }
}

/// Until one side ends, or it is cut.
async fn pass(
    mut from: impl AsyncReadExt + Unpin,
    mut to: impl AsyncWriteExt + Unpin,
    number: u64,
    faults: &Faults,
    cut: &AtomicU32,
) {
    let mut bytes = vec![0; 64 << 10];
    loop {
        let read = tokio::select! {
            read = from.read(&mut bytes) => read,
            () = async {
                while faults.down.load(Ordering::Relaxed) == 0 {
                    tokio::time::sleep(Duration::from_millis(5)).await;
                }
            } => return,
        };
        let Ok(length @ 1..) = read else { return };
        let is_answer = std::ptr::eq(cut, &faults.cut_answers);
        while faults.frozen.load(Ordering::Relaxed) > 0
            || is_answer && faults.frozen_answers.load(Ordering::Relaxed) > 0
            || number < faults.frozen_below.load(Ordering::Relaxed)
        {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        let one_of = u64::from(cut.load(Ordering::Relaxed));
        let number = faults.passed.fetch_add(1, Ordering::Relaxed);
        if one_of > 0 && number.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 33 & 0xFFFF < 0x1_0000 / one_of {
            faults.cuts.fetch_add(1, Ordering::Relaxed);
            return;
        }
        if to.write_all(&bytes[..length]).await.is_err() {
            return;
        }
    }
}

pub async fn behind_a_proxy(dialect: Dialect) -> Option<(Proxy, Database)> {
    let proxy = Proxy::start(shared()?.socket()).await;
    let mut database = Database::new(dialect)?;
    database.options.database = format!("postgres://lazuli@127.0.0.1:{}/postgres", proxy.port);
    Some((proxy, database))
}

async fn add_one(engine: &Engine, name: &str) -> Result<i64, EngineError> {
    engine
        .run(Some(Instant::now() + Duration::from_secs(25)), |reader| async move {
            let before = reader.get(key(name)).await?;
            let next =
                before.map_or(0, |entry| String::from_utf8_lossy(&entry.value).parse::<i64>().unwrap()) + 1;
            let mut plan = Plan::new(next);
            plan.put(key(name), next.to_string());
            Ok(plan)
        })
        .await
}

/// Every increment that was acknowledged is counted once, and no other is.
async fn increments_are_counted_once(dialect: Dialect) {
    let Some((proxy, database)) = behind_a_proxy(dialect).await else { return };
    let engine = database.open(Host::real());
    proxy.faults.cut_answers.store(40, Ordering::Relaxed);
    proxy.faults.cut_questions.store(80, Ordering::Relaxed);
    let mut tasks = JoinSet::new();
    for n in 0..6 {
        let (engine, faults) = (engine.clone(), proxy.faults.clone());
        tasks.spawn(async move {
            let (mut done, began) = (0, Instant::now());
            while faults.cuts.load(Ordering::Relaxed) < 40 && began.elapsed() < Duration::from_secs(30) {
                match add_one(&engine, &format!("n/{}", n % 3)).await {
                    Ok(_) => done += 1,
                    // The primary was not to be found in time.
                    Err(EngineError::Unavailable(_)) => {}
                    Err(error) => panic!("{error}"),
                }
            }
            (n % 3, done)
        });
    }
    let mut expected = [0_i64; 3];
    for (n, done) in tasks.join_all().await {
        expected[n] += done;
    }
    proxy.faults.cut_answers.store(0, Ordering::Relaxed);
    proxy.faults.cut_questions.store(0, Ordering::Relaxed);
    for (n, expected) in expected.into_iter().enumerate() {
        assert_eq!(text(&engine, &format!("n/{n}")).await, Some(expected.to_string()));
    }
    let stats = engine.stats().remote.unwrap();
    eprintln!("{} cuts, {stats:?}", proxy.faults.cuts.load(Ordering::Relaxed));
    assert!(stats.resolved > 0, "no commit's answer was cut off");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn each_increment_is_counted_once_when_answers_are_cut_off() {
    increments_are_counted_once(Dialect::Locks).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn each_increment_is_counted_once_in_the_other_dialect() {
    increments_are_counted_once(Dialect::Serializable).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_database_that_goes_away_and_comes_back_is_waited_for() {
    let Some((proxy, database)) = behind_a_proxy(Dialect::Locks).await else { return };
    let engine = database.open(Host::real());
    write(&engine, vec![put("a", "1")]).await;
    assert_eq!(engine.unready(), None);
    proxy.faults.down.store(1, Ordering::Relaxed);
    let waiting = {
        let engine = engine.clone();
        tokio::spawn(async move { (add_one(&engine, "a").await, text(&engine, "a").await) })
    };
    tokio::time::sleep(Duration::from_millis(600)).await;
    assert!(engine.unready().is_some());
    proxy.faults.down.store(0, Ordering::Relaxed);
    let (added, read) = waiting.await.unwrap();
    assert_eq!((added.unwrap(), read.as_deref()), (2, Some("2")));
    assert_eq!(engine.unready(), None);
    // For good: nothing waits for ever.
    proxy.faults.down.store(1, Ordering::Relaxed);
    tokio::time::sleep(Duration::from_millis(50)).await;
    let began = Instant::now();
    let refused = engine.commit(txn(&engine, vec![], vec![delete("a")])).await;
    assert!(matches!(refused, Err(EngineError::Unavailable(_))), "{refused:?}");
    assert!(matches!(engine.reader().await.map(drop), Err(EngineError::Unavailable(_))));
    assert!(began.elapsed() < Duration::from_secs(20));
    assert_eq!(engine.is_stopped(), None);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_primary_that_stood_still_is_relied_on_again() {
    let Some((proxy, database)) = behind_a_proxy(Dialect::Locks).await else { return };
    let engine = database.open(Host::real());
    write(&engine, vec![put("a", "1")]).await;
    proxy.faults.frozen.store(1, Ordering::Relaxed);
    let began = Instant::now();
    while engine.unready().is_none() {
        assert!(began.elapsed() < Duration::from_secs(20), "nobody noticed");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    proxy.faults.frozen.store(0, Ordering::Relaxed);
    while engine.unready().is_some() {
        assert!(began.elapsed() < Duration::from_secs(60), "it is not proven again");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    // For good: it does not have to prove itself over and over.
    for _ in 0..1_000 {
        assert_eq!(engine.unready(), None);
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    assert_eq!(add_one(&engine, "a").await.unwrap(), 2);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn whoever_reads_while_the_database_stands_still_is_told_so_in_time() {
    let Some((proxy, database)) = behind_a_proxy(Dialect::Locks).await else { return };
    let engine = database.open(Host::real());
    write(&engine, vec![put("a", "1")]).await;
    proxy.faults.frozen.store(1, Ordering::Relaxed);
    let mut readers = JoinSet::new();
    for _ in 0..100 {
        let engine = engine.clone();
        readers.spawn(async move {
            let read = engine.look(|reader| async move { reader.get(key("a")).await.map(drop) });
            tokio::time::timeout(Duration::from_secs(30), read).await.expect("an answer in time")
        });
    }
    for read in readers.join_all().await {
        assert!(matches!(read, Err(EngineError::Unavailable(_))), "{read:?}");
    }
    proxy.faults.frozen.store(0, Ordering::Relaxed);
    let began = Instant::now();
    while engine.look(|reader| async move { reader.get(key("a")).await }).await.is_err() {
        assert!(began.elapsed() < Duration::from_secs(60), "it is not read again");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn connections_that_stand_still_are_replaced_though_the_database_is_well() {
    let Some((proxy, database)) = behind_a_proxy(Dialect::Locks).await else { return };
    let engine = database.open(Host::real());
    let mut tasks = JoinSet::new();
    for n in 0..4 {
        let (engine, faults) = (engine.clone(), proxy.faults.clone());
        tasks.spawn(async move {
            let name = format!("n/{n}");
            let (began, mut done, mut after) = (Instant::now(), 0, 0);
            while after < 10 {
                assert!(began.elapsed() < Duration::from_secs(100), "it does not go on");
                match add_one(&engine, &name).await {
                    Ok(_) => done += 1,
                    Err(EngineError::Unavailable(_)) => continue,
                    Err(error) => panic!("{error}"),
                }
                if done == 10 {
                    faults.frozen_below.store(faults.opened.load(Ordering::Relaxed), Ordering::Relaxed);
                }
                after += u32::from(done > 10);
            }
            let read = engine.look(|reader| {
                let name = name.clone();
                async move { reader.get(key(&name)).await }
            });
            assert_eq!(read.await.unwrap().unwrap().value, done.to_string().as_bytes());
        });
    }
    while let Some(done) = tasks.join_next().await {
        done.unwrap();
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_database_that_takes_no_more_connections_is_used_through_those_there_are() {
    let Some((proxy, database)) = behind_a_proxy(Dialect::Locks).await else { return };
    let engine = database.open(Host::real());
    write(&engine, vec![put("a", "1")]).await;
    assert_eq!(add_one(&engine, "a").await.unwrap(), 2);
    proxy.faults.full.store(1, Ordering::Relaxed);
    let mut held = JoinSet::new();
    for _ in 0..12 {
        let engine = engine.clone();
        held.spawn(async move { engine.reader().await.map(drop) });
    }
    assert!(held.join_all().await.iter().any(Result::is_err), "connections were to be had");
    let began = Instant::now();
    let mut next = 3;
    while next < 20 {
        assert!(began.elapsed() < Duration::from_secs(30), "it is not used any more");
        match add_one(&engine, "a").await {
            Ok(found) => {
                assert_eq!(found, next);
                next += 1;
            }
            Err(EngineError::Unavailable(_)) => {}
            Err(error) => panic!("{error}"),
        }
    }
    assert_eq!(engine.unready(), None);
}

/// Polls it once, so that what it asks for is on its way.
async fn begin<F: Future>(mut begun: std::pin::Pin<&mut F>) {
    std::future::poll_fn(|context| {
        assert!(begun.as_mut().poll(context).is_pending());
        std::task::Poll::Ready(())
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn whoever_asks_and_does_not_listen_keeps_nobody_else_waiting() {
    let Some(mut database) = Database::new(Dialect::Locks) else { return };
    database.options.read_lanes = 2;
    let engine = database.open(Host::real());
    write(&engine, vec![put("a", "1")]).await;
    let read = || engine.look(|reader| async move { reader.get(key("a")).await });
    // Three of them: two have the lanes, and one waits.
    let (mut one, mut two, mut three) =
        (std::pin::pin!(read()), std::pin::pin!(read()), std::pin::pin!(read()));
    begin(one.as_mut()).await;
    begin(two.as_mut()).await;
    begin(three.as_mut()).await;
    for _ in 0..20 {
        let others = tokio::time::timeout(Duration::from_secs(20), read());
        assert!(others.await.expect("an answer").unwrap().is_some());
    }
    // They leave without having heard anything; nothing of theirs stays behind.
    drop(engine.clone());
    assert!(one.await.unwrap().is_some() && two.await.unwrap().is_some() && three.await.unwrap().is_some());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn deletions_that_may_matter_are_known_for_ten_minutes() {
    let Some(database) = Database::new(Dialect::Locks) else { return };
    let host = Host::test();
    let clock = host.clock.clone();
    let engine = database.open(host);
    let pass = |minutes: u64| match &clock {
        lazuli_engine::host::Clock::Manual(clock) => clock.advance(Duration::from_secs(60 * minutes)),
        _ => panic!("a clock that is moved by hand"),
    };
    let mut private = txn(&engine, vec![], vec![put("a", "1"), put("b", "1"), put("c", "1")]);
    private.private_writes = vec![put("private", "1")];
    engine.commit(private).await.unwrap();
    let mut private = txn(&engine, vec![], vec![delete("a"), Write::DeleteWithoutTrace(key("b"))]);
    private.private_writes = vec![delete("private")];
    engine.commit(private).await.unwrap();
    pass(6);
    write(&engine, vec![delete("c")]).await;
    pass(3);
    assert_eq!(engine.forget_deletions().await.unwrap(), 0);
    pass(2);
    assert_eq!(engine.forget_deletions().await.unwrap(), 1, "only what was deleted with a trace");
    pass(6);
    assert_eq!(engine.forget_deletions().await.unwrap(), 1);
    assert_eq!(engine.forget_deletions().await.unwrap(), 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn strict_reads_are_confirmed_by_a_commit() {
    let Some((proxy, mut database)) = behind_a_proxy(Dialect::Locks).await else { return };
    database.options.reads = Some(Reads::Strict);
    let engine = database.open(Host::real());
    write(&engine, vec![put("a", "1")]).await;
    let before = engine.stats().remote.unwrap().barriers;
    assert_eq!(text(&engine, "a").await.as_deref(), Some("1"));
    let decided: Result<bool, EngineError> =
        engine.run(None, |reader| async move { Ok(Plan::new(reader.get(key("a")).await?.is_some())) }).await;
    assert!(decided.unwrap());
    assert!(engine.stats().remote.unwrap().barriers >= before + 2);
    // Many at a time; that one commit serves all who wait is shown in `barrier.rs`.
    let mut readers = JoinSet::new();
    for _ in 0..100 {
        let engine = engine.clone();
        readers.spawn(async move { text(&engine, "a").await });
    }
    assert!(readers.join_all().await.iter().all(|read| read.as_deref() == Some("1")));
    drop(proxy);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_outcome_is_known_to_other_servers() {
    let Some(database) = Database::new(Dialect::Locks) else { return };
    let (one, other) = (database.open(Host::real()), database.open(Host::real()));
    let known = txn(&one, vec![], vec![put("a", "1")]);
    let id = known.id;
    let commit = one.commit(known).await.unwrap();
    assert_eq!(other.outcome(id).await.unwrap(), Outcome::Committed(commit));
    assert_eq!(other.outcome(other.new_txn_id()).await.unwrap(), Outcome::NotCommitted);
}

/// Commits of the one would not see the locks of the other.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn servers_of_two_dialects_do_not_work_over_one_schema() {
    let Some(database) = Database::new(Dialect::Serializable) else { return };
    let _first = database.open(Host::real());
    let mut options = database.options.clone();
    options.dialect = Dialect::Locks;
    let refused = Engine::connect(options, Host::real()).await.err().unwrap().to_string();
    assert!(refused.contains("`serializable`"), "{refused}");
    let _second = database.open(Host::real());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_database_that_would_lose_writes_is_refused() {
    let Some(mut database) = Database::new(Dialect::Locks) else { return };
    database.options.unsafe_database = false;
    let error = Engine::connect(database.options.clone(), Host::real()).await.map(drop).unwrap_err();
    assert!(error.to_string().contains("fsync"), "{error}");
}
