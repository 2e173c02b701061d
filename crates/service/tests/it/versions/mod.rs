//! Versions, soft delete and undelete: what is listed and read is what was kept, whatever was switched on and off
//! meanwhile; and when everything is deleted and its time has come, nothing is left.

mod due;
mod held;
mod incremental;
mod model;
mod pages;
mod world;

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use bytes::Bytes;
use lazuli_model::Timestamp;
use lazuli_model::admission::Preconditions;
use lazuli_model::blob::BlobType;
use lazuli_model::error::ErrorCode;
use lazuli_model::operation::policy;
use lazuli_service::Body;
use lazuli_service::blob::*;
use lazuli_service::store::Bytes as NewBytes;
use world::{DAY, KEPT_DAYS, World, bytes_of, finish, states};

use crate::support::at;

/// More snapshots than one commit deletes one by one.
#[tokio::test]
async fn many_snapshots_are_deleted_brought_back_and_swept() {
    let world = World::new().await;
    world.keep_deleted(true).await;
    const MANY: usize = 1_500;
    world.put("b", &"l".repeat(200)).await.unwrap();
    let mut snapshots = Vec::new();
    for _ in 0..MANY {
        snapshots.push(BlobState::Snapshot(world.snapshot("b").await.unwrap().snapshot));
    }
    // One by itself, before all others.
    world.delete("b", snapshots[7], None, false).await.unwrap();
    let include = Some(DeleteSnapshots::Include);
    world.delete("b", BlobState::Base, include, false).await.unwrap();
    let count = async |deleted: bool| {
        let asked = ListBlobs { snapshots: true, deleted, ..ListBlobs::default() };
        world.list(&asked, 700).await.len()
    };
    assert_eq!((count(false).await, count(true).await), (0, MANY + 1));
    assert!(world.get("b", snapshots[3]).await.is_err());
    // One of those that were deleted together goes for good.
    world.delete("b", snapshots.remove(5), None, true).await.unwrap();
    world.undelete("b").await.unwrap();
    assert_eq!((count(false).await, count(true).await), (MANY, MANY));
    let plain = world.delete("b", BlobState::Base, None, false).await.unwrap_err();
    assert_eq!(plain.0.code, ErrorCode::SnapshotsPresent);
    // Every one is counted again: a plain delete is refused up to the last of them, and goes through without it.
    for snapshot in &snapshots {
        let plain = world.delete("b", BlobState::Base, None, false).await.unwrap_err();
        assert_eq!(plain.0.code, ErrorCode::SnapshotsPresent);
        world.delete("b", *snapshot, None, false).await.unwrap();
    }
    world.delete("b", BlobState::Base, None, false).await.unwrap();
    world.undelete("b").await.unwrap();
    world.delete("b", BlobState::Base, include, false).await.unwrap();
    world.wait(DAY * KEPT_DAYS).await;
    assert_eq!(count(true).await, 0, "before the sweeper comes");
    assert!(world.undelete("b").await.is_err());
    finish(world).await;
}

/// A writer that was told of a version finds it, whoever wrote beside it.
#[tokio::test]
async fn every_acknowledged_overwrite_is_a_version() {
    let mut world = World::new().await;
    world.versioning = true;
    let world = Arc::new(world);
    let mut writers = tokio::task::JoinSet::new();
    for writer in 0..6 {
        let world = Arc::clone(&world);
        writers.spawn(async move {
            let mut made = Vec::new();
            for number in 0..8 {
                let label = format!("{writer}-{number}");
                let told = match number % 4 {
                    3 => world.delete("b", BlobState::Base, None, false).await.ok().map(|_| None),
                    _ => world.put("b", &label).await.ok().map(|told| told.version),
                };
                made.extend(told.flatten().map(|version| (version, label)));
            }
            made
        });
    }
    let told: Vec<(Timestamp, String)> = writers.join_all().await.into_iter().flatten().collect();
    assert!(told.len() >= 36, "{}", told.len());
    for (version, label) in &told {
        let found = world.get("b", BlobState::Version(*version)).await.unwrap();
        assert!(found == bytes_of(label), "{label}");
    }
    let asked = ListBlobs { versions: true, ..ListBlobs::default() };
    assert_eq!(world.list(&asked, 5).await.len(), told.len());
}

