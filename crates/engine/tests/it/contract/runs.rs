use super::*;
use lazuli_engine::{KeyRange, Plan, Reader};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

contract!(
    a_plan_without_writes_commits_nothing,
    the_closures_refusal_is_the_answer,
    a_lost_race_runs_the_closure_again,
    peeks_do_not_conflict,
    range_checks_conflict,
    what_was_there_meanwhile_is_not_made_as_if_it_had_not_been,
    a_transaction_put_together_by_hand_asks_about_its_commit_alone,
    no_increment_of_a_hot_key_is_lost,
    hot_keys_do_not_starve_anybody,
    transfers_keep_the_sum,
    a_run_ends_at_its_deadline,
);

#[derive(Debug)]
enum Refused {
    No,
    Engine(EngineError),
}

impl From<EngineError> for Refused {
    fn from(error: EngineError) -> Self {
        Self::Engine(error)
    }
}

pub async fn number(reader: &Reader, name: &str) -> Result<i64, EngineError> {
    let entry = reader.get(key(name)).await?;
    Ok(entry.map_or(0, |entry| String::from_utf8_lossy(&entry.value).parse().unwrap()))
}

pub async fn increment(engine: &Engine, name: &str) -> Result<i64, EngineError> {
    engine
        .run(None, |reader| async move {
            let next = number(&reader, name).await? + 1;
            let mut plan = Plan::new(next);
            plan.put(key(name), next.to_string());
            Ok(plan)
        })
        .await
}

async fn a_plan_without_writes_commits_nothing(place: Place) {
    let engine = place.open();
    let before = engine.stats().transactions;
    let answer: Result<_, EngineError> = engine.run(None, |_| async { Ok(Plan::new(7)) }).await;
    assert_eq!(answer.unwrap(), 7);
    assert_eq!(engine.stats().transactions, before);
}

async fn the_closures_refusal_is_the_answer(place: Place) {
    let engine = place.open();
    let answer = engine.run(None, |_| async { Err::<Plan<()>, _>(Refused::No) }).await;
    assert!(matches!(answer, Err(Refused::No)));
    let big = Key::from(vec![b'k'; 5_000]);
    let answer = engine
        .run(None, |_| {
            let big = big.clone();
            async move {
                let mut plan = Plan::new(());
                plan.put(big, "");
                Ok::<_, Refused>(plan)
            }
        })
        .await;
    assert!(matches!(answer, Err(Refused::Engine(EngineError::TooLarge(_)))), "{answer:?}");
}

/// How often the closure ran, when somebody else writes between its first reading and the commit.
async fn runs_with_interference(engine: &Engine, interference: Write) -> u32 {
    let runs = Arc::new(AtomicU32::new(0));
    let result: Result<(), EngineError> = engine
        .run(None, |reader| {
            let (engine, interference, runs) = (engine.clone(), interference.clone(), runs.clone());
            async move {
                reader.get(key("read")).await?;
                reader.get_untracked(key("peeked")).await?;
                reader.check_range(KeyRange::prefix(key("range/")), key("guard")).await?;
                if runs.fetch_add(1, Ordering::Relaxed) == 0 {
                    write(&engine, vec![interference]).await;
                }
                let mut plan = Plan::new(());
                plan.put(key("out"), "1");
                Ok(plan)
            }
        })
        .await;
    result.unwrap();
    runs.load(Ordering::Relaxed)
}

async fn a_lost_race_runs_the_closure_again(place: Place) {
    let engine = place.open();
    assert_eq!(runs_with_interference(&engine, put("read", "x")).await, 2);
    assert_eq!(runs_with_interference(&engine, delete("read")).await, 2);
    assert_eq!(runs_with_interference(&engine, put("unrelated", "x")).await, 1);
}

async fn peeks_do_not_conflict(place: Place) {
    let engine = place.open();
    assert_eq!(runs_with_interference(&engine, put("peeked", "x")).await, 1);
}

/// Of a run that makes a key which it read absent, while another handle makes and deletes it in between: how often the closure
/// ran, and whether it was dated later than the deletion.
async fn makes_after(engine: &Engine, other: &Engine, name: &str, between: &[Write]) -> (u32, bool) {
    let (runs, deleted) = (AtomicU32::new(0), parking_lot::Mutex::new(None));
    let dated: Result<_, EngineError> = engine
        .run(None, |reader| {
            let (runs, deleted) = (&runs, &deleted);
            async move {
                assert_eq!(reader.get(key(name)).await?, None);
                let dated = reader.stamp().now;
                if runs.fetch_add(1, Ordering::Relaxed) == 0 {
                    for write in between {
                        let done = other.commit(txn(other, vec![], vec![write.clone()])).await?;
                        *deleted.lock() = Some(done.now);
                    }
                    // It reads on, and finds a later time; what it makes is dated already.
                    reader.get(key(&format!("{name}/more"))).await?;
                }
                let mut plan = Plan::new(dated);
                plan.put(key(name), "made");
                Ok(plan)
            }
        })
        .await;
    assert_eq!(text(engine, name).await.as_deref(), Some("made"));
    (runs.into_inner(), deleted.into_inner().is_none_or(|deleted| dated.unwrap() >= deleted))
}

