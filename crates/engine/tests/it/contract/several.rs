//! Several servers over one engine: what one of them remembers must not be needed for another to be right.

use super::runs::{increment, number};
use super::*;
use lazuli_engine::{Count, KeyRange, Plan, RangeCheck, Scan, SkipItem, SkipScan};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use tokio::task::JoinSet;

contract!(
    no_increment_is_lost,
    transfers_keep_the_sum,
    of_two_that_check_what_the_other_writes_one_wins,
    a_guarded_range_and_an_insertion_do_not_overlook_each_other,
    a_sealed_range_stays_as_it_was_read,
    long_keys_are_in_order,
    long_keys_fold_and_count,
    what_is_written_together_is_read_together,
    a_commit_is_seen_by_the_others_at_once,
);

async fn no_increment_is_lost(place: Place) {
    let engines = place.open_several(3);
    let mut tasks = JoinSet::new();
    for n in 0..9 {
        let engine = engines[n % 3].clone();
        tasks.spawn(async move {
            let mut seen = vec![];
            for _ in 0..12 {
                seen.push(increment(&engine, "hot").await.expect("increments"));
            }
            seen
        });
    }
    let mut seen: Vec<i64> = tasks.join_all().await.concat();
    seen.sort_unstable();
    assert_eq!(seen, (1..=108).collect::<Vec<_>>());
}

async fn transfers_keep_the_sum(place: Place) {
    let engines = place.open_several(3);
    let names: Vec<String> = (0..6).map(|n| format!("account/{n}")).collect();
    write(&engines[0], names.iter().map(|name| put(name, "100")).collect()).await;
    let mut tasks = JoinSet::new();
    for task in 0..6usize {
        let (engine, names) = (engines[task % 3].clone(), names.clone());
        tasks.spawn(async move {
            for step in 0..15 {
                let (from, to) = (&names[(task + step) % 6], &names[(task * 3 + step * 5 + 1) % 6]);
                if from == to {
                    continue;
                }
                let moved: Result<(), EngineError> = engine
                    .run(None, |reader| async move {
                        let (a, b) = (number(&reader, from).await?, number(&reader, to).await?);
                        let mut plan = Plan::new(());
                        plan.put(key(from), (a - 1).to_string());
                        plan.put(key(to), (b + 1).to_string());
                        Ok(plan)
                    })
                    .await;
                moved.expect("moves");
            }
        });
    }
    let value = |entry: &Entry| String::from_utf8_lossy(&entry.value).parse::<i64>().unwrap();
    for n in 0..30 {
        let engine = &engines[n % 3];
        let page = engine.reader().await.unwrap().scan(super::scans::all("account/")).await.unwrap();
        assert_eq!(page.items.iter().map(|(_, entry)| value(entry)).sum::<i64>(), 600);
        let sum: Result<i64, EngineError> = engine
            .run(None, |reader| {
                let names = names.clone();
                async move {
                    let (first, rest) = names.split_at(3);
                    let mut sum = 0;
                    for part in [first, rest] {
                        let keys = part.iter().map(|name| key(name)).collect();
                        let found = reader.get_untracked_many(keys).await?;
                        sum += found.iter().flatten().map(value).sum::<i64>();
                    }
                    Ok(Plan::new(sum))
                }
            })
            .await;
        assert_eq!(sum.unwrap(), 600, "in two batches");
    }
    tasks.join_all().await;
}

/// Two transactions that check both keys and write one of them each, on keys that are there and on keys that are not, through
/// the same server and through two.
async fn of_two_that_check_what_the_other_writes_one_wins(place: Place) {
    let engines = place.open_several(2);
    for round in 0..60 {
        let (a, b) = (format!("{round}/a"), format!("{round}/b"));
        let present = round % 2 == 0;
        let expected = match present {
            true => ExpectedVersion::Version(write(&engines[0], vec![put(&a, "0"), put(&b, "0")]).await),
            false => ExpectedVersion::Absent,
        };
        let checks = vec![(key(&a), expected), (key(&b), expected)];
        let other = &engines[round / 2 % 2];
        let one = engines[0].commit(txn(&engines[0], checks.clone(), vec![put(&a, "1")]));
        let two = other.commit(txn(other, checks, vec![put(&b, "1")]));
        let (one, two) = if round % 3 == 0 {
            let (two, one) = tokio::join!(two, one);
            (one, two)
        } else {
            tokio::join!(one, two)
        };
        assert!(one.is_ok() != two.is_ok(), "round {round}: {one:?} {two:?}");
        assert!(is_conflict(&one) || is_conflict(&two), "round {round}: {one:?} {two:?}");
    }
}