/// Page and append blobs are changed in place; what was kept of them is not.
#[tokio::test]
async fn versions_of_growing_contents_stay_as_they_were() {
    let mut world = World::new().await;
    world.versioning = true;
    let (servers, context) = (world.servers().clone(), world.context.clone());
    let bench = crate::support::Bench { services: servers, context };
    bench.create_append_blob("log").await.unwrap();
    bench.append("log", b"one").await.unwrap();
    let first = bench.properties("log").await.unwrap().version().unwrap();
    let marked = world.mark("log", "m").await.unwrap();
    bench.append("log", b"two").await.unwrap();
    assert_eq!(bench.properties("log").await.unwrap().version(), marked.version, "an append makes none");
    assert_eq!(world.get("log", BlobState::Version(first)).await.unwrap(), b"one");
    assert_eq!(world.get("log", BlobState::Base).await.unwrap(), b"onetwo");
    let snapshot = world.snapshot("log").await.unwrap();
    assert!(snapshot.stamped.version > marked.version);
    bench.append("log", b"three").await.unwrap();
    for state in [BlobState::Version(marked.version.unwrap()), BlobState::Snapshot(snapshot.snapshot)] {
        assert_eq!(world.get("log", state).await.unwrap(), b"onetwo");
    }

    let pages = PutPageBlob {
        at: at("disk"),
        preconditions: Preconditions::default(),
        properties: BlobProperties::default(),
        length: 1024,
        sequence_number: 0,
    };
    let made = pages.execute(&bench.services, &bench.context).await.unwrap();
    let write = async |byte: u8| {
        let input = PutPage {
            at: at("disk"),
            preconditions: Preconditions::default(),
            range: 0..512,
            digests: Digests::default(),
            body: Body::from(Bytes::from(vec![byte; 512])),
            customer_key: None,
        };
        input.execute(&bench.services, &bench.context).await.unwrap();
    };
    write(1).await;
    let second = world.mark("disk", "m").await.unwrap().version.unwrap();
    write(2).await;
    world.snapshot("disk").await.unwrap();
    write(3).await;
    for (state, byte) in [
        (BlobState::Version(made.version.unwrap()), 1),
        (BlobState::Version(second), 2),
        (BlobState::Base, 3),
    ] {
        let found = world.get("disk", state).await.unwrap();
        assert!(found == [vec![byte; 512], vec![0; 512]].concat(), "{state:?}");
    }
    assert_eq!(bench.properties("disk").await.unwrap().kind, BlobType::Page);
    // All of it goes.
    for name in ["log", "disk"] {
        world.delete(name, BlobState::Base, Some(DeleteSnapshots::Include), false).await.unwrap();
        for state in states(&world, name).await {
            world.delete(name, state, None, false).await.unwrap();
        }
    }
    finish(world).await;
}

#[tokio::test]
async fn the_current_version_is_the_base() {
    let mut world = World::new().await;
    world.versioning = true;
    let first = world.put("b", "one").await.unwrap().version.unwrap();
    let second = world.put("b", "two").await.unwrap().version.unwrap();
    let refused = world.delete("b", BlobState::Version(second), None, false).await.unwrap_err();
    assert_eq!(refused.0.code, ErrorCode::OperationNotAllowedOnRootBlob);
    let tags = lazuli_model::tags::Tags::parse_header("k=v").unwrap();
    for (state, found) in [(BlobState::Version(first), 0), (BlobState::Version(second), 1)] {
        let input =
            SetBlobTags { at: at("b"), state, preconditions: Preconditions::default(), tags: tags.clone() };
        input.execute(world.servers(), &world.context).await.unwrap();
        let input = FindBlobsByTags {
            container: None,
            expression: lazuli_model::tags::WhereExpression::parse("k = 'v'").unwrap(),
            after: None,
            max_results: 10,
            max_bytes: 1 << 20,
        };
        let all = input.execute(world.servers(), &world.context).await.unwrap();
        assert_eq!(all.items.len(), found, "only the current one is in the index");
    }
}

