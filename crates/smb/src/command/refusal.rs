//! What the service refuses, by the status that clients know it by.

use lazuli_model::error::ErrorCode;
use lazuli_service::open_file::Refusal;

use crate::status::NtStatus;

pub fn status(refusal: Refusal) -> NtStatus {
    match refusal {
        Refusal::AccessDenied => NtStatus::ACCESS_DENIED,
        Refusal::BadNetworkName => NtStatus::BAD_NETWORK_NAME,
        Refusal::CannotDelete => NtStatus::CANNOT_DELETE,
        Refusal::DeletePending => NtStatus::DELETE_PENDING,
        Refusal::DirectoryNotEmpty => NtStatus::DIRECTORY_NOT_EMPTY,
        Refusal::DiskFull => NtStatus::DISK_FULL,
        Refusal::EndOfFile => NtStatus::END_OF_FILE,
        Refusal::FileClosed => NtStatus::FILE_CLOSED,
        Refusal::FileDeleted => NtStatus::FILE_DELETED,
        Refusal::FileIsADirectory => NtStatus::FILE_IS_A_DIRECTORY,
        Refusal::FileLockConflict => NtStatus::FILE_LOCK_CONFLICT,
        Refusal::InsufficientResources => NtStatus::INSUFFICIENT_RESOURCES,
        Refusal::InvalidDeviceRequest => NtStatus::INVALID_DEVICE_REQUEST,
        Refusal::InvalidLockRange => NtStatus::INVALID_LOCK_RANGE,
        Refusal::InvalidOplockProtocol => NtStatus::INVALID_OPLOCK_PROTOCOL,
        Refusal::InvalidParameter => NtStatus::INVALID_PARAMETER,
        Refusal::LockNotGranted => NtStatus::LOCK_NOT_GRANTED,
        Refusal::MediaWriteProtected => NtStatus::MEDIA_WRITE_PROTECTED,
        Refusal::NotADirectory => NtStatus::NOT_A_DIRECTORY,
        Refusal::NotSupported => NtStatus::NOT_SUPPORTED,
        Refusal::ObjectNameCollision => NtStatus::OBJECT_NAME_COLLISION,
        Refusal::ObjectNameInvalid => NtStatus::OBJECT_NAME_INVALID,
        Refusal::ObjectNameNotFound => NtStatus::OBJECT_NAME_NOT_FOUND,
        Refusal::ObjectPathNotFound => NtStatus::OBJECT_PATH_NOT_FOUND,
        Refusal::ObjectPathSyntaxBad => NtStatus::OBJECT_PATH_SYNTAX_BAD,
        Refusal::RangeNotLocked => NtStatus::RANGE_NOT_LOCKED,
        Refusal::RequestNotAccepted => NtStatus::REQUEST_NOT_ACCEPTED,
        Refusal::SharingViolation => NtStatus::SHARING_VIOLATION,
        Refusal::Unsuccessful => NtStatus::UNSUCCESSFUL,
        Refusal::UnmappableSecurity => NtStatus::INVALID_SECURITY_DESCR,
        Refusal::Failed(failure) => {
            let busy = matches!(failure.code, ErrorCode::ServerBusy | ErrorCode::OperationTimedOut);
            if !busy {
                tracing::error!(code = ?failure.code, cause = ?failure.cause, "an SMB request failed");
            }
            if busy { NtStatus::INSUFF_SERVER_RESOURCES } else { NtStatus::UNEXPECTED_IO_ERROR }
        }
    }
}
