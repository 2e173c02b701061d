//! Operations over REST beside SMB clients: what they break, for what they wait, what they are refused.

use super::*;
use crate::tree::{at, code, given, new_path, renamed};
use lazuli_model::blob::ContentHeaders;
use lazuli_model::error::ErrorCode;
use lazuli_model::metadata::Metadata;
use lazuli_model::operation::policy;
use lazuli_model::smb::{PosixWishes, SmbWishes};
use lazuli_service::file::*;
use lazuli_service::{Body, Fault};

/// The operations as REST has them.
async fn act(bench: &Bench, operation: &str, name: &str) -> Result<(), ErrorCode> {
    let (services, context, at, preconditions) = (&*bench.services, &bench.context, at(name, None), given());
    code(match operation {
        "Get" => {
            let input = GetFile { at, preconditions, range: None };
            match input.execute(services, context, policy::GetFile).await {
                Ok(read) => read.content.map(drop).map_err(Fault),
                Err(fault) => Err(fault),
            }
        }
        "Properties" => GetFileProperties { at, preconditions }
            .execute(services, context, policy::GetFileProperties)
            .await
            .map(drop),
        "ListRanges" => {
            let input = ListRanges {
                at,
                preconditions,
                previous: None,
                follows_renames: false,
                range: None,
                from: 0,
                limit: 10,
            };
            input.execute(services, context).await.map(drop)
        }
        "List" => bench.names(&crate::tree::at("", None), "").await.map(drop),
        "PutRange" => {
            let body = Body::from(Bytes::from_static(b"x"));
            let input = PutRange {
                at,
                preconditions,
                range: 0..1,
                digests: Default::default(),
                keeps_last_write_time: false,
                body,
            };
            input.execute(services, context).await.map(drop)
        }
        "SetMetadata" => SetFileMetadata { at, preconditions, metadata: Metadata::default() }
            .execute(services, context)
            .await
            .map(drop),
        "SetProperties" => {
            let input = SetFileProperties {
                at,
                preconditions,
                smb: SmbWishes::UNCHANGED,
                posix: PosixWishes::NONE,
                headers: None,
                length: Some(5),
            };
            input.execute(services, context).await.map(drop)
        }
        "Create" => {
            let new = new_path(NewBody::File { length: 3, headers: ContentHeaders::default() });
            CreateFile { at, preconditions, new, bytes: None }.execute(services, context).await.map(drop)
        }
        "Delete" => DeleteFile { at, preconditions }.execute(services, context).await.map(drop),
        "Rename" => {
            let to = crate::tree::at(&format!("{name}x"), None);
            let input = RenameFile {
                directory: false,
                from: at,
                to,
                source: given(),
                destination: given(),
                replaces: false,
                change: renamed(),
            };
            input.execute(services, context).await.map(drop)
        }
        other => panic!("{other}"),
    })
}

/// The published table: what each operation leaves of what a client keeps, `!` where it waits (file.md section 6).
const TABLE: &str = "
Get           RWH !RH  ok
Get           RH  =    ok
Get           RW  !R   ok
Properties    RWH !RH  ok
Properties    RH  =    ok
Properties    RW  !R   ok
ListRanges    RWH !RH  ok
List          RWH =    ok
PutRange      RWH !-   ok
PutRange      RH  -    ok
PutRange      RW  !-   ok
SetProperties RWH !-   ok
SetProperties RH  -    ok
SetMetadata   RWH !-   ok
SetMetadata   RH  -    ok
Create        RWH !-   ok
Create        RH  -    ok
Delete        RWH !RW  SharingViolation
Delete        RH  !R   SharingViolation
Delete        RW  =    SharingViolation
Rename        RH  !R   ok
";

