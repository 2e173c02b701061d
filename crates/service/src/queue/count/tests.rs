use lazuli_model::time::Timestamp;

use super::{Count, TICKS_PER_SECOND};

fn seconds(seconds: u64) -> Timestamp {
    Timestamp(seconds * TICKS_PER_SECOND)
}

#[test]
fn falls_as_messages_expire() {
    let mut count = Count::default();
    count.add(seconds(10).0);
    count.add(seconds(20).0);
    count.add(u64::MAX);
    assert_eq!(count.at(seconds(9)), 3);
    assert_eq!(count.at(seconds(10)), 2);
    assert_eq!(count.at(seconds(1_000_000)), 1);
}

#[test]
fn an_expired_message_is_not_subtracted_twice() {
    let mut count = Count::default();
    count.add(seconds(10).0);
    count.add(seconds(20).0);
    assert_eq!(count.at(seconds(15)), 1);
    count.remove(seconds(10).0);
    assert_eq!(count.at(seconds(15)), 1);
    count.remove(seconds(20).0);
    assert_eq!(count.at(seconds(15)), 0);
}

#[test]
fn within_a_second_it_counts_too_many_rather_than_too_few() {
    let mut count = Count::default();
    count.add(seconds(10).0 + 1);
    assert_eq!(count.at(seconds(10)), 1);
    assert_eq!(count.at(Timestamp(seconds(10).0 + 2)), 1);
    assert_eq!(count.at(seconds(11)), 0);
}