#[tokio::test]
async fn listings_by_hierarchy_fold_versions_too() {
    let mut world = World::new().await;
    world.versioning = true;
    for name in ["a", "dir/x", "dir/y", "e", "f/z"] {
        world.put(name, "one").await.unwrap();
        world.put(name, "two").await.unwrap();
    }
    world.delete("f/z", BlobState::Base, None, false).await.unwrap();
    world.delete("e", BlobState::Base, None, false).await.unwrap();
    let asked = |versions: bool, only: bool| ListBlobs {
        delimiter: "/".into(),
        versions,
        deleted_with_versions: only,
        ..ListBlobs::default()
    };
    let cases = [
        (asked(false, false), vec!["a", "dir/.."]),
        (asked(true, false), vec!["a@", "a", "dir/..", "e@", "e@", "f/.."]),
        (asked(false, true), vec!["a", "dir/..", "e?", "f/.."]),
    ];
    for (asked, expected) in cases {
        for size in [1, 2, 3, 100] {
            assert_eq!(shown(&world.list(&asked, size).await), expected, "pages of {size}");
        }
    }
}

/// Versions that are soft deleted make no group, unless they are asked for.
#[tokio::test]
async fn listings_by_hierarchy_pass_over_deleted_versions() {
    let mut world = World::new().await;
    world.versioning = true;
    world.keep_deleted(true).await;
    for name in ["a/gone", "b/half", "c"] {
        for label in ["one", "two"] {
            world.put(name, label).await.unwrap();
        }
    }
    for (name, kept) in [("a/gone", 0), ("b/half", 1)] {
        world.delete(name, BlobState::Base, None, false).await.unwrap();
        for version in states(&world, name).await.into_iter().skip(kept) {
            world.delete(name, version, None, false).await.unwrap();
        }
    }
    let asked =
        |deleted: bool| ListBlobs { delimiter: "/".into(), versions: true, deleted, ..ListBlobs::default() };
    for size in [1, 2, 100] {
        assert_eq!(shown(&world.list(&asked(false), size).await), ["b/..", "c@", "c"], "pages of {size}");
        assert_eq!(
            shown(&world.list(&asked(true), size).await),
            ["a/..", "b/..", "c@", "c"],
            "pages of {size}"
        );
    }
}

/// A listing that meets more that is gone than one request passes over ends its page there, and the next goes on.
#[tokio::test]
async fn a_listing_goes_on_behind_very_many_that_are_gone() {
    let mut world = World::new().await;
    world.versioning = true;
    world.keep_deleted(true).await;
    let mut versions = Vec::new();
    for _ in 0..5_300 {
        let put = world.put("gone/x", "one").await.unwrap();
        versions.extend(put.version);
    }
    world.put("gone/y", "one").await.unwrap();
    world.put("later", "one").await.unwrap();
    world.delete("gone/x", BlobState::Base, None, false).await.unwrap();
    for version in versions {
        world.delete("gone/x", BlobState::Version(version), None, false).await.unwrap();
    }
    let asked = |delimiter: &str| ListBlobs {
        container: "c".into(),
        max_results: 100,
        max_bytes: 1 << 20,
        delimiter: delimiter.into(),
        versions: true,
        ..ListBlobs::default()
    };
    let first = world.page(asked("/")).await;
    assert!(first.next.is_some(), "one request does not look at all of them: {:?}", shown(&first.items));
    for size in [1, 100] {
        assert_eq!(shown(&world.list(&asked("/"), size).await), ["gone/..", "later"]);
        assert_eq!(shown(&world.list(&asked(""), size).await), ["gone/y", "later"]);
    }
}

fn shown(items: &[BlobListItem]) -> Vec<String> {
    let show = |item: &BlobListItem| match item {
        BlobListItem::Prefix(prefix) => format!("{prefix}.."),
        BlobListItem::Blob { name, state: BlobState::Version(_), .. } => format!("{name}@"),
        BlobListItem::Blob { name, .. } => name.clone(),
        BlobListItem::VersionsOnly { name, .. } => format!("{name}?"),
        BlobListItem::Uncommitted { name, .. } => format!("{name}*"),
    };
    items.iter().map(show).collect()
}