#[tokio::test]
async fn what_operations_break() {
    let bench = bench().await;
    let caching = |text: &str| Caching {
        read: text.contains('R'),
        write: text.contains('W'),
        handle: text.contains('H'),
    };
    for (number, line) in TABLE.trim().lines().enumerate() {
        let cells: Vec<&str> = line.split_whitespace().collect();
        let [operation, held, left, expected] = cells[..] else { panic!("{line}") };
        let (name, key, held) = (format!("f{number}"), number as u128 + 1, caching(held));
        let mut smb = bench.smb(1).await;
        let created = smb.share.create(lease(key, held, open_if(&name))).await.unwrap();
        assert_eq!(granted(&created), held);
        write(&created.file, 0, b"bytes").await.unwrap();
        let expected = if expected == "ok" { Ok(()) } else { Err(ErrorCode::SharingViolation) };
        let acting = async {
            // With several servers one of them is asked, whichever.
            act(&bench, operation, &name).await
        };
        let answering = async {
            if left == "=" {
                return;
            }
            let Notice::LeaseBreak { from, to, acknowledge, .. } = smb.notice().await else {
                panic!("{line}")
            };
            assert_eq!((from, to), (held, caching(left)), "{line}");
            assert_eq!(acknowledge, held.write || held.handle, "{line}");
            smb.share.acknowledge_lease(key, to).await.unwrap();
        };
        let (outcome, ()) = timeout(PATIENCE, async { tokio::join!(acting, answering) }).await.expect(line);
        assert_eq!(outcome, expected, "{line}");
        assert!(smb.is_quiet(), "{line}");
        created.file.close().await.unwrap();
    }
}

/// What a client writes from its memory when it is asked is what the reader gets.
#[tokio::test]
async fn a_reader_gets_what_the_client_had_in_its_memory() {
    let bench = bench().await;
    let mut smb = bench.smb(1).await;
    let file = smb.open(lease(7, Caching::RWH, open_if("f"))).await.unwrap();
    write(&file, 0, b"old").await.unwrap();
    let answering = async {
        smb.notice().await;
        write(&file, 0, b"new and longer").await.unwrap();
        smb.share.acknowledge_lease(7, Caching::RH).await.unwrap();
    };
    let place = at("f", None);
    let (read, ()) = tokio::join!(bench.read_file(&place), answering);
    assert_eq!(read.unwrap(), b"new and longer");
}

/// The source of a copy is read as it is in its client's memory.
#[tokio::test]
async fn a_copy_of_a_file_that_a_client_has_in_its_memory() {
    use lazuli_service::blob::{CopySource, FileSource};
    let bench = bench().await;
    let mut smb = bench.smb(1).await;
    let file = smb.open(lease(7, Caching::RWH, open_if("f"))).await.unwrap();
    write(&file, 0, b"old").await.unwrap();
    let answering = async {
        smb.notice().await;
        write(&file, 0, b"new and longer").await.unwrap();
        smb.share.acknowledge_lease(7, Caching::RH).await.unwrap();
    };
    let source =
        FileSource { account: bench.context.account.clone(), at: at("f", None), preconditions: given() };
    let input = CopyFile {
        at: at("copy", None),
        preconditions: given(),
        source: CopySource::File(source),
        shown_source: "u".into(),
        given: GivenFile {
            smb: SmbWishes::NEW,
            sets_archive: false,
            metadata: None,
            posix: PosixWishes::NONE,
            mode_of_source: false,
            owner_of_source: false,
        },
    };
    let (copied, ()) = tokio::join!(input.execute(&bench.services, &bench.context), answering);
    copied.unwrap();
    assert_eq!(bench.read_file(&at("copy", None)).await.unwrap(), b"new and longer");
}

/// A share mode stands against an operation only while the client has the file open still.
#[tokio::test]
async fn a_handle_that_was_only_kept() {
    let bench = bench().await;
    let mut smb = bench.smb(1).await;
    for (operation, closes, expected) in [
        ("Delete", true, Ok(())),
        ("PutRange", true, Ok(())),
        ("PutRange", false, Err(ErrorCode::SharingViolation)),
        ("Get", false, Err(ErrorCode::SharingViolation)),
    ] {
        let alone = access(open_if("f"), AccessMask::FILE_ALL, Rights::NONE);
        let file = smb.open(lease(7, Caching::RH, alone)).await.unwrap();
        write(&file, 0, b"bytes").await.unwrap();
        let answering = async {
            assert!(matches!(smb.notice().await, Notice::LeaseBreak { to: Caching::R, .. }));
            match closes {
                true => file.close().await.unwrap(),
                false => drop(smb.share.acknowledge_lease(7, Caching::R).await.unwrap()),
            }
        };
        let (outcome, ()) = tokio::join!(act(&bench, operation, "f"), answering);
        assert_eq!(outcome, expected, "{operation}");
        if !closes {
            file.close().await.unwrap();
        }
    }
}

