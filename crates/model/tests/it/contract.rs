//! Columns against the tables of the contract, typed as they are printed there.

use std::collections::{BTreeMap, BTreeSet};

use lazuli_model::access::{AccountSas, Anonymous, Rbac, ServiceSas};
use lazuli_model::operation::{Conditions, LeaseUse, Rule, Source, all_rows};
use lazuli_model::{Method, Op, Resource, Row, Service, rows};

use crate::published::row_of;
use crate::spec::{cells, published, service_named};

fn row(name: &str) -> &'static Row {
    all_rows().iter().find(|row| row.name() == name).unwrap_or_else(|| panic!("no row {name}"))
}

/// conditional.md section 1, first column (blobs and containers), and table.md section 2.
const CHANGES_ETAG: &str = "
PutBlockBlob PutPageBlob PutAppendBlob PutBlockList PutBlobFromUrl CopyBlob CopyBlobFromUrl IncrementalCopyBlob
SetBlobMetadata SetBlobProperties PutPage ClearPages PutPageFromUrl AppendBlock AppendBlockFromUrl AppendBlobSeal
CreateContainer SetContainerMetadata SetContainerAcl
InsertEntity UpdateEntity MergeEntity InsertOrReplaceEntity InsertOrMergeEntity
CreateShare SetShareMetadata SetShareProperties SetShareAcl
CreateDirectory SetDirectoryMetadata SetDirectoryProperties RenameDirectory
CreateFile SetFileMetadata SetFileProperties PutRange ClearRange PutRangeFromUrl CopyFile RenameFile
CreateSymbolicLink CreateHardLink";

#[test]
fn what_changes_an_etag() {
    let listed: BTreeSet<&str> = CHANGES_ETAG.split_ascii_whitespace().collect();
    for name in &listed {
        assert!(row(name).policy.changes_etag, "{name}");
    }
    for row in all_rows() {
        assert_eq!(row.policy.changes_etag, listed.contains(row.name()), "{}", row.name());
    }
}

/// conditional.md section 6: operation, E, T, G, S.
const CONDITIONS: &str = "
GetBlob GetBlobProperties GetBlobMetadata GetPageRanges QueryBlobContents          | E T G -
GetBlockList                                                                       | - - G -
PutBlockBlob PutPageBlob PutAppendBlob PutBlockList PutPage ClearPages AppendBlock | E T G -
SetBlobMetadata SetBlobProperties DeleteBlob SnapshotBlob                          | E T G -
AcquireBlobLease RenewBlobLease ChangeBlobLease ReleaseBlobLease BreakBlobLease    | E T G -
PutPageFromUrl AppendBlockFromUrl PutBlobFromUrl CopyBlob CopyBlobFromUrl          | E T G S
PutBlockFromUrl                                                                    | - - - S
PutBlock                                                                           | - - - -
AppendBlobSeal                                                                     | E T - -
SetBlobTier                                                                        | - - G -
SetBlobImmutabilityPolicy                                                          | - U - -
AbortCopyBlob UndeleteBlob SetBlobLegalHold FindBlobsByTags ListBlobs ListContainers CreateContainer | - - - -
FindBlobsByTagsInContainer GetContainerProperties GetContainerMetadata GetContainerAcl | - - - -
DeleteContainer SetContainerAcl AcquireContainerLease RenewContainerLease          | - T - -
ChangeContainerLease ReleaseContainerLease BreakContainerLease                     | - T - -
SetContainerMetadata                                                               | - I - -
IncrementalCopyBlob                                                                | E T G -
";

#[test]
fn which_conditions_an_operation_takes() {
    let mut named = BTreeSet::new();
    for line in CONDITIONS.trim().lines() {
        let (names, letters) = line.split_once('|').expect("names and letters");
        for name in names.split_ascii_whitespace() {
            let row = row(name);
            let dates = match (
                row.policy.conditions.has(Conditions::IF_MODIFIED_SINCE),
                row.policy.conditions.has(Conditions::IF_UNMODIFIED_SINCE),
            ) {
                (true, true) => "T",
                (true, false) => "I",
                (false, true) => "U",
                (false, false) => "-",
            };
            let letter = |is: bool, letter| if is { letter } else { "-" };
            let ours = [
                letter(row.policy.conditions.has(Conditions::E), "E"),
                dates,
                letter(row.policy.conditions.has(Conditions::TAGS), "G"),
                letter(row.policy.source != Source::None, "S"),
            ];
            assert_eq!(ours.join(" "), letters.trim(), "{name}");
            named.insert(name);
        }
    }
    // What the table does not name takes none, or the prefixed ones.
    for row in rows(Service::Blob).iter().filter(|row| !named.contains(row.name())) {
        let prefixed = Conditions::TAGS.and(Conditions::BLOB_PREFIXED);
        assert!(row.policy.conditions.is_empty() || row.policy.conditions == prefixed, "{}", row.name());
    }
}

