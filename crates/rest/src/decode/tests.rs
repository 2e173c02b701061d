use super::*;
use crate::testing::{asking, head};

fn named(failure: Failure) -> (ErrorCode, String) {
    (failure.code, failure.details.first().map(|(_, value)| value.clone()).unwrap_or_default())
}

#[test]
fn metadata_is_spelled_as_sent_where_that_is_known() {
    let mut head = head(&[("x-ms-meta-colour", " dark blue "), ("x-ms-meta-size", "1")]);
    head.metadata_names = vec!["Colour".into()];
    let pairs = metadata(&head).unwrap().into_pairs();
    assert_eq!(pairs, [("Colour".to_owned(), "dark blue".to_owned()), ("size".to_owned(), "1".to_owned())]);
}

#[test]
fn an_empty_metadata_name_is_refused_with_its_value() {
    let failure = metadata(&head(&[("x-ms-meta-", "v")])).unwrap_err();
    assert_eq!(named(failure), (ErrorCode::EmptyMetadataKey, "v".into()));
}

#[test]
fn checks_of_the_body() {
    let check = |headers: &[(&str, &str)]| digests(&head(headers));
    let md5 = ("content-md5", "XUFAKrxLKna5cZ2REBfFkg==");
    let crc64 = ("x-ms-content-crc64", "iJh5CoYUi64=");
    assert!(check(&[md5]).unwrap().md5.is_some());
    assert_eq!(check(&[crc64]).unwrap().crc64, Some(0xAE8B_1486_0A79_9888));
    assert_eq!(check(&[md5, crc64]).unwrap_err().code, ErrorCode::BothCrc64AndMd5HeaderPresent);
    assert_eq!(check(&[("content-md5", "abc=")]).unwrap_err().code, ErrorCode::InvalidMd5);
    assert_eq!(check(&[("x-ms-content-crc64", "AAAA")]).unwrap_err().code, ErrorCode::InvalidHeaderValue);
}

/// lease.md: 15 to 60 seconds or -1; break periods 0 to 60.
#[test]
fn lease_headers() {
    let action = |op: Op, headers: &[(&str, &str)]| lease_action(&head(headers), op.row());
    for (text, good) in
        [("15", true), ("60", true), ("-1", true), ("14", false), ("61", false), ("0", false), ("x", false)]
    {
        let found = action(Op::AcquireBlobLease, &[("x-ms-lease-duration", text)]);
        assert_eq!(found.is_ok(), good, "{text}");
    }
    let missing = action(Op::AcquireBlobLease, &[]).unwrap_err();
    assert_eq!(named(missing), (ErrorCode::MissingRequiredHeader, "x-ms-lease-duration".into()));
    for (text, good) in [("0", true), ("60", true), ("61", false), ("-1", false)] {
        assert_eq!(action(Op::BreakBlobLease, &[("x-ms-lease-break-period", text)]).is_ok(), good, "{text}");
    }
    assert_eq!(action(Op::BreakContainerLease, &[]).unwrap(), LeaseAction::Break { period: None });
    let missing = action(Op::ReleaseBlobLease, &[]).unwrap_err();
    assert_eq!(named(missing), (ErrorCode::MissingRequiredHeader, "x-ms-lease-id".into()));
    let id = "6d7de422-88ff-92db-7c29-0ea85281ec87";
    let missing = action(Op::ChangeBlobLease, &[("x-ms-lease-id", id)]).unwrap_err();
    assert_eq!(named(missing), (ErrorCode::MissingRequiredHeader, "x-ms-proposed-lease-id".into()));
}

#[test]
fn the_own_range_header_wins() {
    let both = head(&[("range", "bytes=0-1"), ("x-ms-range", "bytes=2-")]);
    assert_eq!(range(&both), Some(ByteRange { start: 2, end: None }));
    assert_eq!(range(&head(&[("range", "bytes=-5")])), None);
    assert_eq!(range(&head(&[("range", "bytes=0-1,3-4")])), None);
}

