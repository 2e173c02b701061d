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
    match lanes.enter(&asked(keys)) {
        Ok(Entered::Waits(tells)) => tells,
        _ => panic!("it does not wait"),
    }
}

fn carried(lanes: &Arc<ReadLanes>) -> (Busy, usize) {
    match lanes.next() {
        Next::Carry(busy, waiters) => (busy, waiters.len()),
        _ => panic!("nothing is carried"),
    }
}

fn all_busy(lanes: &Arc<ReadLanes>) -> u64 {
    match lanes.next() {
        Next::AllBusy(since) => since,
        _ => panic!("a lane is free, or nothing waits"),
    }
}

#[test]
fn what_comes_while_all_lanes_are_busy_goes_together() {
    let lanes = Arc::new(ReadLanes::new(2));
    let (first, _second) = (has(&lanes), has(&lanes));
    let tells: Vec<_> = (0..3).map(|_| waits(&lanes, 1)).collect();
    all_busy(&lanes);
    drop(first);
    // Who comes later does not overtake those who wait.
    let late = waits(&lanes, 1);
    let (busy, count) = carried(&lanes);
    assert_eq!((busy.lane, count), (0, 4));
    assert!(matches!(lanes.next(), Next::Nothing));
    drop((busy, tells, late));
    assert_eq!(has(&lanes).lane, 0);
}

#[test]
fn a_statement_takes_so_many_batches_and_keys_and_none_for_those_who_left() {
    let lanes = Arc::new(ReadLanes::new(1));
    let busy = has(&lanes);
    let _many: Vec<_> = (0..TOGETHER + 1).map(|_| waits(&lanes, 1)).collect();
    let _large = [KEYS_TOGETHER * 2, 1, KEYS_TOGETHER].map(|keys| waits(&lanes, keys));
    drop(waits(&lanes, 1));
    let taken: Vec<usize> = std::iter::repeat_with(|| lanes.take(&busy).len()).take(5).collect();
    assert_eq!(taken, [TOGETHER, 1, 1, 1, 1]);
    assert!(lanes.take(&busy).is_empty());
}

#[test]
fn what_stands_still_is_not_waited_for() {
    let lanes = Arc::new(ReadLanes::new(1));
    let stuck = has(&lanes);
    let _tells = waits(&lanes, 1);
    let since = all_busy(&lanes);
    // Something has moved meanwhile: it is waited for again.
    lanes.take(&stuck);
    let _tells = waits(&lanes, 1);
    lanes.give_up(since);
    let since = all_busy(&lanes);
    lanes.give_up(since);
    let (busy, count) = carried(&lanes);
    assert_eq!((busy.lane, count), (0, 1));
    // What was given up neither frees the lane of those who have it now, nor takes what waits for them.
    let _tells = waits(&lanes, 1);
    assert!(lanes.take(&stuck).is_empty());
    drop(stuck);
    all_busy(&lanes);
    assert_eq!(lanes.take(&busy).len(), 1);
}

#[test]
fn so_many_wait_and_no_more() {
    let lanes = Arc::new(ReadLanes::new(1));
    let _busy = has(&lanes);
    let mut waiting: Vec<_> = (0..WAITING).map(|_| waits(&lanes, 1)).collect();
    assert!(matches!(lanes.enter(&asked(1)), Err(EngineError::Unavailable(_))));
    // Those who left make room.
    waiting.truncate(WAITING - 1);
    waits(&lanes, 1);
}

#[tokio::test(start_paused = true)]
async fn whoever_carries_is_told_once_that_something_waits() {
    let lanes = Arc::new(ReadLanes::new(1));
    let busy = has(&lanes);
    let _tells = [waits(&lanes, 1), waits(&lanes, 1)];
    lanes.wanted.notified().await;
    all_busy(&lanes);
    let is_told = || tokio::time::timeout(std::time::Duration::from_secs(1), lanes.wanted.notified());
    let _tells = waits(&lanes, 1);
    assert!(is_told().await.is_err(), "it looks again by itself");
    drop(busy);
    assert!(is_told().await.is_ok(), "a lane is free");
    assert_eq!(carried(&lanes).1, 3);
    assert!(matches!(lanes.next(), Next::Nothing));
    let _busy = has(&lanes);
    let _tells = waits(&lanes, 1);
    assert!(is_told().await.is_ok(), "something waits again");
}
