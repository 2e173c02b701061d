use super::*;
use lazuli_engine::Outcome;

contract!(
    everything_is_there_after_a_clean_stop,
    everything_is_there_after_a_crash,
    outcomes_outlive_a_crash,
    versions_and_checks_outlive_a_restart,
    tables_and_log_agree_after_many_restarts
);

async fn fill(engine: &Engine) -> Version {
    write(engine, vec![put("a", "old"), put("gone", "x"), put("~w", "wide")]).await;
    write(engine, vec![put("a", "1"), delete("gone")]).await
}

async fn check(engine: &Engine, version: Version) {
    let entry = peek(engine, "a").await.expect("is there");
    assert_eq!((entry.version, &entry.value[..]), (version, &b"1"[..]));
    assert_eq!(text(engine, "gone").await, None);
    assert_eq!(text(engine, "~w").await.as_deref(), Some("wide"));
}

async fn everything_is_there_after_a_clean_stop(place: Place) {
    let engine = place.open();
    let version = fill(&engine).await;
    engine.close().await.unwrap();
    if !place.is_durable() {
        return;
    }
    drop(engine);
    for _ in 0..3 {
        let engine = place.open();
        check(&engine, version).await;
        engine.close().await.unwrap();
    }
}

async fn everything_is_there_after_a_crash(place: Place) {
    if !place.is_durable() {
        return;
    }
    let engine = place.open();
    let version = fill(&engine).await;
    drop(engine);
    for _ in 0..3 {
        check(&place.open(), version).await;
    }
}

async fn outcomes_outlive_a_crash(place: Place) {
    if !place.is_durable() {
        return;
    }
    let engine = place.open();
    let mut known = vec![];
    for n in 0..50 {
        let txn = txn(&engine, vec![], vec![put(&format!("k{n}"), "1")]);
        let id = txn.id;
        known.push((id, engine.commit(txn).await.unwrap()));
    }
    drop(engine);
    let engine = place.open();
    for (id, commit) in known {
        assert_eq!(engine.outcome(id).await.unwrap(), Outcome::Committed(commit));
    }
    assert_eq!(engine.outcome(engine.new_txn_id()).await.unwrap(), Outcome::NotCommitted);
}

async fn versions_and_checks_outlive_a_restart(place: Place) {
    if !place.is_durable() {
        return;
    }
    let engine = place.open();
    let old = write(&engine, vec![put("a", "0")]).await;
    let version = fill(&engine).await;
    drop(engine);
    let engine = place.open();
    let check = |version| vec![(key("a"), ExpectedVersion::Version(version))];
    assert!(is_conflict(&engine.commit(txn(&engine, check(old), vec![put("a", "x")])).await));
    let next = engine.commit(txn(&engine, check(version), vec![put("a", "2")])).await.unwrap().version;
    assert!(next != version && next != old);
}

/// Enough to fill several memtables, so that part is in tables and part in the log.
async fn tables_and_log_agree_after_many_restarts(place: Place) {
    if !place.is_durable() {
        return;
    }
    for round in 0..6 {
        let engine = place.open();
        for n in 0..20 {
            let value = format!("{round}/").repeat(600);
            let writes = (0..100).map(|k| put(&format!("k/{:04}", (n * 100 + k) % 1_500), &value)).collect();
            write(&engine, writes).await;
        }
        write(&engine, vec![delete(&format!("k/{round:04}"))]).await;
        if round % 2 == 0 {
            engine.close().await.unwrap();
        }
        drop(engine);
        let engine = place.open();
        let page = engine.reader().await.unwrap().scan(super::scans::all("k/")).await.unwrap();
        assert_eq!(page.items.len(), 1_499, "round {round}");
        let expected = format!("{round}/").repeat(600);
        assert!(page.items.iter().all(|(_, entry)| entry.value == expected), "round {round}");
    }
}
