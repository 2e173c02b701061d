//! What became of a commit whose answer was lost, or was not what it seemed.

use crate::contract::{key, put, text, txn, write};
use crate::postgres::Database;
use crate::remote::behind_a_proxy;
use lazuli_engine::object_store::memory::InMemory;
use lazuli_engine::{
    Dialect, Engine, EngineError, ExpectedVersion, Host, ObjectOptions, RemoteBytes, RemoteOptions, Scan, Txn,
};
use lazuli_testing::postgres::Postgres;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

/// Rows of groups are kept for an hour. A lane that settles a group later must not take it for one that was never committed.
async fn a_group_that_is_forgotten_is_not_known_and_nothing_of_it_deleted(dialect: Dialect) {
    let Some((proxy, mut database)) = behind_a_proxy(dialect).await else { return };
    database.options.bytes = RemoteBytes::objects(Arc::new(InMemory::new()), ObjectOptions::default());
    // So that the connection of the commit that is asked for is there already.
    database.options.commit_lanes = 1;
    let engine = database.open(Host::real());
    write(&engine, vec![put("before", "1")]).await;
    let mut direct = Database { options: database.options.clone() };
    direct.options.database = Database::new(dialect).unwrap().options.database;
    let host = Host::test();
    let clock = host.clock.clone();
    let other = direct.open(host);
    let written = engine.extents().write("bytes".into()).await.unwrap();
    let checks = vec![(key("a"), ExpectedVersion::Absent)];
    let publishing = Txn { publish: vec![written.id], ..txn(&engine, checks, vec![put("a", "1")]) };
    let id = publishing.id;
    proxy.faults.frozen_answers.store(1, Ordering::Relaxed);
    let committing = engine.clone();
    let commit = tokio::spawn(async move { committing.commit(publishing).await });
    while text(&other, "a").await.is_none() {
        assert!(!commit.is_finished());
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    let lazuli_engine::host::Clock::Manual(clock) = &clock else { panic!("a clock that is moved by hand") };
    clock.advance(Duration::from_secs(2 * 3_600));
    other.forget_groups().await.unwrap();
    proxy.faults.down.store(1, Ordering::Relaxed);
    tokio::time::sleep(Duration::from_millis(100)).await;
    proxy.faults.frozen_answers.store(0, Ordering::Relaxed);
    proxy.faults.down.store(0, Ordering::Relaxed);
    let told = commit.await.unwrap();
    assert!(matches!(told, Err(EngineError::Unknown)), "{told:?}");
    assert!(matches!(engine.outcome(id).await, Err(EngineError::Unknown)));
    tokio::time::sleep(Duration::from_secs(2)).await;
    assert_eq!(other.extents().read(written.id, 0..5).await.unwrap(), &b"bytes"[..]);
    assert_eq!(text(&engine, "a").await.as_deref(), Some("1"));
    write(&engine, vec![put("after", "1")]).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_forgotten_group_is_not_known() {
    a_group_that_is_forgotten_is_not_known_and_nothing_of_it_deleted(Dialect::Locks).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_forgotten_group_is_not_known_in_the_other_dialect() {
    a_group_that_is_forgotten_is_not_known_and_nothing_of_it_deleted(Dialect::Serializable).await;
}

/// Asked again, because the answer was lost, the database says the same, though its own tombstone stands there by now.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_became_of_a_group_is_told_alike_however_often() {
    let Some(server) = Postgres::start(&[]) else { return };
    let options = RemoteOptions::new(server.url(), RemoteBytes::memory());
    let _makes_the_schema = Engine::connect(options, Host::real()).await.unwrap();
    let asked = |group: u32| {
        let group = format!("00000000-0000-0000-0000-{group:012}");
        server
            .ask(&format!("SELECT coalesce(committed::text, 'unknown') FROM lazuli.resolve_2('{group}', 5)"))
    };
    server.psql("INSERT INTO lazuli.grp VALUES ('00000000-0000-0000-0000-000000000001', 5, '{}', '{}')");
    for _ in 0..2 {
        assert_eq!((asked(1), asked(2), asked(8)), ("true".into(), "false".into(), "false".into()));
    }
    server.psql(
        "INSERT INTO lazuli.setting VALUES ('purged', uuid_send('00000000-0000-0000-0000-000000000007'))",
    );
    for _ in 0..2 {
        assert_eq!((asked(1), asked(6), asked(9)), ("true".into(), "unknown".into(), "false".into()));
    }
    assert_eq!((asked(2), asked(8)), ("unknown".into(), "false".into()));
}

/// PostgreSQL calls a commit successful whose wait for a standby was cancelled.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_cancelled_wait_for_a_standby_acknowledges_nothing() {
    const CANCEL: &str = "SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE wait_event = 'SyncRep'";
    let Some(server) = Postgres::start(&[]) else { return };
    // Warnings are heard, whatever the role is set to.
    let url = format!("{}?options=-c%20client_min_messages%3Derror", server.url());
    let engine = Engine::connect(RemoteOptions::new(url, RemoteBytes::memory()), Host::real()).await.unwrap();
    write(&engine, vec![put("a", "1")]).await;
    server.psql("ALTER SYSTEM SET synchronous_standby_names = 'nobody'");
    server.psql("SELECT pg_reload_conf()");
    tokio::time::sleep(Duration::from_millis(500)).await;
    let committing = engine.clone();
    let write = txn(&engine, vec![], vec![put("a", "2")]);
    let commit = tokio::spawn(async move { committing.commit(write).await });
    for _ in 0..12 {
        tokio::time::sleep(Duration::from_millis(250)).await;
        server.psql(CANCEL);
    }
    assert!(!commit.is_finished(), "no standby has it");
    assert!(engine.unready().is_some(), "nor does anything else prove the primary");
    server.psql("ALTER SYSTEM RESET synchronous_standby_names");
    server.psql("SELECT pg_reload_conf()");
    assert!(commit.await.unwrap().is_ok());
    assert_eq!(text(&engine, "a").await.as_deref(), Some("2"));
    assert!(engine.stats().remote.unwrap().resolved > 0);
}

/// A snapshot that is held for too long is ended, and others are to be had, though its reader is still there.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn readers_that_stay_keep_nobody_else_waiting() {
    let Some(mut database) = Database::new(Dialect::Locks) else { return };
    database.options.readers = 2;
    let engine = database.open(Host::real());
    for n in 0..10 {
        write(&engine, vec![put(&format!("k{n}"), "1")]).await;
    }
    let page = |limit| Scan { limit, ..Scan::of(lazuli_engine::KeyRange::prefix(key("k"))) };
    let mut staying = Vec::new();
    for _ in 0..2 {
        let reader = engine.reader().await.unwrap();
        assert_eq!(reader.scan(page(2)).await.unwrap().items.len(), 2);
        staying.push(reader);
    }
    tokio::time::sleep(Duration::from_secs(12)).await;
    for _ in 0..4 {
        let reader = engine.reader().await.unwrap();
        assert_eq!(reader.scan(page(5)).await.unwrap().items.len(), 5);
    }
    for reader in staying {
        assert!(matches!(reader.scan(page(2)).await, Err(EngineError::Unavailable(_))));
    }
}