/// A client that does not answer makes the operation fail, and not wait for ever. tokio's clock is paused: while commits are under way on
/// their own threads it runs ahead, so that it may tell any longer time than was waited, and never a shorter one.
#[tokio::test(start_paused = true)]
async fn a_client_that_does_not_answer() {
    // The client of the operation may ask for less than half a minute, and not for more.
    for (patience, waits) in [(None, 25), (Some(5), 4), (Some(3_600), 25)] {
        let mut bench = bench().await;
        bench.context.patience = patience.map(Duration::from_secs);
        let smb = bench.smb(1).await;
        let file = smb.open(lease(7, Caching::RWH, open_if("f"))).await.unwrap();
        write(&file, 0, b"bytes").await.unwrap();
        let before = tokio::time::Instant::now();
        let outcome = act(&bench, "PutRange", "f").await;
        assert_eq!(outcome, Err(ErrorCode::ClientCacheFlushDelay));
        let waited = before.elapsed();
        assert!(waited.as_secs() >= waits, "{patience:?}: {waited:?}");
    }
}

/// What SMB does is seen by REST, and the other way.
#[tokio::test]
async fn both_ways() {
    let bench = bench().await;
    let smb = bench.smb(1).await;
    bench.make_file("f", 10).await.unwrap();
    let file = smb.open(open("f")).await.unwrap();
    let before = bench.look(&at("f", None)).await.unwrap();
    write(&file, 3, b"smb").await.unwrap();
    let after = bench.look(&at("f", None)).await.unwrap();
    assert!(after.etag.0 > before.etag.0 && after.times.last_written > before.times.last_written);
    assert_eq!(after.node.number(), file.info().await.unwrap().file_id);
    bench.write_range("f", 0..3, b'r').await.unwrap();
    assert_eq!(read_all(&file).await, b"rrrsmb\0\0\0\0");
    assert_eq!(bench.read_file(&at("f", None)).await.unwrap(), b"rrrsmb\0\0\0\0");
    // A deletion finds it open; a marked one is refused to all of REST.
    assert_eq!(act(&bench, "Delete", "f").await, Err(ErrorCode::SharingViolation));
    file.set_disposition(true, false).await.unwrap();
    for operation in ["Get", "Properties", "PutRange", "SetMetadata", "Create", "Delete", "Rename"] {
        assert_eq!(act(&bench, operation, "f").await, Err(ErrorCode::DeletePending), "{operation}");
    }
    file.close().await.unwrap();
    assert_eq!(act(&bench, "Properties", "f").await, Err(ErrorCode::ResourceNotFound));
}

/// A file that is leased over REST is opened for reading only.
#[tokio::test]
async fn a_lease_over_rest() {
    use lazuli_model::admission::{LeaseAction, LeaseDuration};
    let bench = bench().await;
    let smb = bench.smb(1).await;
    bench.make_file("f", 10).await.unwrap();
    let action = LeaseAction::Acquire { proposed: None, duration: LeaseDuration::Infinite };
    let preconditions = lazuli_model::admission::Preconditions { begins_lease: true, ..given() };
    let input = LeaseFile { at: at("f", None), preconditions, action };
    let op = lazuli_model::operation::WritingOp::of(lazuli_model::operation::Op::AcquireFileLease).unwrap();
    input.execute(&bench.services, &bench.context, op).await.unwrap();
    for (desired, expected) in [
        (AccessMask::READ_DATA, "ok"),
        (AccessMask::READ_ATTRIBUTES, "ok"),
        (AccessMask::WRITE_DATA, "SharingViolation"),
        (AccessMask::DELETE, "SharingViolation"),
    ] {
        let outcome = smb.open(access(open("f"), desired, Rights::ALL)).await;
        assert_eq!(told(outcome), expected, "{desired:?}");
    }
}
