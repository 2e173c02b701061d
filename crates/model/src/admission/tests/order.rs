use super::super::{BlobType, Existence, Hold, Preconditions, SequenceConditions};
use super::conditions::unmet;
use super::record::{Record, outcome};
use super::{ETAG, NEWEST, id, leases, row, table};
use crate::etag::{ETag, ETagCondition};
use crate::operation::{Op, Resource, Service};
use crate::tags::Tags;
use crate::time::Timestamp;
use crate::version::ApiVersion;

type Repair = fn(&mut Preconditions, &mut Option<Record>);

/// A request with every fault at once: each repair uncovers the next failure.
fn watch(name: &str, mut given: Preconditions, steps: &[(&str, Repair)]) {
    let mut record = None;
    for (number, (wanted, repair)) in steps.iter().enumerate() {
        assert_eq!(outcome(row(name), &given, record.clone(), NEWEST), *wanted, "{name}, step {number}");
        repair(&mut given, &mut record);
    }
    assert_eq!(outcome(row(name), &given, record, NEWEST), "ok", "{name}, all repaired");
}

/// A leased block blob without tags, whatever the operation wants.
fn appear(_: &mut Preconditions, record: &mut Option<Record>) {
    let lease = leases("Leased(A)").remove(0);
    let blob_type = Some(BlobType::Block);
    *record = Some(Record {
        lease,
        blob_type,
        length: 100,
        sequence_number: 7,
        is_being_copied: true,
        hold: Hold { legal: true, policy: None },
        ..Record::present()
    });
}

fn drop_second_date(given: &mut Preconditions, _: &mut Option<Record>) {
    given.if_unmodified_since = None;
}

fn may_overwrite(given: &mut Preconditions, _: &mut Option<Record>) {
    given.create_only = false;
}

fn send_wrong_id(given: &mut Preconditions, _: &mut Option<Record>) {
    given.lease_id = Some(id('B'));
}

fn send_right_id(given: &mut Preconditions, _: &mut Option<Record>) {
    given.lease_id = Some(id('A'));
}

fn send_right_etag(given: &mut Preconditions, _: &mut Option<Record>) {
    given.if_none_match = ETagCondition::parse(&ETag(ETAG.0 + 1).quoted());
}

fn paint(_: &mut Preconditions, record: &mut Option<Record>) {
    if let Some(record) = record {
        record.tags = Tags::parse_header("colour=red").expect("tags");
    }
}

fn become_page_blob(_: &mut Preconditions, record: &mut Option<Record>) {
    if let Some(record) = record {
        record.blob_type = Some(BlobType::Page);
    }
}

fn become_append_blob(_: &mut Preconditions, record: &mut Option<Record>) {
    if let Some(record) = record {
        record.blob_type = Some(BlobType::Append);
    }
}

fn seal(record: &mut Option<Record>, sealed: bool) {
    if let Some(record) = record {
        record.sealed = sealed;
    }
}

fn end_copy(_: &mut Preconditions, record: &mut Option<Record>) {
    if let Some(record) = record {
        record.is_being_copied = false;
    }
}

fn lift_hold(_: &mut Preconditions, record: &mut Option<Record>) {
    if let Some(record) = record {
        record.hold = Hold::NONE;
    }
}

fn everything_wrong() -> Preconditions {
    Preconditions {
        if_none_match: ETagCondition::parse(&ETAG.quoted()),
        if_unmodified_since: Some(Timestamp(1)),
        if_tags: unmet("tags").if_tags,
        sequence_number: SequenceConditions { at_most: Some(6), ..SequenceConditions::default() },
        append_position: Some(99),
        max_size: Some(149),
        added_length: 50,
        create_only: true,
        ..Preconditions::default()
    }
}

#[test]
fn put_page_reports_the_first_fault() {
    watch(
        "PutPage",
        everything_wrong(),
        &[
            ("400 MultipleConditionHeadersNotSupported", drop_second_date),
            ("404 BlobNotFound", appear),
            ("403 UnauthorizedBlobOverwrite", may_overwrite),
            ("412 LeaseIdMissing", send_wrong_id),
            ("412 LeaseIdMismatchWithBlobOperation", send_right_id),
            ("412 ConditionNotMet", send_right_etag),
            ("412 ConditionNotMet", paint),
            ("409 InvalidBlobType", become_page_blob),
            ("409 PendingCopyOperation", end_copy),
            ("409 BlobImmutableDueToLegalHold", lift_hold),
            ("412 SequenceNumberConditionNotMet", |given, _| given.sequence_number.at_most = Some(7)),
        ],
    );
}