/// One says that a range is empty and writes that down, the other inserts into the range unless that is written down. The
/// guard is only ever checked by the one who inserts.
async fn a_guarded_range_and_an_insertion_do_not_overlook_each_other(place: Place) {
    let engines = place.open_several(2);
    for round in 0..40 {
        let name = |part: &str| key(&format!("{round}/{part}"));
        let guard = write(&engines[0], vec![Write::Put(name("guard"), key("g"))]).await;
        let (sealer, inserter) = (&engines[round % 2], &engines[round / 2 % 2]);
        let range = KeyRange::prefix(name("in/"));
        let check: RangeCheck =
            sealer.reader().await.unwrap().range_check(range, name("guard")).await.unwrap();
        let mut seal = txn(sealer, vec![], vec![Write::Put(name("sealed"), key("1"))]);
        seal.range_checks.push(check);
        let checks =
            vec![(name("guard"), ExpectedVersion::Version(guard)), (name("sealed"), ExpectedVersion::Absent)];
        let insert = txn(inserter, checks, vec![Write::Put(name("in/x"), key("1"))]);
        let (sealed, inserted) = tokio::join!(sealer.commit(seal), inserter.commit(insert));
        assert!(sealed.is_ok() != inserted.is_ok(), "round {round}: {sealed:?} {inserted:?}");
    }
}

/// The same by `run`, with a crowd of insertions.
async fn a_sealed_range_stays_as_it_was_read(place: Place) {
    let engines = place.open_several(3);
    write(&engines[0], vec![put("guard", "open")]).await;
    let mut tasks = JoinSet::new();
    for n in 0..6usize {
        let engine = engines[n % 3].clone();
        tasks.spawn(async move {
            for step in 0.. {
                let more: Result<bool, EngineError> = engine
                    .run(None, |reader| async move {
                        let open = reader.get(key("guard")).await?;
                        let mut plan = Plan::new(open.is_some());
                        if open.is_some() {
                            plan.put(key(&format!("in/{n}/{step:03}")), "1");
                        }
                        Ok(plan)
                    })
                    .await;
                if !more.expect("inserts or is told not to") {
                    break;
                }
                // The one who seals must find a gap: it reads them all, and has lost when one more comes.
                tokio::time::sleep(std::time::Duration::from_millis(40)).await;
            }
        });
    }
    tokio::time::sleep(std::time::Duration::from_millis(50)).await;
    let sealed: Result<usize, EngineError> = engines[1]
        .run(None, |reader| async move {
            let range = KeyRange::prefix(key("in/"));
            let count = reader.scan(super::scans::all("in/")).await?.items.len();
            reader.get(key("guard")).await?;
            reader.check_range(range, key("guard")).await?;
            let mut plan = Plan::new(count);
            plan.delete(key("guard"));
            Ok(plan)
        })
        .await;
    let sealed = sealed.expect("seals");
    tasks.join_all().await;
    let there = engines[2].reader().await.unwrap().scan(super::scans::all("in/")).await.unwrap();
    assert_eq!(there.items.len(), sealed, "nothing came in after it was counted");
}

