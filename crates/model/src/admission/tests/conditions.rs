use super::super::{Existence, Preconditions, UNCOMMITTED};
use super::record::{Record, outcome};
use super::{ETAG, Line, NEWEST, id, leases, named, now, row, table};
use crate::etag::{ETag, ETagCondition};
use crate::operation::{Conditions, Row, Rule, Service, rows};
use crate::tags::{TagExpression, Tags};
use crate::time::Timestamp;
use crate::version::ApiVersion;

/// The classes of operations that conditional.md section 2 tells apart.
const READS: &str = "GetBlob GetBlobProperties GetBlobMetadata GetPageRanges QueryBlobContents";
const CREATES: &str = "PutBlockBlob PutPageBlob PutAppendBlob PutBlockList";
/// Creating too, with codes of their own; see [`COPIES`].
const COPY_CREATES: &str = "PutBlobFromUrl CopyBlob CopyBlobFromUrl IncrementalCopyBlob";
const NEEDS: &str = "
    SetBlobProperties SnapshotBlob PutPage ClearPages AppendBlock AppendBlockFromUrl AppendBlobSeal";
/// As [`NEEDS`], with a code of its own for If-Match (recorded).
const COPY_NEEDS: &str = "PutPageFromUrl";
const SET_METADATA: &str = "SetBlobMetadata";
/// These find a blob that has uncommitted blocks only.
const FINDS_UNCOMMITTED: &str =
    "AcquireBlobLease RenewBlobLease ChangeBlobLease ReleaseBlobLease BreakBlobLease DeleteBlob";

/// What a request says in one header, in the words of the tables: "-" is absent.
#[derive(Debug, Clone, Copy)]
struct Said {
    if_match: &'static str,
    if_unmodified_since: &'static str,
    if_none_match: &'static str,
    if_modified_since: &'static str,
}

const ETAG_WORDS: [&str; 4] = ["-", "ok", "fail", "*"];
const DATE_WORDS: [&str; 3] = ["-", "ok", "fail"];

fn everything_said() -> Vec<Said> {
    let mut all = Vec::new();
    for if_match in ETAG_WORDS {
        for if_unmodified_since in DATE_WORDS {
            for if_none_match in ETAG_WORDS {
                for if_modified_since in DATE_WORDS {
                    all.push(Said { if_match, if_unmodified_since, if_none_match, if_modified_since });
                }
            }
        }
    }
    all
}

fn etags(etag: ETag) -> Option<ETagCondition> {
    ETagCondition::parse(&etag.quoted())
}

/// Headers that are met, or not, by a target with this ETag and date.
fn given(said: Said, etag: ETag, date: Timestamp) -> Preconditions {
    let other = ETag(etag.0 + 1);
    let etag_word = |word, ok, fail| match word {
        "-" => None,
        "ok" => etags(ok),
        "fail" => etags(fail),
        "*" => Some(ETagCondition::Any),
        other => panic!("cannot read {other:?}"),
    };
    let date_word = |word, ok, fail| match word {
        "-" => None,
        "ok" => Some(ok),
        "fail" => Some(fail),
        other => panic!("cannot read {other:?}"),
    };
    Preconditions {
        if_match: etag_word(said.if_match, etag, other),
        if_none_match: etag_word(said.if_none_match, other, etag),
        // A second apart is enough, and the same second is not: the fraction does not count.
        if_modified_since: date_word(said.if_modified_since, date.plus_seconds(-1), date.whole_seconds()),
        if_unmodified_since: date_word(said.if_unmodified_since, date.whole_seconds(), date.plus_seconds(-1)),
        ..Preconditions::default()
    }
}

fn target(word: &str) -> Option<Record> {
    match word {
        "absent" => None,
        "uncommitted" => Some(Record::uncommitted()),
        "present" => Some(Record::present()),
        other => panic!("cannot read {other:?}"),
    }
}

const TARGETS: [&str; 3] = ["absent", "uncommitted", "present"];

fn given_for(said: Said, record: Option<&Record>) -> Preconditions {
    match record.map(|record| record.existence) {
        Some(Existence::Uncommitted) => given(said, UNCOMMITTED.0, UNCOMMITTED.1),
        _ => given(said, ETAG, Record::present().last_modified),
    }
}

