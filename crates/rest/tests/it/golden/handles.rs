//! List Handles and Force Close Handles: the opens are rows that the test makes.

use super::opens::{FILE, World, rename};

/// The text between the first of these and the second.
fn between<'a>(text: &'a str, from: &str, to: &str) -> Option<&'a str> {
    let (_, behind) = text.split_once(from)?;
    Some(behind.split_once(to)?.0)
}

/// The ids and paths of a list, in its order.
fn listed(text: &str) -> Vec<(u64, String)> {
    let handles = text.split("<Handle>").skip(1);
    let read = handles.map(|handle| {
        let id = between(handle, "<HandleId>", "</HandleId>").unwrap().parse().unwrap();
        let path = between(handle, "<Path>", "</Path>").unwrap_or_default();
        (id, path.to_owned())
    });
    read.collect()
}

fn paths(text: &str) -> Vec<String> {
    let mut paths: Vec<String> = listed(text).into_iter().map(|(_, path)| path).collect();
    paths.sort();
    paths
}

/// Closes, and tells how many were and whether there is more.
async fn close(world: &World, path: &str, headers: &str) -> (u64, Option<String>) {
    let answer = world.send(&format!("PUT /docs{path}comp=forceclosehandles\n{headers}")).await;
    assert_eq!(answer.status, 200, "{path} {headers}: {}", answer.text());
    assert_eq!(answer.headers["x-ms-number-of-handles-failed"], "0");
    let closed = answer.headers["x-ms-number-of-handles-closed"].parse().unwrap();
    (closed, answer.headers.get("x-ms-marker").cloned())
}

/// Both operations once, for the table of what is answered.
pub async fn list_and_close() {
    let world = World::new().await;
    let handle = world.open(FILE, "RW", "RWD").await;
    let list = world.send("GET /docs/dir/file?comp=listhandles\nx-ms-version: 2024-02-04").await;
    assert_eq!(list.status, 200);
    assert_eq!(list.headers["content-type"], "application/xml");
    let file = world.send("HEAD /docs/dir/file").await;
    let (id, parent) = (&file.headers["x-ms-file-id"], &file.headers["x-ms-file-parent-id"]);
    let expected = format!(
        "<EnumerationResults><Entries><Handle><HandleId>{handle}</HandleId><Path>dir/file</Path><FileId>{id}</FileId>\
         <ParentId>{parent}</ParentId><SessionId>1</SessionId><AccessRightList><AccessRight>Read</AccessRight>\
         <AccessRight>Write</AccessRight></AccessRightList><ClientIp>127.0.0.1</ClientIp><ClientName />\
         <OpenTime>Mon, 01 Jan 0001 00:00:00 GMT</OpenTime></Handle></Entries><NextMarker /></EnumerationResults>"
    );
    let found = list.text();
    let found = found.split_once("?>").unwrap().1;
    let without_time = |text: &str| {
        let time = between(text, "<OpenTime>", "</OpenTime>").unwrap().to_owned();
        text.replace(&time, "")
    };
    assert_eq!(without_time(found), without_time(&expected));
    assert_eq!(close(&world, "/dir/file?", &format!("x-ms-handle-id: {handle}")).await, (1, None));
    assert_eq!(close(&world, "/dir/file?", &format!("x-ms-handle-id: {handle}")).await, (0, None));
}

/// What is refused, as it was recorded.
#[tokio::test]
async fn what_is_refused() {
    let world = World::new().await;
    for (request, told) in [
        ("GET /docs/none?comp=listhandles", "404 ResourceNotFound"),
        ("GET /docs/none/none?comp=listhandles", "404 ParentNotFound"),
        ("GET /none/dir?comp=listhandles", "404 ShareNotFound"),
        ("GET /docs/dir?comp=listhandles&maxresults=0", "400 OutOfRangeQueryParameterValue"),
        ("GET /docs/dir?comp=listhandles&marker=nonsense", "400 OutOfRangeInput"),
        ("GET /docs/dir/file?comp=listhandles\nx-ms-recursive: true", "400 InvalidHeaderValue"),
        ("PUT /docs/none?comp=forceclosehandles\nx-ms-handle-id: *", "404 ResourceNotFound"),
        (
            "PUT /docs/dir?comp=forceclosehandles\nx-ms-handle-id: nonExistantHandleId",
            "400 InvalidHeaderValue",
        ),
        (
            "PUT /docs/dir/file?comp=forceclosehandles\nx-ms-handle-id: *\nx-ms-recursive: true",
            "400 InvalidHeaderValue",
        ),
    ] {
        assert_eq!(world.ask(request).await, told, "{request}");
    }
}

