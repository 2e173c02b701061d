use super::super::lease::LeaseState;
use super::super::{Preconditions, lease};
use super::record::{Record, admitted, kind, outcome};
use super::{NEWEST, id, leases, named, now, row, table};
use crate::operation::{LeaseUse, Row, Service, rows};
use crate::version::ApiVersion;

/// lease.md section 4: the operations that need the id of a locked blob, and those that check one if sent.
const WRITES: &str = "
    PutBlockBlob PutPageBlob PutAppendBlob PutBlobFromUrl PutBlock PutBlockFromUrl PutBlockList
    SetBlobMetadata SetBlobProperties SetBlobExpiry DeleteBlob PutPage ClearPages PutPageFromUrl
    AppendBlock AppendBlockFromUrl AppendBlobSeal CopyBlob CopyBlobFromUrl IncrementalCopyBlob AbortCopyBlob SetBlobTags";
const READS: &str = "
    GetBlob GetBlobProperties GetBlobMetadata GetBlobTags GetBlockList GetPageRanges QueryBlobContents
    SnapshotBlob SetBlobTier";

/// Of the writes, those that modify the blob: these reset a lease that has ended.
const MODIFY: &str = "
    PutBlockBlob PutPageBlob PutAppendBlob PutBlobFromUrl PutBlockList SetBlobMetadata SetBlobProperties
    PutPage ClearPages PutPageFromUrl AppendBlock AppendBlockFromUrl AppendBlobSeal CopyBlob CopyBlobFromUrl IncrementalCopyBlob";

const BLOBS: &str = "
| Attempt     | Available | Leased(A) | Breaking(A) | Broken(A) | Expired(A) |
|---|---|---|---|---|---|
| write, id A  | 412 LeaseNotPresentWithBlobOperation | ok | ok | 412 LeaseLost | 412 LeaseLost |
| write, id B  | 412 LeaseNotPresentWithBlobOperation | 412 LeaseIdMismatchWithBlobOperation | 412 LeaseIdMismatchWithBlobOperation | 412 LeaseLost | 412 LeaseLost |
| write, no id | ok | 412 LeaseIdMissing | 412 LeaseIdMissing | ok, Available | ok, Available |
| read, id A   | 412 LeaseNotPresentWithBlobOperation | ok | ok | 412 LeaseLost | 412 LeaseLost |
| read, id B   | 412 LeaseNotPresentWithBlobOperation | 412 LeaseIdMismatchWithBlobOperation | 412 LeaseIdMismatchWithBlobOperation | 412 LeaseLost | 412 LeaseLost |
| read, no id  | ok | ok | ok | ok | ok |
";

const CONTAINER_DELETE: &str = "DeleteContainer";
const CONTAINER_OTHERS: &str =
    "GetContainerProperties GetContainerMetadata SetContainerMetadata GetContainerAcl SetContainerAcl";

const CONTAINERS: &str = "
| Attempt         | Available | Leased(A) | Breaking(A) | Broken/Expired(A) |
|---|---|---|---|---|
| delete, id A    | 412 LeaseNotPresentWithContainerOperation | ok | ok | 412 LeaseLost |
| delete, id B    | 412 LeaseNotPresentWithContainerOperation | 412 LeaseIdMismatchWithContainerOperation | 412 LeaseIdMismatchWithContainerOperation | 412 LeaseLost |
| delete, no id   | ok | 412 LeaseIdMissing | 412 LeaseIdMissing | ok |
| other op, id A  | 412 LeaseNotPresentWithContainerOperation | ok | ok | 412 LeaseLost |
| other op, id B  | 412 LeaseNotPresentWithContainerOperation | 412 LeaseIdMismatchWithContainerOperation | 412 LeaseIdMismatchWithContainerOperation | 412 LeaseLost |
| other op, no id | ok | ok | ok | ok |
";

fn given(words: &str) -> Preconditions {
    let lease_id = match words {
        "id A" => Some(id('A')),
        "id B" => Some(id('B')),
        "no id" => None,
        other => panic!("cannot read {other:?}"),
    };
    Preconditions { lease_id, ..Preconditions::default() }
}