/// auth.md sections 4, 8 and 9 (what a SAS never does): the table that the authorisation matrix of `rest` reads, too.
#[test]
fn what_a_credential_must_permit() {
    let mut named = BTreeSet::new();
    let table = include_str!("../../../../spec/access.txt").lines();
    for line in table.filter(|line| !line.starts_with('#')) {
        let columns: Vec<&str> = line.split_ascii_whitespace().collect();
        let [name, types, account, service, anonymous, _bearer] = columns[..] else { panic!("{line}") };
        let access = row(name).access;
        let ours = match access.account_sas {
            AccountSas::Never => "- -".into(),
            AccountSas::Any => "* *".into(),
            AccountSas::Needs { level, any_of } => format!("{level} {}", any_of.join("|")),
        };
        assert_eq!(ours, format!("{} {account}", types.replace('|', "")), "{name}: account SAS");
        let ours = match access.service_sas {
            ServiceSas::Never => "-".into(),
            ServiceSas::Any => "*".into(),
            ServiceSas::AnyOf(any_of) => any_of.join("|"),
        };
        assert_eq!(ours, service, "{name}: service SAS");
        let ours = match access.anonymous {
            Anonymous::Never => "-",
            Anonymous::BlobLevel => "blob",
            Anonymous::ContainerLevel => "container",
            Anonymous::Always => "everybody",
        };
        assert_eq!(ours, anonymous, "{name}: without credentials");
        assert!(named.insert(name), "{name} twice");
    }
    assert_eq!(named.len(), all_rows().len(), "a row is not in the table");
}

/// A service SAS can never act on the account, nor create, delete, lease or describe a container or table.
#[test]
fn a_service_sas_has_no_power_over_the_whole() {
    let exceptions = [Op::ListBlobs, Op::FindBlobsByTagsInContainer, Op::ContainerBatch, Op::BlobBatch];
    let described = [Op::GetAccountInformation, Op::GetAccountInformationOfContainer];
    // Those who write files store the permissions of them.
    let stored = [Op::CreatePermission, Op::GetPermission];
    let whole = [Resource::Account, Resource::Container, Resource::Tables, Resource::Table, Resource::Share];
    for row in all_rows().iter().filter(|row| whole.contains(&row.route.resource)) {
        if !exceptions.contains(&row.op) && !described.contains(&row.op) && !stored.contains(&row.op) {
            assert_eq!(row.access.service_sas, ServiceSas::Never, "{}", row.name());
        }
    }
}

/// The versions of the contract's tables. Several published operations may be one row; the oldest counts.
#[test]
fn since_which_version() {
    // The table of operations says 2009-04-14, the table of versions (common.md section 2) is right.
    let corrected = [Op::GetTableAcl, Op::SetTableAcl];
    let published = published();
    let mut oldest: BTreeMap<&str, &str> = BTreeMap::new();
    for line in include_str!("../../../../spec/contract-operations.txt").lines() {
        let [service, op, _status, _conditions, _lease, since] = cells(line);
        let same = |p: &&crate::spec::Published| p.op == op && p.service == service_named(service);
        let row = row_of(published.iter().find(same).unwrap_or_else(|| panic!("{line}: not published")));
        let known = oldest.entry(row.name()).or_insert(since);
        *known = since.min(*known);
    }
    for (name, since) in oldest {
        if corrected.contains(&row(name).op) {
            assert_eq!(row(name).route.since.as_str(), "2012-02-12", "{name}");
        } else {
            assert_eq!(row(name).route.since.as_str(), since, "{name}");
        }
    }
}

/// conditional.md section 2: who is judged by the R-rule. Everything else that takes conditions is a write.
const R_RULE: &str =
    "GetBlob GetBlobProperties GetBlobMetadata GetPageRanges QueryBlobContents GetBlockList GetBlobTags";

