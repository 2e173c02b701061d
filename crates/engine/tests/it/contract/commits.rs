use super::*;
use lazuli_engine::{KeyRange, Outcome, RangeCheck, TxnId, caps};
use std::time::{Duration, Instant};

contract!(
    a_check_holds_or_conflicts,
    a_refused_commit_writes_nothing,
    deleting_and_writing_again_is_another_version,
    the_last_write_of_a_key_in_a_commit_counts,
    range_checks_see_puts_and_deletes,
    range_checks_end_where_the_range_ends,
    an_old_range_check_never_passes_wrongly,
    checks_hold_beyond_the_recent_window,
    a_failing_member_does_not_hurt_its_neighbours,
    one_of_many_wins_on_one_key,
    caps_are_kept,
    a_passed_deadline_is_unavailable,
    the_outcome_is_known_by_id,
    checks_alone_are_judged,
    closed_is_unavailable,
);

async fn a_check_holds_or_conflicts(place: Place) {
    let engine = place.open();
    let absent = vec![(key("a"), ExpectedVersion::Absent)];
    let first = engine.commit(txn(&engine, absent.clone(), vec![put("a", "1")])).await.unwrap().version;
    assert!(is_conflict(&engine.commit(txn(&engine, absent, vec![put("a", "2")])).await));
    let known = vec![(key("a"), ExpectedVersion::Version(first))];
    engine.commit(txn(&engine, known.clone(), vec![put("a", "3")])).await.unwrap();
    assert!(is_conflict(&engine.commit(txn(&engine, known, vec![put("a", "4")])).await));
    assert_eq!(text(&engine, "a").await.as_deref(), Some("3"));
}

async fn a_refused_commit_writes_nothing(place: Place) {
    let engine = place.open();
    let version = write(&engine, vec![put("a", "1"), put("b", "1")]).await;
    write(&engine, vec![put("b", "2")]).await;
    let checks =
        vec![(key("a"), ExpectedVersion::Version(version)), (key("b"), ExpectedVersion::Version(version))];
    let refused = txn(&engine, checks, vec![put("a", "x"), put("c", "x"), delete("b")]);
    let id = refused.id;
    assert!(is_conflict(&engine.commit(refused).await));
    assert_eq!(text(&engine, "a").await.as_deref(), Some("1"));
    assert_eq!(text(&engine, "b").await.as_deref(), Some("2"));
    assert_eq!(text(&engine, "c").await, None);
    assert_eq!(engine.outcome(id).await.unwrap(), Outcome::NotCommitted);
}

async fn deleting_and_writing_again_is_another_version(place: Place) {
    let engine = place.open();
    let first = write(&engine, vec![put("a", "1")]).await;
    write(&engine, vec![delete("a")]).await;
    let check = |expect| vec![(key("a"), expect)];
    assert!(is_conflict(
        &engine.commit(txn(&engine, check(ExpectedVersion::Version(first)), vec![put("a", "x")])).await
    ));
    engine.commit(txn(&engine, check(ExpectedVersion::Absent), vec![put("a", "1")])).await.unwrap();
    assert!(is_conflict(
        &engine.commit(txn(&engine, check(ExpectedVersion::Version(first)), vec![put("a", "x")])).await
    ));
}

async fn the_last_write_of_a_key_in_a_commit_counts(place: Place) {
    let engine = place.open();
    write(
        &engine,
        vec![put("a", "1"), put("b", "1"), put("a", "2"), delete("b"), put("~w", "1"), put("~w", "2")],
    )
    .await;
    assert_eq!(text(&engine, "a").await.as_deref(), Some("2"));
    assert_eq!(text(&engine, "b").await, None);
    assert_eq!(text(&engine, "~w").await.as_deref(), Some("2"));
}

async fn range_check(engine: &Engine, range: KeyRange) -> RangeCheck {
    engine.reader().await.unwrap().range_check(range, key("guard")).await.unwrap()
}