/// Reads, version 2013-08-15 and later.
const R_RULE: &str = "
| If-Match  | If-Unmod  | If-None-Match | If-Mod | Result |
|---|---|---|---|---|
| fail      | any       | any    | any    | 412 |
| ok/absent | fail      | any    | any    | 412 |
| ok/absent | ok/absent | fail   | absent | 304 |
| ok/absent | ok/absent | absent | fail   | 304 |
| ok/absent | ok/absent | fail   | fail   | 304 |
| ok/absent | ok/absent | fail   | ok     | 200 |
| ok/absent | ok/absent | ok     | fail   | 200 |
| ok/absent | ok/absent | ok     | ok     | 200 |
| ok/absent | ok/absent | ok     | absent | 200 |
| ok/absent | ok/absent | absent | ok     | 200 |
| ok/absent | ok/absent | absent | absent | 200 |
";

/// Exactly one line of the table speaks of these headers.
fn read_result(said: Said) -> String {
    let fits = |cell: &str, word: &str| {
        let word = match word {
            "-" => "absent",
            "*" => "ok",
            word => word,
        };
        cell == "any" || cell.split('/').any(|cell| cell == word)
    };
    let lines: Vec<Line<'_>> = table(R_RULE)
        .into_iter()
        .filter(|line| {
            fits(line.head, said.if_match)
                && fits(line.cells[0].1, said.if_unmodified_since)
                && fits(line.cells[1].1, said.if_none_match)
                && fits(line.cells[2].1, said.if_modified_since)
        })
        .collect();
    assert_eq!(lines.len(), 1, "{said:?}");
    match lines[0].cells[3].1 {
        "200" => "ok".to_owned(),
        status => format!("{status} ConditionNotMet"),
    }
}

#[test]
fn reads_combine_everything() {
    for row in named(READS) {
        for said in everything_said() {
            for word in TARGETS {
                let record = target(word);
                let wanted = match (said.if_none_match, word) {
                    ("*", _) => "400 UnsatisfiableCondition".to_owned(),
                    (_, "present") => read_result(said),
                    _ => "404 BlobNotFound".to_owned(),
                };
                let given = given_for(said, record.as_ref());
                for version in [NEWEST, ApiVersion::V2016_05_31] {
                    assert_eq!(
                        outcome(row, &given, record.clone(), version),
                        wanted,
                        "{} {said:?}",
                        row.name()
                    );
                }
            }
        }
    }
}

#[test]
fn reads_ignored_the_wildcard_before_2016_05_31() {
    for said in everything_said().into_iter().filter(|said| said.if_none_match == "*") {
        let given = given_for(said, None);
        let wanted = read_result(Said { if_none_match: "-", ..said });
        let outcome = outcome(row("GetBlob"), &given, Some(Record::present()), ApiVersion::V2015_12_11);
        assert_eq!(outcome, wanted, "{said:?}");
    }
}

/// Writes, and reads before 2013-08-15: which header of several is judged. y = sent.
const W_RULE: &str = "
| If-Match | If-Unmod | If-None-Match | If-Mod | Judged |
|---|---|---|---|---|
| - | - | - | - | none |
| y | - | - | - | If-Match |
| - | y | - | - | If-Unmod |
| - | - | y | - | If-None-Match |
| - | - | - | y | If-Mod |
| y | y | - | - | If-Match |
| - | - | y | y | If-None-Match |
| y | - | y | - | 400 MultipleConditionHeadersNotSupported |
| y | - | - | y | 400 MultipleConditionHeadersNotSupported |
| - | y | y | - | 400 MultipleConditionHeadersNotSupported |
| - | y | - | y | 400 MultipleConditionHeadersNotSupported |
| y | y | y | - | 400 MultipleConditionHeadersNotSupported |
| y | y | - | y | 400 MultipleConditionHeadersNotSupported |
| y | - | y | y | 400 MultipleConditionHeadersNotSupported |
| - | y | y | y | 400 MultipleConditionHeadersNotSupported |
| y | y | y | y | 400 MultipleConditionHeadersNotSupported |
";

fn judged(said: Said) -> &'static str {
    let sent = |word| if word == "-" { "-" } else { "y" };
    let words = [
        sent(said.if_match),
        sent(said.if_unmodified_since),
        sent(said.if_none_match),
        sent(said.if_modified_since),
    ];
    let line = table(W_RULE)
        .into_iter()
        .find(|line| [line.head, line.cells[0].1, line.cells[1].1, line.cells[2].1] == words)
        .expect("all sixteen are there");
    line.cells[3].1
}

