//! Random operations against a plain ordered map that predicts every answer.

use super::*;
use lazuli_engine::{KeyRange, Scan, SkipItem, SkipScan};
use proptest::prelude::*;
use std::collections::BTreeMap;

#[derive(Clone, Debug)]
enum Step {
    /// Writes, of which the first may be guarded by a check that holds or not.
    Commit {
        writes: Vec<(u8, Option<u8>)>,
        check: Option<(u8, bool)>,
    },
    Get(u8),
    Scan {
        from: u8,
        to: u8,
        after: Option<u8>,
        limit: usize,
        reverse: bool,
    },
    Skip {
        prefix: u8,
        after: Option<u8>,
        limit: usize,
    },
    /// Keep a reader open for a while.
    Remember,
    LookBack,
    Reopen {
        clean: bool,
    },
}

/// Forty-eight keys with groups among them, in all keyspaces.
fn name(n: u8) -> Key {
    let head = ["a", "b/", "b", "c/d/", "c/", "~w", "~w/", "z"][usize::from(n) % 8];
    key(&format!("{head}{}", n / 8 % 6))
}

fn prefix(n: u8) -> Key {
    key(["", "b", "c/", "c/d/", "~", "x"][usize::from(n) % 6])
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        6 => (
            prop::collection::vec((any::<u8>(), prop::option::weighted(0.7, any::<u8>())), 1..6),
            prop::option::weighted(0.4, (any::<u8>(), any::<bool>())),
        ).prop_map(|(writes, check)| Step::Commit { writes, check }),
        3 => any::<u8>().prop_map(Step::Get),
        3 => (any::<u8>(), any::<u8>(), prop::option::of(any::<u8>()), 0..12usize, any::<bool>())
            .prop_map(|(from, to, after, limit, reverse)| Step::Scan { from, to, after, limit, reverse }),
        2 => (any::<u8>(), prop::option::of(any::<u8>()), 1..8usize)
            .prop_map(|(prefix, after, limit)| Step::Skip { prefix, after, limit }),
        1 => Just(Step::Remember),
        1 => Just(Step::LookBack),
        1 => any::<bool>().prop_map(|clean| Step::Reopen { clean }),
    ];
    prop::collection::vec(step, 1..80)
}

type Map = BTreeMap<Key, Entry>;

fn check_steps(kind: Kind, steps: Vec<Step>) {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    runtime.block_on(async {
        let Some(place) = Place::new(kind) else { return };
        let mut engine = place.open();
        let mut map = Map::new();
        let mut remembered = None;
        for step in steps {
            match step {
                Step::Commit { writes, check } => commit(&engine, &mut map, writes, check).await,
                Step::Get(n) => {
                    let found = engine.reader().await.unwrap().get(name(n)).await.unwrap();
                    assert_eq!(found.as_ref(), map.get(&name(n)));
                }
                Step::Scan { from, to, after, limit, reverse } => {
                    let range = KeyRange::new(name(from).min(name(to)), name(from).max(name(to)));
                    let after = after.map(name);
                    compare_scan(&engine, &map, range, after, limit, reverse).await;
                }
                Step::Skip { prefix: n, after, limit } => {
                    compare_skip(&engine, &map, prefix(n), after.map(name), limit).await;
                }
                Step::Remember => remembered = Some((engine.reader().await.unwrap(), map.clone())),
                Step::LookBack => {
                    if let Some((reader, then)) = &remembered {
                        let page = reader.scan(super::scans::all("")).await.unwrap();
                        assert!(page.items.iter().map(|(k, e)| (k, e)).eq(then.iter()));
                    }
                }
                Step::Reopen { clean } if place.is_durable() => {
                    remembered = None;
                    if clean {
                        engine.close().await.unwrap();
                    }
                    drop(engine);
                    engine = place.open();
                }
                Step::Reopen { .. } => {}
            }
        }
        let page = engine.reader().await.unwrap().scan(super::scans::all("")).await.unwrap();
        assert!(page.items.iter().map(|(k, e)| (k, e)).eq(map.iter()), "at the end");
    });
}