fn try_cells(text: &str, rows_of: impl Fn(&str) -> Vec<&'static Row>) -> usize {
    let mut cells = 0;
    for line in table(text) {
        let (class, sent) = line.head.split_once(", ").expect("an attempt and an id");
        for (state, cell) in &line.cells {
            cells += 1;
            for (row, held) in
                rows_of(class).into_iter().flat_map(|row| leases(state).into_iter().map(move |l| (row, l)))
            {
                let at = format!("{} {} on {held:?}", row.name(), line.head);
                let before = lease::state(held.as_ref(), now());
                // Its own rule about fixed leases is tested apart.
                let is_fixed = held.as_ref().is_some_and(|held| held.expires.is_some());
                if row.name() == "CopyBlob" && is_fixed && before.is_locked() && *cell == "ok" {
                    continue;
                }
                let record = Record { lease: held.clone(), ..Record::present() };
                let result = admitted(row, &given(sent), Some(record));
                let (wanted, state_after) = cell.split_once(", ").unwrap_or((cell, ""));
                match result {
                    Err(failure) => assert_eq!(super::printed(&failure), wanted, "{at}"),
                    Ok(admitted) => {
                        assert_eq!("ok", wanted, "{at}");
                        let after =
                            lease::state(admitted.record().and_then(|record| record.lease.as_ref()), now());
                        let is_reset = state_after == "Available" && named(MODIFY).contains(&row);
                        assert_eq!(after, if is_reset { LeaseState::Available } else { before }, "{at}");
                    }
                }
            }
        }
    }
    cells
}

#[test]
fn every_use_of_a_blob_in_every_state() {
    let rows_of = |class: &str| match class {
        "write" => named(WRITES),
        "read" => named(READS),
        other => panic!("cannot read {other:?}"),
    };
    assert_eq!(try_cells(BLOBS, rows_of), 6 * 5);
}

#[test]
fn every_use_of_a_container_in_every_state() {
    let rows_of = |class: &str| match class {
        "delete" => named(CONTAINER_DELETE),
        "other op" => named(CONTAINER_OTHERS),
        other => panic!("cannot read {other:?}"),
    };
    assert_eq!(try_cells(CONTAINERS, rows_of), 6 * 4);
}

#[test]
fn no_other_operation_looks_at_the_lease() {
    let listed = [WRITES, READS, CONTAINER_DELETE, CONTAINER_OTHERS].map(named).concat();
    for row in rows(Service::Blob) {
        let is_looking = matches!(row.policy.lease, LeaseUse::Read | LeaseUse::Write);
        assert_eq!(is_looking, listed.contains(&row), "{}", row.name());
        if listed.contains(&row) {
            continue;
        }
        // Lease actions judge the id themselves.
        for held in leases("Leased(A)") {
            for sent in ["id A", "id B", "no id"] {
                let record = Record { lease: held.clone(), ..Record::present() };
                assert_eq!(outcome(row, &given(sent), Some(record), NEWEST), "ok", "{}", row.name());
            }
        }
    }
}

#[test]
fn a_container_never_loses_its_lease_to_a_write() {
    for row in named("SetContainerMetadata SetContainerAcl") {
        for held in leases("Broken/Expired(A)") {
            let record = Record { lease: held.clone(), ..Record::present() };
            let admitted = admitted(row, &Preconditions::default(), Some(record)).expect("unlocked");
            assert_eq!(admitted.into_record().and_then(|record| record.lease), held, "{}", row.name());
        }
    }
}

#[test]
fn a_lease_held_carries_over_to_what_replaces_the_blob() {
    for held in leases("Leased(A)").into_iter().chain(leases("Breaking(A)")) {
        let record = Record { lease: held.clone(), ..Record::present() };
        let admitted = admitted(row("PutBlockBlob"), &given("id A"), Some(record)).expect("the holder");
        assert_eq!(admitted.into_record().and_then(|record| record.lease), held);
    }
}

#[test]
fn a_lease_id_where_there_is_no_blob() {
    let creating =
        named("PutBlockBlob PutPageBlob PutAppendBlob PutBlobFromUrl PutBlock PutBlockList CopyBlob");
    for row in creating {
        let outcome = |version| outcome(row, &given("id A"), None, version);
        assert_eq!(outcome(NEWEST), "412 LeaseNotPresentWithBlobOperation", "{}", row.name());
        assert_eq!(
            outcome(ApiVersion::V2013_08_15),
            "412 LeaseNotPresentWithBlobOperation",
            "{}",
            row.name()
        );
        assert_eq!(outcome(ApiVersion::V2012_02_12), "ok", "{}", row.name());
    }
    for row in rows(Service::Blob).iter().filter(|row| row.policy.lease == LeaseUse::Manage) {
        for sent in ["id A", "no id"] {
            let wanted = match kind(row) {
                super::super::Kind::Container => "404 ContainerNotFound",
                super::super::Kind::Blob => "404 BlobNotFound",
                super::super::Kind::Share => "404 ShareNotFound",
                super::super::Kind::File => "404 ResourceNotFound",
            };
            assert_eq!(outcome(row, &given(sent), None, NEWEST), wanted, "{}", row.name());
        }
    }
}

