use super::super::window::Window;
use super::{NEVER, take};
use crate::record::queue::Slot;

fn slot(visible: u64) -> Slot {
    Slot { visible, receipt: 0, id: u128::from(visible) }
}

/// Found over HTTP: a Get of 32 that emptied the window while others put was answered with a message twice.
#[test]
fn a_message_that_appears_in_a_scan_is_not_lent_twice_to_one_get() {
    let mut window = Window::new(Slot::FIRST);
    window.begin_scan(slot(100));
    window.appeared(slot(5), NEVER);
    let mut lent = window.lend(50, 32).slots;
    // Its snapshot was taken after the message was put, and before it was got.
    window.end_scan([(slot(5), NEVER), (slot(6), NEVER)], slot(100));
    take(&mut lent, window.lend(50, 31).slots);
    assert_eq!(lent, [(slot(5), NEVER), (slot(6), NEVER)]);
}
