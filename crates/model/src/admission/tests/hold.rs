use super::super::{Circumstances, Hold, Preconditions};
use super::record::{Record, on_a_plain_account, outcome_in};
use super::{NEWEST, now, row, table};
use crate::blob::{ImmutabilityMode, ImmutabilityPolicy};
use crate::operation::{Op, Resource, Service};
use crate::time::Timestamp;

/// "Version-level WORM policies", scenarios: with an active policy or a legal hold Delete Blob, Set Blob Metadata and Put
/// Page are prohibited (in earlier editions Append Block too); with an expired policy Set Blob Metadata and Put Page; Put
/// Blob, Put Block List and Copy Blob create a new version. Container-level: Incremental Copy Blob, too, is prohibited.
/// Where no version is kept, what would replace a protected blob would end it.
const SCENARIOS: &str = "
| Operation           | legal hold                      | active                       | expired                      |
|---|---|---|---|
| DeleteBlob          | 409 BlobImmutableDueToLegalHold | 409 BlobImmutableDueToPolicy | ok                           |
| SetBlobMetadata     | 409 BlobImmutableDueToLegalHold | 409 BlobImmutableDueToPolicy | 409 BlobImmutableDueToPolicy |
| PutPage             | 409 BlobImmutableDueToLegalHold | 409 BlobImmutableDueToPolicy | 409 BlobImmutableDueToPolicy |
| ClearPages          | 409 BlobImmutableDueToLegalHold | 409 BlobImmutableDueToPolicy | 409 BlobImmutableDueToPolicy |
| PutPageFromUrl      | 409 BlobImmutableDueToLegalHold | 409 BlobImmutableDueToPolicy | 409 BlobImmutableDueToPolicy |
| AppendBlock         | 409 BlobImmutableDueToLegalHold | 409 BlobImmutableDueToPolicy | 409 BlobImmutableDueToPolicy |
| AppendBlockFromUrl  | 409 BlobImmutableDueToLegalHold | 409 BlobImmutableDueToPolicy | 409 BlobImmutableDueToPolicy |
| IncrementalCopyBlob | 409 BlobImmutableDueToLegalHold | 409 BlobImmutableDueToPolicy | 409 BlobImmutableDueToPolicy |
| PutBlockBlob        | kept 409 BlobImmutableDueToLegalHold | kept 409 BlobImmutableDueToPolicy | ok                |
| PutPageBlob         | kept 409 BlobImmutableDueToLegalHold | kept 409 BlobImmutableDueToPolicy | ok                |
| PutAppendBlob       | kept 409 BlobImmutableDueToLegalHold | kept 409 BlobImmutableDueToPolicy | ok                |
| PutBlockList        | kept 409 BlobImmutableDueToLegalHold | kept 409 BlobImmutableDueToPolicy | ok                |
| CopyBlob            | kept 409 BlobImmutableDueToLegalHold | kept 409 BlobImmutableDueToPolicy | ok                |
| CopyBlobFromUrl     | kept 409 BlobImmutableDueToLegalHold | kept 409 BlobImmutableDueToPolicy | ok                |
| PutBlobFromUrl      | kept 409 BlobImmutableDueToLegalHold | kept 409 BlobImmutableDueToPolicy | ok                |
";

fn policy(until: Timestamp, mode: ImmutabilityMode) -> Option<ImmutabilityPolicy> {
    Some(ImmutabilityPolicy { until, mode })
}

/// Everything that a column stands for, boundaries included.
fn holds(column: &str) -> Vec<Hold> {
    use ImmutabilityMode::{Locked, Unlocked};
    let (later, next) = (now().plus_seconds(60), Timestamp(now().0 + 1));
    let not_legal = |policy| Hold { legal: false, policy };
    match column {
        "legal hold" => [None, policy(later, Locked), policy(now(), Unlocked)]
            .map(|policy| Hold { legal: true, policy })
            .to_vec(),
        "active" => [(later, Unlocked), (later, Locked), (next, Unlocked), (next, Locked)]
            .map(|(until, mode)| not_legal(policy(until, mode)))
            .to_vec(),
        "expired" => [(now(), Unlocked), (now(), Locked), (now().plus_seconds(-60), Locked)]
            .map(|(until, mode)| not_legal(policy(until, mode)))
            .to_vec(),
        other => panic!("no such column: {other}"),
    }
}