#[test]
fn parameters_of_lists() {
    assert_eq!(max_results(&asking(""), 5000).unwrap(), 5000);
    assert_eq!(max_results(&asking("maxresults=7"), 5000).unwrap(), 7);
    assert_eq!(max_results(&asking("maxresults=99999999999"), 5000).unwrap(), 5000);
    assert_eq!(
        max_results(&asking("maxresults=-1"), 5000).unwrap_err().code,
        ErrorCode::OutOfRangeQueryParameterValue
    );
    assert_eq!(
        max_results(&asking("maxresults=x"), 5000).unwrap_err().code,
        ErrorCode::InvalidQueryParameterValue
    );
    let words = asking("include=Metadata,tags&include=snapshots");
    assert_eq!(
        include(&words, &["metadata", "snapshots", "tags"]).unwrap(),
        ["Metadata", "tags", "snapshots"]
    );
    assert!(include(&asking("include=nonsense"), &["metadata"]).is_err());
}

/// common.md section 10.
#[test]
fn limits_grow_with_the_version() {
    let at = |text| ApiVersion::parse(text).unwrap();
    let mib = |bytes: u64| bytes / MIB;
    for (version, blob, block, append) in [
        ("2019-12-12", 5000, 4000, 4),
        ("2019-07-07", 256, 100, 4),
        ("2015-12-11", 64, 4, 4),
        ("2022-11-02", 5000, 4000, 100),
    ] {
        let version = at(version);
        assert_eq!(mib(put_blob_limit(version)), blob);
        assert_eq!(mib(put_block_limit(version)), block);
        assert_eq!(mib(append_block_limit(version)), append);
    }
}

/// lease.md section 1: leases of files never end, are not renewed, and break at once; those of shares are like those of
/// containers.
#[test]
fn leases_of_files_and_shares() {
    let id = "e0f0f8a0-0000-4000-8000-000000000000";
    let action = |op: Op, headers: &[(&str, &str)]| {
        let read = lease_action(&crate::testing::head(headers), op.row());
        read.map_err(|failure| failure.code)
    };
    let infinite = Ok(LeaseAction::Acquire { proposed: None, duration: LeaseDuration::Infinite });
    assert_eq!(action(Op::AcquireFileLease, &[]), infinite);
    assert_eq!(action(Op::AcquireFileLease, &[("x-ms-lease-duration", "-1")]), infinite);
    // Recorded.
    let timed = action(Op::AcquireFileLease, &[("x-ms-lease-duration", "20")]);
    assert_eq!(timed, Err(ErrorCode::InvalidHeaderValue));
    let broken = action(Op::BreakFileLease, &[("x-ms-lease-break-period", "10")]);
    assert_eq!(broken, Ok(LeaseAction::Break { period: None }));
    assert_eq!(action(Op::AcquireShareLease, &[]), Err(ErrorCode::MissingRequiredHeader));
    let timed = Ok(LeaseAction::Acquire { proposed: None, duration: LeaseDuration::Fixed { seconds: 20 } });
    assert_eq!(action(Op::AcquireShareLease, &[("x-ms-lease-duration", "20")]), timed);
    let broken = action(Op::BreakShareLease, &[("x-ms-lease-break-period", "10")]);
    assert_eq!(broken, Ok(LeaseAction::Break { period: Some(10) }));
    for op in [Op::ReleaseFileLease, Op::ReleaseShareLease, Op::RenewShareLease] {
        assert_eq!(action(op, &[]), Err(ErrorCode::MissingRequiredHeader), "{op:?}");
    }
    // Recorded: a file without a lease is what is wrong with such a request.
    assert!(matches!(action(Op::ChangeFileLease, &[]), Ok(LeaseAction::Change { .. })));
    let sent = [("x-ms-lease-id", id), ("x-ms-proposed-lease-id", id)];
    assert!(matches!(action(Op::ChangeFileLease, &sent), Ok(LeaseAction::Change { .. })));
    assert!(matches!(action(Op::RenewShareLease, &sent), Ok(LeaseAction::Renew { .. })));
}
