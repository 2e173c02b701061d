use super::*;
use crate::key::Key;

fn asked(keys: usize) -> Asked {
    Asked::new((0..keys).map(|number| Key::from(number.to_be_bytes().to_vec())).collect(), Vec::new())
}

#[test]
fn what_waits_goes_together_up_to_so_many_batches_and_keys_and_without_those_who_left() {
    let lanes = ReadLanes::new(1);
    let push = |keys| lanes.push(asked(keys)).unwrap();
    let _many: Vec<_> = (0..TOGETHER + 1).map(|_| push(1)).collect();
    let _large = [KEYS_TOGETHER - 1, 1, KEYS_TOGETHER * 2, 1].map(push);
    drop(push(1));
    let taken: Vec<usize> = std::iter::repeat_with(|| lanes.take(0).len()).take(6).collect();
    assert_eq!(taken, [TOGETHER, 2, 1, 1, 1, 0]);
}

#[test]
fn so_many_wait_and_no_more() {
    let lanes = ReadLanes::new(1);
    let mut waiting: Vec<_> = (0..WAITING).map(|_| lanes.push(asked(1)).unwrap()).collect();
    lanes.state.lock().looked = Instant::now();
    // Those who left make room, when they are looked for.
    waiting.truncate(WAITING - 1);
    assert!(matches!(lanes.push(asked(1)), Err(EngineError::Unavailable(_))));
    lanes.state.lock().looked = Instant::now() - LOOK;
    waiting.push(lanes.push(asked(1)).unwrap());
    assert!(lanes.push(asked(1)).is_err());
}

#[tokio::test(start_paused = true)]
async fn one_idle_lane_is_woken_for_what_comes() {
    let lanes = ReadLanes::new(2);
    let is_woken = async |lane| tokio::time::timeout(LOOK, lanes.woken(lane)).await.is_ok();
    assert!(lanes.take(1).is_empty());
    let _tells = [lanes.push(asked(1)).unwrap(), lanes.push(asked(1)).unwrap()];
    assert!(is_woken(1).await && !is_woken(0).await, "the other works");
    assert_eq!(lanes.take(1).len(), 2);
    let _tells = lanes.push(asked(1)).unwrap();
    assert!(!is_woken(1).await, "both work");
    assert_eq!(lanes.take(0).len(), 1);
    assert!(lanes.take(0).is_empty() && lanes.take(1).is_empty());
    let _tells = lanes.push(asked(1)).unwrap();
    assert!(is_woken(0).await && !is_woken(1).await);
}
