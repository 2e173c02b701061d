//! What an open finds, makes and is refused.

use super::*;

/// Each disposition, of a file that is there and of one that is not ([MS-SMB2] section 2.2.13).
#[tokio::test]
async fn dispositions() {
    let bench = bench().await;
    let smb = bench.smb(1).await;
    for (disposition, existing, absent) in [
        (Disposition::Supersede, "Superseded", "Created"),
        (Disposition::Open, "Opened", "ObjectNameNotFound"),
        (Disposition::Create, "ObjectNameCollision", "Created"),
        (Disposition::OpenIf, "Opened", "Created"),
        (Disposition::Overwrite, "Overwritten", "ObjectNameNotFound"),
        (Disposition::OverwriteIf, "Overwritten", "Created"),
    ] {
        let told = async |name: &str| match smb.share.create(Create { disposition, ..open(name) }).await {
            Ok(created) => {
                created.file.close().await.unwrap();
                format!("{:?}", created.action)
            }
            Err(refusal) => format!("{refusal:?}"),
        };
        let file = smb.open(open_if("there")).await.unwrap();
        write(&file, 0, b"some bytes").await.unwrap();
        let id = file.info().await.unwrap().file_id;
        file.close().await.unwrap();
        assert_eq!(told("there").await, existing, "{disposition:?} of a file");
        let file = smb.open(open("there")).await.unwrap();
        let info = file.info().await.unwrap();
        assert_eq!(info.length, if disposition.overwrites() { 0 } else { 10 }, "{disposition:?}");
        assert_eq!(info.file_id, id, "it is the same file");
        file.close().await.unwrap();
        assert_eq!(told(&format!("new{disposition:?}")).await, absent, "{disposition:?} of nothing");
    }
}

#[tokio::test]
async fn directories_and_files_are_told_apart() {
    let bench = bench().await;
    let smb = bench.smb(1).await;
    smb.open(directory("d")).await.unwrap().close().await.unwrap();
    smb.open(open_if("d\\f")).await.unwrap().close().await.unwrap();
    let no_directory = CreateOptions { non_directory: true, ..CreateOptions::default() };
    let a_directory = CreateOptions { directory: true, ..CreateOptions::default() };
    let both = CreateOptions { directory: true, ..no_directory };
    for (request, expected) in [
        (Create { options: no_directory, ..open("d") }, "FileIsADirectory"),
        (Create { options: a_directory, ..open("d\\f") }, "NotADirectory"),
        (Create { options: both, ..open("d") }, "InvalidParameter"),
        (Create { disposition: Disposition::OverwriteIf, ..open("d") }, "ObjectNameCollision"),
        (
            Create { disposition: Disposition::OverwriteIf, options: a_directory, ..open("d") },
            "InvalidParameter",
        ),
        (open("d\\f\\g"), "ObjectPathNotFound"),
        (open_if("e\\g"), "ObjectPathNotFound"),
        (open("d\\g"), "ObjectNameNotFound"),
        (open("D\\F"), "ok"),
        (open(""), "ok"),
        (Create { desired_access: AccessMask::NONE, ..open("d\\f") }, "AccessDenied"),
    ] {
        assert_eq!(told(smb.open(request.clone()).await), expected, "{request:?}");
    }
    assert_eq!(told(smb.share.create(directory("d\\f")).await), "NotADirectory");
    for (text, expected) in [
        ("..\\x", "ObjectPathSyntaxBad"),
        ("a\\..", "ObjectPathSyntaxBad"),
        ("a*", "ObjectNameInvalid"),
        ("a:stream", "ObjectNameInvalid"),
        ("\\a", "InvalidParameter"),
        ("a::$DATA", "ok"),
    ] {
        assert_eq!(told(parse_path(text)), expected, "{text}");
    }
}

/// All pairs of access and share mode: the second open is let in when each does only what the other shares.
#[tokio::test]
async fn share_modes_of_two_opens() {
    let bench = bench().await;
    let (one, other) = (bench.smb(1).await, bench.smb(2).await);
    one.open(open_if("f")).await.unwrap().close().await.unwrap();
    let all = ["", "R", "W", "D", "RW", "RD", "WD", "RWD"];
    let within = |inner: &str, outer: &str| inner.chars().all(|c| outer.contains(c));
    for first_access in ["", "R", "W", "RWD"] {
        for first_share in all {
            let first = access(open("f"), mask(first_access), rights(first_share));
            let held = one.open(first).await.unwrap();
            for second_access in ["", "R", "W", "D"] {
                for second_share in ["", "R", "RW", "RWD"] {
                    let second = access(open("f"), mask(second_access), rights(second_share));
                    let outcome = other.open(second).await;
                    let agree = first_access.is_empty()
                        || second_access.is_empty()
                        || within(first_access, second_share) && within(second_access, first_share);
                    let expected = if agree { "ok" } else { "SharingViolation" };
                    if let Ok(file) = &outcome {
                        file.close().await.unwrap();
                    }
                    let pair = format!("{first_access}/{first_share} {second_access}/{second_share}");
                    assert_eq!(told(outcome), expected, "{pair}");
                }
            }
            held.close().await.unwrap();
        }
    }
}

