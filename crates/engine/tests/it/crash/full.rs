//! A disk that is nearly full: nothing new is taken, and what is there can go.

use super::{scratch, script};
use bytes::Bytes;
use lazuli_engine::{Engine, EngineError, Host, Plan};

#[tokio::test]
async fn the_last_space_is_for_deletes() {
    let home = scratch();
    let engine = script::open(home.path()).unwrap();
    for step in 0..6 {
        script::run_step(&engine, step).await.unwrap();
    }
    engine.close().await.unwrap();
    drop(engine);

    // As if the disk had shrunk to its reserve.
    let mut options = script::options();
    options.extents.reserve_bytes = u64::MAX;
    let engine = Engine::open(home.path(), options, Host::real()).unwrap();
    let put = |plan: &mut Plan<()>| plan.put(Bytes::from("k/new"), "value");
    assert!(matches!(commit(&engine, put).await, Err(EngineError::OutOfSpace)));
    assert_eq!(engine.is_stopped(), None);
    commit(&engine, |plan| plan.delete(Bytes::from("k/c"))).await.unwrap();
    // A deletion that leaves a trace of itself.
    let replace = |plan: &mut Plan<()>| {
        plan.delete(Bytes::from("~w"));
        plan.put(Bytes::from("k/gone"), "~w");
    };
    commit(&engine, replace).await.unwrap();
    // Nothing is gained by what only takes another's place, whatever is deleted with it.
    let overwrite = |plan: &mut Plan<()>| {
        plan.put(Bytes::from("k/a"), "other".repeat(100));
        plan.delete(Bytes::from("k/gone"));
    };
    assert!(matches!(commit(&engine, overwrite).await, Err(EngineError::OutOfSpace)));
    assert_eq!(engine.is_stopped(), None);
    // A mark for what is deleted later is a promise; much of it is not.
    let mark = |plan: &mut Plan<()>| plan.put(Bytes::from("k/mark"), "dead".repeat(1_000));
    assert!(matches!(commit(&engine, mark).await, Err(EngineError::OutOfSpace)));
    commit(&engine.giving_back(), mark).await.unwrap();
    let much = |plan: &mut Plan<()>| plan.put(Bytes::from("k/much"), "dead".repeat(20_000));
    assert!(matches!(commit(&engine.giving_back(), much).await, Err(EngineError::OutOfSpace)));
    let found = script::read_all(&engine).await.unwrap();
    let expected = ["c/04", "c/05", "k/a", "k/gone", "k/mark"].map(String::from);
    assert_eq!(found.into_keys().collect::<Vec<_>>(), expected);
}

async fn commit(engine: &Engine, change: impl Fn(&mut Plan<()>) + Send + Sync) -> Result<(), EngineError> {
    let change = &change;
    let plan = |_| async move {
        let mut plan = Plan::new(());
        change(&mut plan);
        Ok::<_, EngineError>(plan)
    };
    engine.run(None, plan).await
}
