use super::*;

#[test]
fn a_reader_that_has_decided_holds_one_content_and_no_epoch() {
    let readers = Readers::default();
    let (one, other) = (ContentId(1), ContentId(2));
    let mut slow = readers.enter();
    let mut again = readers.enter();
    let epoch = readers.next_epoch();
    let late = readers.enter();
    assert!(!readers.is_decided(epoch));
    slow.decide(one);
    assert!(!readers.is_decided(epoch), "one of two");
    again.decide(one);
    assert!(readers.is_decided(epoch), "the one that entered later does not count");
    assert!(readers.is_read(one) && !readers.is_read(other));
    drop(slow);
    assert!(readers.is_read(one), "two read it");
    drop(again);
    assert!(!readers.is_read(one));
    let later = readers.next_epoch();
    assert!(!readers.is_decided(later));
    drop(late);
    assert!(readers.is_decided(later));
    let state = readers.0.lock();
    assert!(state.undecided.is_empty() && state.reading.is_empty() && state.decided.is_empty());
}

#[test]
fn an_epoch_is_drained_when_its_readers_are_listed_or_gone() {
    let readers = Readers::fenced();
    let mut slow = readers.enter();
    readers.next_epoch();
    readers.next_epoch();
    assert_eq!(readers.publish(), Published { epoch: 2, drained: 0, reading: vec![] }, "it is undecided");
    slow.decide(ContentId(7));
    assert_eq!(readers.publish(), Published { epoch: 2, drained: 2, reading: vec![ContentId(7)] });
    let mut young = readers.enter();
    young.decide(ContentId(8));
    assert_eq!(readers.publish().reading, [ContentId(7)], "the epoch of the other is not over");
    drop(slow);
    assert_eq!(readers.publish(), Published { epoch: 2, drained: 2, reading: vec![] });
}

/// A heartbeat is small, however many downloads are slow.
#[test]
fn those_that_are_not_listed_hold_their_epoch() {
    let readers = Readers::fenced();
    let mut slow = Vec::new();
    for number in 0..LISTED as u128 + 10 {
        let mut reader = readers.enter();
        reader.decide(ContentId(number));
        slow.push(reader);
        readers.next_epoch();
    }
    let published = readers.publish();
    assert_eq!((published.drained, published.reading.len()), (LISTED as u64, LISTED));
    slow.drain(..10);
    assert_eq!(readers.publish().drained, LISTED as u64 + 10);
}

#[test]
fn a_server_that_was_taken_for_dead_reads_nothing_that_it_began_before() {
    let readers = Readers::fenced();
    let reader = readers.enter();
    assert!(!reader.may_go_on(), "no heartbeat yet");
    readers.beat(Instant::now());
    assert!(reader.may_go_on());
    readers.begin_life();
    readers.beat(Instant::now());
    assert!(!reader.may_go_on());
    assert!(readers.enter().may_go_on());
    let Some(long_ago) = Instant::now().checked_sub(FENCE) else { return };
    readers.beat(long_ago);
    assert!(!readers.enter().may_go_on() && readers.is_late());
    assert!(Readers::default().enter().may_go_on(), "alone");
}
