//! The error table against the published lists and the recorded refusals.

use std::collections::HashSet;

use lazuli_model::ErrorCode;

use crate::spec::cells;

#[test]
fn every_published_code_is_known() {
    for line in include_str!("../../../../spec/error-codes.txt").lines() {
        let (_service, code) = line.split_once(' ').expect("service and code");
        assert!(ErrorCode::parse(code).is_some(), "{line}");
    }
}

#[test]
fn codes_are_declared_once() {
    let names: HashSet<_> = ErrorCode::ALL.iter().map(|code| code.name()).collect();
    assert_eq!(names.len(), ErrorCode::ALL.len());
    for code in ErrorCode::ALL {
        assert!((400..=507).contains(&code.status()), "{}", code.name());
        assert!(code.message().ends_with('.'), "{}", code.name());
    }
}

/// Codes whose status is that of somebody else's answer, or of the rule that failed.
const OTHER_STATUS: [(&str, &[u16]); 2] =
    [("ConditionNotMet", &[304, 412]), ("CannotVerifyCopySource", &[304, 400, 403, 404, 412])];

/// Codes with several texts: the noun is the resource, or the text tells the cause.
const OTHER_TEXT: [&str; 5] = [
    "LeaseIdMissing",
    "LeaseNotPresentWithContainerOperation",
    "CannotVerifyCopySource",
    "InvalidInput",
    "OutOfRangeInput",
];

#[test]
fn recorded_refusals_have_our_status_and_text() {
    for line in include_str!("../../../../spec/recorded-errors.txt").lines() {
        let [_service, name, status, message, _count] = cells(line);
        let code = ErrorCode::parse(name).unwrap_or_else(|| panic!("{line}: unknown code"));
        let status: u16 = status.parse().expect("a status");
        match OTHER_STATUS.iter().find(|(other, _)| *other == name) {
            Some((_, statuses)) => assert!(statuses.contains(&status), "{line}"),
            None => assert_eq!(code.status(), status, "{line}"),
        }
        if message != "-" && !OTHER_TEXT.contains(&name) {
            assert_eq!(code.message(), message, "{line}");
        }
    }
}

