use lazuli_model::operation::Op;

use super::*;
use crate::testing::{asking, head};

const AT: &str = "2011-03-09T01:42:34.9360000Z";

fn said(head: &Head, op: Op) -> Option<ErrorCode> {
    check(head, op.row()).err().map(|failure| failure.code)
}

#[test]
fn a_snapshot_is_a_time_and_not_for_every_operation() {
    let read = asking(&format!("snapshot={AT}"));
    assert_eq!(said(&read, Op::GetBlob), None);
    assert_eq!(Some(state(&read)), Timestamp::parse_snapshot(AT).map(BlobState::Snapshot));
    assert_eq!(said(&read, Op::PutBlockBlob), Some(ErrorCode::InvalidQueryParameterValue));
    assert_eq!(said(&asking("snapshot=yesterday"), Op::GetBlob), Some(ErrorCode::InvalidQueryParameterValue));
    // An empty one is none.
    assert_eq!(said(&asking("snapshot="), Op::PutBlockBlob), None);
    // But not where all would be deleted in place of one.
    for empty in ["snapshot=", "versionid=", "versionid", "snapshot=&snapshot=2011-03-09T01:42:34.9360000Z"] {
        assert_eq!(
            said(&asking(empty), Op::DeleteBlob),
            Some(ErrorCode::InvalidQueryParameterValue),
            "{empty}"
        );
    }
}

#[test]
fn a_version_is_a_time_and_not_for_every_operation() {
    let version = asking(&format!("VersionId={AT}"));
    for op in [Op::GetBlob, Op::DeleteBlob, Op::SetBlobTier, Op::SetBlobTags] {
        assert_eq!(said(&version, op), None, "{op:?}");
    }
    assert_eq!(Some(state(&version)), Timestamp::parse_snapshot(AT).map(BlobState::Version));
    assert_eq!(said(&version, Op::PutBlockBlob), Some(ErrorCode::InvalidQueryParameterValue));
    assert_eq!(said(&asking("versionid=1"), Op::GetBlob), Some(ErrorCode::InvalidQueryParameterValue));
    let both = asking(&format!("snapshot={AT}&versionid={AT}"));
    assert_eq!(said(&both, Op::GetBlob), Some(ErrorCode::MutuallyExclusiveQueryParameters));
}

/// Recorded, with this reason.
#[test]
fn a_delete_of_all_snapshots_is_asked_of_the_base() {
    for (name, reason) in [("snapshot", "Snapshot"), ("versionid", "Version id")] {
        let asked = asking(&format!("{name}={AT}"));
        let asked = Head { headers: head(&[("x-ms-delete-snapshots", "include")]).headers, ..asked };
        let failure = check(&asked, Op::DeleteBlob.row()).unwrap_err();
        assert_eq!(failure.code, ErrorCode::InvalidQueryParameterValue);
        let reason =
            format!("This operation is only allowed on the root blob. {reason} should not be provided.");
        assert!(failure.details.iter().any(|(name, text)| *name == "Reason" && *text == reason));
    }
}

/// The parameters mean nothing to other services.
#[test]
fn other_services_do_not_look() {
    assert_eq!(said(&asking(&format!("snapshot={AT}&versionid={AT}")), Op::PutMessage), None);
}
