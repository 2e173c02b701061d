//! Long queries and transactions give way: how often is counted, not how long they take.

use std::pin::pin;
use std::task::Poll;

use super::*;
use crate::pace::SLICE;

/// Runs a future to its end, and counts how often it gave way. The engine in memory never makes it wait otherwise.
async fn turns<F: Future>(future: F) -> (F::Output, usize) {
    let mut future = pin!(future);
    let mut turns = 0;
    let output = std::future::poll_fn(|context| match future.as_mut().poll(context) {
        Poll::Ready(output) => Poll::Ready(output),
        Poll::Pending => {
            turns += 1;
            Poll::Pending
        }
    })
    .await;
    (output, turns)
}

fn query(filter: &str) -> QueryEntities {
    let filter = Some(Filter::parse(filter).expect("a filter"));
    QueryEntities {
        table: "people".to_owned(),
        filter,
        top: 1000,
        from: None,
        limits: KeyLimits::default(),
        max_bytes: 4 << 20,
    }
}

/// 200 entities of about 50 kB each, of which none is wanted.
async fn wide() -> Bench {
    let bench = Bench::new().await;
    for at in 0..200 {
        let properties = [("a", large('a', 20_000)), ("b", large('b', 29_000)), ("n", EdmValue::Int32(at))];
        bench.one(change(Op::InsertEntity, "p", &format!("{at:03}"), &properties)).await.expect("inserted");
    }
    bench
}

#[tokio::test]
async fn a_query_over_wide_entities_gives_way() {
    let bench = wide().await;
    let (page, given) = turns(query("n lt 0").execute(&bench.services, &bench.context)).await;
    assert!(page.expect("a page").entities.is_empty());
    assert!(given >= 200 * 49_000 / SLICE / 2, "{given}");
}

#[tokio::test]
async fn a_query_over_bodies_that_lie_apart_gives_way() {
    let bench = Bench::new().await;
    for at in 0..20 {
        let names: Vec<String> = (0..15).map(|at| format!("p{at}")).collect();
        let properties: Vec<_> = names.iter().map(|name| (name.as_str(), large('x', 32_000))).collect();
        bench.one(change(Op::InsertEntity, "p", &format!("{at:03}"), &properties)).await.expect("inserted");
    }
    let (page, given) = turns(query("n lt 0").execute(&bench.services, &bench.context)).await;
    assert!(page.expect("a page").entities.is_empty());
    assert!(given >= 20, "{given}");
}

/// A filter of a thousand conditions costs as much for a small entity as looking at a large one.
#[tokio::test]
async fn a_query_with_a_long_filter_gives_way() {
    let bench = Bench::new().await;
    for group in 0..10 {
        let rows = (0..100).map(|at| {
            let properties = [("n", EdmValue::Int32(at))];
            change(Op::InsertEntity, "p", &format!("{group}-{at:03}"), &properties)
        });
        bench.commit(rows.collect()).await.expect("inserted");
    }
    let conditions: Vec<String> = (0..1_000).map(|at| format!("n{at} lt 0")).collect();
    let filter = conditions.join(" or ");
    let (page, given) = turns(query(&filter).execute(&bench.services, &bench.context)).await;
    assert!(page.expect("a page").entities.is_empty());
    assert!(given >= 1_000 * filter.len() / SLICE / 2, "{given}");

    for at in 0..300 {
        bench.create(&format!("table{at:03}")).await;
    }
    let input = QueryTables { filter: Some(Filter::parse(&filter).expect("a filter")), top: 10, from: None };
    let (page, given) = turns(input.execute(&bench.services, &bench.context)).await;
    assert!(page.expect("a page").tables.is_empty());
    assert!(given >= 300 * filter.len() / SLICE / 2, "{given}");
}

#[tokio::test]
async fn a_transaction_of_large_merges_gives_way() {
    let bench = wide().await;
    // The last one is refused, so that nothing is written: writing waits for the engine, which gives way as well.
    let row = |at: usize| if at < 99 { format!("{at:03}") } else { "missing".to_owned() };
    let merge = |at| change(Op::MergeEntity, "p", &row(at), &[("n", EdmValue::Int32(-1))]);
    let changes = (0..100).map(merge).collect();
    let input = EntityGroupTransaction { table: "people".to_owned(), changes };
    let (done, given) = turns(input.execute(&bench.services, &bench.context)).await;
    assert_eq!(done.expect_err("refused").index, 99);
    assert!(given >= 100 * 49_000 / SLICE / 2, "{given}");
}