/// Around the length from which an index of a database cannot take a key whole: alone, and with a long common beginning.
fn long_names() -> Vec<Key> {
    let mut names = vec![key("a"), key("p"), key("q"), key("z")];
    for length in [2_559, 2_560, 2_561, 2_600, 3_599, 3_600] {
        names.push(Key::from(vec![b'p'; length]));
        names.push(Key::from(vec![b'o'; length]));
        names.push(Key::from(vec![0xFF; length]));
    }
    for tail in ["", "!", "/", "/1", "/2", "/2/3", "b", "c/1", "c/2", "ÿ", "zz"] {
        names.push([&[b'p'; 2_560], tail.as_bytes()].concat().into());
        names.push([&[b'p'; 2_559], tail.as_bytes()].concat().into());
        names.push([&[b'p'; 2_600], tail.as_bytes()].concat().into());
        names.push([&[b'r'; 100], b"/".as_slice(), &[b'p'; 2_500], tail.as_bytes()].concat().into());
    }
    names.sort_unstable();
    names.dedup();
    names
}

async fn long_keys_are_in_order(place: Place) {
    let engines = place.open_several(2);
    let names = long_names();
    for (n, name) in names.iter().enumerate() {
        write(&engines[n % 2], vec![Write::Put(name.clone(), Key::from(n.to_string()))]).await;
    }
    let reader = engines[1].reader().await.unwrap();
    for (n, name) in names.iter().enumerate() {
        assert_eq!(reader.get(name.clone()).await.unwrap().unwrap().value, n.to_string());
        let absent: Key = [name, &b"\x01"[..]].concat().into();
        assert_eq!(reader.get(absent).await.unwrap(), None);
    }
    for reverse in [false, true] {
        let mut expected = names.clone();
        if reverse {
            expected.reverse();
        }
        for limit in [1, 3, 7, usize::MAX] {
            let (mut found, mut after) = (vec![], None);
            loop {
                let scan = Scan { limit, reverse, after: after.clone(), ..super::scans::all("") };
                let page = reader.scan(scan).await.unwrap();
                found.extend(page.items.into_iter().map(|(key, _)| key));
                after = found.last().cloned();
                if !page.more {
                    break;
                }
            }
            assert!(found == expected, "by {limit}, backwards {reverse}");
        }
        for start in names.iter().step_by(3) {
            for end in names.iter().step_by(4) {
                let range = KeyRange { start: start.clone(), end: Some(end.clone()) };
                let expected: Vec<&Key> = expected.iter().filter(|key| range.contains(key)).collect();
                let scan = Scan { range: range.clone(), reverse, keys_only: true, ..super::scans::all("") };
                let page = reader.scan(scan).await.unwrap();
                assert!(page.items.iter().map(|(key, _)| key).eq(expected));
            }
        }
    }
    // Checked, replaced and deleted like any other.
    let long = names.iter().find(|name| name.len() == 3_600).unwrap();
    let version = reader.get(long.clone()).await.unwrap().unwrap().version;
    let check = || vec![(long.clone(), ExpectedVersion::Version(version))];
    engines[0].commit(txn(&engines[0], check(), vec![Write::Delete(long.clone())])).await.unwrap();
    assert!(is_conflict(&engines[1].commit(txn(&engines[1], check(), vec![])).await));
    let absent = vec![(long.clone(), ExpectedVersion::Absent)];
    engines[1].commit(txn(&engines[1], absent, vec![])).await.unwrap();
}

async fn long_keys_fold_and_count(place: Place) {
    let engines = place.open_several(2);
    let names = long_names();
    let rows = names.iter().map(|name| Write::Put(name.clone(), Key::from_static(b"5"))).collect();
    write(&engines[0], rows).await;
    let reader = engines[1].reader().await.unwrap();
    let mut map = BTreeMap::new();
    for prefix in [Key::new(), key("p"), Key::from(vec![b'p'; 2_560]), Key::from(vec![b'p'; 2_561])] {
        map.clear();
        for name in names.iter().filter(|name| name.starts_with(&prefix)) {
            let rest = &name[prefix.len()..];
            match rest.iter().position(|byte| *byte == b'/') {
                Some(at) => map.insert(name.slice(..prefix.len() + at + 1), true),
                None => map.insert(name.clone(), false),
            };
        }
        for limit in [1, 2, 5, usize::MAX] {
            let (mut found, mut after) = (vec![], None);
            loop {
                let skip = SkipScan {
                    prefix: prefix.clone(),
                    delimiter: key("/"),
                    after: after.clone(),
                    limit,
                    max_bytes: usize::MAX,
                };
                let page = reader.skip_scan(skip).await.unwrap();
                found.extend(page.items.into_iter().map(|item| match item {
                    SkipItem::Entry(key, _) => (key, false),
                    SkipItem::Group(key) => (key, true),
                }));
                after = found.last().map(|(key, _)| key.clone());
                if !page.more {
                    break;
                }
            }
            assert!(found.iter().map(|(key, group)| (key, group)).eq(&map), "by {limit}, {}", prefix.len());
        }
    }
    for limit in [0, 1, 8, 20, names.len() - 1, names.len()] {
        for above in [None, Some(key("4")), Some(key("5"))] {
            let range = KeyRange { start: Key::new(), end: None };
            let counted = reader.count(Count { range, value_above: above.clone(), limit }).await.unwrap();
            assert_eq!(counted.count, if above == Some(key("5")) { 0 } else { limit });
            assert!(counted.next.as_ref() == names.get(limit));
        }
    }
}