#[test]
fn append_block_reports_the_first_fault() {
    watch(
        "AppendBlock",
        everything_wrong(),
        &[
            ("400 MultipleConditionHeadersNotSupported", drop_second_date),
            ("404 BlobNotFound", appear),
            ("403 UnauthorizedBlobOverwrite", may_overwrite),
            ("412 LeaseIdMissing", send_right_id),
            ("412 ConditionNotMet", send_right_etag),
            ("412 ConditionNotMet", paint),
            ("409 InvalidBlobType", |given, record| {
                become_append_blob(given, record);
                seal(record, true);
            }),
            ("409 PendingCopyOperation", end_copy),
            ("409 BlobImmutableDueToLegalHold", lift_hold),
            ("409 BlobIsSealed", |_, record| seal(record, false)),
            ("412 AppendPositionConditionNotMet", |given, _| given.append_position = Some(100)),
            ("412 MaxBlobSizeConditionNotMet", |given, _| given.max_size = Some(150)),
        ],
    );
}

#[test]
fn put_blob_reports_the_first_fault() {
    fn forget_id(given: &mut Preconditions, _: &mut Option<Record>) {
        given.lease_id = None;
    }
    let given = Preconditions { lease_id: Some(id('B')), ..everything_wrong() };
    watch(
        "PutBlockBlob",
        given,
        &[
            ("400 MultipleConditionHeadersNotSupported", drop_second_date),
            ("412 LeaseNotPresentWithBlobOperation", forget_id),
            ("412 ConditionNotMet", |given, record| {
                appear(given, record);
                become_page_blob(given, record);
            }),
            ("403 UnauthorizedBlobOverwrite", may_overwrite),
            ("412 LeaseIdMissing", send_right_id),
            ("412 ConditionNotMet", send_right_etag),
            ("412 ConditionNotMet", paint),
            ("409 InvalidBlobType", |_, record| {
                if let Some(record) = record {
                    record.blob_type = Some(BlobType::Block);
                }
            }),
            ("409 PendingCopyOperation", end_copy),
            ("409 BlobImmutableDueToLegalHold", lift_hold),
        ],
    );
}

/// lease.md section 5: while a copy is pending, every write and every lease action waits; reads and the abort do not.
#[test]
fn a_pending_copy_refuses_every_write_of_its_blob() {
    let rows = Op::ALL.iter().map(|op| op.row());
    for row in rows.filter(|row| row.route.service == Service::Blob && row.route.resource == Resource::Blob) {
        let blob_type = row.policy.blob_type;
        let record = Record { is_being_copied: true, blob_type, ..Record::present() };
        let waits = row.op.writes() && row.op != Op::AbortCopyBlob;
        let wanted = if waits { "409 PendingCopyOperation" } else { "ok" };
        assert_eq!(outcome(row, &Preconditions::default(), Some(record), NEWEST), wanted, "{}", row.name());
    }
}

/// What can be done with the base of an incremental copy, whose bytes are its snapshots: the reference names the first
/// three, the others are recorded. Whatever else there is or will be is refused.
const ON_INCREMENTAL_COPIES: &str = "GetBlobProperties IncrementalCopyBlob DeleteBlob
GetBlobMetadata GetBlobTags SetBlobTags
AcquireBlobLease RenewBlobLease ChangeBlobLease ReleaseBlobLease BreakBlobLease";

#[test]
fn an_incremental_copy_refuses_whatever_is_not_named() {
    let named: Vec<&str> = ON_INCREMENTAL_COPIES.split_whitespace().collect();
    let rows = Op::ALL.iter().map(|op| op.row());
    for row in rows.filter(|row| row.route.service == Service::Blob && row.route.resource == Resource::Blob) {
        let blob_type = row.policy.blob_type;
        let record = Record { is_incremental_copy: true, blob_type, ..Record::present() };
        let wanted = match named.contains(&row.name()) {
            true => "ok",
            false => "409 OperationNotAllowedOnIncrementalCopyBlob",
        };
        assert_eq!(outcome(row, &Preconditions::default(), Some(record), NEWEST), wanted, "{}", row.name());
    }
}

#[test]
fn who_may_only_create_may_replace_uncommitted_blocks() {
    let given = Preconditions { create_only: true, ..Preconditions::default() };
    for (record, wanted) in [
        (None, "ok"),
        (Some(Record::uncommitted()), "ok"),
        (Some(Record::present()), "403 UnauthorizedBlobOverwrite"),
    ] {
        assert_eq!(outcome(row("PutBlockList"), &given, record, NEWEST), wanted);
    }
}

/// Who seals again, deletes, reads or describes a sealed blob is let through.
#[test]
fn a_seal_refuses_every_change_of_the_bytes_and_nothing_else() {
    let sealed = Record { blob_type: Some(BlobType::Append), sealed: true, ..Record::present() };
    let none = Preconditions::default();
    for name in ["PutAppendBlob", "AppendBlock", "AppendBlockFromUrl"] {
        assert_eq!(outcome(row(name), &none, Some(sealed.clone()), NEWEST), "409 BlobIsSealed", "{name}");
    }
    for name in [
        "AppendBlobSeal",
        "DeleteBlob",
        "GetBlob",
        "GetBlobProperties",
        "SetBlobMetadata",
        "SetBlobProperties",
        "SetBlobTags",
        "SnapshotBlob",
        "AcquireBlobLease",
    ] {
        assert_eq!(outcome(row(name), &none, Some(sealed.clone()), NEWEST), "ok", "{name}");
    }
}