#[test]
fn reads_are_judged_as_reads() {
    for row in all_rows().iter().filter(|row| !row.policy.conditions.is_empty()) {
        let read = R_RULE.split(' ').any(|name| name == row.name());
        assert_eq!(row.policy.rule == Rule::Read, read, "{}", row.name());
    }
    // Without conditions the method tells, but for a Get that takes messages and a Post that only asks.
    let other = [
        Op::GetMessages,
        Op::GetUserDelegationKey,
        Op::GetQueueUserDelegationKey,
        Op::GetFileUserDelegationKey,
    ];
    for row in all_rows().iter().filter(|row| row.policy.conditions.is_empty()) {
        let asks =
            row.route.methods.iter().any(|m| matches!(m, Method::Get | Method::Head | Method::Options));
        assert_eq!(row.policy.rule == Rule::Read, asks != other.contains(&row.op), "{}", row.name());
    }
}

/// lease.md section 4: writes that need the id while the blob is locked, and the one container operation. Incremental Copy
/// Blob is recorded.
const NEEDS_LEASE: &str = "
PutBlockBlob PutPageBlob PutAppendBlob PutBlobFromUrl PutBlock PutBlockFromUrl PutBlockList SetBlobMetadata
SetBlobProperties SetBlobExpiry DeleteBlob PutPage ClearPages PutPageFromUrl AppendBlock AppendBlockFromUrl
AppendBlobSeal CopyBlob CopyBlobFromUrl AbortCopyBlob SetBlobTags DeleteContainer IncrementalCopyBlob
CreateFile SetFileMetadata SetFileProperties DeleteFile PutRange ClearRange PutRangeFromUrl CopyFile AbortCopyFile
RenameFile RenameDirectory CreateSymbolicLink CreateHardLink
DeleteShare SetShareMetadata SetShareProperties SetShareAcl";

#[test]
fn who_needs_the_lease_id() {
    for row in all_rows() {
        let listed = NEEDS_LEASE.split_ascii_whitespace().any(|name| name == row.name());
        assert_eq!(row.policy.lease == LeaseUse::Write, listed, "{}", row.name());
        assert_eq!(
            row.policy.lease == LeaseUse::Manage,
            row.route.title.starts_with("Lease "),
            "{}",
            row.name()
        );
    }
}

/// Operations that act where nothing is: the creating ones of conditional.md section 2, what brings something
/// back, and the upserts of table.md section 2.
const CREATES: &str = "
CreateContainer RestoreContainer RenameContainer PutBlockBlob PutPageBlob PutAppendBlob PutBlock PutBlockFromUrl
PutBlockList PutBlobFromUrl CopyBlob CopyBlobFromUrl IncrementalCopyBlob UndeleteBlob CreateQueue CreateTable
InsertEntity InsertOrReplaceEntity InsertOrMergeEntity EntityGroupTransaction
CreateShare RestoreShare CreateDirectory RenameDirectory CreateFile CopyFile RenameFile CreateSymbolicLink
CreateHardLink";

#[test]
fn who_may_act_on_what_is_absent() {
    for row in all_rows() {
        let listed = CREATES.split_ascii_whitespace().any(|name| name == row.name());
        assert_eq!(row.policy.creates, listed, "{}", row.name());
    }
}

/// auth.md section 7, and the actions on accounts, queues and tables as a whole.
const ACTIONS: &str = "
containers/read containers/write containers/delete blobs/read blobs/write blobs/add/action blobs/delete
blobs/tags/read blobs/tags/write blobs/filter/action blobs/deleteBlobVersion/action blobs/permanentDelete/action
blobs/immutableStorage/runAsSuperUser/action generateUserDelegationKey/action containers/getAcl/action
containers/setAcl/action queues/getAcl/action queues/setAcl/action
queues/messages/read queues/messages/write queues/messages/delete queues/messages/add/action
queues/messages/process/action tables/entities/read tables/entities/write tables/entities/delete
tables/entities/add/action tables/entities/update/action queues/read queues/write queues/delete tables/read
tables/write tables/delete blobServices/read blobServices/write queueServices/read queueServices/write
tableServices/read tableServices/write fileServices/read fileServices/write shares/read shares/write shares/delete
fileshares/files/read fileshares/files/write fileshares/files/delete";

#[test]
fn actions_are_known_and_kept_by_the_right_verbs() {
    for row in all_rows() {
        let variants = row.access.variants.iter().map(|variant| variant.rbac);
        for rbac in variants.chain([row.access.rbac]) {
            let (Rbac::AnyOf(actions) | Rbac::Since(_, actions)) = rbac else { continue };
            for action in actions {
                assert!(
                    ACTIONS.split_ascii_whitespace().any(|known| known == *action),
                    "{}: {action}",
                    row.name()
                );
                assert!(
                    !action.ends_with("/read") || row.policy.rule == Rule::Read,
                    "{}: {action} writes",
                    row.name()
                );
            }
        }
    }
}
