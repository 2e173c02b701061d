use super::super::{Lease, LeaseDuration, LeaseId, Preconditions, Target, admit_source};
use super::{ETAG, now, printed, row, table};
use crate::etag::{ETag, ETagCondition};
use crate::tags::{TagExpression, Tags};

/// conditional.md section 3, all recorded.
const SOURCES: &str = "
| Operation          | source-if-match           | source-if-none-match       | source-if-modified-since   | source-if-unmodified-since | source-if-tags      |
|---|---|---|---|---|---|
| CopyBlob           | 412 SourceConditionNotMet  | 412 SourceConditionNotMet  | 412 SourceConditionNotMet  | 412 SourceConditionNotMet  | 412 ConditionNotMet |
| PutBlobFromUrl     | 412 SourceConditionNotMet  | 304 CannotVerifyCopySource | 304 CannotVerifyCopySource | 412 CannotVerifyCopySource | 412 ConditionNotMet |
| PutBlockFromUrl    | 412 SourceConditionNotMet  | 304 CannotVerifyCopySource | 304 CannotVerifyCopySource | 412 CannotVerifyCopySource | 412 ConditionNotMet |
| CopyBlobFromUrl    | 412 SourceConditionNotMet  | 304 CannotVerifyCopySource | 304 CannotVerifyCopySource | 412 CannotVerifyCopySource | 412 ConditionNotMet |
| AppendBlockFromUrl | 412 CannotVerifyCopySource | 304 CannotVerifyCopySource | 304 CannotVerifyCopySource | 412 CannotVerifyCopySource | 412 ConditionNotMet |
| PutPageFromUrl     | 412 CannotVerifyCopySource | 304 CannotVerifyCopySource | 304 CannotVerifyCopySource | 412 CannotVerifyCopySource | 412 ConditionNotMet |
";

fn given(header: &str, is_met: bool) -> Preconditions {
    let none = Preconditions::default();
    let date = now();
    let etag = |is_current: bool| ETagCondition::parse(&ETag(ETAG.0 + u64::from(!is_current)).quoted());
    match header {
        "source-if-match" => Preconditions { if_match: etag(is_met), ..none },
        "source-if-none-match" => Preconditions { if_none_match: etag(!is_met), ..none },
        "source-if-modified-since" => {
            let since = date.plus_seconds(-i64::from(is_met));
            Preconditions { if_modified_since: Some(since), ..none }
        }
        "source-if-unmodified-since" => {
            let since = date.plus_seconds(-i64::from(!is_met));
            Preconditions { if_unmodified_since: Some(since), ..none }
        }
        "source-if-tags" => {
            let text = if is_met { "a = '1'" } else { "a = '2'" };
            Preconditions { if_tags: TagExpression::parse(text).ok(), ..none }
        }
        other => panic!("cannot read {other:?}"),
    }
}

#[test]
fn every_source_condition_of_every_copy() {
    let tags = Tags::parse_header("a=1").expect("tags");
    let source = Target { tags: Some(&tags), ..Target::present(ETAG, now()) };
    for line in table(SOURCES) {
        for (header, cell) in &line.cells {
            let unmet = admit_source(&row(line.head).policy, &given(header, false), &source, now());
            assert_eq!(printed(&unmet.expect_err(header)), *cell, "{} {header}", line.head);
            assert!(
                admit_source(&row(line.head).policy, &given(header, true), &source, now()).is_ok(),
                "{header}"
            );
        }
    }
    assert!(
        admit_source(&row("PutBlockBlob").policy, &given("source-if-match", false), &source, now()).is_ok()
    );
}

/// A source that is leased may be read without its id; one that the request names must be the right one.
#[test]
fn the_lease_of_a_source_is_a_condition_when_it_is_given() {
    let id = |n| LeaseId(uuid::Uuid::from_u128(n));
    let held = Lease { id: id(1), duration: LeaseDuration::Infinite, expires: None, breaks: None };
    let judge = |lease: Option<&Lease>, given: Option<LeaseId>| {
        let source = Target { lease, ..Target::present(ETAG, now()) };
        let given = Preconditions { lease_id: given, ..Preconditions::default() };
        admit_source(&row("CopyBlob").policy, &given, &source, now()).map_err(|failure| printed(&failure))
    };
    assert_eq!(judge(Some(&held), None), Ok(()));
    assert_eq!(judge(Some(&held), Some(id(1))), Ok(()));
    assert_eq!(judge(Some(&held), Some(id(2))), Err("412 LeaseIdMismatchWithBlobOperation".to_owned()));
    assert_eq!(judge(None, Some(id(1))), Err("412 LeaseNotPresentWithBlobOperation".to_owned()));
}