/// As an operator, or what looks after the database, sets a node that is not to be written to.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_primary_that_becomes_read_only_is_left_and_not_stormed() {
    const SESSIONS: &str = "SELECT sessions FROM pg_stat_database WHERE datname = 'postgres'";
    let Some(server) = Postgres::start(&[]) else { return };
    let options = RemoteOptions::new(server.url(), RemoteBytes::memory());
    let engine = Engine::connect(options, Host::real()).await.unwrap();
    write(&engine, vec![put("a", "1")]).await;
    server.psql("ALTER SYSTEM SET default_transaction_read_only = on");
    server.psql("SELECT pg_reload_conf()");
    let began = Instant::now();
    while engine.unready().is_none() {
        assert!(began.elapsed() < Duration::from_secs(10), "nobody noticed");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    let sessions = || server.ask(SESSIONS).parse::<u64>().unwrap();
    let before = sessions();
    let refused = engine.commit(txn(&engine, vec![], vec![put("a", "2")])).await;
    assert!(matches!(refused, Err(EngineError::Unavailable(_))), "{refused:?}");
    for _ in 0..100 {
        assert!(engine.unready().is_some(), "it proves nothing");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    let opened = sessions() - before;
    assert!(opened < 60, "{opened} sessions");
    server.psql("ALTER SYSTEM RESET default_transaction_read_only");
    server.psql("SELECT pg_reload_conf()");
    let began = Instant::now();
    while engine.unready().is_some() {
        assert!(began.elapsed() < Duration::from_secs(20), "it is not taken again");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    write(&engine, vec![put("a", "3")]).await;
}
