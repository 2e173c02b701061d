//! What histories show too, one by one: costs, names, walks that are interrupted, parts of sectors.

use super::*;

/// A snapshot of a share and the rename of a directory write the same few keys, whatever stands there.
#[tokio::test]
async fn snapshots_and_renames_cost_the_same_whatever_lies_below() {
    let bench = Bench::new().await;
    bench.create_share().await;
    bench.make_directory("few").await.unwrap();
    bench.make_directory("many").await.unwrap();
    bench.make_file("few/f", 10).await.unwrap();
    for number in 0..300 {
        bench.make_file(&format!("many/{number}"), 10).await.unwrap();
    }
    let rows = async || bench.keys().await.len();
    let before = rows().await;
    let moment = bench.snapshot_share().await;
    assert_eq!(rows().await, before + 1, "a snapshot is a row");
    for (from, to) in [("few", "less"), ("many", "more")] {
        let before = rows().await;
        bench.rename_path(from, to, false).await.unwrap();
        // What the snapshot shows: the entry that was, the same by its moment, and where its node stood.
        assert_eq!(rows().await, before + 3, "{from}");
    }
    assert_eq!(bench.names(&at("many", Some(moment)), "").await.unwrap().len(), 300);
    assert_eq!(bench.names(&at("more", None), "").await.unwrap().len(), 300);
    assert_eq!(code(bench.look(&at("more", Some(moment))).await).map(drop), Err(ErrorCode::ResourceNotFound));
    assert_eq!(code(bench.look(&at("many/1", None)).await).map(drop), Err(ErrorCode::ParentNotFound));
    // It moves once more: nothing of it is kept that the snapshot does not show.
    let before = rows().await;
    bench.rename_path("more", "MORE", false).await.unwrap();
    bench.rename_path("more", "most", false).await.unwrap();
    assert_eq!(rows().await, before);
    assert_eq!(bench.look(&at("MOST", None)).await.unwrap().name, "most");
}

/// Names are kept as they were spelt and compared without case; a listing is in the order of the comparison.
#[tokio::test]
async fn names_without_case() {
    let bench = Bench::new().await;
    bench.create_share().await;
    for name in ["b", "C", "aB", "Ääß", "ı", "I"] {
        bench.make_file(name, 0).await.unwrap();
    }
    let exists = Err(ErrorCode::ResourceAlreadyExists);
    for name in ["B", "äÄß", "AB"] {
        assert_eq!(code(bench.make_directory(name).await).map(drop), exists, "{name}");
    }
    assert_eq!(bench.names(&at("", None), "").await.unwrap(), ["aB", "b", "C", "I", "Ääß", "ı"]);
    assert_eq!(bench.names(&at("", None), "a").await.unwrap(), ["aB"]);
    assert_eq!(bench.names(&at("", None), "ää").await.unwrap(), ["Ääß"]);
    assert_eq!(bench.look(&at("ab", None)).await.unwrap().name, "aB");
}

/// A walk that is interrupted goes on behind what is gone meanwhile.
#[tokio::test]
async fn a_walk_goes_on_where_its_place_is_gone() {
    let bench = Bench::new().await;
    bench.create_share().await;
    for name in ["a", "b", "c"] {
        bench.make_directory(name).await.unwrap();
        for file in ["1", "2", "3"] {
            bench.make_file(&format!("{name}/{file}"), 0).await.unwrap();
        }
    }
    let page = async |after: Option<&[String]>| {
        let view = bench.services.view(&bench.context).await.unwrap();
        let root =
            view.path(&at("", None)).await.unwrap().admit(Look, &given()).unwrap().directory().unwrap();
        root.walk(after, 6).await.unwrap()
    };
    let (items, next) = page(None).await;
    assert_eq!(items.last().unwrap().0, path("B/1"));
    bench.rename_path("b", "x", false).await.unwrap();
    let (items, _) = page(next.as_deref()).await;
    let paths: Vec<_> = items.into_iter().map(|(path, _)| path.join("/")).collect();
    assert_eq!(paths, ["C", "C/1", "C/2", "C/3", "X", "X/1"]);
}

