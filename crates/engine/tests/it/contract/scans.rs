use super::*;
use lazuli_engine::{KeyRange, Looks, Plan, Scan, SkipItem, SkipScan, caps};

contract!(
    scans_go_both_ways,
    scans_stop_at_limits_and_say_so,
    scans_go_on_behind_a_key,
    scans_cross_from_rows_to_wide_values_and_back,
    a_scan_is_one_snapshot,
    keys_only_has_versions,
    looks_keep_what_is_wanted_and_say_where_they_stopped,
    keys_over_the_cap_are_absent_and_part_the_others,
    skip_scans_fold_groups,
    skip_scans_go_on_behind_entries_and_groups,
    skip_scans_know_long_delimiters_and_edges,
);

pub fn all(prefix: &str) -> Scan {
    Scan {
        range: KeyRange::prefix(key(prefix)),
        after: None,
        limit: usize::MAX,
        max_bytes: usize::MAX,
        reverse: false,
        keys_only: false,
    }
}

async fn names(engine: &Engine, scan: Scan) -> (Vec<String>, bool) {
    let page = engine.reader().await.unwrap().scan(scan).await.unwrap();
    let names = page.items.iter().map(|(key, _)| String::from_utf8_lossy(key).into_owned()).collect();
    (names, page.more)
}

async fn fill(engine: &Engine, names: &[&str]) {
    write(engine, names.iter().map(|name| put(name, name)).collect()).await;
}

async fn scans_go_both_ways(place: Place) {
    let engine = place.open();
    fill(&engine, &["p/b", "p/a", "p", "p/c", "p0", "o", "p/"]).await;
    assert_eq!(names(&engine, all("p/")).await.0, ["p/", "p/a", "p/b", "p/c"]);
    assert_eq!(names(&engine, Scan { reverse: true, ..all("p/") }).await.0, ["p/c", "p/b", "p/a", "p/"]);
    let range = KeyRange::new(key("p/a"), key("p/c"));
    assert_eq!(names(&engine, Scan { range: range.clone(), ..all("") }).await.0, ["p/a", "p/b"]);
    assert_eq!(names(&engine, Scan { range, reverse: true, ..all("") }).await.0, ["p/b", "p/a"]);
    let empty = KeyRange::new(key("p/c"), key("p/a"));
    assert_eq!(names(&engine, Scan { range: empty.clone(), ..all("") }).await, (vec![], false));
    assert_eq!(names(&engine, Scan { range: empty, reverse: true, ..all("") }).await, (vec![], false));
}

async fn scans_stop_at_limits_and_say_so(place: Place) {
    let engine = place.open();
    fill(&engine, &["a", "b", "c"]).await;
    assert_eq!(names(&engine, Scan { limit: 2, ..all("") }).await, (vec!["a".into(), "b".into()], true));
    assert!(!names(&engine, Scan { limit: 3, ..all("") }).await.1);
    assert_eq!(names(&engine, Scan { limit: 0, ..all("") }).await, (vec![], true));
    // A page has at least one entry, or nothing would ever move on.
    assert_eq!(names(&engine, Scan { max_bytes: 0, ..all("") }).await, (vec!["a".into()], true));
    assert_eq!(names(&engine, Scan { max_bytes: 3, reverse: true, ..all("") }).await.0, ["c", "b"]);
}

async fn scans_go_on_behind_a_key(place: Place) {
    let engine = place.open();
    fill(&engine, &["p/a", "p/b", "p/c", "q"]).await;
    let after = |name: &str, reverse| Scan { after: Some(key(name)), reverse, ..all("p/") };
    assert_eq!(names(&engine, after("p/a", false)).await.0, ["p/b", "p/c"]);
    assert_eq!(names(&engine, after("p/aa", false)).await.0, ["p/b", "p/c"]);
    assert_eq!(names(&engine, after("p/b", true)).await.0, ["p/a"]);
    assert_eq!(names(&engine, after("a", false)).await.0, ["p/a", "p/b", "p/c"]);
    assert_eq!(names(&engine, after("z", true)).await.0, ["p/c", "p/b", "p/a"]);
    assert_eq!(names(&engine, after("z", false)).await.0, [""; 0]);
    assert_eq!(names(&engine, after("a", true)).await.0, [""; 0]);
}

async fn scans_cross_from_rows_to_wide_values_and_back(place: Place) {
    let engine = place.open();
    let sorted = ["a", "}", "~", "~1", "~2", "\u{7f}", "\u{80}"];
    fill(&engine, &sorted).await;
    assert_eq!(names(&engine, all("")).await.0, sorted);
    let mut backwards = sorted;
    backwards.reverse();
    assert_eq!(names(&engine, Scan { reverse: true, ..all("") }).await.0, backwards);
    assert_eq!(names(&engine, Scan { after: Some(key("~1")), ..all("") }).await.0, sorted[4..]);
    let range = KeyRange::new(key("}"), key("~2"));
    assert_eq!(names(&engine, Scan { range, ..all("") }).await.0, sorted[1..4]);
}

