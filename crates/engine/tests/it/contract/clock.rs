use super::*;
use lazuli_engine::Ticks;
use lazuli_engine::host::Clock;
use std::time::Duration;

contract!(
    the_clock_follows_the_wall_at_first,
    a_wall_jump_does_not_move_the_clock,
    the_test_clock_moves_both,
    the_clock_never_goes_back_over_a_restart,
);

const SECOND: u64 = 10_000_000;

fn with_manual_clock(mut place: Place) -> (Place, Arc<lazuli_engine::host::ManualClock>) {
    place.host = Host::test();
    let Clock::Manual(clock) = place.host.clock.clone() else { panic!("a manual clock") };
    (place, clock)
}

async fn the_clock_follows_the_wall_at_first(place: Place) {
    let (place, clock) = with_manual_clock(place);
    let engine = place.open();
    let start = engine.wall_now();
    assert_eq!(engine.now(), start);
    clock.advance(Duration::from_secs(5));
    assert_eq!(engine.now(), Ticks(start.0 + 5 * SECOND));
    assert_eq!(engine.wall_now(), engine.now());
}

async fn a_wall_jump_does_not_move_the_clock(place: Place) {
    let (place, clock) = with_manual_clock(place);
    let engine = place.open();
    let start = engine.now();
    for wall in [0, start.0 * 2] {
        clock.set_wall(Ticks(wall));
        assert_eq!(engine.now(), start);
        assert_eq!(engine.wall_now(), Ticks(wall));
    }
}

async fn the_test_clock_moves_both(place: Place) {
    let (place, _clock) = with_manual_clock(place);
    let engine = place.open();
    let (now, wall) = (engine.now(), engine.wall_now());
    engine.advance_clock(Duration::from_secs(60));
    assert_eq!(engine.now(), Ticks(now.0 + 60 * SECOND));
    assert_eq!(engine.wall_now(), Ticks(wall.0 + 60 * SECOND));
    assert_eq!(engine.reader().await.unwrap().stamp().now, engine.now());
    let commit = engine.commit(txn(&engine, vec![], vec![put("a", "1")])).await.unwrap();
    assert_eq!(commit.now, engine.now());
}

async fn the_clock_never_goes_back_over_a_restart(place: Place) {
    if !place.is_durable() {
        return;
    }
    let (place, clock) = with_manual_clock(place);
    let engine = place.open();
    engine.advance_clock(Duration::from_secs(3_600));
    let committed = engine.commit(txn(&engine, vec![], vec![put("a", "1")])).await.unwrap().now;
    drop(engine);
    clock.set_wall(Ticks(5));
    let engine = place.open();
    assert!(engine.now() >= committed, "after a crash: the last commit's time");
    engine.advance_clock(Duration::from_secs(7_200));
    let last = engine.now();
    engine.close().await.unwrap();
    drop(engine);
    let engine = place.open();
    assert!(engine.now() >= last, "after a clean stop: the time of the stop");
}