fn word_of(said: Said, header: &str) -> String {
    let word = match header {
        "none" => return "none".to_owned(),
        "If-Match" => said.if_match,
        "If-Unmod" => said.if_unmodified_since,
        "If-None-Match" => said.if_none_match,
        "If-Mod" => said.if_modified_since,
        other => panic!("cannot read {other:?}"),
    };
    format!("{header} {word}")
}

/// What the judged header gives, by target. The ETag and the date of uncommitted blocks are those of 1601.
const CREATING: &str = "
| Header             | absent              | uncommitted         | present               |
|---|---|---|---|
| none               | ok                  | ok                  | ok                    |
| If-Match ok        | 412 ConditionNotMet | ok                  | ok                    |
| If-Match fail      | 412 ConditionNotMet | 412 ConditionNotMet | 412 ConditionNotMet   |
| If-Match *         | 412 ConditionNotMet | 412 ConditionNotMet | ok                    |
| If-None-Match ok   | ok                  | ok                  | ok                    |
| If-None-Match fail | ok                  | 412 ConditionNotMet | 412 ConditionNotMet   |
| If-None-Match *    | ok                  | ok                  | 409 BlobAlreadyExists |
| If-Mod ok          | ok                  | ok                  | ok                    |
| If-Mod fail        | ok                  | 412 ConditionNotMet | 412 ConditionNotMet   |
| If-Unmod ok        | ok                  | ok                  | ok                    |
| If-Unmod fail      | ok                  | 412 ConditionNotMet | 412 ConditionNotMet   |
";

const NEEDING: &str = "
| Header             | absent           | uncommitted      | present             |
|---|---|---|---|
| none               | 404 BlobNotFound | 404 BlobNotFound | ok                  |
| If-Match ok        | 404 BlobNotFound | 404 BlobNotFound | ok                  |
| If-Match fail      | 404 BlobNotFound | 404 BlobNotFound | 412 ConditionNotMet |
| If-Match *         | 404 BlobNotFound | 404 BlobNotFound | ok                  |
| If-None-Match ok   | 404 BlobNotFound | 404 BlobNotFound | ok                  |
| If-None-Match fail | 404 BlobNotFound | 404 BlobNotFound | 412 ConditionNotMet |
| If-None-Match *    | 404 BlobNotFound | 404 BlobNotFound | ok                  |
| If-Mod ok          | 404 BlobNotFound | 404 BlobNotFound | ok                  |
| If-Mod fail        | 404 BlobNotFound | 404 BlobNotFound | 412 ConditionNotMet |
| If-Unmod ok        | 404 BlobNotFound | 404 BlobNotFound | ok                  |
| If-Unmod fail      | 404 BlobNotFound | 404 BlobNotFound | 412 ConditionNotMet |
";

fn try_writes(rows: &[&Row], text: &str, exception: impl Fn(&str, &str) -> Option<&'static str>) {
    let lines = table(text);
    for row in rows {
        for said in everything_said() {
            for word in TARGETS {
                let judged = judged(said);
                let wanted = if judged.starts_with("400") {
                    judged.to_owned()
                } else {
                    let head = word_of(said, judged);
                    let line = lines.iter().find(|line| line.head == head).expect("a line");
                    let cell = line.cells.iter().find(|(title, _)| *title == word).expect("a column").1;
                    exception(&head, word).unwrap_or(cell).to_owned()
                };
                let record = target(word);
                let given = given_for(said, record.as_ref());
                let at = format!("{} {said:?} {word}", row.name());
                assert_eq!(outcome(row, &given, record, NEWEST), wanted, "{at}");
            }
        }
    }
}

#[test]
fn writes_that_create() {
    try_writes(&named(CREATES), CREATING, |_, _| None);
}

#[test]
fn writes_that_need_the_blob() {
    try_writes(&named(NEEDS), NEEDING, |_, _| None);
}

#[test]
fn put_page_from_url_needs_the_blob() {
    let exception = |head: &str, target: &str| {
        (head == "If-Match fail" && target == "present").then_some("412 TargetConditionNotMet")
    };
    try_writes(&named(COPY_NEEDS), NEEDING, exception);
}

#[test]
fn set_blob_metadata_honours_the_wildcard() {
    // One owner per partition: see check_none_match_any.
    let exception = |head: &str, target: &str| {
        (head == "If-None-Match *" && target == "present").then_some("412 ConditionNotMet")
    };
    try_writes(&named(SET_METADATA), NEEDING, exception);
}

