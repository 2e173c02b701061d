//! Random operations against a map from ids to bytes.

use std::collections::HashMap;

use proptest::prelude::*;

use super::*;

#[derive(Clone, Debug)]
enum Op {
    Write(u16),
    /// Publishes some of the guards that are held, and releases some chunks, in one commit.
    Commit {
        publish: u8,
        release: u8,
    },
    DropGuard(u8),
    Read(u8, u16, u16),
    Pin,
    Unpin,
    Collect,
    Reopen,
}

fn op() -> impl Strategy<Value = Op> {
    prop_oneof![
        6 => (0u16..30_000).prop_map(Op::Write),
        6 => (0u8..4, 0u8..4).prop_map(|(publish, release)| Op::Commit { publish, release }),
        1 => any::<u8>().prop_map(Op::DropGuard),
        4 => (any::<u8>(), any::<u16>(), any::<u16>()).prop_map(|(n, a, b)| Op::Read(n, a, b)),
        1 => Just(Op::Pin),
        1 => Just(Op::Unpin),
        1 => Just(Op::Collect),
        1 => Just(Op::Reopen),
    ]
}

#[derive(Default)]
struct Model {
    live: HashMap<ChunkId, Vec<u8>>,
    /// Released under the pin that is held.
    pinned: HashMap<ChunkId, Vec<u8>>,
}

fn pick<T: Copy + Ord>(items: impl Iterator<Item = T>, n: u8) -> Option<T> {
    let mut items: Vec<T> = items.collect();
    items.sort_unstable();
    let index = n as usize % items.len().max(1);
    items.get(index).copied()
}

fn run(ops: Vec<Op>) {
    let mut store = Store::new();
    let mut model = Model::default();
    let mut guards: Vec<(Written, Vec<u8>)> = Vec::new();
    let mut pin = None;
    let mut salt = 1;
    for (seed, op) in ops.into_iter().enumerate() {
        match op {
            Op::Write(len) => {
                let bytes = payload(seed as u64, len as usize);
                guards.push((store.write(&bytes).unwrap(), bytes));
            }
            Op::Commit { publish, release } => {
                let count = guards.len().min(publish as usize);
                let published: Vec<_> = guards.drain(..count).collect();
                let mut released: Vec<ChunkId> = Vec::new();
                for n in 0..release {
                    let rest = model.live.keys().copied().filter(|id| !released.contains(id));
                    released.extend(pick(rest, n.wrapping_mul(31).wrapping_add(seed as u8)));
                }
                let ids: Vec<_> = published.iter().map(|(written, _)| written.id).collect();
                store.commit(&ids, &released).unwrap();
                for (written, bytes) in published {
                    model.live.insert(written.id, bytes);
                }
                for id in released {
                    let bytes = model.live.remove(&id).unwrap();
                    if pin.is_some() {
                        model.pinned.insert(id, bytes);
                    }
                }
            }
            Op::DropGuard(n) => {
                if !guards.is_empty() {
                    guards.remove(n as usize % guards.len());
                }
            }
            Op::Read(n, a, b) => {
                let Some(id) = pick(model.live.keys().chain(model.pinned.keys()).copied(), n) else {
                    continue;
                };
                let bytes = model.live.get(&id).or_else(|| model.pinned.get(&id)).unwrap();
                let (a, b) = (a as usize % (bytes.len() + 1), b as usize % (bytes.len() + 1));
                let (start, end) = (a.min(b), a.max(b));
                let read = store.read(id, start as u32..end as u32).unwrap();
                assert_eq!(read, &bytes[start..end]);
            }
            Op::Pin => pin = pin.or_else(|| Some(store.extents.pin())),
            Op::Unpin => {
                pin = None;
                model.pinned.clear();
            }
            Op::Collect => store.collect().unwrap(),
            Op::Reopen => {
                guards.clear();
                pin = None;
                model.pinned.clear();
                salt += 1;
                store = store.reopen(salt);
            }
        }
    }
    guards.clear();
    for (id, bytes) in model.live.iter().chain(&model.pinned) {
        assert_eq!(store.read(*id, 0..bytes.len() as u32).unwrap(), bytes);
    }
    store.check_counts();
    // No space is lost for good: after a collection at most half of what remains is garbage.
    drop(pin);
    store.collect().unwrap();
    let stats = store.extents.stats();
    assert_eq!(stats.damaged_extents, 0);
    let slack = 4 * small().extent_bytes;
    assert!(stats.total_bytes <= 2 * stats.live_bytes + slack, "{stats:?}");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 150, ..ProptestConfig::default() })]
    #[test]
    fn extents_are_a_map_from_ids_to_bytes(ops in prop::collection::vec(op(), 1..250)) {
        run(ops);
    }
}