async fn range_checks_see_puts_and_deletes(place: Place) {
    let engine = place.open();
    write(&engine, vec![put("d/a", "1")]).await;
    for change in [put("d/b", "1"), put("d/a", "2"), delete("d/a"), delete("d/b")] {
        let check = range_check(&engine, KeyRange::prefix(key("d/"))).await;
        let guarded = || {
            let mut txn = txn(&engine, vec![], vec![put("out", "1")]);
            txn.range_checks.push(check.clone());
            txn
        };
        engine.commit(guarded()).await.unwrap();
        write(&engine, vec![change.clone()]).await;
        assert!(is_conflict(&engine.commit(guarded()).await), "{change:?}");
    }
}

async fn range_checks_end_where_the_range_ends(place: Place) {
    let engine = place.open();
    let check = range_check(&engine, KeyRange::new(key("b"), key("d"))).await;
    write(&engine, vec![put("a", "1"), put("d", "1"), put("~w", "1")]).await;
    let mut txn = txn(&engine, vec![], vec![put("out", "1")]);
    txn.range_checks.push(check);
    engine.commit(txn).await.unwrap();
}

async fn an_old_range_check_never_passes_wrongly(place: Place) {
    let engine = place.open();
    let check = range_check(&engine, KeyRange::prefix(key("d/"))).await;
    write(&engine, vec![put("d/a", "1")]).await;
    flood(&engine).await;
    let mut txn = txn(&engine, vec![], vec![put("out", "1")]);
    txn.range_checks.push(check);
    assert!(is_conflict(&engine.commit(txn).await));
}

async fn checks_hold_beyond_the_recent_window(place: Place) {
    let engine = place.open();
    let version = write(&engine, vec![put("a", "1"), put("b", "1")]).await;
    let newer = write(&engine, vec![put("b", "2")]).await;
    let reader = engine.reader().await.unwrap();
    flood(&engine).await;
    let check = |name, version| vec![(key(name), ExpectedVersion::Version(version))];
    assert!(is_conflict(&engine.commit(txn(&engine, check("b", version), vec![put("b", "x")])).await));
    engine.commit(txn(&engine, check("a", version), vec![put("a", "2")])).await.unwrap();
    engine.commit(txn(&engine, check("b", newer), vec![put("b", "3")])).await.unwrap();
    let absent = vec![(key("c"), ExpectedVersion::Absent)];
    engine.commit(txn(&engine, absent.clone(), vec![put("c", "1")])).await.unwrap();
    assert!(is_conflict(&engine.commit(txn(&engine, absent, vec![put("c", "2")])).await));
    drop(reader);
}

/// More writes than an engine remembers.
async fn flood(engine: &Engine) {
    for round in 0..8 {
        let writes = (0..5_000).map(|n| put(&format!("flood/{round}/{n:05}"), "")).collect();
        write(engine, writes).await;
    }
}

async fn a_failing_member_does_not_hurt_its_neighbours(place: Place) {
    let engine = place.open();
    let version = write(&engine, vec![put("shared", "0")]).await;
    let mut waiting = vec![];
    for n in 0..200 {
        let engine = engine.clone();
        waiting.push(tokio::spawn(async move {
            let checks =
                if n % 2 == 0 { vec![(key("shared"), ExpectedVersion::Version(version))] } else { vec![] };
            let name = format!("own/{n:03}");
            let mut writes = vec![put(&name, "1")];
            if n % 2 == 0 {
                writes.push(put("shared", &n.to_string()));
            }
            (n, engine.commit(txn(&engine, checks, writes)).await)
        }));
    }
    let mut winners = vec![];
    for task in waiting {
        let (n, result) = task.await.unwrap();
        let there = text(&engine, &format!("own/{n:03}")).await.is_some();
        assert_eq!(there, result.is_ok(), "{n}: {result:?}");
        if n % 2 == 1 {
            assert!(result.is_ok(), "{n}: {result:?}");
        } else if result.is_ok() {
            winners.push(n);
        } else {
            assert!(is_conflict(&result), "{result:?}");
        }
    }
    assert_eq!(winners.len(), 1, "{winners:?}");
    assert_eq!(text(&engine, "shared").await, Some(winners[0].to_string()));
}

