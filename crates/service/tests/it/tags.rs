//! The index of tags says what the blobs say, after whatever was done to them; what is found is what matches.

use std::collections::BTreeSet;

use bytes::Bytes;
use lazuli_engine::{Key, KeyRange, Plan, Scan};
use lazuli_model::admission::Preconditions;
use lazuli_model::tags::{Tags, WhereExpression};
use lazuli_service::blob::*;
use lazuli_service::{Answer, Body, Fault};

use crate::support::{Bench, at};

fn tags(text: &str) -> Tags {
    Tags::parse_header(text).unwrap()
}

fn in_container(container: &str, name: &str) -> BlobAddress {
    BlobAddress { container: container.into(), blob: name.into() }
}

fn done<T>(answer: Answer<T>) -> T {
    answer.map_err(|fault| fault.0).unwrap()
}

async fn put(bench: &Bench, at: BlobAddress, text: &str) {
    let input = PutBlockBlob {
        at,
        preconditions: Preconditions::default(),
        properties: BlobProperties { tags: tags(text), ..BlobProperties::default() },
        digests: Digests::default(),
        body: Body::from(Bytes::from_static(b"bytes")),
        limit: u64::MAX,
    };
    done(input.execute(&bench.services, &bench.context).await);
}

async fn set(bench: &Bench, name: &str, text: &str) {
    let input = SetBlobTags {
        at: at(name),
        state: BlobState::Base,
        preconditions: Preconditions::default(),
        tags: tags(text),
    };
    done(input.execute(&bench.services, &bench.context).await);
}

/// All pages of so many, as `container/name`.
async fn find_in(bench: &Bench, container: Option<&str>, text: &str, max_results: usize) -> Vec<String> {
    let mut input = FindBlobsByTags {
        container: container.map(str::to_owned),
        expression: WhereExpression::parse(text).unwrap(),
        after: None,
        max_results,
        max_bytes: 1 << 20,
    };
    let mut found = Vec::new();
    for _ in 0..200 {
        let page = done(input.execute(&bench.services, &bench.context).await);
        assert!(page.items.len() <= max_results);
        found.extend(page.items.iter().map(|blob| format!("{}/{}", blob.container, blob.name)));
        let Some(next) = page.next else { return found };
        assert_eq!(FoundAt::of(next.position()).as_ref(), Some(&next), "a marker is read as it was written");
        assert_ne!(input.after.as_ref(), Some(&next), "a page goes on");
        input.after = Some(next);
    }
    panic!("the pages have no end");
}

async fn find(bench: &Bench, text: &str) -> Vec<String> {
    find_in(bench, None, text, 5000).await
}

/// The keys of the index, behind the generation.
async fn index(bench: &Bench) -> Vec<String> {
    let reader = bench.services.engine().reader().await.unwrap();
    let page = reader.scan(Scan::of(KeyRange::prefix(&b"i"[..]))).await.unwrap();
    let text = |key: &Key| String::from_utf8_lossy(&key[13..]).replace('\0', "|");
    page.items.iter().map(|(key, _)| text(key)).collect()
}

#[tokio::test]
async fn the_index_follows_every_write_of_a_blob() {
    let bench = Bench::new().await;
    put(&bench, at("b"), "colour=red&size=1").await;
    assert_eq!(index(&bench).await, ["colour|red|b", "size|1|b"]);
    put(&bench, at("b"), "colour=blue&size=1").await;
    assert_eq!(index(&bench).await, ["colour|blue|b", "size|1|b"], "replaced");
    set(&bench, "b", "size=2&x=").await;
    assert_eq!(index(&bench).await, ["size|2|b", "x||b"], "set");
    let snapshot = done(bench.snapshot("b").await);
    assert_eq!(index(&bench).await, ["size|2|b", "x||b"], "a snapshot is not found");
    set(&bench, "b", "size=3").await;
    done(bench.delete("b", Some(snapshot), None).await);
    assert_eq!(index(&bench).await, ["size|3|b"], "the end of a snapshot is not the blob's");
    done(bench.snapshot("b").await);
    done(bench.delete("b", None, Some(DeleteSnapshots::Only)).await);
    assert_eq!(index(&bench).await, ["size|3|b"]);
    done(bench.put_block("b", "id", b"block").await);
    done(bench.put_block_list("b", &[(BlockSource::Uncommitted, "id")]).await);
    assert_eq!(index(&bench).await, [""; 0], "a list without tags clears them");
    put(&bench, at("b"), "size=4").await;
    done(bench.snapshot("b").await);
    done(bench.delete("b", None, Some(DeleteSnapshots::Include)).await);
    assert_eq!(index(&bench).await, [""; 0], "deleted");
}

