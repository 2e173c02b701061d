use lazuli_model::operation::Service;
use lazuli_model::version::ApiVersion;

use super::*;
use crate::query::Query;
use crate::target::Target;
use crate::testing::head;

fn asked(path: &str, query: &str, headers: &[(&str, &str)]) -> Head {
    let query = Query::parse(query).unwrap();
    let target = Target::parse(Service::File, "127.0.0.1", path, &query).unwrap();
    Head { query, target, version: ApiVersion::NEWEST, ..head(headers) }
}

fn said(head: &Head, op: Op) -> &'static str {
    check(head, op.row()).map_or_else(|failure| failure.code.name(), |()| "ok")
}

/// file.md section 3: any write with `sharesnapshot`.
#[test]
fn only_what_a_snapshot_can_be_asked_is_asked_of_one() {
    const AT: &str = "sharesnapshot=2017-05-12T20:52:22.0000000Z";
    let snapshot = asked("/acct/box/dir/file", AT, &[]);
    for op in
        [Op::GetFile, Op::GetFileProperties, Op::ListRanges, Op::ListHandles, Op::GetDirectoryProperties]
    {
        assert_eq!(said(&snapshot, op), "ok", "{op:?}");
    }
    for op in [Op::CreateFile, Op::PutRange, Op::DeleteFile, Op::SetFileMetadata, Op::AcquireFileLease] {
        assert_eq!(said(&snapshot, op), "InvalidQueryParameterValue", "{op:?}");
    }
    assert_eq!(share_snapshot(&snapshot).unwrap().iso7(), "2017-05-12T20:52:22.0000000Z");
    let share = asked("/acct/box", &format!("restype=share&{AT}"), &[]);
    assert_eq!(
        (said(&share, Op::DeleteShare), said(&share, Op::GetShareStats)),
        ("ok", "InvalidQueryParameterValue")
    );
    let all = asked("/acct/box", &format!("restype=share&{AT}"), &[("x-ms-delete-snapshots", "include")]);
    assert_eq!(said(&all, Op::DeleteShare), "InvalidQueryParameterValue");
    let empty = asked("/acct/box", "restype=share&sharesnapshot=", &[]);
    assert_eq!(
        (said(&empty, Op::DeleteShare), said(&empty, Op::GetShareProperties)),
        ("InvalidQueryParameterValue", "ok")
    );
    let unreadable = asked("/acct/box", "restype=share&sharesnapshot=yesterday", &[]);
    assert_eq!(said(&unreadable, Op::GetShareProperties), "InvalidQueryParameterValue");
}

#[test]
fn the_root_is_a_directory_and_no_file() {
    let root = asked("/acct/box", "", &[]);
    for op in
        [Op::ListDirectoriesAndFiles, Op::GetDirectoryProperties, Op::ListHandles, Op::ForceCloseHandles]
    {
        assert_eq!(said(&root, op), "ok", "{op:?}");
    }
    for op in [Op::CreateFile, Op::GetFile, Op::CopyFile, Op::DeleteFile, Op::CreateSymbolicLink] {
        assert_eq!(said(&root, op), "InvalidUri", "{op:?}");
    }
}

#[test]
fn names_are_judged_before_an_operation_runs() {
    assert_eq!(said(&asked("/acct/box/a%3Ab", "", &[]), Op::GetFile), "InvalidResourceName");
    assert_eq!(said(&asked("/acct/box/a//b", "", &[]), Op::GetFile), "InvalidResourceName");
    let deep = format!("/acct/box/{}", vec!["d"; 251].join("/"));
    assert_eq!(said(&asked(&deep, "", &[]), Op::CreateDirectory), "InvalidFileOrDirectoryPathName");
}

#[test]
fn dots_count_where_the_request_says_so() {
    const NAME: &str = "x-ms-allow-trailing-dot";
    let dotted = |headers| path(&asked("/acct/box/dir./file..", "", headers)).map(|path| path.to_string());
    assert_eq!(dotted(&[]).unwrap(), "dir/file");
    assert_eq!(dotted(&[(NAME, "false")]).unwrap(), "dir/file");
    assert_eq!(dotted(&[(NAME, "true")]).unwrap(), "dir./file..");
    assert!(dotted(&[(NAME, "perhaps")]).is_err());
    let old = Head { version: ApiVersion::V2021_12_02, ..asked("/acct/box/dir.", "", &[(NAME, "true")]) };
    assert_eq!(path(&old).unwrap().to_string(), "dir");
}