/// Of a directory alone, or with all that stands below it, wherever that is now; in pages of any length.
#[tokio::test]
async fn lists_of_directories() {
    let world = World::new().await;
    assert_eq!(world.ask("PUT /docs/dir/Sub?restype=directory").await, "201");
    assert_eq!(world.ask("PUT /docs/dir/Sub/deep\nx-ms-type: file\nx-ms-content-length: 0").await, "201");
    for path in [&[][..], &["dir"], &["dir"], &["DIR", "FILE"], &["dir", "sub", "deep"], &["source"]] {
        world.open(path, "R", "RWD").await;
    }
    let list = async |path: &str, more: &str| {
        world.send(&format!("GET /docs{path}comp=listhandles{more}")).await.text()
    };
    let recursive = "\nx-ms-recursive: true";
    assert_eq!(paths(&list("/dir?", "").await), ["dir", "dir"]);
    assert_eq!(paths(&list("/?", "").await), [""], "the root has an empty path");
    assert!(list("/?", "").await.contains("<FileId>0</FileId>"));
    assert_eq!(paths(&list("/dir?", recursive).await), ["dir", "dir", "dir/Sub/deep", "dir/file"]);
    let all = ["", "dir", "dir", "dir/Sub/deep", "dir/file", "source"];
    assert_eq!(paths(&list("/?", recursive).await), all);
    let moved = rename("dir/sub", "moved").replace("?comp", "?restype=directory&comp");
    assert_eq!(world.ask(&moved).await, "200");
    assert_eq!(paths(&list("/dir?", recursive).await), ["dir", "dir", "dir/file"]);
    assert_eq!(paths(&list("/moved?", recursive).await), ["moved/deep"]);
    for (path, more, count) in [("/?", recursive, 6), ("/dir?", recursive, 3), ("/dir?", "", 2)] {
        for size in 1..=7 {
            let (mut found, mut marker) = (Vec::new(), String::new());
            for _ in 0..20 {
                let text = list(path, &format!("&maxresults={size}{marker}{more}")).await;
                let page = listed(&text);
                assert!(page.len() <= size);
                found.extend(page);
                match between(&text, "<NextMarker>", "</NextMarker>") {
                    Some(next) => marker = format!("&marker={next}"),
                    None => break,
                }
            }
            found.sort();
            found.dedup();
            assert_eq!(found.len(), count, "{path} in pages of {size}");
        }
    }
    let snapshot = world.send("PUT /docs?restype=share&comp=snapshot").await.headers["x-ms-snapshot"].clone();
    assert!(listed(&list(&format!("/dir?sharesnapshot={snapshot}&"), recursive).await).is_empty());
}

/// One, all of a file, all below a directory; more than one request closes are closed by several.
#[tokio::test]
async fn closing() {
    let world = World::new().await;
    let first = world.open(FILE, "R", "RWD").await;
    world.open(FILE, "R", "RWD").await;
    world.open(&["dir"], "R", "RWD").await;
    let one = format!("x-ms-handle-id: {first}");
    assert_eq!(close(&world, "/dir?", &one).await.0, 0, "it is no handle of the directory");
    assert_eq!(close(&world, "/dir?", "x-ms-handle-id: 17").await.0, 0);
    assert_eq!(close(&world, "/dir?", &format!("{one}\nx-ms-recursive: true")).await.0, 1);
    assert_eq!(world.ask("DELETE /docs/dir/file").await, "409 SharingViolation");
    assert_eq!(close(&world, "/dir/file?", "x-ms-handle-id: *").await, (1, None));
    assert_eq!(world.ask("DELETE /docs/dir/file").await, "202");
    assert_eq!(world.ask("DELETE /docs/dir?restype=directory").await, "409 CannotDeleteFileOrDirectory");
    assert_eq!(close(&world, "/?", "x-ms-handle-id: *").await, (0, None), "the root itself is not open");
    assert_eq!(close(&world, "/?", "x-ms-handle-id: *\nx-ms-recursive: true").await, (1, None));
    assert_eq!(world.ask("DELETE /docs/dir?restype=directory").await, "202");
    for _ in 0..205 {
        world.open(&["source"], "R", "RWD").await;
    }
    for recursive in ["", "\nx-ms-recursive: true"] {
        let (closed, marker) = close(
            &world,
            if recursive.is_empty() { "/source?" } else { "/?" },
            &format!("x-ms-handle-id: *{recursive}"),
        )
        .await;
        assert_eq!(closed, 200);
        let path =
            format!("{}marker={}&", if recursive.is_empty() { "/source?" } else { "/?" }, marker.unwrap());
        assert_eq!(close(&world, &path, &format!("x-ms-handle-id: *{recursive}")).await, (5, None));
        for _ in 0..205 {
            world.open(&["source"], "R", "RWD").await;
        }
    }
}

/// A file that is pending deletion is told about, and goes with its last handle.
#[tokio::test]
async fn a_file_that_is_to_be_deleted() {
    let world = World::new().await;
    world.open(FILE, "R", "RWD").await;
    world.open(FILE, "R", "RWD").await;
    world.set_pending(true).await;
    assert_eq!(world.ask("HEAD /docs/dir/file").await, "409 DeletePending");
    let list = world.send("GET /docs/dir/file?comp=listhandles").await;
    assert_eq!(paths(&list.text()), ["dir/file", "dir/file"]);
    assert_eq!(close(&world, "/dir/file?", "x-ms-handle-id: *").await, (2, None));
    assert_eq!(world.ask("HEAD /docs/dir/file").await, "404 ResourceNotFound");
}
