use super::*;
use crate::history::hint::Hints;

/// One that was called and answered then.
fn event(called: Moment, answered: Moment, hint: Hint) -> Event<(), ()> {
    let mut hints = Hints::default();
    hints[1] = Some(hint);
    Event { call: (), called, answer: Some(((), answered)), until: Moment::MAX, hints }
}

#[test]
fn what_is_made_later_is_dated_later() {
    let made = |at| event(10 * at, 10 * at + 5, Hint::Made(at));
    let seen = |at: Moment, of| event(10 * at, 10 * at + 5, Hint::Seen(of));
    assert!(check(&[made(1), seen(2, 1), seen(3, 1), made(4), seen(5, 4)]).is_ok());
    // In whichever order they are told.
    assert!(check(&[seen(5, 4), made(4), made(1)]).is_ok());
    assert!(check(&[made(4), seen(5, 3)]).is_err(), "an old one is seen");
    assert!(check(&[seen(4, 4), event(50, 55, Hint::Made(4))]).is_err(), "two have the same");
    assert!(check(&[made(4), event(50, 55, Hint::Made(3))]).is_err());
    assert!(check(&[made(4), made(6), event(50, 55, Hint::Made(3))]).is_err(), "after the first of them");
}

#[test]
fn of_those_under_way_at_the_same_time_nothing_is_said() {
    assert!(check(&[event(10, 20, Hint::Made(4)), event(15, 25, Hint::Made(3))]).is_ok());
    assert!(check(&[event(10, 20, Hint::Made(4)), event(20, 25, Hint::Made(3))]).is_ok());
    assert!(check(&[event(10, 20, Hint::Made(4)), event(21, 25, Hint::Made(3))]).is_err());
    let unanswered = Event { answer: None, ..event(10, 20, Hint::Made(4)) };
    assert!(check(&[unanswered, event(30, 40, Hint::Made(3))]).is_ok());
}
