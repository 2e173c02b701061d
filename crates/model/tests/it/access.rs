//! Access rules against the verdicts of the real service on requests with a SAS or with none.

use lazuli_model::Method;
use lazuli_model::access::{Credential, Grant, PublicAccess, ServiceSas, judge};
use lazuli_model::operation::{Op, Rule, all_rows};

use lazuli_model::version::ApiVersion;

use crate::spec::{Request, cells, resource_named, service_named};

const NEWEST: ApiVersion = ApiVersion::NEWEST;

/// Refusals whose cause is not the credential's letters but the key range of a table SAS.
const RANGE_OF_A_TABLE_SAS: &str =
    "table | EntitySet | POST | - | service | - | a | 403 AuthorizationFailure";

#[test]
fn recorded_verdicts_on_signed_permissions() {
    let mut lines = 0;
    for line in include_str!("../../../../spec/recorded-access.txt").lines() {
        if line.starts_with(RANGE_OF_A_TABLE_SAS) {
            continue;
        }
        let [service, resource, method, marks, kind, signed, permissions, verdict, _count] = cells(line);
        let request = Request::parse(marks);
        let method = Method::parse(method).expect("a method");
        let routed = request.route(service_named(service), resource_named(resource), method);
        // Refused before anybody asked who it was.
        if let Err(failure) = &routed
            && verdict == failure.to_string()
        {
            continue;
        }
        let row = routed.expect(line);
        let credential = match kind {
            "account" => Credential::AccountSas { resource_types: signed, permissions },
            "service" => Credential::ServiceSas { permissions },
            "none" => Credential::Anonymous { level: PublicAccess::Private },
            other => panic!("{line}: {other}"),
        };
        let judged =
            judge(row, &credential, NEWEST, &|name| request.query(name), &|name| request.header(name));
        let ours = judged.map_or_else(|failure| failure.code.name(), |_| "allowed");
        let expected = match verdict.split_once(' ') {
            None => "allowed",
            // Without credentials the code depends on service and version; all of them are refusals.
            Some(_) if kind == "none" => "NoAuthenticationInformation",
            // Refused for what was found, not for who asked.
            Some(("404", _)) => "allowed",
            Some((_, code)) => code,
        };
        assert_eq!(ours, expected, "{line}: {}", row.name());
        lines += 1;
    }
    assert!(lines > 150, "the table of recordings has gone: {lines} lines");
}