#[test]
fn writes_that_find_uncommitted_blocks() {
    // As those that create where there are blocks, and as those that need the blob elsewhere.
    for (word, text) in [("absent", NEEDING), ("uncommitted", CREATING), ("present", NEEDING)] {
        for row in named(FINDS_UNCOMMITTED) {
            for line in table(text) {
                let said = everything_said().into_iter().find(|said| {
                    !judged(*said).starts_with("400") && word_of(*said, judged(*said)) == line.head
                });
                let record = target(word);
                let given = given_for(said.expect("a request"), record.as_ref());
                let cell = line.cells.iter().find(|(title, _)| *title == word).expect("a column").1;
                assert_eq!(outcome(row, &given, record, NEWEST), cell, "{} {} {word}", row.name(), line.head);
            }
        }
    }
}

#[test]
fn the_classes_are_all_there_is() {
    let listed = [READS, CREATES, COPY_CREATES, NEEDS, COPY_NEEDS, SET_METADATA, FINDS_UNCOMMITTED]
        .map(named)
        .concat();
    for row in rows(Service::Blob) {
        assert_eq!(row.policy.conditions.has(Conditions::ET), listed.contains(&row), "{}", row.name());
        let is_read = row.policy.rule == Rule::Read;
        assert!(!listed.contains(&row) || is_read == named(READS).contains(&row), "{}", row.name());
    }
}

/// One header that [`Record::present`] does not meet.
pub(super) fn unmet(header: &str) -> Preconditions {
    let said = Said { if_match: "-", if_unmodified_since: "-", if_none_match: "-", if_modified_since: "-" };
    let said = match header {
        "If-Match" => Said { if_match: "fail", ..said },
        "If-None-Match" => Said { if_none_match: "fail", ..said },
        "If-None-Match *" => Said { if_none_match: "*", ..said },
        "If-Mod" => Said { if_modified_since: "fail", ..said },
        "If-Unmod" => Said { if_unmodified_since: "fail", ..said },
        "tags" => said,
        other => panic!("cannot read {other:?}"),
    };
    let mut given = given_for(said, None);
    if header == "tags" {
        given.if_tags = Some(TagExpression::parse("\"colour\" = 'red'").expect("an expression"));
    }
    given
}

#[test]
fn dates_of_containers_are_judged_as_in_any_write() {
    for name in ["DeleteContainer", "SetContainerAcl", "AcquireContainerLease"] {
        for said in everything_said() {
            if said.if_match != "-" || said.if_none_match != "-" {
                continue;
            }
            let judged = judged(said);
            let wanted = match judged {
                judged if judged.starts_with("400") => judged,
                judged if word_of(said, judged).ends_with("fail") => "412 ConditionNotMet",
                _ => "ok",
            };
            let given = given_for(said, None);
            assert_eq!(
                outcome(row(name), &given, Some(Record::present()), NEWEST),
                wanted,
                "{name} {said:?}"
            );
            let absent = if wanted.starts_with("400") { wanted } else { "404 ContainerNotFound" };
            assert_eq!(outcome(row(name), &given, None, NEWEST), absent, "{name} {said:?}");
        }
    }
}

#[test]
fn reads_before_2013_08_15_combine_as_writes_do() {
    let version = ApiVersion::V2012_02_12;
    for said in everything_said() {
        let judged = judged(said);
        let head = if judged.starts_with("400") { String::new() } else { word_of(said, judged) };
        let wanted = match head.as_str() {
            "" => judged,
            "If-Match fail" | "If-Unmod fail" => "412 ConditionNotMet",
            "If-None-Match fail" | "If-Mod fail" => "304 ConditionNotMet",
            _ => "ok",
        };
        let outcome = outcome(row("GetBlob"), &given_for(said, None), Some(Record::present()), version);
        assert_eq!(outcome, wanted, "{said:?}");
    }
}

