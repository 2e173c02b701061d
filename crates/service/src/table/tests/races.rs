//! Histories of many writers: what every reader sees must add up.

use std::sync::Arc;

use super::*;

const ACCOUNTS: usize = 8;

fn amount(entity: &Entity) -> i64 {
    let property = entity.properties().next().expect("one property").expect("whole");
    match property.value().expect("a value") {
        lazuli_model::odata::ValueRef::Int64(amount) => amount,
        other => panic!("{other:?}"),
    }
}

async fn balances(bench: &Bench) -> Vec<(i64, Timestamp)> {
    let page = bench.query("PartitionKey eq 'bank'", 1000, None).await;
    page.entities.iter().map(|entity| (amount(entity), entity.timestamp)).collect()
}

/// Writers move amounts between two entities by group transactions under If-Match; the sum never changes, for
/// anybody, at any moment.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn the_sum_of_moved_amounts_is_constant() {
    let bench = Arc::new(Bench::new().await);
    for n in 0..ACCOUNTS {
        let properties = [("amount", EdmValue::Int64(1_000))];
        bench.one(change(Op::InsertEntity, "bank", &n.to_string(), &properties)).await.expect("inserted");
    }
    let mut tasks = Vec::new();
    for writer in 0..32_usize {
        let bench = Arc::clone(&bench);
        tasks.push(tokio::spawn(async move {
            let mut moved = 0;
            for round in 0..20 {
                let (from, to) = ((writer + round) % ACCOUNTS, (writer + round * 3 + 1) % ACCOUNTS);
                if from == to {
                    continue;
                }
                let now = balances(&bench).await;
                assert_eq!(now.iter().map(|(amount, _)| amount).sum::<i64>(), 1_000 * ACCOUNTS as i64);
                let step = |at: usize, by: i64| {
                    let (amount, timestamp) = now[at];
                    let etag = lazuli_model::admission::table::entity_etag(timestamp);
                    EntityChange {
                        if_match: Some(EntityMatch::parse(&etag).expect("an etag")),
                        ..change(
                            Op::UpdateEntity,
                            "bank",
                            &at.to_string(),
                            &[("amount", EdmValue::Int64(amount + by))],
                        )
                    }
                };
                match bench.commit(vec![step(from, -7), step(to, 7)]).await {
                    Ok(_) => moved += 1,
                    Err(refused) => assert!(refused.ends_with("UpdateConditionNotSatisfied"), "{refused}"),
                }
            }
            moved
        }));
    }
    let mut moved = 0;
    for task in tasks {
        moved += task.await.expect("a writer");
    }
    assert!(moved > 0, "somebody must win");
    assert_eq!(balances(&bench).await.iter().map(|(amount, _)| amount).sum::<i64>(), 1_000 * ACCOUNTS as i64);
}

/// Everybody merges a property of their own: none is lost, and timestamps of the entity are all different.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn racing_merges_lose_nothing() {
    let bench = Arc::new(Bench::new().await);
    let mut tasks = Vec::new();
    for writer in 0..32 {
        let bench = Arc::clone(&bench);
        tasks.push(tokio::spawn(async move {
            let name = format!("w{writer}");
            let properties = [(name.as_str(), EdmValue::Int32(writer))];
            bench.one(change(Op::InsertOrMergeEntity, "p", "r", &properties)).await.expect("merged")
        }));
    }
    let mut timestamps = Vec::new();
    for task in tasks {
        timestamps.push(task.await.expect("a writer"));
    }
    timestamps.sort();
    let last = timestamps.last().copied();
    timestamps.dedup();
    assert_eq!(timestamps.len(), 32);
    let read = bench.read("p", "r").await.expect("an entity");
    assert_eq!((read.properties.len(), Some(read.timestamp)), (32, last));
}

/// Exactly one of many inserts of one key succeeds.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn one_insert_wins() {
    let bench = Arc::new(Bench::new().await);
    let tasks: Vec<_> = (0..32)
        .map(|_| {
            let bench = Arc::clone(&bench);
            tokio::spawn(async move { bench.one(change(Op::InsertEntity, "p", "r", &[])).await.is_ok() })
        })
        .collect();
    let mut won = 0;
    for task in tasks {
        won += usize::from(task.await.expect("a writer"));
    }
    assert_eq!(won, 1);
}