#[tokio::test]
async fn a_deleted_container_is_not_found_and_leaves_nothing_behind() {
    let bench = Bench::new().await;
    put(&bench, at("b"), "a=1&b=2").await;
    let input = DeleteContainer { container: "c".into(), preconditions: Preconditions::default() };
    done(input.execute(&bench.services, &bench.context).await);
    assert_eq!(find(&bench, "a = '1'").await, [""; 0]);
    bench.create_container("c").await;
    assert_eq!(find(&bench, "a = '1'").await, [""; 0], "a new one of the same name is another");
    for _ in 0..5 {
        bench.sweep().await;
    }
    assert_eq!(index(&bench).await, [""; 0]);
}

/// Against the plain meaning: every blob is looked at.
#[tokio::test]
async fn what_is_found_is_what_matches_in_pages_of_every_size() {
    let bench = Bench::new().await;
    for container in ["d", "e", "none", "z"] {
        bench.create_container(container).await;
    }
    let mut all = Vec::new();
    for (number, container) in ["c", "d", "e", "z"].iter().cycle().take(24).enumerate() {
        let (name, size) = (format!("dir/{number:02}"), ["", "1", "10", "11", "2", "9 9"][number % 6]);
        let text = match number % 5 {
            0 => format!("size={size}"),
            1 => format!("size={size}&colour=red"),
            2 => format!("colour=blue&size={size}"),
            3 => "colour=red".to_owned(),
            _ => String::new(),
        };
        put(&bench, in_container(container, &name), &text).await;
        all.push((container.to_string(), name, tags(&text)));
    }
    for text in [
        "size = '10'",
        "size > '1'",
        "size >= '1' AND size < '2'",
        "size <= '1'",
        "size > '2' AND size < '1'",
        "colour = 'red'",
        "colour = 'red' AND size > ''",
        "size >= '' AND colour > 'a' AND colour <= 'red'",
        "@container = 'd' AND colour >= ''",
        "@container = 'nowhere' AND colour >= ''",
        "@container = 'd' AND size = '1' AND colour = 'red'",
        "nothing = 'x'",
        "\"colour\0red\" >= ''",
    ] {
        let expression = WhereExpression::parse(text).unwrap();
        let matching = |container: Option<&str>| -> BTreeSet<String> {
            let is_asked = |own: &str| container.is_none_or(|container| container == own);
            let matches =
                |(own, _, tags): &&(String, String, Tags)| is_asked(own) && expression.eval(own, tags);
            all.iter().filter(matches).map(|(container, name, _)| format!("{container}/{name}")).collect()
        };
        for container in [None, Some("d"), Some("none")] {
            for max_results in [1, 2, 3, 7, 5000] {
                let found = find_in(&bench, container, text, max_results).await;
                let set: BTreeSet<String> = found.iter().cloned().collect();
                assert_eq!(set.len(), found.len(), "{text}: each once");
                assert_eq!(set, matching(container), "{text} in {container:?} by {max_results}");
            }
        }
    }
}

/// A directory of a version that had no index.
#[tokio::test]
async fn blobs_from_before_the_index_are_indexed_once() {
    let bench = Bench::new().await;
    bench.create_container("other").await;
    for number in 0..40 {
        put(&bench, at(&format!("b{number}")), &format!("number={number}&kind=x")).await;
        put(&bench, in_container("other", &format!("o{number}")), "").await;
    }
    let before = index(&bench).await;
    assert_eq!(before.len(), 80);
    let engine = bench.services.engine().clone();
    let without = async || {
        let run = engine.run(None, |reader| async move {
            let page = reader.scan(Scan::of(KeyRange::prefix(&b"i"[..]))).await?;
            let mut plan = Plan::new(());
            page.items.into_iter().for_each(|(key, _)| plan.delete(key));
            Ok::<_, Fault>(plan)
        });
        done(run.await);
    };
    without().await;
    assert_eq!(find(&bench, "kind = 'x'").await.len(), 0);
    done(bench.services.index_tags().await);
    assert_eq!(index(&bench).await, before);
    assert_eq!(find(&bench, "kind = 'x'").await.len(), 40);
    // It is known to be there, so nothing is read again.
    without().await;
    done(bench.services.index_tags().await);
    assert_eq!(index(&bench).await.len(), 0);
}

#[tokio::test]
async fn tags_that_are_set_at_once_leave_one_set_in_the_index() {
    let bench = Bench::new().await;
    put(&bench, at("b"), "n=first").await;
    for round in 0..10 {
        let one = async || set(&bench, "b", &format!("n=one{round}&only=one")).await;
        let two = async || set(&bench, "b", &format!("n=two{round}")).await;
        let three = async || put(&bench, at("b"), &format!("n=three{round}&more=1")).await;
        tokio::join!(one(), two(), three());
        let input =
            GetBlobTags { at: at("b"), state: BlobState::Base, preconditions: Preconditions::default() };
        let own = done(input.execute(&bench.services, &bench.context).await);
        let expected: Vec<String> = own.iter().map(|(tag, value)| format!("{tag}|{value}|b")).collect();
        assert_eq!(index(&bench).await, expected);
    }
}