async fn one_of_many_wins_on_one_key(place: Place) {
    let engine = place.open();
    for round in 0..10 {
        let name = format!("race/{round}");
        let mut waiting = vec![];
        for n in 0..32 {
            let (engine, name) = (engine.clone(), name.clone());
            waiting.push(tokio::spawn(async move {
                let checks = vec![(key(&name), ExpectedVersion::Absent)];
                engine.commit(txn(&engine, checks, vec![put(&name, &n.to_string())])).await
            }));
        }
        let mut committed = vec![];
        for (n, task) in waiting.into_iter().enumerate() {
            match task.await.unwrap() {
                Ok(commit) => committed.push((n, commit.version)),
                Err(EngineError::Conflict) => {}
                Err(error) => panic!("{error}"),
            }
        }
        let [(n, version)] = committed[..] else { panic!("{committed:?}") };
        let entry = peek(&engine, &name).await.unwrap();
        assert_eq!((entry.version, entry.value), (version, key(&n.to_string())));
    }
}

async fn caps_are_kept(place: Place) {
    let engine = place.open();
    let big = |len| Key::from(vec![b'k'; len]);
    let too_large = async |writes: Vec<Write>| {
        let result = engine.commit(txn(&engine, vec![], writes)).await;
        assert!(matches!(result, Err(EngineError::TooLarge(_))), "{result:?}");
    };
    write(&engine, vec![Write::Put(big(caps::KEY), big(caps::VALUE))]).await;
    assert_eq!(
        engine.reader().await.unwrap().get_untracked(big(caps::KEY)).await.unwrap().unwrap().value.len(),
        caps::VALUE
    );
    too_large(vec![Write::Put(big(caps::KEY + 1), Key::new())]).await;
    too_large(vec![Write::Put(key("a"), big(caps::VALUE + 1))]).await;
    too_large(vec![Write::Delete(big(caps::KEY + 1))]).await;
    too_large(vec![Write::Put(Key::new(), key("a"))]).await;
    too_large(vec![Write::Put(Key::from_static(b"\0own"), key("a"))]).await;
    let many = |count: usize, len| {
        (0..count).map(|n| Write::Put(key(&format!("m/{n:06}")), big(len))).collect::<Vec<_>>()
    };
    write(&engine, many(11, 89_000)).await;
    too_large(many(12, 89_000)).await;
    write(&engine, many(caps::WRITES, 1)).await;
    too_large(many(caps::WRITES + 1, 1)).await;
    // Refused at once and without a trace.
    assert_eq!(text(&engine, "a").await, None);
}

async fn a_passed_deadline_is_unavailable(place: Place) {
    let engine = place.open();
    let mut late = txn(&engine, vec![], vec![put("a", "1")]);
    late.deadline = Some(Instant::now());
    let result = engine.commit(late).await;
    assert!(matches!(result, Err(EngineError::Unavailable(_))), "{result:?}");
    assert_eq!(text(&engine, "a").await, None);
    let mut early = txn(&engine, vec![], vec![put("a", "1")]);
    early.deadline = Some(Instant::now() + Duration::from_secs(60));
    engine.commit(early).await.unwrap();
}

async fn the_outcome_is_known_by_id(place: Place) {
    let engine = place.open();
    let deletion = txn(&engine, vec![], vec![delete("a")]);
    let id = deletion.id;
    let commit = engine.commit(deletion).await.unwrap();
    for _ in 0..50 {
        write(&engine, vec![put("b", "1")]).await;
    }
    assert_eq!(engine.outcome(id).await.unwrap(), Outcome::Committed(commit));
    assert_eq!(engine.outcome(TxnId(id.0 ^ 1)).await.unwrap(), Outcome::NotCommitted);
}

async fn checks_alone_are_judged(place: Place) {
    let engine = place.open();
    let version = write(&engine, vec![put("a", "1")]).await;
    let check = |expect| txn(&engine, vec![(key("a"), expect)], vec![]);
    engine.commit(check(ExpectedVersion::Version(version))).await.unwrap();
    assert!(is_conflict(&engine.commit(check(ExpectedVersion::Absent)).await));
}

async fn closed_is_unavailable(place: Place) {
    let engine = place.open();
    write(&engine, vec![put("a", "1")]).await;
    engine.close().await.unwrap();
    engine.close().await.unwrap();
    let result = engine.commit(txn(&engine, vec![], vec![put("a", "2")])).await;
    assert!(matches!(result, Err(EngineError::Unavailable(_))), "{result:?}");
    assert_eq!(text(&engine, "a").await.as_deref(), Some("1"));
    assert_eq!(engine.is_stopped(), None);
}