/// operation | marks | credential | verdict: `ok`, `create` (may not replace), or the code
const CASES: &str = "
PutBlockBlob | x-ms-blob-type=BlockBlob | account o w | ok
PutBlockBlob | x-ms-blob-type=BlockBlob | account o c | create
PutBlockBlob | x-ms-blob-type=BlockBlob | account o cw | ok
PutBlockBlob | x-ms-blob-type=BlockBlob | account c cw | AuthorizationResourceTypeMismatch
PutBlockBlob | x-ms-blob-type=BlockBlob | account o r | AuthorizationPermissionMismatch
PutBlockBlob | x-ms-blob-type=BlockBlob | service c | create
PutBlockBlob | x-ms-blob-type=BlockBlob x-ms-tags | service w | AuthorizationPermissionMismatch
PutBlockBlob | x-ms-blob-type=BlockBlob x-ms-tags | service wt | ok
PutBlockBlob | x-ms-blob-type=BlockBlob x-ms-legal-hold | service w | AuthorizationPermissionMismatch
PutBlockBlob | x-ms-blob-type=BlockBlob x-ms-legal-hold | service wi | ok
PutBlockBlob | x-ms-blob-type=BlockBlob | bearer blobs/write | ok
PutBlockBlob | x-ms-blob-type=BlockBlob | bearer blobs/add/action | create
PutBlockBlob | x-ms-blob-type=BlockBlob | bearer blobs/read | AuthorizationPermissionMismatch
PutBlockBlob | x-ms-blob-type=BlockBlob | public container | NoAuthenticationInformation
AppendBlock | ?comp=appendblock | bearer blobs/add/action | ok
SnapshotBlob | ?comp=snapshot | service c | ok
GetBlob | - | service r | ok
GetBlob | x-ms-if-tags | service r | AuthorizationPermissionMismatch
GetBlob | x-ms-if-tags | service rt | ok
GetBlob | x-ms-if-tags | key | ok
GetBlob | - | public blob | ok
GetBlob | - | public container | ok
GetBlob | - | public | NoAuthenticationInformation
ListBlobs | ?restype=container ?comp=list | public blob | NoAuthenticationInformation
ListBlobs | ?restype=container ?comp=list | public container | ok
ListBlobs | ?restype=container ?comp=list | service l | ok
DeleteBlob | - | service d | ok
DeleteBlob | - | service x | AuthorizationPermissionMismatch
DeleteBlob | ?versionid | service d | AuthorizationPermissionMismatch
DeleteBlob | ?versionid | service x | ok
DeleteBlob | ?versionid ?deletetype=permanent | service x | AuthorizationPermissionMismatch
DeleteBlob | ?versionid ?deletetype=permanent | service y | ok
DeleteBlob | ?versionid | bearer blobs/delete | AuthorizationPermissionMismatch
DeleteBlob | ?versionid | bearer blobs/deleteBlobVersion/action | ok
BreakBlobLease | ?comp=lease x-ms-lease-action=break | service d | ok
AcquireBlobLease | ?comp=lease x-ms-lease-action=acquire | service d | AuthorizationPermissionMismatch
GetContainerAcl | ?restype=container ?comp=acl | key | ok
GetContainerAcl | ?restype=container ?comp=acl | account sco rwdlacup | AuthorizationFailure
GetContainerAcl | ?restype=container ?comp=acl | service rl | AuthorizationFailure
GetContainerAcl | ?restype=container ?comp=acl | bearer containers/read | AuthorizationPermissionMismatch
GetContainerAcl | ?restype=container ?comp=acl | bearer containers/getAcl/action | ok
GetUserDelegationKey | ?restype=service ?comp=userdelegationkey | key | AuthenticationFailed
GetUserDelegationKey | ?restype=service ?comp=userdelegationkey | account sco rwdlacup | AuthenticationFailed
GetUserDelegationKey | ?restype=service ?comp=userdelegationkey | bearer generateUserDelegationKey/action | ok
ListContainers | ?comp=list | account s l | ok
ListContainers | ?comp=list | service l | AuthenticationFailed
GetAccountInformation | ?restype=account ?comp=properties | bearer blobServices/read | ok
PreflightBlobRequest | - | public | ok
InsertOrMergeEntity | - | service u | AuthorizationPermissionMismatch
InsertOrMergeEntity | - | service ua | ok
ClearMessages | - | service raup | AuthorizationFailure
CreateFile | x-ms-type=file | service c | create
CreateFile | x-ms-type=file | service w | ok
CreateFile | x-ms-type=file | service r | AuthorizationPermissionMismatch
PutRange | ?comp=range x-ms-write=update | service c | AuthorizationPermissionMismatch
GetShareProperties | ?restype=share | service rl | AuthorizationFailure
GetShareProperties | ?restype=share | account c r | ok
ListDirectoriesAndFiles | ?restype=directory ?comp=list | service l | ok
ListDirectoriesAndFiles | ?restype=directory ?comp=list | account o l | AuthorizationResourceTypeMismatch
GetShareAcl | ?restype=share ?comp=acl | account sco rwdlacup | AuthorizationFailure
BreakFileLease | ?comp=lease x-ms-lease-action=break | service d | ok
GetFile | - | public container | NoAuthenticationInformation
";

