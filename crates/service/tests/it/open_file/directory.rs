//! What stands in an open directory.

use super::*;

async fn names(file: &OpenFile, pattern: &str, limit: usize) -> Vec<String> {
    let pattern = OpenFile::pattern(pattern).unwrap();
    let (mut names, mut cursor) = (Vec::new(), DirectoryCursor::Start);
    for _ in 0..1_000 {
        let part = file.list(&pattern, &cursor, limit).await.unwrap();
        assert!(part.entries.len() <= limit);
        names.extend(part.entries.into_iter().map(|entry| entry.info.name));
        match part.next {
            Some(next) => cursor = next,
            None => return names,
        }
    }
    panic!("a listing without an end");
}

#[tokio::test]
async fn a_directory_is_listed_part_by_part() {
    let bench = bench().await;
    let smb = bench.smb(1).await;
    let root = smb.open(open("")).await.unwrap();
    assert_eq!(names(&root, "*", 10).await, [".", ".."]);
    for name in ["b.txt", "A.TXT", "c", "b.doc"] {
        smb.open(open_if(name)).await.unwrap().close().await.unwrap();
    }
    smb.open(directory("Dir")).await.unwrap().close().await.unwrap();
    for limit in [1, 2, 3, 100] {
        assert_eq!(names(&root, "*", limit).await, [".", "..", "A.TXT", "b.doc", "b.txt", "c", "Dir"]);
    }
    assert_eq!(names(&root, "*.txt", 1).await, ["A.TXT", "b.txt"]);
    assert_eq!(names(&root, "B*", 10).await, ["b.doc", "b.txt"]);
    assert_eq!(names(&root, "dir", 10).await, ["Dir"]);
    assert!(names(&root, "none", 10).await.is_empty());
    assert_eq!(told(OpenFile::pattern("a\\b")), "ObjectNameInvalid");
    let part = root.list(&OpenFile::pattern("b.doc").unwrap(), &DirectoryCursor::Start, 1).await.unwrap();
    let (listed, file) = (&part.entries[0].info, smb.open(open("b.doc")).await.unwrap());
    assert_eq!(*listed, file.info().await.unwrap());
    assert_eq!(listed.parent_id, root.info().await.unwrap().file_id);
    assert_eq!(told(file.list(&DosPattern::all(), &DirectoryCursor::Start, 1).await), "InvalidParameter");
    let blind = smb.open(access(open(""), AccessMask::READ_ATTRIBUTES, Rights::ALL)).await.unwrap();
    assert_eq!(told(blind.list(&DosPattern::all(), &DirectoryCursor::Start, 1).await), "AccessDenied");
}
