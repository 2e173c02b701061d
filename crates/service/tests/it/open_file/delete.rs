//! Files that go when they are closed, and files that get another name while they are open.

use super::*;
use crate::tree::{at, code};
use lazuli_model::error::ErrorCode;
use lazuli_service::file::{ForceCloseHandles, HandlesMeant, ListHandles};

fn on_close(request: Create) -> Create {
    Create { options: CreateOptions { delete_on_close: true, ..request.options }, ..request }
}

#[tokio::test]
async fn a_file_that_is_marked_goes_with_its_last_open() {
    let bench = bench().await;
    let (one, other) = (bench.smb(1).await, bench.smb(2).await);
    let first = one.open(open_if("f")).await.unwrap();
    let second = other.open(open("f")).await.unwrap();
    first.set_disposition(true, false).await.unwrap();
    assert_eq!(told(other.open(open("f")).await), "DeletePending");
    assert_eq!(told(other.open(open_if("F")).await), "DeletePending");
    let info = second.info().await.unwrap();
    assert_eq!((info.delete_pending, info.links), (true, 0));
    // Who has it open goes on.
    write(&second, 0, b"x").await.unwrap();
    second.set_disposition(false, false).await.unwrap();
    let third = other.open(open("f")).await.unwrap();
    third.set_disposition(true, false).await.unwrap();
    for file in [&first, &second] {
        file.close().await.unwrap();
        assert_eq!(told(other.open(open("f")).await), "DeletePending");
    }
    third.close().await.unwrap();
    assert_eq!(told(other.open(open("f")).await), "ObjectNameNotFound");
    assert_eq!(told(third.close().await), "FileClosed");
    assert_eq!(told(third.info().await), "FileClosed");
    assert_eq!(bench.usage().await, 0);
}

#[tokio::test]
async fn delete_on_close() {
    let bench = bench().await;
    let (one, other) = (bench.smb(1).await, bench.smb(2).await);
    let first = one.open(on_close(open_if("f"))).await.unwrap();
    let second = other.open(open("f")).await.unwrap();
    assert!(!second.info().await.unwrap().delete_pending, "not before it is closed");
    first.close().await.unwrap();
    assert!(second.info().await.unwrap().delete_pending);
    second.close().await.unwrap();
    assert_eq!(told(other.open(open("f")).await), "ObjectNameNotFound");
    let no_right = access(on_close(open_if("g")), AccessMask::READ_DATA, Rights::ALL);
    assert_eq!(told(one.open(no_right).await), "AccessDenied");
}

#[tokio::test]
async fn directories_that_go() {
    let bench = bench().await;
    let smb = bench.smb(1).await;
    let directory_open = smb.open(directory("d")).await.unwrap();
    smb.open(open_if("d\\f")).await.unwrap().close().await.unwrap();
    assert_eq!(told(directory_open.set_disposition(true, false).await), "DirectoryNotEmpty");
    bench.delete_path("d/f").await.unwrap();
    bench.make_file("h", 1).await.unwrap();
    directory_open.set_disposition(true, false).await.unwrap();
    assert_eq!(told(smb.open(open_if("d\\g")).await), "DeletePending", "nothing is made in it");
    let refused = [
        code(bench.make_file("d/g", 1).await.map(drop)),
        code(bench.make_directory("d/g").await.map(drop)),
        code(bench.rename_path("h", "d/h", true).await.map(drop)),
        code(bench.copy_path(&at("h", None), "d/h").await.map(drop)),
    ];
    assert_eq!(refused, [Err(ErrorCode::DeletePending); 4], "over REST neither, nor moved into it");
    directory_open.close().await.unwrap();
    assert_eq!(told(smb.open(open("d")).await), "ObjectNameNotFound");
    let root = smb.open(open("")).await.unwrap();
    assert_eq!(told(root.set_disposition(true, false).await), "CannotDelete");
    let read_only = Create { attributes: FileAttributes::READ_ONLY, ..open_if("r") };
    let read_only = smb.open(read_only).await.unwrap();
    assert_eq!(told(read_only.set_disposition(true, false).await), "CannotDelete");
    read_only.set_disposition(true, true).await.unwrap();
}

fn to(text: &str, replaces: bool) -> Rename {
    Rename { to: path(text), replaces }
}

#[tokio::test]
async fn renames() {
    let bench = bench().await;
    let (one, other) = (bench.smb(1).await, bench.smb(2).await);
    for name in ["d", "e"] {
        one.open(directory(name)).await.unwrap().close().await.unwrap();
    }
    let file = one.open(open_if("d\\f")).await.unwrap();
    write(&file, 0, b"bytes").await.unwrap();
    let watching = other.open(access(open("d\\f"), AccessMask::READ_DATA, Rights::ALL)).await.unwrap();
    file.rename(to("e\\New", false)).await.unwrap();
    assert_eq!(file.path().await.unwrap(), "e\\New");
    assert_eq!(
        (watching.path().await.unwrap(), read_all(&watching).await),
        ("e\\New".into(), b"bytes".to_vec())
    );
    assert_eq!(told(one.open(open("d\\f")).await), "ObjectNameNotFound");
    file.rename(to("E\\new", false)).await.unwrap();
    assert_eq!(file.path().await.unwrap(), "e\\new", "its own name in other letters");
    let there = one.open(open_if("g")).await.unwrap();
    assert_eq!(told(file.rename(to("g", false)).await), "ObjectNameCollision");
    assert_eq!(told(file.rename(to("g", true)).await), "AccessDenied", "it is open");
    there.close().await.unwrap();
    assert_eq!(told(file.rename(to("d", true)).await), "AccessDenied", "it is a directory");
    assert_eq!(told(file.rename(to("nowhere\\g", true)).await), "ObjectPathNotFound");
    file.rename(to("g", true)).await.unwrap();
    assert_eq!(read_all(&one.open(open("g")).await.unwrap()).await, b"bytes");
    let reader = one.open(access(open("g"), AccessMask::READ_DATA, Rights::ALL)).await.unwrap();
    assert_eq!(told(reader.rename(to("h", false)).await), "AccessDenied");
    assert_eq!(bench.usage().await, 5);
}