/// conditional.md section 5.
const SEQUENCE_NUMBERS: &str = "
| Number | le 5 | lt 5 | eq 5 |
|---|---|---|---|
| 4      | ok   | ok   | 412  |
| 5      | ok   | 412  | ok   |
| 6      | 412  | 412  | 412  |
";

#[test]
fn sequence_numbers() {
    let none = SequenceConditions::default();
    for line in table(SEQUENCE_NUMBERS) {
        let record = Record { sequence_number: line.head.parse().expect("a number"), ..Record::present() };
        for (condition, cell) in &line.cells {
            let sequence_number = match *condition {
                "le 5" => SequenceConditions { at_most: Some(5), ..none },
                "lt 5" => SequenceConditions { below: Some(5), ..none },
                "eq 5" => SequenceConditions { equal: Some(5), ..none },
                other => panic!("cannot read {other:?}"),
            };
            let given = Preconditions { sequence_number, ..Preconditions::default() };
            let outcome = |name| outcome(row(name), &given, Some(record.clone()), NEWEST);
            let wanted = if *cell == "412" { "412 SequenceNumberConditionNotMet" } else { cell };
            for name in ["PutPage", "ClearPages", "PutPageFromUrl"] {
                assert_eq!(outcome(name), wanted, "{name} {condition} {}", line.head);
            }
            assert_eq!(outcome("SetBlobProperties"), "ok");
        }
    }
}

#[test]
fn append_positions_and_sizes() {
    let record = Record { length: 100, ..Record::present() };
    let outcome = |name, given| outcome(row(name), &given, Some(record.clone()), NEWEST);
    let position = |n| Preconditions { append_position: Some(n), ..Preconditions::default() };
    let size =
        |n, added| Preconditions { max_size: Some(n), added_length: added, ..Preconditions::default() };
    for name in ["AppendBlock", "AppendBlockFromUrl", "AppendBlobSeal"] {
        for (at, wanted) in [
            (99, "412 AppendPositionConditionNotMet"),
            (100, "ok"),
            (101, "412 AppendPositionConditionNotMet"),
        ] {
            assert_eq!(outcome(name, position(at)), wanted, "{name} {at}");
        }
    }
    for (limit, added, wanted) in [
        (99, 0, "412 MaxBlobSizeConditionNotMet"),
        (100, 0, "ok"),
        (100, 1, "412 MaxBlobSizeConditionNotMet"),
        (150, 50, "ok"),
        (u64::MAX, u64::MAX, "412 MaxBlobSizeConditionNotMet"),
    ] {
        assert_eq!(outcome("AppendBlock", size(limit, added)), wanted, "{limit} {added}");
    }
    assert_eq!(outcome("AppendBlobSeal", size(0, 0)), "ok");
}

#[test]
fn tier_times_guard_delete_blob() {
    let changed = Record::present().last_modified;
    let record = Record { tier_changed: Some(changed), ..Record::present() };
    let since = |date| Preconditions { tier_if_modified_since: Some(date), ..Preconditions::default() };
    let not_since = |date| Preconditions { tier_if_unmodified_since: Some(date), ..Preconditions::default() };
    let earlier = changed.plus_seconds(-1);
    for (given, wanted) in [
        (since(earlier), "ok"),
        (since(changed), "412 AccessTierChangeTimeConditionNotMet"),
        (not_since(changed), "ok"),
        (not_since(earlier), "412 AccessTierChangeTimeConditionNotMet"),
    ] {
        let outcome = |version| outcome(row("DeleteBlob"), &given, Some(record.clone()), version);
        assert_eq!(outcome(NEWEST), wanted);
        assert_eq!(outcome(ApiVersion::V2026_02_06), "ok");
    }
}

/// blob.md section 3: a blob never changes its type, and operations are of one type.
const TYPES: &[(&str, BlobType)] = &[
    ("PutBlockBlob PutBlobFromUrl PutBlock PutBlockFromUrl PutBlockList GetBlockList", BlobType::Block),
    ("PutPageBlob PutPage ClearPages PutPageFromUrl GetPageRanges", BlobType::Page),
    ("PutAppendBlob AppendBlock AppendBlockFromUrl AppendBlobSeal", BlobType::Append),
];

#[test]
fn types_of_blobs() {
    for (names, wanted) in TYPES {
        for row in super::named(names) {
            for have in [BlobType::Block, BlobType::Page, BlobType::Append] {
                let record = Record { blob_type: Some(have), ..Record::present() };
                let expected = if have == *wanted { "ok" } else { "409 InvalidBlobType" };
                let outcome = outcome(row, &Preconditions::default(), Some(record), NEWEST);
                assert_eq!(outcome, expected, "{} {have:?}", row.name());
            }
        }
    }
    let blocks = Record { blob_type: Some(BlobType::Block), ..Record::uncommitted() };
    assert_eq!(blocks.existence, Existence::Uncommitted);
    let over_blocks = outcome(row("PutPageBlob"), &Preconditions::default(), Some(blocks), NEWEST);
    assert_eq!(over_blocks, "409 InvalidBlobType");
}