async fn what_was_there_meanwhile_is_not_made_as_if_it_had_not_been(place: Place) {
    let engines = place.open_several(2);
    for (round, other) in engines.iter().enumerate() {
        let name = |name: &str| format!("{round}/{name}");
        let (a, b, c, long) = (name("a"), name("b"), name("c"), name(&"k".repeat(3_000)));
        for name in [&a, &long] {
            let between = [put(name, "x"), delete(name)];
            assert_eq!(makes_after(&engines[0], other, name, &between).await, (2, true), "{round}");
        }
        // What happens to others is nothing to it, and neither is what happened before.
        let between = [put(&c, "x"), delete(&c)];
        assert_eq!(makes_after(&engines[0], other, &b, &between).await.0, 1, "{round}");
        assert_eq!(makes_after(&engines[0], other, &c, &[]).await.0, 1, "{round}");
    }
}

async fn a_transaction_put_together_by_hand_asks_about_its_commit_alone(place: Place) {
    let engine = place.open();
    write(&engine, vec![put("a", "1")]).await;
    write(&engine, vec![delete("a")]).await;
    let absent = vec![(key("a"), ExpectedVersion::Absent)];
    engine.commit(txn(&engine, absent, vec![put("a", "2")])).await.unwrap();
    assert_eq!(text(&engine, "a").await.as_deref(), Some("2"));
    write(&engine, vec![Write::DeleteWithoutTrace(key("a"))]).await;
    assert_eq!(text(&engine, "a").await, None);
}

async fn range_checks_conflict(place: Place) {
    let engine = place.open();
    assert_eq!(runs_with_interference(&engine, put("range/a", "x")).await, 2);
    assert_eq!(runs_with_interference(&engine, delete("range/a")).await, 2);
}

async fn no_increment_of_a_hot_key_is_lost(place: Place) {
    let engine = place.open();
    let mut tasks = vec![];
    for _ in 0..16 {
        let engine = engine.clone();
        tasks.push(tokio::spawn(async move {
            let mut seen = vec![];
            for _ in 0..25 {
                seen.push(increment(&engine, "hot").await.expect("increments"));
            }
            seen
        }));
    }
    let mut seen = vec![];
    for task in tasks {
        let mine = task.await.unwrap();
        assert!(mine.is_sorted(), "{mine:?}");
        seen.extend(mine);
    }
    seen.sort_unstable();
    assert_eq!(seen, (1..=400).collect::<Vec<_>>());
    assert_eq!(text(&engine, "hot").await.as_deref(), Some("400"));
}

/// Somebody slow must get through although others come all the time.
async fn hot_keys_do_not_starve_anybody(place: Place) {
    let engine = place.open();
    let stop = Arc::new(std::sync::atomic::AtomicBool::new(false));
    let mut others = vec![];
    for _ in 0..8 {
        let (engine, stop) = (engine.clone(), stop.clone());
        others.push(tokio::spawn(async move {
            while !stop.load(Ordering::Relaxed) {
                increment(&engine, "hot").await.expect("increments");
            }
        }));
    }
    for _ in 0..5 {
        let slow: Result<(), EngineError> = engine
            .run(Some(Instant::now() + Duration::from_secs(20)), |reader| async move {
                let next = number(&reader, "hot").await? + 1;
                tokio::time::sleep(Duration::from_millis(5)).await;
                let mut plan = Plan::new(());
                plan.put(key("hot"), next.to_string());
                Ok(plan)
            })
            .await;
        slow.expect("gets through");
    }
    stop.store(true, Ordering::Relaxed);
    for other in others {
        other.await.unwrap();
    }
}

async fn transfers_keep_the_sum(place: Place) {
    let engine = place.open();
    let names: Vec<String> = (0..8).map(|n| format!("account/{n}")).collect();
    write(&engine, names.iter().map(|name| put(name, "100")).collect()).await;
    let mut tasks = vec![];
    for task in 0..8usize {
        let (engine, names) = (engine.clone(), names.clone());
        tasks.push(tokio::spawn(async move {
            for step in 0..20 {
                let (from, to) = (&names[(task + step) % 8], &names[(task * 3 + step * 5 + 1) % 8]);
                if from == to {
                    continue;
                }
                let moved: Result<(), EngineError> = engine
                    .run(None, |reader| async move {
                        let (a, b) = (number(&reader, from).await?, number(&reader, to).await?);
                        let mut plan = Plan::new(());
                        plan.put(key(from), (a - 1).to_string());
                        plan.put(key(to), (b + 1).to_string());
                        Ok(plan)
                    })
                    .await;
                moved.expect("moves");
            }
        }));
    }
    for _ in 0..50 {
        let page = engine.reader().await.unwrap().scan(super::scans::all("account/")).await.unwrap();
        let sum: i64 = page
            .items
            .iter()
            .map(|(_, entry)| String::from_utf8_lossy(&entry.value).parse::<i64>().unwrap())
            .sum();
        assert_eq!(sum, 800);
        tokio::task::yield_now().await;
    }
    for task in tasks {
        task.await.unwrap();
    }
}

async fn a_run_ends_at_its_deadline(place: Place) {
    let engine = place.open();
    let began = Instant::now();
    let endless: Result<(), EngineError> = engine
        .run(Some(began + Duration::from_millis(100)), |reader| {
            let engine = engine.clone();
            async move {
                reader.get(key("k")).await?;
                write(&engine, vec![put("k", "x")]).await;
                tokio::time::sleep(Duration::from_millis(20)).await;
                let mut plan = Plan::new(());
                plan.put(key("k"), "y");
                Ok(plan)
            }
        })
        .await;
    assert!(matches!(endless, Err(EngineError::Unavailable(_))), "{endless:?}");
    assert!(began.elapsed() < Duration::from_secs(5));
}