/// contract/common.md section 4, contract/blob.md section 13 and contract/file.md section 7, as printed there.
const PRINTED: &str = "
403 AuthenticationFailed AuthorizationFailure InsufficientAccountPermissions AccountIsDisabled
401 NoAuthenticationInformation
400 InvalidAuthenticationInfo InvalidHeaderValue InvalidInput InvalidUri InvalidResourceName InvalidHttpVerb
400 UnsupportedHeader UnsupportedQueryParameter InvalidXmlDocument InvalidXmlNodeValue MissingRequiredXmlNode
400 UnsupportedXmlNode Md5Mismatch InvalidMd5 Crc64Mismatch BothCrc64AndMd5HeaderPresent MetadataTooLarge
400 EmptyMetadataKey InvalidMetadata MissingRequiredHeader MissingRequiredQueryParameter
400 MultipleConditionHeadersNotSupported ConditionHeadersNotSupported OutOfRangeInput
400 OutOfRangeQueryParameterValue InvalidQueryParameterValue RequestUrlFailedToParse
500 InternalError OperationTimedOut
503 ServerBusy
416 InvalidRange InvalidPageRange
411 MissingContentLengthHeader
413 RequestBodyTooLarge
405 UnsupportedHttpVerb MethodNotAllowed
409 ResourceTypeMismatch ResourceAlreadyExists
409 BlobAlreadyExists BlobArchived BlobBeingRehydrated BlobNotArchived BlobImmutableDueToPolicy
409 BlobImmutableDueToLegalHold BlobIsSealed BlobOverwritten BlobTierInadequateForContentLength
409 BlobUsesCustomerSpecifiedEncryption BlockCountExceedsLimit CannotChangeToLowerTier ContainerAlreadyExists
409 ContainerBeingDeleted ContainerDisabled ContainerHasLegalHold ContainerImmutabilityPolicyLocked
409 ContentLengthLargerThanTierLimit CopyIdMismatch FeatureVersionMismatch IncrementalCopyBlobMismatch
409 IncrementalCopyOfEarlierSnapshotNotAllowed IncrementalCopySourceMustBeSnapshot InvalidBlobType
409 InvalidSourceBlobType InvalidSourceBlobUrl NoPendingCopyOperation OperationNotAllowedOnIncrementalCopyBlob
409 PendingCopyOperation PermanentDeleteIsOff PreviousSnapshotNotFound PreviousSnapshotOperationNotSupported
409 PublicAccessNotPermitted SequenceNumberIncrementTooLarge SnapshotCountExceeded SnapshotOperationRateExceeded
409 SnapshotsPresent SystemInUse
409 LeaseAlreadyPresent LeaseIdMismatchWithLeaseOperation LeaseNotPresentWithLeaseOperation LeaseAlreadyBroken
409 LeaseIsBreakingAndCannotBeAcquired LeaseIsBreakingAndCannotBeChanged LeaseIsBrokenAndCannotBeRenewed
412 AppendPositionConditionNotMet ConditionNotMet InfiniteLeaseDurationRequired MaxBlobSizeConditionNotMet
412 SequenceNumberConditionNotMet SourceConditionNotMet TargetConditionNotMet AccessTierChangeTimeConditionNotMet
412 LeaseIdMissing LeaseIdMismatchWithBlobOperation LeaseIdMismatchWithContainerOperation LeaseLost
412 LeaseNotPresentWithBlobOperation LeaseNotPresentWithContainerOperation
404 BlobNotFound ContainerNotFound ResourceNotFound
403 UnauthorizedBlobOverwrite OperationNotAllowedOnRootBlob RequestForbiddenByContainerEncryptionPolicy
400 BlockListTooLong CopyAcrossAccountsNotSupported InvalidBlobOrBlock InvalidBlobTier InvalidBlockId
400 InvalidBlockList InvalidOperation InvalidVersionForPageBlobOperation PreviousSnapshotCannotBeNewer
400 UnsatisfiableCondition
400 InvalidMarker MessageTooLarge PopReceiptMismatch
404 MessageNotFound QueueNotFound TableNotFound EntityNotFound
409 QueueAlreadyExists QueueBeingDeleted QueueDisabled QueueNotEmpty EntityAlreadyExists TableAlreadyExists
409 TableBeingDeleted
412 UpdateConditionNotSatisfied
400 PropertiesNeedValue InvalidValueType DuplicatePropertiesSpecified PropertyNameInvalid PropertyNameTooLong
400 PropertyValueTooLarge EntityTooLarge TooManyProperties InvalidDuplicateRow HostInformationNotPresent
400 CommandsInBatchActOnDifferentPartitions
415 JsonFormatNotSupported AtomFormatNotSupported
501 NotImplemented
403 CorsPreflightFailure ShareDisabled
409 CannotDeleteFileOrDirectory ContainerQuotaDowngradeNotAllowed DeletePending DeleteShareWhenSnapshotLeased
409 DirectoryNotEmpty FileLockConflict FileOpenBySmbClient ShareBeingDeleted ShareAlreadyExists ShareHasSnapshots
409 ShareSnapshotInProgress ShareSnapshotCountExceeded ShareSizeLimitReached SharingViolation ReadOnlyAttribute
409 TotalSharesCountExceedsAccountLimit TotalSharesProvisionedBandwidthExceedsAccountLimit
409 TotalSharesProvisionedCapacityExceedsAccountLimit TotalSharesProvisionedIopsExceedsAccountLimit
500 ClientCacheFlushDelay
400 FileInvalidPermission FileInvalidPermissionKey InvalidFileOrDirectoryPathName HandleLimitExceeded
400 InvalidContinuationToken CannotConvertToSddlDueToCustomAce ShareSnapshotOperationNotSupported
400 FileShareProvisionedBandwidthInvalid FileShareProvisionedIopsInvalid FileShareProvisionedStorageInvalid
404 ShareNotFound ParentNotFound ShareSnapshotNotFound
412 LeaseNotPresentWithFileOperation LeaseIdMismatchWithFileOperation
";

#[test]
fn statuses_are_those_of_the_contract() {
    for line in PRINTED.trim().lines() {
        let (status, names) = line.split_once(' ').expect("a status and names");
        for name in names.split(' ') {
            let code = ErrorCode::parse(name).unwrap_or_else(|| panic!("{name} is unknown"));
            assert_eq!(code.status().to_string(), status, "{name}");
        }
    }
}
