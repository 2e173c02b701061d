//! The power goes at every disk call; what was written and not synced is there, missing or torn.

use super::{script::Journal, *};
use crate::host::disk::sim::Fault;

#[test]
fn every_cut_keeps_what_was_acknowledged() {
    let whole = Store::new();
    let mut journal = Journal::default();
    let mut steps = 0;
    while let Some(result) = journal.step(&whole, steps) {
        result.unwrap();
        steps += 1;
    }
    journal.check(&whole, "without a cut");
    let calls = whole.disk.calls();
    for name in ["create", "rename", "remove", "allocate", "write", "sync", "sync dir"] {
        assert!(whole.disk.log().contains(&name), "no {name} in {:?}", whole.disk.log());
    }
    assert_ne!(whole.extents.stats().collected_bytes, 0);

    let mut images = 0;
    for call in 0..=calls {
        let store = Store::new();
        store.disk.set_fault(Some(Fault::Cut { call }));
        let mut journal = Journal::default();
        for step in 0..steps {
            if store.disk.is_cut() || matches!(journal.step(&store, step), Some(Err(_))) {
                break;
            }
        }
        for (number, image) in store.disk.images().into_iter().enumerate() {
            journal.check_image(image, &store.kv, &format!("cut at call {call}, image {number}"));
            images += 1;
        }
    }
    assert!(images > 2 * calls, "{images} images of {calls} calls");
}
