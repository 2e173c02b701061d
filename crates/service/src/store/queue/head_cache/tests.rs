use super::{Share, Window};
use crate::store::record::queue::Slot;

const NEVER: u64 = u64::MAX;

fn slot(visible: u64) -> Slot {
    Slot { visible, receipt: visible, id: u128::from(visible) }
}

fn lent(window: &mut Window, now: u64, count: usize) -> Vec<u64> {
    window.lend(now, count, None).slots.into_iter().map(|(slot, _)| slot.visible).collect()
}

fn filled(slots: &[u64], frontier: u64) -> Window {
    let mut window = Window::default();
    window.begin_scan(Slot::at(frontier));
    window.end_scan(slots.iter().map(|&visible| (slot(visible), NEVER)), Slot::at(frontier));
    window
}

#[test]
fn lends_in_order_and_each_once() {
    let mut window = filled(&[3, 1, 2], 10);
    assert_eq!(lent(&mut window, 10, 2), [1, 2]);
    assert_eq!(lent(&mut window, 10, 2), [3]);
    window.give_back([(slot(2), NEVER)]);
    assert_eq!(lent(&mut window, 10, 2), [2]);
}

#[test]
fn what_is_not_yet_visible_stays() {
    let mut window = filled(&[1, 5], 10);
    assert_eq!(window.first(4, 9), [slot(1)]);
    assert_eq!(lent(&mut window, 4, 9), [1]);
    assert_eq!(lent(&mut window, 5, 9), [5]);
}

#[test]
fn the_expired_are_neither_lent_nor_shown() {
    let mut window = Window::default();
    window.begin_scan(Slot::at(10));
    window.end_scan([(slot(1), 7), (slot(2), NEVER)], Slot::at(10));
    assert_eq!(window.first(7, 9), [slot(2)]);
    let lent = window.lend(7, 9, None);
    assert_eq!(lent.expired, [slot(1)]);
    assert_eq!(lent.slots, [(slot(2), NEVER)]);
}

#[test]
fn behind_the_frontier_the_next_scan_will_see() {
    let mut window = filled(&[], 10);
    window.appeared(slot(12), NEVER);
    assert!(window.first(20, 9).is_empty());
    assert_eq!(window.frontier(), Slot::at(10));
}

#[test]
fn below_the_frontier_nobody_else_will() {
    let mut window = filled(&[], 10);
    window.appeared(slot(9), NEVER);
    assert_eq!(lent(&mut window, 20, 9), [9]);
}

/// The scan's snapshot was taken before the commit, the frontier moves after it.
#[test]
fn what_appears_during_a_scan_is_not_lost() {
    let mut window = filled(&[], 10);
    window.begin_scan(Slot::at(20));
    window.appeared(slot(15), NEVER);
    window.end_scan([], Slot::at(20));
    assert_eq!(lent(&mut window, 20, 9), [15]);
}

#[test]
fn the_vanished_are_forgotten() {
    let mut window = filled(&[1, 2], 10);
    window.vanished(&slot(1));
    assert_eq!(lent(&mut window, 10, 9), [2]);
}

#[test]
fn the_frontier_never_goes_back() {
    let mut window = filled(&[], 10);
    window.begin_scan(Slot::at(20));
    window.end_scan([], Slot::at(5));
    assert_eq!(window.frontier(), Slot::at(10));
}

/// Its Get gives it back or settles it.
#[test]
fn what_is_lent_is_not_found_again() {
    let mut window = filled(&[1, 2], 10);
    assert_eq!(lent(&mut window, 10, 2), [1, 2]);
    window.begin_scan(Slot::at(10));
    window.end_scan([(slot(1), NEVER), (slot(2), NEVER), (slot(3), NEVER)], Slot::at(10));
    assert_eq!(lent(&mut window, 10, 9), [3]);
    window.settle([slot(1)]);
    window.give_back([(slot(2), NEVER)]);
    window.begin_scan(Slot::at(10));
    window.end_scan([(slot(1), NEVER)], Slot::at(10));
    assert_eq!(
        lent(&mut window, 10, 9),
        [1, 2],
        "a hint that is out of date, and the one that was given back"
    );
}

/// What was put after the snapshot may be visible from a little before it.
#[test]
fn the_floor_is_the_first_message_or_a_margin_before_the_snapshot() {
    let mut window = Window::default();
    assert_eq!(window.floor(60), Slot::FIRST);
    window.raise_floor(slot(100), 1_000);
    assert_eq!(window.floor(60), slot(100), "older messages than that are there");
    window.raise_floor(Slot::at(1_001), 1_000);
    assert_eq!(window.floor(60), Slot::at(940));
}

/// Two servers that get from one queue begin with different messages, and leave none.
#[test]
fn a_share_is_lent_first_and_the_rest_behind_it() {
    let mut window = filled(&[1, 2, 3, 4, 5], 10);
    let share = Some(Share { mine: 0, of: 2 });
    let slots = |lent: super::Lent| lent.slots.iter().map(|(slot, _)| slot.visible).collect::<Vec<_>>();
    assert_eq!(slots(window.lend(10, 1, share)), [2]);
    assert_eq!(slots(window.lend(3, 3, share)), [1, 3]);
    assert_eq!(slots(window.lend(10, 9, share)), [4, 5]);
}

/// Found over HTTP: one Get had a message twice, which a scan found between its commit and the word of it.
#[test]
fn what_is_lent_does_not_appear_again() {
    let mut window = filled(&[5], 10);
    assert_eq!(lent(&mut window, 10, 9), [5]);
    window.appeared(slot(5), NEVER);
    assert!(lent(&mut window, 10, 9).is_empty());
    window.give_back([(slot(5), NEVER)]);
    assert_eq!(lent(&mut window, 10, 9), [5]);
}