async fn a_scan_is_one_snapshot(place: Place) {
    let engine = place.open();
    fill(&engine, &["a", "b", "c"]).await;
    let reader = engine.reader().await.unwrap();
    write(&engine, vec![delete("a"), put("b", "new"), put("d", "new")]).await;
    let page = reader.scan(all("")).await.unwrap();
    let seen: Vec<_> = page.items.iter().map(|(key, entry)| (&key[..], &entry.value[..])).collect();
    assert_eq!(seen, [(&b"a"[..], &b"a"[..]), (b"b", b"b"), (b"c", b"c")]);
}

async fn keys_only_has_versions(place: Place) {
    let engine = place.open();
    let version = write(&engine, vec![put("a", "value")]).await;
    let reader = engine.reader().await.unwrap();
    let page = reader.scan(Scan { keys_only: true, ..all("") }).await.unwrap();
    assert_eq!(page.items, [(key("a"), Entry { version, value: Key::new() })]);
}

async fn looks_keep_what_is_wanted_and_say_where_they_stopped(place: Place) {
    let engine = place.open();
    fill(&engine, &["a", "b1", "c", "d1", "e", "f1", "~1"]).await;
    let reader = engine.reader().await.unwrap();
    let by_bytes = async |scan: Scan, looks: Looks| {
        let mut seen = String::new();
        let wanted = |key: &Key, value: &Key| {
            assert_eq!(key, value);
            seen.push(char::from(key[0]));
            key.ends_with(b"1")
        };
        let page = reader.scan_filtered(scan, looks, wanted).await.unwrap();
        let text = |key: &Key| String::from_utf8_lossy(key).into_owned();
        let kept: Vec<_> = page.items.iter().map(|(key, _)| text(key)).collect();
        (kept.join(" "), seen, page.next.as_ref().map(text))
    };
    let looked = async |scan: Scan, rows: usize| by_bytes(scan, Looks { rows, bytes: usize::MAX }).await;
    let next = |name: &str| Some(name.to_owned());
    let page = |kept: &str, seen: &str, next| (kept.to_owned(), seen.to_owned(), next);
    assert_eq!(looked(all(""), 100).await, page("b1 d1 f1 ~1", "abcdef~", None));
    assert_eq!(looked(all(""), 7).await, page("b1 d1 f1 ~1", "abcdef~", None));
    // So many rows are seen, whether wanted or not.
    assert_eq!(looked(all(""), 3).await, page("b1", "abc", next("d1")));
    assert_eq!(looked(all(""), 0).await, page("", "", next("a")));
    // So many bytes of them, up to the row that goes over: "a" and "b1" with their values are 2 and 4.
    let seen = async |bytes| by_bytes(all(""), Looks { rows: 100, bytes }).await;
    assert_eq!(seen(0).await, page("", "", next("a")));
    assert_eq!(seen(1).await, page("", "a", next("b1")));
    assert_eq!(seen(2).await, page("", "a", next("b1")));
    assert_eq!(seen(3).await, page("b1", "ab", next("c")));
    assert_eq!(seen(100).await, page("b1 d1 f1 ~1", "abcdef~", None));
    // The limits are on what is kept.
    assert_eq!(looked(Scan { limit: 2, ..all("") }, 100).await, page("b1 d1", "abcd", next("e")));
    assert_eq!(looked(Scan { limit: 0, ..all("") }, 100).await, page("", "", next("a")));
    assert_eq!(looked(Scan { max_bytes: 1, ..all("") }, 100).await, page("b1", "ab", next("c")));
    assert_eq!(looked(Scan { reverse: true, limit: 2, ..all("") }, 3).await, page("~1 f1", "~f", next("e")));
}

/// Names come from outside and may be of any length; a store may not be able to look for the longest of them.
async fn keys_over_the_cap_are_absent_and_part_the_others(place: Place) {
    let engine = place.open();
    let longest = "m".repeat(caps::KEY);
    fill(&engine, &["a", &longest, &"m".repeat(caps::KEY - 1), "z"]).await;
    for length in [caps::KEY + 1, 65_535, 65_536, 1_000_000] {
        let long = key(&"m".repeat(length));
        let names = async |start: &Key, end: Option<&Key>, after: Option<&Key>, reverse: bool| {
            let range = KeyRange { start: start.clone(), end: end.cloned() };
            let scan = Scan { range, after: after.cloned(), reverse, ..all("") };
            let (names, _) = names(&engine, scan).await;
            names.iter().map(|name| (name.as_bytes()[0], name.len())).collect::<Vec<_>>()
        };
        let (low, high) = (key("a"), key("zz"));
        let before = [(b'a', 1), (b'm', caps::KEY - 1), (b'm', caps::KEY)];
        assert_eq!(names(&long, None, None, false).await, [(b'z', 1)]);
        assert_eq!(names(&low, Some(&long), None, false).await, before);
        assert_eq!(names(&low, Some(&high), Some(&long), false).await, [(b'z', 1)]);
        assert_eq!(names(&low, Some(&high), Some(&long), true).await.len(), before.len());
        let skip = SkipScan { prefix: long.clone(), ..folded("", "/") };
        assert!(engine.reader().await.unwrap().skip_scan(skip).await.unwrap().items.is_empty());
        let skip = SkipScan { after: Some(long.clone()), ..folded("", "/") };
        assert_eq!(engine.reader().await.unwrap().skip_scan(skip).await.unwrap().items.len(), 1);

        let reader = engine.reader().await.unwrap();
        assert_eq!(reader.get_untracked(long.clone()).await.unwrap(), None);
        let done: Result<(), EngineError> = engine
            .run(None, |reader| {
                let long = long.clone();
                async move {
                    assert_eq!(reader.get(long.clone()).await?, None);
                    assert_eq!(reader.get_many(vec![long]).await?, [None]);
                    let mut plan = Plan::new(());
                    plan.put(key("y"), key("y"));
                    Ok(plan)
                }
            })
            .await;
        done.unwrap();
        write(&engine, vec![Write::Delete(key("y"))]).await;
    }
}

