//! Which operation takes which header, and what it calls one that is not met.

use super::conditions::unmet;
use super::record::{Record, outcome};
use super::{NEWEST, named, row, table};
use crate::operation::{Resource, Rule};
use crate::version::ApiVersion;

/// conditional.md section 3: what an unmet condition on the destination is called.
const COPIES: &str = "
| Operation           | If-Match              | If-None-Match         | If-Mod                | If-Unmod              | tags            | If-None-Match * |
|---|---|---|---|---|---|---|
| CopyBlob            | TargetConditionNotMet | TargetConditionNotMet | TargetConditionNotMet | TargetConditionNotMet | ConditionNotMet | BlobAlreadyExists |
| CopyBlobFromUrl     | TargetConditionNotMet | ConditionNotMet       | ConditionNotMet       | ConditionNotMet       | ConditionNotMet | BlobAlreadyExists |
| PutBlobFromUrl      | TargetConditionNotMet | ConditionNotMet       | ConditionNotMet       | ConditionNotMet       | ConditionNotMet | BlobAlreadyExists |
| IncrementalCopyBlob | TargetConditionNotMet | ConditionNotMet       | ConditionNotMet       | ConditionNotMet       | ConditionNotMet | BlobAlreadyExists |
| PutPageFromUrl      | TargetConditionNotMet | ConditionNotMet       | ConditionNotMet       | ConditionNotMet       | ConditionNotMet | ok |
";

/// Recorded: the first version of Put Page From URL did not.
#[test]
fn put_page_from_url_came_to_tell_its_target() {
    for (version, code) in [
        (ApiVersion::V2018_11_09, "412 ConditionNotMet"),
        (ApiVersion::V2021_06_08, "412 TargetConditionNotMet"),
    ] {
        let outcome = outcome(row("PutPageFromUrl"), &unmet("If-Match"), Some(Record::present()), version);
        assert_eq!(outcome, code, "{version:?}");
    }
}

#[test]
fn copies_have_codes_of_their_own() {
    for line in table(COPIES) {
        for (header, code) in &line.cells {
            let wanted = match *code {
                "ok" => "ok".to_owned(),
                "BlobAlreadyExists" => format!("409 {code}"),
                code => format!("412 {code}"),
            };
            let outcome = outcome(row(line.head), &unmet(header), Some(Record::present()), NEWEST);
            assert_eq!(outcome, wanted, "{} {header}", line.head);
        }
    }
}

/// conditional.md section 6: y = the operation takes the header.
const TAKEN: &str = "
| Operation                 | If-Match | If-None-Match | If-Mod | If-Unmod | tags |
|---|---|---|---|---|---|
| GetBlob                   | y | y | y | y | y |
| GetBlobProperties         | y | y | y | y | y |
| GetBlobMetadata           | y | y | y | y | y |
| GetPageRanges             | y | y | y | y | y |
| QueryBlobContents         | y | y | y | y | y |
| GetBlockList              |   |   |   |   | y |
| GetBlobTags               | y | y | y | y | y |
| SetBlobTags               | y | y | y | y | y |
| PutBlockBlob              | y | y | y | y | y |
| PutPageBlob               | y | y | y | y | y |
| PutAppendBlob             | y | y | y | y | y |
| PutBlockList              | y | y | y | y | y |
| PutPage                   | y | y | y | y | y |
| ClearPages                | y | y | y | y | y |
| AppendBlock               | y | y | y | y | y |
| SetBlobMetadata           | y | y | y | y | y |
| SetBlobProperties         | y | y | y | y | y |
| DeleteBlob                | y | y | y | y | y |
| AcquireBlobLease          | y | y | y | y | y |
| RenewBlobLease            | y | y | y | y | y |
| ChangeBlobLease           | y | y | y | y | y |
| ReleaseBlobLease          | y | y | y | y | y |
| BreakBlobLease            | y | y | y | y | y |
| SnapshotBlob              | y | y | y | y | y |
| PutPageFromUrl            | y | y | y | y | y |
| AppendBlockFromUrl        | y | y | y | y | y |
| PutBlobFromUrl            | y | y | y | y | y |
| CopyBlob                  | y | y | y | y | y |
| CopyBlobFromUrl           | y | y | y | y | y |
| IncrementalCopyBlob       | y | y | y | y | y |
| PutBlock                  |   |   |   |   |   |
| PutBlockFromUrl           |   |   |   |   |   |
| AppendBlobSeal            | y | y | y | y |   |
| SetBlobTier               |   |   |   |   | y |
| SetBlobImmutabilityPolicy |   |   |   | y |   |
| AbortCopyBlob             |   |   |   |   |   |
| UndeleteBlob              |   |   |   |   |   |
| SetBlobLegalHold          |   |   |   |   |   |
| FindBlobsByTags           |   |   |   |   |   |
| ListContainers            |   |   |   |   |   |
| ListBlobs                 |   |   |   |   |   |
| GetContainerProperties    |   |   |   |   |   |
| GetContainerMetadata      |   |   |   |   |   |
| GetContainerAcl           |   |   |   |   |   |
| CreateContainer           |   |   |   |   |   |
| DeleteContainer           |   |   | y | y |   |
| AcquireContainerLease     |   |   | y | y |   |
| RenewContainerLease       |   |   | y | y |   |
| ChangeContainerLease      |   |   | y | y |   |
| ReleaseContainerLease     |   |   | y | y |   |
| BreakContainerLease       |   |   | y | y |   |
| SetContainerAcl           |   |   | y | y |   |
| SetContainerMetadata      |   |   | y |   |   |
";

#[test]
fn what_is_taken_is_judged_and_what_is_not_is_not() {
    for line in table(TAKEN) {
        let row = row(line.head);
        for (header, cell) in &line.cells {
            let outcome = outcome(row, &unmet(header), Some(Record::present()), NEWEST);
            let at = format!("{} {header}", line.head);
            let is_container_write =
                row.route.resource == Resource::Container && row.policy.rule == Rule::Write;
            match *cell {
                "y" => assert!(outcome.ends_with("ConditionNotMet"), "{at}: {outcome}"),
                // A write to a container does not swallow a header that it will not honour.
                "" if is_container_write && *header != "tags" => {
                    assert_eq!(outcome, "400 ConditionHeadersNotSupported", "{at}");
                }
                "" => assert_eq!(outcome, "ok", "{at}"),
                other => panic!("cannot read {other:?}"),
            }
        }
    }
}

#[test]
fn operations_on_tags_took_conditions_late() {
    for row in named("GetBlobTags SetBlobTags") {
        for header in ["If-Match", "If-None-Match", "If-Mod", "If-Unmod"] {
            let outcome = |version| outcome(row, &unmet(header), Some(Record::present()), version);
            assert_eq!(outcome(ApiVersion::V2025_11_05), "ok", "{} {header}", row.name());
            assert!(outcome(ApiVersion::V2026_02_06).ends_with("ConditionNotMet"), "{} {header}", row.name());
        }
    }
}