/// What a clear gives back are whole sectors; beside them zeros are written, where bytes were.
#[tokio::test]
async fn a_clear_of_part_of_a_sector() {
    let bench = Bench::new().await;
    bench.create_share().await;
    bench.make_file("f", 4_000).await.unwrap();
    bench.write_range("f", 600..3_000, 7).await.unwrap();
    bench.clear_range("f", 100..2_100).await.unwrap();
    let view = bench.services.view(&bench.context).await.unwrap();
    let ranges = async |since: Option<&PathRecord>, limit| {
        let file = bench.look(&at("f", None)).await.unwrap();
        view.file_ranges(&file, since, 0..u64::MAX, limit).await.unwrap()
    };
    let range = |start, end, cleared| FileRange { start, end, cleared };
    let told = ranges(None, 10).await;
    assert_eq!(told.ranges, [range(2_048, 3_000, false)]);
    let bytes = bench.read_file(&at("f", None)).await.unwrap();
    assert!(
        bytes[..2_100].iter().all(|byte| *byte == 0) && bytes[2_100..3_000].iter().all(|byte| *byte == 7)
    );
    assert!(bytes[3_000..].iter().all(|byte| *byte == 0));
    // And what changed since a snapshot.
    let moment = bench.snapshot_share().await;
    bench.clear_range("f", 2_048..2_560).await.unwrap();
    let bytes = bench.read_file(&at("f", None)).await.unwrap();
    assert!(bytes[2_048..2_560].iter().all(|byte| *byte == 0), "the first change after the snapshot");
    bench.write_range("f", 0..1, 1).await.unwrap();
    let then = bench.look(&at("f", Some(moment))).await.unwrap();
    let view = bench.services.view(&bench.context).await.unwrap();
    let file = bench.look(&at("f", None)).await.unwrap();
    let told = view.file_ranges(&file, Some(&then), 0..u64::MAX, 1).await.unwrap();
    assert_eq!((told.ranges, told.next), (vec![range(0, 1, false)], Some(2_048)));
    let told = view.file_ranges(&file, Some(&then), 2_048..u64::MAX, 10).await.unwrap();
    assert_eq!(told.ranges, [range(2_048, 2_560, true)]);
}

/// A rename makes no paths that no request can name, whatever lies below and whoever moves the directories above.
#[tokio::test]
async fn a_rename_moves_nothing_deeper_than_a_path_goes() {
    let bench = Bench::new().await;
    bench.create_share().await;
    let deep = |levels: usize| vec!["d"; levels].join("/");
    for levels in 1..=247 {
        bench.make_directory(&deep(levels)).await.unwrap();
    }
    bench.make_file(&format!("{}/f", deep(247)), 0).await.unwrap();
    for name in ["a", "a/b", "a/b/c", "x"] {
        bench.make_directory(name).await.unwrap();
    }
    let refused = Err(ErrorCode::InvalidFileOrDirectoryPathName);
    let rename = async |from: &str, to: &str| code(bench.rename_path(from, to, false).await).map(drop);
    assert_eq!(rename("d", "a/b/c/d").await, refused);
    assert_eq!(rename("d", "a/b/d").await, Ok(()));
    let longest = format!("a/b/{}/f", deep(247));
    assert_eq!(path(&longest).len(), 250);
    bench.look(&at(&longest, None)).await.unwrap();
    // It was moved with all that is said of what stands below it, and the directories above it know.
    for (from, to) in [("a/b/d", "a/b/c/d"), ("a/b", "a/b"), ("a", "x/a"), ("a/b", "x/a/b")] {
        let expected = match to {
            "a/b" => Ok(()),
            "x/a/b" => Err(ErrorCode::ParentNotFound),
            _ => refused,
        };
        assert_eq!(rename(from, to).await, expected, "{from} {to}");
    }
    // As deep as before, and not so deep.
    assert_eq!(rename("a/b", "x/b").await, Ok(()));
    assert_eq!(rename("x/b/d/d", "e").await, Ok(()));
    // Each of the two would do by itself.
    bench.make_directory("y").await.unwrap();
    bench.make_directory("y/y").await.unwrap();
    for name in ["p", "p/p"] {
        bench.make_directory(name).await.unwrap();
    }
    let (one, other) = tokio::join!(rename("e", "p/p/e"), rename("p", "y/y/p"));
    assert!(one.is_err() || other.is_err(), "{one:?} {other:?}");
    assert!(one.is_ok() || other.is_ok(), "{one:?} {other:?}");
}