#[test]
fn who_may_do_what() {
    for line in CASES.trim().lines() {
        let [op, marks, credential, expected] = cells(line);
        let row = all_rows().iter().find(|row| row.name() == op).expect(line);
        let request = Request::parse(marks);
        let words: Vec<&str> = credential.split(' ').collect();
        let holds = |action: &str| words.last() == Some(&action);
        let credential = match words.as_slice() {
            ["key"] => Credential::SharedKey,
            ["account", resource_types, permissions] => {
                Credential::AccountSas { resource_types, permissions }
            }
            ["service", permissions] => Credential::ServiceSas { permissions },
            ["bearer", _] => Credential::Bearer { holds: &holds },
            ["public"] => Credential::Anonymous { level: PublicAccess::Private },
            ["public", "blob"] => Credential::Anonymous { level: PublicAccess::Blob },
            ["public", "container"] => Credential::Anonymous { level: PublicAccess::Container },
            other => panic!("{line}: {other:?}"),
        };
        let verdict = match judge(row, &credential, NEWEST, &|name| request.query(name), &|name| {
            request.header(name)
        }) {
            Ok(Grant { may_replace: true }) => "ok",
            Ok(Grant { may_replace: false }) => "create",
            Err(failure) => failure.code.name(),
        };
        assert_eq!(verdict, expected, "{line}");
    }
}

/// No row opens a write to the public, and none is closed to everybody.
#[test]
fn every_row_has_a_way_in_and_no_open_door() {
    for row in all_rows() {
        let none = |_: &str| None;
        let anybody = Credential::Anonymous { level: PublicAccess::Container };
        if judge(row, &anybody, NEWEST, &none, &none).is_ok() {
            assert!(
                row.policy.rule == Rule::Read && !row.policy.changes_etag && !row.policy.creates,
                "{}",
                row.name()
            );
        }
        let everything = |_: &str| true;
        let bearer = judge(row, &Credential::Bearer { holds: &everything }, NEWEST, &none, &none).is_ok();
        let key = judge(row, &Credential::SharedKey, NEWEST, &none, &none).is_ok();
        assert!(bearer || key, "{}", row.name());
        let empty = judge(row, &Credential::ServiceSas { permissions: "" }, NEWEST, &none, &none).is_ok();
        assert!(!empty || row.access.service_sas == ServiceSas::Any, "{}", row.name());
    }
}

/// auth.md: `d` breaks a lease from 2017-07-29 on; policies are open to bearer tokens from 2025-07-05 on.
#[test]
fn what_a_version_did_not_allow_yet() {
    let none = |_: &str| None;
    let allowed = |op: Op, credential: &Credential<'_>, version: &str| {
        judge(op.row(), credential, ApiVersion::parse(version).unwrap(), &none, &none).is_ok()
    };
    for op in [Op::BreakBlobLease, Op::BreakContainerLease] {
        let delete = Credential::AccountSas { resource_types: "co", permissions: "d" };
        assert_eq!([allowed(op, &delete, "2017-04-17"), allowed(op, &delete, "2017-07-29")], [false, true]);
        let write = Credential::AccountSas { resource_types: "co", permissions: "w" };
        assert!(allowed(op, &write, "2017-04-17"));
    }
    let everything = |_: &str| true;
    let bearer = Credential::Bearer { holds: &everything };
    for op in [Op::GetContainerAcl, Op::SetContainerAcl, Op::GetQueueAcl, Op::SetQueueAcl] {
        assert_eq!([allowed(op, &bearer, "2025-05-05"), allowed(op, &bearer, "2025-07-05")], [false, true]);
    }
    assert!(!allowed(Op::SetTableAcl, &bearer, "2026-10-06"));
    for op in [Op::GetShareAcl, Op::CreateShare, Op::ListShares, Op::SetFileServiceProperties] {
        assert_eq!([allowed(op, &bearer, "2024-08-04"), allowed(op, &bearer, "2024-11-04")], [false, true]);
    }
    assert!(allowed(Op::GetFile, &bearer, "2022-11-02"));
}
