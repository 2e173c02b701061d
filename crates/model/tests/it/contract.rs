//! Columns against the tables of the contract, typed as they are printed there.

use std::collections::BTreeSet;

use lazuli_model::access::{AccountSas, Anonymous, ServiceSas};
use lazuli_model::operation::{Conditions, all_rows};
use lazuli_model::{Op, Resource, Row, Service, rows};

fn row(name: &str) -> &'static Row {
    all_rows().iter().find(|row| row.name() == name).unwrap_or_else(|| panic!("no row {name}"))
}

/// conditional.md section 1, first column (blobs and containers).
const CHANGES_ETAG: &str = "
PutBlockBlob PutPageBlob PutAppendBlob PutBlockList PutBlobFromUrl CopyBlob CopyBlobFromUrl IncrementalCopyBlob
SetBlobMetadata SetBlobProperties PutPage ClearPages PutPageFromUrl AppendBlock AppendBlockFromUrl AppendBlobSeal
CreateContainer SetContainerMetadata SetContainerAcl";

#[test]
fn what_changes_an_etag() {
    let listed: BTreeSet<&str> = CHANGES_ETAG.split_ascii_whitespace().collect();
    for name in &listed {
        assert!(row(name).changes_etag, "{name}");
    }
    for row in rows(Service::Blob) {
        assert_eq!(row.changes_etag, listed.contains(row.name()), "{}", row.name());
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
                row.conditions.has(Conditions::IF_MODIFIED_SINCE),
                row.conditions.has(Conditions::IF_UNMODIFIED_SINCE),
            ) {
                (true, true) => "T",
                (true, false) => "I",
                (false, true) => "U",
                (false, false) => "-",
            };
            let letter = |is: bool, letter| if is { letter } else { "-" };
            let ours = [
                letter(row.conditions.has(Conditions::E), "E"),
                dates,
                letter(row.conditions.has(Conditions::TAGS), "G"),
                letter(row.source, "S"),
            ];
            assert_eq!(ours.join(" "), letters.trim(), "{name}");
            named.insert(name);
        }
    }
    // What the table does not name takes none, or the prefixed ones.
    for row in rows(Service::Blob).iter().filter(|row| !named.contains(row.name())) {
        let prefixed = Conditions::TAGS.and(Conditions::BLOB_PREFIXED);
        assert!(row.conditions.is_empty() || row.conditions == prefixed, "{}", row.name());
    }
}

/// auth.md section 8.
const ANONYMOUS: &str = "
blob      | GetBlob GetBlobProperties GetBlobMetadata GetBlockList GetPageRanges
container | GetContainerProperties GetContainerMetadata ListBlobs
always    | PreflightBlobRequest PreflightQueueRequest PreflightTableRequest";

#[test]
fn what_is_open_to_everybody() {
    let level_of = |name: &str| {
        let line =
            ANONYMOUS.trim().lines().find(|line| line.split_ascii_whitespace().any(|word| word == name));
        line.map_or("never", |line| line.split_once(' ').expect("a level").0)
    };
    for row in all_rows() {
        let ours = match row.access.anonymous {
            Anonymous::Never => "never",
            Anonymous::BlobLevel => "blob",
            Anonymous::ContainerLevel => "container",
            Anonymous::Always => "always",
        };
        assert_eq!(ours, level_of(row.name()), "{}", row.name());
    }
}

