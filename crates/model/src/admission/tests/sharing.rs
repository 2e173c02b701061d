//! The published tables of SMB share modes, access and oplocks against operations over REST, typed as text.

use super::super::sharing::{
    Break, ByteRangeLock, Caching, Needs, Open, Rights, breaks, check, check_locks, check_open,
};
use crate::operation::Op;

fn rights(text: &str) -> Rights {
    let has = |letter| text.contains(letter);
    Rights { read: has('R'), write: has('W'), delete: has('D') }
}

/// As the rows say.
fn needs(name: &str) -> Needs {
    let op = match name {
        "List" => Op::ListDirectoriesAndFiles,
        "Properties" => Op::GetFileProperties,
        "Metadata" => Op::GetFileMetadata,
        "Get" => Op::GetFile,
        "ListRanges" => Op::ListRanges,
        "SetProperties" => Op::SetFileProperties,
        "SetMetadata" => Op::SetFileMetadata,
        "PutRange" => Op::PutRange,
        "ClearRange" => Op::ClearRange,
        "PutRangeFromUrl" => Op::PutRangeFromUrl,
        "Create" => Op::CreateFile,
        "Copy" => Op::CopyFile,
        "Delete" => Op::DeleteFile,
        "Lease" => Op::AcquireFileLease,
        other => panic!("{other}"),
    };
    op.row().policy.needs
}

const OPERATIONS: [&str; 14] = [
    "List",
    "Properties",
    "Metadata",
    "Get",
    "ListRanges",
    "SetProperties",
    "SetMetadata",
    "PutRange",
    "ClearRange",
    "PutRangeFromUrl",
    "Create",
    "Copy",
    "Delete",
    "Lease",
];

fn open(access: &str, share: &str) -> Open {
    Open { access: rights(access), share: rights(share), ..Open::default() }
}

/// Share mode of an open, and the operations that are told SharingViolation.
const SHARE_MODES: &str = "
-   Create Get SetProperties SetMetadata Delete PutRange ListRanges Lease
R   Create SetProperties SetMetadata Delete PutRange Lease
W   Create Get Delete ListRanges Lease
D   Create Get SetProperties SetMetadata PutRange ListRanges Delete Lease
RW  Create Delete Lease
RD  Create SetProperties SetMetadata PutRange Delete Lease
WD  Get ListRanges Delete Lease
RWD Delete
";

#[test]
fn share_modes() {
    for line in SHARE_MODES.trim().lines() {
        let (mode, failing) = line.split_once(' ').expect("a mode and operations");
        let failing: Vec<&str> = failing.split_whitespace().collect();
        for operation in OPERATIONS {
            let told = check(needs(operation), &[open("R", "RWD"), open("R", mode)]);
            let told = told.err().map(|failure| failure.code.name());
            // The table names those by one word.
            let word = match operation {
                "ClearRange" | "PutRangeFromUrl" => "PutRange",
                "Copy" => "Create",
                other => other,
            };
            let expected = failing.contains(&word).then_some("SharingViolation");
            // The first of the two opens alone refuses a deletion.
            assert_eq!(told, expected, "{operation} of a file that is open and shares {mode}");
        }
    }
}

/// An open for attributes denies nothing, and yet the file is open.
#[test]
fn attributes_only() {
    for operation in OPERATIONS {
        let told = check(needs(operation), &[open("-", "-")]);
        assert_eq!(told.is_ok(), operation != "Delete", "{operation}");
    }
}

/// Lease File by the access of an open that denies nothing; and what a client may open while the lease is held.
#[test]
fn a_lease_and_opens() {
    for (access, agree) in
        [("-", true), ("R", true), ("W", false), ("D", false), ("RW", false), ("RD", false), ("RWD", false)]
    {
        assert_eq!(check(Needs::Lease, &[open(access, "RWD")]).is_ok(), agree, "lease beside {access}");
        assert_eq!(check_open(&open(access, "RWD"), &[], true).is_ok(), agree, "{access} beside a lease");
        assert!(check_open(&open(access, "RWD"), &[], false).is_ok());
    }
}

/// Two opens conflict when one does what the other does not share, whichever came first.
#[test]
fn two_opens() {
    let all = ["-", "R", "W", "D", "RW", "RD", "WD", "RWD"];
    for (access, share) in all.iter().flat_map(|access| all.map(|share| (*access, share))) {
        for (other_access, other_share) in all.iter().flat_map(|access| all.map(|share| (*access, share))) {
            let (one, other) = (open(access, share), open(other_access, other_share));
            let within = |inner: &str, outer: &str| inner.chars().all(|c| c == '-' || outer.contains(c));
            let agree = access == "-"
                || other_access == "-"
                || within(access, other_share) && within(other_access, share);
            assert_eq!(
                check_open(&one, std::slice::from_ref(&other), false).is_ok(),
                agree,
                "{one:?} {other:?}"
            );
            assert_eq!(
                check_open(&other, std::slice::from_ref(&one), false).is_ok(),
                agree,
                "{other:?} {one:?}"
            );
        }
    }
}

#[test]
fn locks() {
    let locks = vec![
        ByteRangeLock { offset: 10, length: 10, exclusive: false },
        ByteRangeLock { offset: 20, length: 10, exclusive: true },
    ];
    let opens = [Open { access: Rights::ALL, share: Rights::ALL, locks, ..Open::default() }];
    let told = |needs, range: Option<std::ops::Range<u64>>| {
        check_locks(needs, range.as_ref(), &opens).err().map(|failure| failure.code.name())
    };
    let conflict = Some("FileLockConflict");
    assert_eq!(told(Needs::Write, Some(100..200)), conflict, "a write needs the whole file");
    assert_eq!(told(Needs::Replace, None), conflict);
    assert_eq!(told(Needs::Read, None), conflict);
    assert_eq!(told(Needs::Read, Some(0..20)), None, "a shared lock lets read");
    assert_eq!(told(Needs::Read, Some(0..21)), conflict);
    assert_eq!(told(Needs::Read, Some(29..30)), conflict);
    assert_eq!(told(Needs::Read, Some(30..31)), None);
    assert_eq!(told(Needs::Nothing, None), None);
}

/// What a client keeps, and what each operation leaves of it: `!` where the operation waits.
const OPLOCKS: &str = "
          RWH  RH  RW
Get       !RH  =   !R
Properties !RH =   !R
Metadata  !RH  =   !R
ListRanges !RH =   !R
List      =    =   =
PutRange  !-   -   !-
SetProperties !- - !-
SetMetadata !- -   !-
Delete    !RW  !R  =
";

#[test]
fn oplocks() {
    let caching = |text: &str| Caching {
        read: text.contains('R'),
        write: text.contains('W'),
        handle: text.contains('H'),
    };
    let mut lines = OPLOCKS.trim().lines().map(|line| line.split_whitespace().collect::<Vec<_>>());
    let held = lines.next().expect("a head");
    for line in lines {
        let (operation, cells) = line.split_first().expect("an operation");
        for (held, left) in held.iter().zip(cells) {
            let expected = (*left != "=").then(|| Break { to: caching(left), waits: left.contains('!') });
            assert_eq!(breaks(needs(operation), caching(held)), expected, "{operation} {held}");
        }
    }
}