/// One server writes two keys together, again and again; whatever another reads of them, in one batch or in two, fits.
async fn what_is_written_together_is_read_together(place: Place) {
    let engines = place.open_several(2);
    write(&engines[0], vec![put("a", "0"), put("b", "0")]).await;
    let stop = Arc::new(AtomicBool::new(false));
    let writer = {
        let (engine, stop) = (engines[0].clone(), stop.clone());
        tokio::spawn(async move {
            for n in 1.. {
                write(&engine, vec![put("a", &n.to_string()), put("b", &n.to_string())]).await;
                if stop.load(Ordering::Relaxed) {
                    break;
                }
            }
        })
    };
    for n in 0..60 {
        let pair: Result<_, EngineError> = engines[1]
            .run_near(
                None,
                || if n % 2 == 0 { vec![] } else { vec![key("a")] },
                |reader| async move {
                    let a = reader.get_untracked(key("a")).await?.map(|entry| entry.value);
                    tokio::task::yield_now().await;
                    let b = reader.get(key("b")).await?.map(|entry| entry.value);
                    if n % 3 == 0 {
                        let page = reader.scan(super::scans::all("a")).await?;
                        assert_eq!(page.items.first().map(|(_, entry)| entry.value.clone()), a);
                    }
                    Ok(Plan::new((a, b)))
                },
            )
            .await;
        let (a, b) = pair.unwrap();
        assert_eq!(a, b);
        let reader = engines[1].reader().await.unwrap();
        let a = reader.get_untracked(key("a")).await.unwrap().map(|entry| entry.value);
        tokio::task::yield_now().await;
        let b = reader.get_untracked(key("b")).await.unwrap().map(|entry| entry.value);
        assert_eq!(a, b, "a reader stays where it was opened");
        let looked: Result<_, EngineError> = engines[1]
            .look(|reader| async move {
                if n % 2 == 0 {
                    reader.near(|| vec![key("a")]).await?;
                }
                let a = reader.get(key("a")).await?.map(|entry| entry.value);
                tokio::task::yield_now().await;
                Ok((a, reader.get(key("b")).await?.map(|entry| entry.value)))
            })
            .await;
        let (a, b) = looked.unwrap();
        assert_eq!(a, b, "a look is of one moment");
    }
    stop.store(true, Ordering::Relaxed);
    writer.await.unwrap();
}

async fn a_commit_is_seen_by_the_others_at_once(place: Place) {
    let engines = place.open_several(4);
    for n in 0..20usize {
        let (value, writer) = (n.to_string(), &engines[n % 4]);
        let commit = writer.commit(txn(writer, vec![], vec![put("k", &value)])).await.unwrap();
        for engine in &engines {
            let reader = engine.reader().await.unwrap();
            let entry = reader.get(key("k")).await.unwrap().unwrap();
            assert_eq!((entry.value, entry.version), (key(&value), commit.version));
            assert!(reader.stamp().now >= commit.now);
            let looked: Result<_, EngineError> =
                engine.look(|reader| async move { reader.get(key("k")).await }).await;
            assert_eq!(looked.unwrap().unwrap().version, commit.version);
        }
    }
}
