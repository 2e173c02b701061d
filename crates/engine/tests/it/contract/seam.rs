//! What an engine may be told, so that one behind a network needs few round trips and few locks. It never changes what is
//! read or committed.

use super::*;
use lazuli_engine::{Count, Counted, KeyRange, Plan, RangeCheck, Stamp, caps};
use std::sync::atomic::{AtomicU32, Ordering};

contract!(
    near_keys_are_a_hint_and_no_checks,
    each_attempt_may_ask_for_near_keys_anew,
    a_batch_is_tracked_as_a_whole,
    a_batch_with_impossible_keys_keeps_the_order,
    private_writes_are_part_of_the_commit,
    private_writes_count_against_the_caps,
    counts_are_bounded_and_go_on,
    counts_know_values,
    counts_are_of_one_snapshot,
    versions_that_are_not_the_engines_never_pass,
);

async fn near_keys_are_a_hint_and_no_checks(place: Place) {
    let engine = place.open();
    write(&engine, vec![put("a", "1"), put("b", "1")]).await;
    let near = || vec![key("a"), key("b"), key("absent"), Key::new(), Key::from(vec![b'k'; 5_000])];
    let reader = engine.reader_near(near).await.unwrap();
    assert_eq!(reader.get(key("a")).await.unwrap().unwrap().value, key("1"));
    assert_eq!(reader.get(key("absent")).await.unwrap(), None);
    let runs = AtomicU32::new(0);
    let answer: Result<_, EngineError> = engine
        .run_near(None, near, |reader| {
            let (engine, runs) = (engine.clone(), &runs);
            async move {
                let found = reader.get(key("a")).await?.map(|entry| entry.value);
                runs.fetch_add(1, Ordering::Relaxed);
                // Fetched with the opening, and not read.
                write(&engine, vec![put("b", "2")]).await;
                let mut plan = Plan::new(found);
                plan.put(key("out"), "1");
                Ok(plan)
            }
        })
        .await;
    assert_eq!((answer.unwrap(), runs.into_inner()), (Some(key("1")), 1));
}

async fn each_attempt_may_ask_for_near_keys_anew(place: Place) {
    let engine = place.open();
    let runs = AtomicU32::new(0);
    let answer: Result<_, EngineError> = engine
        .run_near(
            None,
            || vec![key("a")],
            |reader| {
                let (engine, runs) = (engine.clone(), &runs);
                async move {
                    let found = reader.get(key("a")).await?.map(|entry| entry.value);
                    if runs.fetch_add(1, Ordering::Relaxed) == 0 {
                        write(&engine, vec![put("a", "of another")]).await;
                    }
                    let mut plan = Plan::new(found);
                    plan.put(key("out"), "1");
                    Ok(plan)
                }
            },
        )
        .await;
    assert_eq!((answer.unwrap(), runs.into_inner()), (Some(key("of another")), 2));
}

async fn a_batch_is_tracked_as_a_whole(place: Place) {
    for change in [put("a", "2"), delete("b"), put("absent", "1"), put("~w", "2")] {
        let engine = place.open();
        write(&engine, vec![put("a", "1"), put("b", "1"), put("~w", "1"), delete("absent")]).await;
        let runs = AtomicU32::new(0);
        let answer: Result<_, EngineError> = engine
            .run(None, |reader| {
                let (engine, change, runs) = (engine.clone(), change.clone(), &runs);
                async move {
                    let keys = ["~w", "a", "absent", "b"].map(key).to_vec();
                    let found = reader.get_many(keys).await?;
                    if runs.fetch_add(1, Ordering::Relaxed) == 0 {
                        write(&engine, vec![change]).await;
                    }
                    let mut plan = Plan::new(found.len());
                    plan.put(key("out"), "1");
                    Ok(plan)
                }
            })
            .await;
        assert_eq!((answer.unwrap(), runs.into_inner()), (4, 2), "{change:?}");
        engine.close().await.unwrap();
    }
}

async fn a_batch_with_impossible_keys_keeps_the_order(place: Place) {
    let engine = place.open();
    write(&engine, vec![put("a", "1"), put("b", "2")]).await;
    let long = Key::from(vec![b'k'; caps::KEY + 1]);
    let reader = engine.reader().await.unwrap();
    let keys = vec![Key::new(), key("b"), long.clone(), key("\0own"), key("a"), long];
    let values: Vec<_> = reader.get_many(keys).await.unwrap();
    let values: Vec<_> = values.into_iter().map(|entry| entry.map(|entry| entry.value)).collect();
    assert_eq!(values, [None, Some(key("2")), None, None, Some(key("1")), None]);
}

async fn private_writes_are_part_of_the_commit(place: Place) {
    let engine = place.open();
    let run = |refused: bool| {
        let engine = engine.clone();
        async move {
            let checks = vec![(
                key("a"),
                if refused { ExpectedVersion::Version(Version(9)) } else { ExpectedVersion::Absent },
            )];
            let mut txn = txn(&engine, checks, vec![put("a", "1")]);
            txn.private_writes = vec![put("~fresh", "bytes"), put("fresh", "row")];
            engine.commit(txn).await
        }
    };
    assert!(is_conflict(&run(true).await));
    assert_eq!(text(&engine, "~fresh").await, None, "all or nothing");
    let version = run(false).await.unwrap().version;
    for name in ["a", "fresh", "~fresh"] {
        assert_eq!(peek(&engine, name).await.unwrap().version, version, "{name}");
    }
    // Nothing but private writes is a commit as well.
    let answer: Result<(), EngineError> = engine
        .run(None, |_| async {
            let mut plan = Plan::new(());
            plan.delete_private(key("~fresh"));
            plan.put_private(key("fresher"), "row");
            Ok(plan)
        })
        .await;
    answer.unwrap();
    assert_eq!(text(&engine, "~fresh").await, None);
    assert_eq!(text(&engine, "fresher").await.as_deref(), Some("row"));
    if place.is_durable() {
        engine.close().await.unwrap();
        drop(engine);
        let engine = place.open();
        assert_eq!(text(&engine, "fresh").await.as_deref(), Some("row"));
        assert_eq!(text(&engine, "~fresh").await, None);
    }
}

