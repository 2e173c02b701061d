//! Directories that are watched: what SMB and REST change in them is told, on whichever server.

use super::*;

const NAMES: ChangeFilter = ChangeFilter(0x003);
const ALL: ChangeFilter = ChangeFilter(0x17f);

/// The next changes, as text.
async fn changes(file: &OpenFile, filter: ChangeFilter, below: bool, count: usize) -> Vec<String> {
    let mut all = Vec::new();
    while all.len() < count {
        match timeout(PATIENCE, file.changes(filter, below)).await.expect("a change").unwrap() {
            Changes::These(changes) => {
                all.extend(changes.into_iter().map(|change| format!("{:?} {}", change.action, change.path)));
            }
            other => all.push(format!("{other:?}")),
        }
    }
    all
}

#[tokio::test]
async fn changes_are_told_to_who_watches() {
    let bench = bench().await;
    let (one, other) = (bench.smb(1).await, bench.smb(2).await);
    // An open that may delete the directory would keep new names out of it.
    let list = || access(directory("d"), AccessMask::READ_DATA, Rights::ALL);
    let top = one.open(list()).await.unwrap();
    let again = one.open(list()).await.unwrap();
    let watching = tokio::spawn(async move {
        let first = changes(&top, NAMES, false, 1).await;
        (top, first)
    });
    tokio::time::sleep(Duration::from_millis(100)).await;
    let file = other.open(open_if("d\\f")).await.unwrap();
    let (top, first) = watching.await.unwrap();
    assert_eq!(first, ["Added f"]);
    // By REST, and kept for the next call.
    bench.make_directory("d/sub").await.unwrap();
    assert_eq!(changes(&top, NAMES, false, 1).await, ["Added sub"]);
    bench.make_file("d/sub/deep", 0).await.unwrap();
    file.rename(Rename { to: path("d\\g"), replaces: false }).await.unwrap();
    assert_eq!(changes(&top, NAMES, false, 2).await, ["RenamedOldName f", "RenamedNewName g"]);
    bench.rename_path("d/g", "d/sub/g", false).await.unwrap();
    assert_eq!(changes(&top, NAMES, false, 1).await, ["Removed g"]);
    write(&file, 0, b"bytes").await.unwrap();
    file.close().await.unwrap();
    bench.delete_path("d/sub/g").await.unwrap();
    // Nothing of that is in the directory itself, and this open counts names only.
    let quiet = timeout(Duration::from_millis(400), top.changes(NAMES, false)).await;
    assert!(quiet.is_err(), "{quiet:?}");
    let again_watching = {
        let again = again.clone();
        tokio::spawn(async move { changes(&again, ALL, true, 4).await })
    };
    tokio::time::sleep(Duration::from_millis(150)).await;
    let file = other.open(open("d\\sub\\deep")).await.unwrap();
    write(&file, 0, b"bytes").await.unwrap();
    file.rename(Rename { to: path("d\\up"), replaces: false }).await.unwrap();
    file.set_disposition(true, false).await.unwrap();
    file.close().await.unwrap();
    let told = timeout(PATIENCE, again_watching).await.unwrap().unwrap();
    assert_eq!(told, ["Modified sub\\deep", "Removed sub\\deep", "Added up", "Removed up"]);
    let waiting = {
        let again = again.clone();
        tokio::spawn(async move { again.changes(ALL, true).await })
    };
    tokio::time::sleep(Duration::from_millis(50)).await;
    again.close().await.unwrap();
    assert_eq!(timeout(PATIENCE, waiting).await.unwrap().unwrap().unwrap(), Changes::Closed);
    top.close().await.unwrap();
    let keys = bench.keys().await;
    assert!(!keys.iter().any(|key| key.starts_with("lw")), "{keys:?}");
}

/// A client that does not ask is told that it missed too much.
#[tokio::test]
async fn too_many_changes() {
    let bench = bench().await;
    let smb = bench.smb(1).await;
    let root = smb.open(open("")).await.unwrap();
    // From the first time that they are asked for, changes are kept.
    assert!(timeout(Duration::from_secs(2), root.changes(NAMES, false)).await.is_err());
    let name = "n".repeat(200);
    for number in 0..200 {
        smb.open(open_if(&format!("{name}{number}"))).await.unwrap().close().await.unwrap();
    }
    // With several servers they come by letters.
    for _ in 0..200 {
        if !bench.keys().await.iter().any(|key| key.starts_with("ls")) {
            break;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    tokio::time::sleep(Duration::from_millis(50)).await;
    let told = timeout(PATIENCE, root.changes(NAMES, false)).await.expect("a word");
    assert_eq!(told.unwrap(), Changes::TooMany);
    smb.open(open_if("after")).await.unwrap();
    assert_eq!(changes(&root, NAMES, false, 1).await, ["Added after"]);
}

/// A directory that is to go is watched no longer.
#[tokio::test]
async fn a_directory_that_goes() {
    let bench = bench().await;
    let (one, other) = (bench.smb(1).await, bench.smb(2).await);
    let watched = one.open(directory("d")).await.unwrap();
    let waiting = {
        let watched = watched.clone();
        tokio::spawn(async move { watched.changes(ALL, true).await })
    };
    tokio::time::sleep(Duration::from_millis(100)).await;
    let going = other.open(open("d")).await.unwrap();
    going.set_disposition(true, false).await.unwrap();
    assert_eq!(timeout(PATIENCE, waiting).await.unwrap().unwrap().unwrap(), Changes::Deleted);
}