#[test]
fn lists_of_etags() {
    let list = |text: &str| ETagCondition::parse(&text.replace("current", &ETAG.to_string()));
    let read = |given: Preconditions| outcome(row("GetBlob"), &given, Some(Record::present()), NEWEST);
    let write =
        |given: Preconditions| outcome(row("SetBlobProperties"), &given, Some(Record::present()), NEWEST);
    let matching = |text| Preconditions { if_match: list(text), ..Preconditions::default() };
    let none_matching = |text| Preconditions { if_none_match: list(text), ..Preconditions::default() };

    assert_eq!(read(matching("\"a\", \"current\"")), "ok");
    assert_eq!(read(matching("\"a\", \"b\"")), "412 ConditionNotMet");
    assert_eq!(read(none_matching("\"a\", \"b\"")), "ok");
    assert_eq!(read(none_matching("\"a\", \"current\"")), "304 ConditionNotMet");
    for given in [matching("\"a\", \"current\""), none_matching("\"a\", \"b\"")] {
        assert_eq!(write(given), "400 MultipleConditionHeadersNotSupported");
    }
    // Unquoted is as good as quoted; foreign values are legal and match nothing.
    assert_eq!(write(matching("current")), "ok");
    assert_eq!(write(matching("garbage")), "412 ConditionNotMet");
    assert_eq!(write(none_matching("garbage")), "ok");
    assert_eq!(write(matching("W/\"current\"")), "412 ConditionNotMet");
}

/// Recorded: the holder of the lease that locks the blob overwrites in spite of If-None-Match: *.
const WILDCARD_AND_LEASE: &str = "
| Sent  | Available | Leased(A) | Breaking(A) | Broken(A) | Expired(A) |
|---|---|---|---|---|---|
| id A  | 412 LeaseNotPresentWithBlobOperation | ok | ok | 412 LeaseLost | 412 LeaseLost |
| id B  | 412 LeaseNotPresentWithBlobOperation | 412 LeaseIdMismatchWithBlobOperation | 412 LeaseIdMismatchWithBlobOperation | 412 LeaseLost | 412 LeaseLost |
| no id | 409 BlobAlreadyExists | 412 LeaseIdMissing | 412 LeaseIdMissing | 409 BlobAlreadyExists | 409 BlobAlreadyExists |
";

#[test]
fn the_wildcard_and_the_lease() {
    for row in named("PutBlockBlob PutBlockList PutBlobFromUrl") {
        for line in table(WILDCARD_AND_LEASE) {
            let lease_id = match line.head {
                "id A" => Some(id('A')),
                "id B" => Some(id('B')),
                _ => None,
            };
            for (state, cell) in &line.cells {
                for lease in leases(state) {
                    let given = Preconditions { lease_id, ..unmet("If-None-Match *") };
                    let record = Record { lease, ..Record::present() };
                    assert_eq!(
                        outcome(row, &given, Some(record), NEWEST),
                        *cell,
                        "{} {}",
                        row.name(),
                        line.head
                    );
                }
            }
        }
    }
}

#[test]
fn dates_are_judged_on_whole_seconds() {
    let second = now().whole_seconds();
    let at = |fraction| Some(Record { last_modified: Timestamp(second.0 + fraction), ..Record::present() });
    for fraction in [0, 1, 9_999_999] {
        let since = |date| Preconditions { if_modified_since: Some(date), ..Preconditions::default() };
        let unmodified = |date| Preconditions { if_unmodified_since: Some(date), ..Preconditions::default() };
        let write = |given| outcome(row("SetBlobProperties"), &given, at(fraction), NEWEST);
        assert_eq!(write(since(second)), "412 ConditionNotMet");
        assert_eq!(write(since(second.plus_seconds(-1))), "ok");
        assert_eq!(write(since(second.plus_seconds(100_000))), "412 ConditionNotMet");
        assert_eq!(write(unmodified(second)), "ok");
        assert_eq!(write(unmodified(second.plus_seconds(-1))), "412 ConditionNotMet");
    }
}

#[test]
fn tags_of_the_target() {
    let red = Tags::parse_header("colour=red").expect("tags");
    let given = unmet("tags");
    let record = |tags: &Tags| Some(Record { tags: tags.clone(), ..Record::present() });
    for row in named("PutBlockBlob GetBlob SetBlobTags DeleteBlob AcquireBlobLease SetBlobTier GetBlockList")
    {
        assert_eq!(outcome(row, &given, record(&red), NEWEST), "ok", "{}", row.name());
        let blue = Tags::parse_header("colour=blue").expect("tags");
        for tags in [Tags::default(), blue] {
            assert_eq!(outcome(row, &given, record(&tags), NEWEST), "412 ConditionNotMet", "{}", row.name());
        }
    }
    // What does not exist has no tags.
    assert_eq!(outcome(row("PutBlockBlob"), &given, None, NEWEST), "412 ConditionNotMet");
}