async fn private_writes_count_against_the_caps(place: Place) {
    let engine = place.open();
    let private = |writes: Vec<Write>| {
        let mut txn = txn(&engine, vec![], vec![put("a", "1")]);
        txn.private_writes = writes;
        engine.commit(txn)
    };
    let value = |len: usize| lazuli_engine::Value::from(vec![0; len]);
    let wide = |n: usize| Write::Put(key(&format!("~{n}")), value(caps::VALUE));
    for refused in [
        vec![Write::Put(key("long"), value(caps::VALUE + 1))],
        vec![Write::Put(Key::new(), value(1))],
        (0..12).map(wide).collect(),
        (0..caps::WRITES).map(|n| delete(&n.to_string())).collect(),
    ] {
        let answer = private(refused).await;
        assert!(matches!(answer, Err(EngineError::TooLarge(_))), "{answer:?}");
    }
    let mut plan = Plan::new(());
    plan.put(key("ab"), "cd");
    plan.put_private(key("ef"), "ghi");
    assert_eq!(plan.size(), 9);
}

async fn counted(engine: &Engine, prefix: &str, limit: usize) -> Counted {
    let count = Count { range: KeyRange::prefix(key(prefix)), value_above: None, limit };
    engine.reader().await.unwrap().count(count).await.unwrap()
}

async fn counts_are_bounded_and_go_on(place: Place) {
    let engine = place.open();
    let rows = |name: &str| (0..10).map(|n| put(&format!("{name}/{n}"), "")).collect::<Vec<_>>();
    write(&engine, [rows("a"), rows("b"), rows("~c")].concat()).await;
    write(&engine, vec![delete("a/3"), delete("a/9")]).await;
    assert_eq!(counted(&engine, "a/", 100).await, Counted { count: 8, next: None });
    assert_eq!(counted(&engine, "a/", 8).await, Counted { count: 8, next: None });
    assert_eq!(counted(&engine, "a/", 3).await, Counted { count: 3, next: Some(key("a/4")) });
    assert_eq!(counted(&engine, "a/", 0).await, Counted { count: 0, next: Some(key("a/0")) });
    assert_eq!(counted(&engine, "none", 5).await, Counted::default());
    assert_eq!(counted(&engine, "", 1_000).await.count, 28, "and none of the engine's own");
    // No more than the cap at a time, whatever is asked for.
    let many: Vec<_> = (0..caps::WRITES).map(|n| put(&format!("m/{n:05}"), "")).collect();
    write(&engine, many).await;
    write(&engine, vec![put("m/99999", "")]).await;
    let first = counted(&engine, "m/", usize::MAX).await;
    assert_eq!(first, Counted { count: caps::COUNT, next: Some(key("m/99999")) });
}

async fn counts_know_values(place: Place) {
    let engine = place.open();
    write(&engine, vec![put("q/1", "10"), put("q/2", "30"), put("q/3", "20"), put("q/4", "201")]).await;
    let reader = engine.reader().await.unwrap();
    for (above, limit, count, next) in
        [("20", 9, 2, None), ("1", 9, 4, None), ("9", 9, 0, None), ("20", 3, 1, Some(key("q/4")))]
    {
        let asked = Count { range: KeyRange::prefix(key("q/")), value_above: Some(key(above)), limit };
        assert_eq!(reader.count(asked).await.unwrap(), Counted { count, next }, "above {above}");
    }
}

async fn counts_are_of_one_snapshot(place: Place) {
    let engine = place.open();
    write(&engine, vec![put("a/1", ""), put("a/2", "")]).await;
    let reader = engine.reader().await.unwrap();
    write(&engine, vec![delete("a/1"), put("a/3", ""), put("a/4", "")]).await;
    let count = Count { range: KeyRange::prefix(key("a/")), value_above: None, limit: 9 };
    assert_eq!(reader.count(count).await.unwrap().count, 2);
    assert_eq!(counted(&engine, "a/", 9).await.count, 3);
}

async fn versions_that_are_not_the_engines_never_pass(place: Place) {
    let engine = place.open();
    let version = write(&engine, vec![put("a", "1")]).await;
    let now = engine.now();
    for foreign in [Version(version.0 | 1 << 64), Version(u128::MAX)] {
        let checks = vec![(key("a"), ExpectedVersion::Version(foreign))];
        assert!(is_conflict(&engine.commit(txn(&engine, checks, vec![put("b", "1")])).await));
        let mut ranged = txn(&engine, vec![], vec![put("b", "1")]);
        let since = Stamp { version: foreign, now };
        let range = KeyRange::prefix(key("none"));
        ranged.range_checks.push(RangeCheck { range, since, guard: key("guard"), digest: None });
        assert!(is_conflict(&engine.commit(ranged).await), "{foreign:?}");
    }
    assert_eq!(text(&engine, "b").await, None);
}
