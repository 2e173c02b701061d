//! Every disk call fails once; and bytes rot.

use super::{script::Journal, *};
use crate::host::disk::sim::Fault;
use rustix::io::Errno;

#[test]
fn after_any_failed_call_nothing_acknowledged_is_lost() {
    let whole = Store::new();
    let mut journal = Journal::default();
    let mut steps = 0;
    while let Some(result) = journal.step(&whole, steps) {
        result.unwrap();
        steps += 1;
    }
    let (mut stopped, mut full) = (0, 0);
    for call in 0..whole.disk.calls() {
        for errno in [Errno::IO, Errno::NOSPC] {
            let context = format!("call {call} fails with {errno:?}");
            let store = Store::new();
            store.disk.set_fault(Some(Fault::Fail { call, errno: errno.raw_os_error() }));
            let mut journal = Journal::default();
            for step in 0..steps {
                match journal.step(&store, step) {
                    Some(Err(EngineError::OutOfSpace)) => full += 1,
                    Some(Err(EngineError::Unavailable(_))) => {
                        stopped += 1;
                        assert!(store.extents.failed().is_some(), "{context}");
                        assert!(store.put(b"more").is_err(), "{context}: a write after the failure");
                        break;
                    }
                    Some(Err(other)) => panic!("{context}: {other}"),
                    Some(Ok(())) | None => {}
                }
            }
            journal.check(&store, &context);
            for image in store.disk.images().into_iter().take(4) {
                journal.check_image(image, &store.kv, &context);
            }
        }
    }
    assert!(stopped > 20 && full > 5, "{stopped} stopped, {full} full");
}

#[test]
fn rotten_bytes_are_an_error_never_data() {
    let store = Store::new();
    let mut journal = Journal::default();
    for step in 0..30 {
        journal.step(&store, step).unwrap().unwrap();
    }
    let (mut wrong, mut right) = (0, 0);
    for round in 0..400u64 {
        let image = store.disk.images().swap_remove(0);
        let pick = round.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 7;
        for n in 0..5 {
            image.damage(pick.wrapping_add(n * 0x1234_5678_9ABC), round % 4 == 0);
        }
        let damaged = Store::open(image, store.kv.copy(), 5, small()).unwrap();
        let mut judge = |damaged: &Store| {
            for id in &journal.acknowledged {
                let bytes = &journal.bytes[id];
                match damaged.read(*id, 0..bytes.len() as u32) {
                    Ok(read) => {
                        assert_eq!(read, bytes, "round {round}");
                        right += 1;
                    }
                    Err(EngineError::Corrupt(_)) => wrong += 1,
                    Err(other) => panic!("round {round}: {other}"),
                }
            }
        };
        judge(&damaged);
        damaged.collect().unwrap();
        judge(&damaged);
    }
    assert!(wrong > 100 && right > 1_000, "{wrong} {right}");
}
