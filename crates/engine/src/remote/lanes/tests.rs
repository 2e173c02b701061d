use super::*;
use crate::key::Key;

fn asked(keys: usize) -> Asked {
    Asked::new((0..keys).map(|number| Key::from(number.to_be_bytes().to_vec())).collect(), Vec::new())
}

fn has(lanes: &Arc<ReadLanes>) -> Busy {
    match lanes.enter(&asked(1)) {
        Ok(Entered::Has(busy)) => busy,
        _ => panic!("no lane is free"),
    }
}

fn waits(lanes: &Arc<ReadLanes>, keys: usize) -> oneshot::Receiver<Told> {
    lanes.0.lock().moved = Instant::now();
    match lanes.enter(&asked(keys)) {
        Ok(Entered::Waits(tells)) => tells,
        _ => panic!("it does not wait"),
    }
}

fn leads(mut tells: oneshot::Receiver<Told>) -> Busy {
    match tells.try_recv() {
        Ok(Told::Lead(busy)) => busy,
        _ => panic!("it does not have the lane"),
    }
}

#[test]
fn what_comes_while_all_lanes_are_busy_goes_together() {
    let lanes = Arc::new(ReadLanes::new(2));
    let (first, second) = (has(&lanes), has(&lanes));
    let next = waits(&lanes, 1);
    let _others = [waits(&lanes, 1), waits(&lanes, 1)];
    drop(first);
    // Who comes later does not overtake those who wait.
    let _late = waits(&lanes, 1);
    let busy = leads(next);
    assert_eq!((busy.lane, lanes.take(1).len()), (0, 3));
    drop(second);
    assert_eq!(has(&lanes).lane, 1);
    drop(busy);
    assert_eq!(has(&lanes).lane, 0);
}

#[test]
fn those_who_left_do_not_have_the_lane() {
    let lanes = Arc::new(ReadLanes::new(1));
    let busy = has(&lanes);
    let gone = waits(&lanes, 1);
    let deaf = waits(&lanes, 1);
    let last = waits(&lanes, 1);
    drop(gone);
    drop(busy);
    // It was told, and leaves without having heard it.
    drop(deaf);
    drop(leads(last));
    drop(has(&lanes));
}

#[test]
fn a_statement_takes_so_many_batches_and_keys_and_none_for_those_who_left() {
    let lanes = Arc::new(ReadLanes::new(1));
    let _busy = has(&lanes);
    let _many: Vec<_> = (0..TOGETHER).map(|_| waits(&lanes, 1)).collect();
    let _large = [KEYS_TOGETHER - 1, 1, KEYS_TOGETHER * 2].map(|keys| waits(&lanes, keys));
    drop(waits(&lanes, 1));
    let taken: Vec<usize> = std::iter::repeat_with(|| lanes.take(1).len()).take(5).collect();
    // The last is too large to go with others: it goes when it has the lane itself.
    assert_eq!(taken, [TOGETHER - 1, 1, 1, 1, 0]);
}

#[test]
fn what_stands_still_is_not_waited_for() {
    let lanes = Arc::new(ReadLanes::new(1));
    let stuck = has(&lanes);
    let waiting = waits(&lanes, 1);
    lanes.0.lock().moved = Instant::now() - STANDS_STILL;
    let busy = has(&lanes);
    assert_eq!(lanes.take(1).len(), 1, "with those who waited");
    drop(waiting);
    // What was given up neither frees the lane of those who have it now, nor hands it on.
    let mut next = waits(&lanes, 1);
    drop(stuck);
    assert!(next.try_recv().is_err());
    drop(busy);
    leads(next);
}

#[test]
fn so_many_wait_and_no_more() {
    let lanes = Arc::new(ReadLanes::new(1));
    let _busy = has(&lanes);
    let mut waiting: Vec<_> = (0..WAITING).map(|_| waits(&lanes, 1)).collect();
    lanes.0.lock().moved = Instant::now();
    assert!(matches!(lanes.enter(&asked(1)), Err(EngineError::Unavailable(_))));
    // Those who left make room.
    waiting.truncate(WAITING - 1);
    waits(&lanes, 1);
}