/// The attribute keeps bytes from being written and the file from being deleted; hidden files are overwritten by who knows it.
#[tokio::test]
async fn attributes_of_what_is_opened() {
    let bench = bench().await;
    let smb = bench.smb(1).await;
    let read_only = Create { attributes: FileAttributes::READ_ONLY, ..open_if("r") };
    let created = smb.share.create(read_only).await.unwrap();
    assert!(created.info.attributes.has(FileAttributes::READ_ONLY.and(FileAttributes::ARCHIVE)));
    // The one who makes it may write.
    write(&created.file, 0, b"x").await.unwrap();
    created.file.close().await.unwrap();
    let on_close = CreateOptions { delete_on_close: true, ..CreateOptions::default() };
    for (request, expected) in [
        (access(open("r"), AccessMask::WRITE_DATA, Rights::ALL), "AccessDenied"),
        (access(open("r"), AccessMask::READ_DATA, Rights::ALL), "ok"),
        (
            Create {
                disposition: Disposition::Overwrite,
                ..access(open("r"), AccessMask::READ_DATA, Rights::ALL)
            },
            "AccessDenied",
        ),
        (Create { options: on_close, ..access(open("r"), AccessMask::DELETE, Rights::ALL) }, "CannotDelete"),
        (access(open("r"), AccessMask::MAXIMUM_ALLOWED, Rights::ALL), "ok"),
    ] {
        assert_eq!(told(smb.open(request.clone()).await), expected, "{request:?}");
    }
    let hidden = Create { attributes: FileAttributes::HIDDEN, ..open_if("h") };
    smb.open(hidden).await.unwrap().close().await.unwrap();
    let overwrite = Create { disposition: Disposition::Overwrite, ..open("h") };
    assert_eq!(told(smb.open(overwrite.clone()).await), "AccessDenied");
    assert_eq!(told(smb.open(Create { attributes: FileAttributes::HIDDEN, ..overwrite }).await), "ok");
}

/// What nobody waits for any more is closed.
#[tokio::test]
async fn an_open_that_is_dropped_is_closed() {
    let bench = bench().await;
    let smb = bench.smb(1).await;
    drop(smb.open(access(open_if("f"), AccessMask::FILE_ALL, Rights::NONE)).await.unwrap());
    for _ in 0..200 {
        if bench.keys().await.iter().all(|key| !key.starts_with('O')) {
            return;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    panic!("it stays open");
}

#[tokio::test]
async fn previous_versions() {
    let bench = bench().await;
    let smb = bench.smb(1).await;
    let file = smb.open(open_if("f")).await.unwrap();
    write(&file, 0, b"before").await.unwrap();
    let moment = bench.snapshot_share().await;
    write(&file, 0, b"behind").await.unwrap();
    assert_eq!(smb.share.snapshots().await.unwrap(), [moment]);
    let then =
        Create { snapshot: Some(moment), ..access(open("f"), AccessMask::MAXIMUM_ALLOWED, Rights::ALL) };
    let created = smb.share.create(then.clone()).await.unwrap();
    assert_eq!(created.maximal_access, AccessMask::FILE_READ_AND_EXECUTE);
    assert_eq!(read_all(&created.file).await, b"before");
    assert_eq!(read_all(&file).await, b"behind");
    assert_eq!(told(write(&created.file, 0, b"x").await), "AccessDenied");
    // Clients know it by the second.
    let second = Create { snapshot: Some(moment.whole_seconds()), ..then.clone() };
    assert_eq!(read_all(&smb.open(second).await.unwrap()).await, b"before");
    for (request, expected) in [
        (Create { desired_access: AccessMask::WRITE_DATA, ..then.clone() }, "AccessDenied"),
        (Create { path: path("g"), disposition: Disposition::OpenIf, ..then.clone() }, "MediaWriteProtected"),
        (Create { path: path("g"), ..then.clone() }, "ObjectNameNotFound"),
        (Create { snapshot: Some(later(moment, -100)), ..then.clone() }, "ObjectNameNotFound"),
    ] {
        assert_eq!(told(smb.open(request.clone()).await), expected, "{request:?}");
    }
    let root = smb.open(Create { path: Vec::new(), ..then }).await.unwrap();
    let listed = root.list(&DosPattern::all(), &DirectoryCursor::Start, 10).await.unwrap();
    assert_eq!(listed.entries.len(), 3);
}

/// A share for NFS, or none, is no share here.
#[tokio::test]
async fn shares_that_are_not_for_smb() {
    let bench = Bench::new().await;
    let (notices, _kept) = mpsc::unbounded_channel();
    let client = Client { guid: 1, session: 1, address: String::new(), name: None, notices };
    let connect = async || ShareClient::connect(&bench.services, &bench.context, "s", client.clone()).await;
    assert_eq!(told(connect().await), "BadNetworkName");
    bench.create_share_for(lazuli_service::file::ShareProtocol::Nfs).await;
    assert_eq!(told(connect().await), "BadNetworkName");
}