/// auth.md section 4 (and section 9: what a SAS never does): names | account SAS | service SAS.
const SAS: &str = "
ListContainers ListQueues QueryTables                                        | s l   | never
GetBlobServiceProperties GetQueueServiceProperties GetTableServiceProperties | s r   | never
GetBlobServiceStats GetQueueServiceStats GetTableServiceStats                | s r   | never
SetBlobServiceProperties SetQueueServiceProperties SetTableServiceProperties | s w   | never
CreateContainer CreateQueue CreateTable                                      | c c,w | never
DeleteContainer DeleteQueue DeleteTable                                      | c d   | never
RestoreContainer SetContainerMetadata SetQueueMetadata                       | c w   | never
GetContainerProperties GetContainerMetadata                                  | c r   | never
GetQueueMetadata                                                             | c r   | r
GetContainerAcl SetContainerAcl GetQueueAcl SetQueueAcl GetTableAcl SetTableAcl | never | never
AcquireContainerLease RenewContainerLease ChangeContainerLease ReleaseContainerLease | c w | never
BreakContainerLease                                                          | c w,d | never
ListBlobs                                                                    | c l   | l
FindBlobsByTagsInContainer                                                   | c f   | f
FindBlobsByTags                                                              | so f  | never
PutBlockBlob PutPageBlob PutAppendBlob PutBlobFromUrl CopyBlob CopyBlobFromUrl | o c,w | c,w
PutBlock PutBlockFromUrl PutBlockList SnapshotBlob                           | o c,w | c,w
PutPage ClearPages PutPageFromUrl SetBlobMetadata SetBlobProperties          | o w   | w
SetBlobTier AbortCopyBlob UndeleteBlob                                       | o w   | w
AcquireBlobLease RenewBlobLease ChangeBlobLease ReleaseBlobLease             | o w   | w
BreakBlobLease                                                               | o w,d | w,d
AppendBlock AppendBlockFromUrl                                               | o a,w | a,w
GetBlob GetBlobProperties GetBlobMetadata GetBlockList GetPageRanges QueryBlobContents | o r | r
DeleteBlob                                                                   | o d   | d
GetBlobTags SetBlobTags                                                      | o t   | t
SetBlobImmutabilityPolicy DeleteBlobImmutabilityPolicy SetBlobLegalHold      | o i   | i
PutMessage InsertEntity                                                      | o a   | a
GetMessages DeleteMessage                                                    | o p   | p
PeekMessages QueryEntities GetEntity                                         | o r   | r
UpdateMessage UpdateEntity MergeEntity                                       | o u   | u
ClearMessages                                                                | o d   | never
DeleteEntity                                                                 | o d   | d
InsertOrReplaceEntity InsertOrMergeEntity                                    | o au  | au
GetUserDelegationKey GetQueueUserDelegationKey                               | never | never
BlobBatch ContainerBatch EntityGroupTransaction                              | any   | any
";

#[test]
fn what_a_sas_must_permit() {
    for line in SAS.trim().lines() {
        let [names, account, service] = crate::spec::cells(line);
        for name in names.split_ascii_whitespace() {
            let access = row(name).access;
            let ours = match access.account_sas {
                AccountSas::Never => "never".into(),
                AccountSas::Any => "any".into(),
                AccountSas::Needs { level, any_of } => format!("{level} {}", any_of.join(",")),
            };
            assert_eq!(ours, account, "{name}: account SAS");
            let ours = match access.service_sas {
                ServiceSas::Never => "never".into(),
                ServiceSas::Any => "any".into(),
                ServiceSas::AnyOf(any_of) => any_of.join(","),
            };
            assert_eq!(ours, service, "{name}: service SAS");
        }
    }
}

/// A service SAS can never act on the account, nor create, delete, lease or describe a container or table.
#[test]
fn a_service_sas_has_no_power_over_the_whole() {
    let exceptions = [Op::ListBlobs, Op::FindBlobsByTagsInContainer, Op::ContainerBatch, Op::BlobBatch];
    let described = [Op::GetAccountInformation, Op::GetAccountInformationOfContainer];
    let whole = [Resource::Account, Resource::Container, Resource::Tables, Resource::Table];
    for row in all_rows().iter().filter(|row| whole.contains(&row.resource)) {
        if !exceptions.contains(&row.op) && !described.contains(&row.op) {
            assert_eq!(row.access.service_sas, ServiceSas::Never, "{}", row.name());
        }
    }
}