async fn commit(engine: &Engine, map: &mut Map, writes: Vec<(u8, Option<u8>)>, check: Option<(u8, bool)>) {
    let checks = check.iter().map(|&(n, right)| {
        let name = name(n);
        let current = map.get(&name).map(|entry| entry.version);
        let expect = match (current, right) {
            (Some(version), true) => ExpectedVersion::Version(version),
            (Some(_), false) | (None, true) => ExpectedVersion::Absent,
            (None, false) => ExpectedVersion::Version(Version(u128::MAX)),
        };
        (name, expect)
    });
    let writes = writes.into_iter().map(|(n, value)| match value {
        Some(value) => Write::Put(name(n), Key::from(vec![value; usize::from(value)])),
        None => Write::Delete(name(n)),
    });
    let txn = txn(engine, checks.collect(), writes.collect());
    let written = txn.writes.clone();
    let result = engine.commit(txn).await;
    if check.is_some_and(|(_, right)| !right) {
        assert!(is_conflict(&result), "{result:?}");
        return;
    }
    let version = result.expect("commits").version;
    for write in written {
        match write {
            Write::Put(key, value) => drop(map.insert(key, Entry { version, value })),
            Write::Delete(key) | Write::DeleteWithoutTrace(key) => drop(map.remove(&key)),
        }
    }
}

async fn compare_scan(
    engine: &Engine,
    map: &Map,
    range: KeyRange,
    after: Option<Key>,
    limit: usize,
    reverse: bool,
) {
    let mut expected: Vec<_> = map
        .iter()
        .filter(|(key, _)| range.contains(key))
        .map(|(key, entry)| (key.clone(), entry.clone()))
        .collect();
    if reverse {
        expected.reverse();
    }
    expected.retain(|(key, _)| {
        after.as_ref().is_none_or(|after| if reverse { key < after } else { key > after })
    });
    let more = expected.len() > limit;
    expected.truncate(limit);
    let scan = Scan { range, after, limit, max_bytes: usize::MAX, reverse, keys_only: false };
    let page = engine.reader().await.unwrap().scan(scan).await.unwrap();
    assert_eq!((page.items, page.more), (expected, more));
}

async fn compare_skip(engine: &Engine, map: &Map, prefix: Key, after: Option<Key>, limit: usize) {
    let mut expected: Vec<SkipItem> = vec![];
    for (name, entry) in map {
        let Some(rest) = name.strip_prefix(&prefix[..]) else { continue };
        if after.as_ref().is_some_and(|after| name <= after) {
            continue;
        }
        let item = match rest.iter().position(|&byte| byte == b'/') {
            Some(at) => SkipItem::Group(name.slice(..prefix.len() + at + 1)),
            None => SkipItem::Entry(name.clone(), entry.clone()),
        };
        let behind = matches!((&item, &after), (SkipItem::Group(group), Some(after)) if group == after);
        if !behind && expected.last() != Some(&item) {
            expected.push(item);
        }
    }
    let more = expected.len() > limit;
    expected.truncate(limit);
    let scan = SkipScan { prefix, delimiter: Key::from_static(b"/"), after, limit, max_bytes: usize::MAX };
    let page = engine.reader().await.unwrap().skip_scan(scan).await.unwrap();
    assert_eq!((page.items, page.more), (expected, more));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, max_shrink_iters: 400, ..ProptestConfig::default() })]
    #[test]
    fn memory_answers_as_the_map_predicts(steps in steps()) {
        check_steps(Kind::Memory, steps);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, max_shrink_iters: 100, ..ProptestConfig::default() })]
    #[test]
    fn embedded_answers_as_the_map_predicts(steps in steps()) {
        check_steps(Kind::Embedded, steps);
    }
}

#[cfg(feature = "postgres")]
proptest! {
    #![proptest_config(ProptestConfig { cases: 12, max_shrink_iters: 60, ..ProptestConfig::default() })]
    #[test]
    fn postgres_answers_as_the_map_predicts(steps in steps()) {
        check_steps(Kind::Postgres, steps);
    }
}