#[test]
fn uncommitted_blocks_have_a_lease_like_any_blob() {
    let leased = Record { lease: leases("Leased(A)").remove(0), ..Record::uncommitted() };
    for (sent, wanted) in
        [("id A", "ok"), ("id B", "412 LeaseIdMismatchWithBlobOperation"), ("no id", "412 LeaseIdMissing")]
    {
        assert_eq!(
            outcome(row("PutBlockList"), &given(sent), Some(leased.clone()), NEWEST),
            wanted,
            "{sent}"
        );
    }
    let unleased = outcome(row("PutBlockList"), &given("id A"), Some(Record::uncommitted()), NEWEST);
    assert_eq!(unleased, "412 LeaseNotPresentWithBlobOperation");
    for row in named("AcquireBlobLease BreakBlobLease DeleteBlob GetBlockList PutBlock") {
        assert_eq!(
            outcome(row, &given("no id"), Some(Record::uncommitted()), NEWEST),
            "ok",
            "{}",
            row.name()
        );
    }
    for row in named("GetBlob GetBlobProperties SetBlobMetadata SetBlobProperties SnapshotBlob SetBlobTier") {
        let outcome = outcome(row, &given("no id"), Some(Record::uncommitted()), NEWEST);
        assert_eq!(outcome, "404 BlobNotFound", "{}", row.name());
    }
}

#[test]
fn copy_blob_wants_an_infinite_lease() {
    for held in leases("Leased(A)").into_iter().chain(leases("Breaking(A)")) {
        let is_fixed = held.as_ref().is_some_and(|held| held.expires.is_some());
        let record = Record { lease: held, ..Record::present() };
        let wanted = if is_fixed { "412 InfiniteLeaseDurationRequired" } else { "ok" };
        assert_eq!(outcome(row("CopyBlob"), &given("id A"), Some(record.clone()), NEWEST), wanted);
        let without = outcome(row("CopyBlob"), &given("no id"), Some(record.clone()), NEWEST);
        assert_eq!(without, "412 LeaseIdMissing");
        assert_eq!(outcome(row("CopyBlobFromUrl"), &given("id A"), Some(record), NEWEST), "ok");
    }
}

#[test]
fn tags_are_guarded_from_2020_04_08() {
    let record = Record { lease: leases("Leased(A)").remove(0), ..Record::present() };
    let outcome = |version| outcome(row("SetBlobTags"), &given("no id"), Some(record.clone()), version);
    assert_eq!(outcome(ApiVersion::V2020_02_10), "ok");
    assert_eq!(outcome(ApiVersion::V2020_04_08), "412 LeaseIdMissing");
}

#[test]
fn messages_name_the_resource() {
    let record = || Some(Record { lease: leases("Leased(A)").remove(0), ..Record::present() });
    let message = |name, sent| {
        let failure = admitted(row(name), &given(sent), record()).expect_err("refused");
        failure.message().to_owned()
    };
    let missing = |noun| {
        format!("There is currently a lease on the {noun} and no lease ID was specified in the request.")
    };
    assert_eq!(message("DeleteBlob", "no id"), missing("blob"));
    assert_eq!(message("DeleteContainer", "no id"), missing("container"));
    let wrong = |noun| format!("The lease ID specified did not match the lease ID for the {noun}.");
    assert_eq!(message("DeleteBlob", "id B"), wrong("blob"));
    assert_eq!(message("DeleteContainer", "id B"), wrong("container"));

    let action = super::super::LeaseAction::Release { id: id('B') };
    for (name, noun) in [("ReleaseBlobLease", "blob"), ("ReleaseContainerLease", "container")] {
        let admitted = admitted(row(name), &given("id B"), record()).expect("lease actions judge it later");
        let failure = admitted.act(&action, id('X')).expect_err("not the holder");
        assert_eq!(failure.message(), wrong(noun));
    }
}