fn folded(prefix: &str, delimiter: &str) -> SkipScan {
    SkipScan {
        prefix: key(prefix),
        delimiter: key(delimiter),
        after: None,
        limit: usize::MAX,
        max_bytes: usize::MAX,
    }
}

/// Entries as they are, groups with a star.
async fn items(engine: &Engine, scan: SkipScan) -> (Vec<String>, bool) {
    let page = engine.reader().await.unwrap().skip_scan(scan).await.unwrap();
    let items = page.items.iter().map(|item| match item {
        SkipItem::Entry(key, entry) => {
            assert_eq!(key, &entry.value);
            String::from_utf8_lossy(key).into_owned()
        }
        SkipItem::Group(key) => String::from_utf8_lossy(key).into_owned() + "*",
    });
    (items.collect(), page.more)
}

async fn skip_scans_fold_groups(place: Place) {
    let engine = place.open();
    let mut owned: Vec<String> = (0..500).map(|n| format!("p/big/{n:03}")).collect();
    owned.extend((0..3).map(|n| format!("p/small/{n}")));
    owned.extend(["p/a", "p/big", "p/z", "p/a/1", "p/", "q/1"].map(String::from));
    fill(&engine, &owned.iter().map(String::as_str).collect::<Vec<_>>()).await;
    let (found, more) = items(&engine, folded("p/", "/")).await;
    assert_eq!(found, ["p/", "p/a", "p/a/*", "p/big", "p/big/*", "p/small/*", "p/z"]);
    assert!(!more);
    assert_eq!(items(&engine, folded("", "/")).await.0, ["p/*", "q/*"]);
    assert_eq!(items(&engine, folded("p/big/", "/")).await.0.len(), 500);
    assert_eq!(items(&engine, folded("p/", "")).await.0.len(), owned.len() - 1);
}

async fn skip_scans_go_on_behind_entries_and_groups(place: Place) {
    let engine = place.open();
    fill(&engine, &["p/a", "p/b/1", "p/b/2", "p/b/2/x", "p/b0", "p/c/1", "p/d"]).await;
    let whole = items(&engine, folded("p/", "/")).await.0;
    assert_eq!(whole, ["p/a", "p/b/*", "p/b0", "p/c/*", "p/d"]);
    // Page by page, one item each, must give the same.
    let mut paged: Vec<String> = vec![];
    loop {
        let after = paged.last().map(|name| key(name.trim_end_matches('*')));
        let (found, more) = items(&engine, SkipScan { after, limit: 1, ..folded("p/", "/") }).await;
        assert_eq!(found.len(), 1);
        paged.extend(found);
        assert_eq!(more, paged.len() < whole.len());
        if !more {
            break;
        }
    }
    assert_eq!(paged, whole);
    // Inside a group: the rest of it is still a group.
    let inside = SkipScan { after: Some(key("p/b/1")), ..folded("p/", "/") };
    assert_eq!(items(&engine, inside).await.0, ["p/b/*", "p/b0", "p/c/*", "p/d"]);
}

async fn skip_scans_know_long_delimiters_and_edges(place: Place) {
    let engine = place.open();
    fill(&engine, &["a", "a--b", "a-b", "a--c", "b--", "~w--1", "~w--2", "~x"]).await;
    assert_eq!(items(&engine, folded("", "--")).await.0, ["a", "a--*", "a-b", "b--*", "~w--*", "~x"]);
    assert_eq!(items(&engine, folded("none", "/")).await, (vec![], false));
    let high = SkipScan { prefix: Key::from_static(&[0xFF]), ..folded("", "/") };
    assert_eq!(items(&engine, high).await.0, [""; 0]);
    write(&engine, vec![Write::Put(Key::from_static(&[0xFF, 0xFF]), Key::from_static(&[0xFF, 0xFF]))]).await;
    let high = SkipScan { prefix: Key::new(), delimiter: Key::from_static(&[0xFF]), ..folded("", "") };
    let page = engine.reader().await.unwrap().skip_scan(high).await.unwrap();
    assert_eq!(page.items.last(), Some(&SkipItem::Group(Key::from_static(&[0xFF]))));
}