#[tokio::test]
async fn a_deleted_container_is_restored_or_swept() {
    let world = World::new().await;
    world.put("b", "one").await.unwrap();
    let delete = async |name: &str| {
        let input = DeleteContainer { container: name.into(), preconditions: Preconditions::default() };
        input.execute(world.servers(), &world.context).await
    };
    let list = async |deleted: bool, max_results: usize| {
        let (mut all, mut marker) = (Vec::new(), None);
        for _ in 0..100 {
            let (prefix, max_bytes) = (String::new(), 1 << 20);
            let input = ListContainers { prefix, deleted, marker, max_results, max_bytes };
            let page = input.execute(world.servers(), &world.context).await.unwrap();
            all.extend(page.items.into_iter().map(|item| (item.name, item.deleted.map(|deleted| deleted.0))));
            match page.next {
                Some(next) => marker = Some(next),
                None => return all,
            }
        }
        panic!("the listing finds no end");
    };
    let restore_of = async |deleted: &str, to: &str, version: Timestamp| {
        let input = RestoreContainer {
            container: to.into(),
            preconditions: Preconditions::default(),
            deleted: deleted.into(),
            version,
        };
        input.execute(world.servers(), &world.context).await.map_err(|fault| fault.0.code)
    };
    let restore = async |to: &str, version: Timestamp| restore_of("c", to, version).await;
    // Twice in the same moment of the clock, and a third container stands there now.
    delete("c").await.unwrap();
    world.create_container("c").await.unwrap();
    delete("c").await.unwrap();
    world.create_container("c").await.unwrap();
    world.create_container("d").await.unwrap();
    for size in [1, 2, 10] {
        let found = list(true, size).await;
        let [(a, Some(first)), (b, Some(second)), (c, None), (d, None)] = &found[..] else {
            panic!("{found:?}")
        };
        assert!(first < second && [a, b, c, d] == ["c", "c", "c", "d"]);
        assert_eq!(list(false, size).await.len(), 2);
    }
    let first = list(true, 10).await[0].1.unwrap();
    assert_eq!(restore("c", first).await, Err(ErrorCode::ContainerAlreadyExists));
    assert_eq!(restore("e", Timestamp(first.0 + 9)).await, Err(ErrorCode::ContainerNotFound));
    assert_eq!(restore_of("d", "e", first).await, Err(ErrorCode::ContainerNotFound), "of another name");
    delete("c").await.unwrap();
    restore("c", first).await.unwrap();
    assert_eq!(world.get("b", BlobState::Base).await.unwrap(), bytes_of("one"));
    assert_eq!(restore("e", first).await, Err(ErrorCode::ContainerNotFound), "it is there once");
    world.wait(DAY * KEPT_DAYS).await;
    assert_eq!(list(true, 10).await.len(), 2, "before the sweeper comes");
    let second = Timestamp(first.0 + 1);
    assert_eq!(restore("e", second).await, Err(ErrorCode::ContainerNotFound));
    delete("d").await.unwrap();
    world.wait(DAY * KEPT_DAYS).await;
    finish_containers(world).await;
}

async fn finish_containers(world: World) {
    world.sweep().await;
    world.delete("b", BlobState::Base, None, false).await.unwrap();
    finish(world).await;
}

/// While a write has found no blob, one is put and deleted at the same moment: that no blob is there when the write is committed does
/// not say that its moment is free.
#[tokio::test]
async fn a_blob_that_was_there_only_meanwhile_keeps_its_version_for_itself() {
    let mut world = World::new().await;
    world.versioning = true;
    let (world, runs, properties) = (&world, &AtomicUsize::new(0), &BlobProperties::default());
    let first = &parking_lot::Mutex::new(None);
    let second = world
        .servers()
        .commit(&world.context, |unit| async move {
            let found = unit.blob(&at("b")).await?;
            let admitted = found.admit(policy::PutAppendBlob, &Preconditions::default())?;
            if runs.fetch_add(1, Ordering::Relaxed) == 0 {
                *first.lock() = Some(world.put("b", "first").await?);
                world.delete("b", BlobState::Base, None, false).await?;
            }
            admitted.replace(BlobType::Append, properties, NewBytes::None).await
        })
        .await
        .unwrap();
    let first = first.lock().take().and_then(|stamped| stamped.version).unwrap();
    assert_ne!(Some(first), second.version, "two acknowledged versions have one id");
    // Whether it was decided again, or found the version before its commit, is the engine's affair. The second, when it is deleted, leaves the first as it was.
    world.delete("b", BlobState::Base, None, false).await.unwrap();
    assert_eq!(world.get("b", BlobState::Version(first)).await.unwrap(), bytes_of("first"));
    let second = BlobState::Version(second.version.unwrap());
    assert!(world.get("b", second).await.unwrap().is_empty());
}