fn outcome(op: Op, hold: Hold, given: &Preconditions, keeps_versions: bool) -> String {
    let row = op.row();
    let record = Record { hold, blob_type: row.policy.blob_type, ..Record::present() };
    let circumstances = Circumstances { keeps_versions, ..on_a_plain_account(NEWEST) };
    outcome_in(row, given, Some(record), circumstances)
}

#[test]
fn what_is_held_is_kept_from_what_is_prohibited_and_from_nothing_else() {
    let scenarios = table(SCENARIOS);
    let given = Preconditions::default();
    let blobs = |op: &&Op| {
        let route = &op.row().route;
        route.service == Service::Blob && route.resource == Resource::Blob
    };
    for op in Op::ALL.iter().filter(blobs) {
        let line = scenarios.iter().find(|line| line.head == op.name());
        for column in ["legal hold", "active", "expired"] {
            let cell = line.and_then(|line| line.cells.iter().find(|(title, _)| *title == column));
            let cell = cell.map_or("ok", |(_, cell)| cell);
            // With versions, what is replaced is kept.
            let (kept, plain) = match cell.strip_prefix("kept ") {
                Some(refusal) => ("ok", refusal),
                None => (cell, cell),
            };
            for hold in holds(column) {
                assert_eq!(outcome(*op, hold, &given, false), plain, "{} {hold:?}", op.name());
                assert_eq!(outcome(*op, hold, &given, true), kept, "{} {hold:?}, versions", op.name());
            }
        }
        assert_eq!(outcome(*op, Hold::NONE, &given, false), "ok", "{}", op.name());
    }
    assert!(scenarios.iter().all(|line| row(line.head).op.writes()));
}

/// Set Blob Properties is not prohibited; the bytes that a new length cuts off would be lost.
#[test]
fn a_held_page_blob_keeps_its_length() {
    let resizes = Preconditions { resizes: true, ..Preconditions::default() };
    for hold in [holds("legal hold"), holds("active"), holds("expired")].concat() {
        let refused = outcome(Op::SetBlobProperties, hold, &resizes, true);
        assert!(refused.starts_with("409 BlobImmutableDueTo"), "{hold:?}: {refused}");
    }
    assert_eq!(outcome(Op::SetBlobProperties, Hold::NONE, &resizes, true), "ok");
}

/// blob.md section 9: a locked policy can only be prolonged.
const CHANGES: &str = "
| From     | unlocked, earlier | unlocked, later | locked, earlier          | locked, same | locked, later | none |
|---|---|---|---|---|---|---|
| unlocked | ok                | ok              | ok                       | ok           | ok            | ok   |
| locked   | BlobImmutableDueToPolicy | BlobImmutableDueToPolicy | BlobImmutableDueToPolicy | ok | ok | ImmutabilityPolicyDeleteOnLockedPolicy |
";

#[test]
fn a_locked_policy_can_only_be_prolonged() {
    let mode = |word: &str| match word {
        "locked" => ImmutabilityMode::Locked,
        _ => ImmutabilityMode::Unlocked,
    };
    for line in table(CHANGES) {
        let from = ImmutabilityPolicy { until: now(), mode: mode(line.head) };
        for (to, cell) in line.cells {
            let outcome = match to.split_once(", ") {
                None => from.permits_removal(),
                Some((word, when)) => {
                    let seconds = ["earlier", "same", "later"].iter().position(|known| *known == when);
                    let until = now().plus_seconds(seconds.expect("a time") as i64 - 1);
                    from.permits(ImmutabilityPolicy { until, mode: mode(word) })
                }
            };
            let outcome = outcome.map_or_else(|code| code.name(), |()| "ok");
            assert_eq!(outcome, cell, "{} to {to}", line.head);
        }
    }
}