/// What stands as deep as a path goes may go sideways, and no deeper.
#[tokio::test]
async fn a_deep_directory_is_renamed_sideways() {
    let bench = bench().await;
    for name in ["a", "a/b", "a/c", "a/c/e"] {
        bench.make_directory(name).await.unwrap();
    }
    for levels in 1..=248 {
        bench.make_directory(&format!("a/b/{}", vec!["d"; levels].join("/"))).await.unwrap();
    }
    let smb = bench.smb(1).await;
    let deep = smb.open(directory("a\\b\\d")).await.unwrap();
    assert_ne!(told(deep.rename(to("a\\c\\e\\d", false)).await), "ok");
    assert_eq!(told(deep.rename(to("a\\c\\d", false)).await), "ok");
    assert_ne!(told(deep.rename(to("a\\c\\e\\d", false)).await), "ok");
    assert_eq!(told(deep.rename(to("d", false)).await), "ok");
    assert_ne!(told(deep.rename(to("a\\b\\c", false)).await), "ok");
}

/// A new name is put into a directory only while others let that be written to, and do not have it open to delete it.
#[tokio::test]
async fn a_directory_that_is_open_keeps_new_names_out() {
    let bench = bench().await;
    let smb = bench.smb(1).await;
    let file = smb.open(open_if("f")).await.unwrap();
    let list = AccessMask::READ_DATA;
    for (mask, share, expected) in [
        (list.and(AccessMask::DELETE), Rights::ALL, "SharingViolation"),
        (list, Rights::READ.and(Rights::DELETE), "SharingViolation"),
        (AccessMask::READ_ATTRIBUTES, Rights::NONE, "ok"),
        (list, Rights::READ.and(Rights::WRITE), "ok"),
        (list, Rights::ALL, "ok"),
    ] {
        let above = smb.open(access(directory("d"), mask, share)).await.unwrap();
        assert_eq!(told(file.rename(to("d\\f", false)).await), expected, "{mask:?} {share:?}");
        above.close().await.unwrap();
        file.rename(to("f", false)).await.unwrap();
    }
}

/// A directory stays where it is while something below it is open; into itself it never goes.
#[tokio::test]
async fn a_directory_with_opens_below_is_not_renamed() {
    let bench = bench().await;
    let smb = bench.smb(1).await;
    let directory_open = smb.open(directory("d")).await.unwrap();
    smb.open(directory("d\\e")).await.unwrap().close().await.unwrap();
    let below = smb.open(open_if("d\\e\\f")).await.unwrap();
    assert_eq!(told(directory_open.rename(to("x", false)).await), "AccessDenied");
    below.close().await.unwrap();
    assert!(directory_open.rename(to("d\\e\\d", false)).await.is_err());
    directory_open.rename(to("x", false)).await.unwrap();
    assert_eq!(directory_open.path().await.unwrap(), "x");
    smb.open(open("x\\e\\f")).await.unwrap().close().await.unwrap();
}

/// Force Close Handles takes an open away: its client is told, and what it does then is refused.
#[tokio::test]
async fn an_open_that_is_closed_by_force() {
    let bench = bench().await;
    let mut smb = bench.smb(1).await;
    let file = smb.open(access(open_if("f"), AccessMask::FILE_ALL, Rights::NONE)).await.unwrap();
    let (handle, place) = (file.handle(), at("f", None));
    let handles = async || {
        let input = ListHandles { at: place.clone(), recursive: false, marker: None, max_results: 10 };
        input.execute(&bench.services, &bench.context).await.unwrap().0
    };
    let listed = handles().await;
    assert_eq!((listed.len(), listed[0].id, listed[0].path.as_str()), (1, handle, "f"));
    assert_eq!((listed[0].access, listed[0].client_address.as_str()), (Rights::ALL, "127.0.0.1:5000"));
    let meant = HandlesMeant::One(handle);
    let close = ForceCloseHandles { at: place.clone(), meant, recursive: false, marker: None };
    assert_eq!(close.execute(&bench.services, &bench.context).await.unwrap().closed, 1);
    assert_eq!(smb.notice().await, Notice::Closed { handle });
    assert_eq!(told(file.read(0, 1).await), "FileClosed");
    assert_eq!(told(write(&file, 0, b"x").await), "FileClosed");
    assert_eq!(told(file.close().await), "FileClosed");
    let _again = smb.open(open("f")).await.unwrap();
    assert_eq!(handles().await.len(), 1);
}

/// A share that is deleted ends what was open in it.
#[tokio::test]
async fn opens_of_a_share_that_is_gone() {
    let bench = bench().await;
    let smb = bench.smb(1).await;
    let file = smb.open(open_if("f")).await.unwrap();
    bench.delete_share(None, None).await.unwrap();
    bench.create_share().await;
    assert_eq!(told(file.info().await), "FileClosed");
    assert_eq!(told(file.close().await), "FileClosed");
    assert_eq!(told(smb.open(open("f")).await), "ObjectNameNotFound");
    bench.sweep().await;
    assert!(!bench.keys().await.iter().any(|key| key.starts_with(['O', 'Q', 'Z'])));
}
