//! Why an open, or something done through one, is refused.

use lazuli_engine::EngineError;
use lazuli_model::admission::open::OpenRefusal;
use lazuli_model::error::{ErrorCode, Failure};

use crate::fault::Fault;

/// Each is one status of [MS-ERREF] section 2.3, by its name.
#[derive(Clone, Debug)]
pub enum Refusal {
    AccessDenied,
    BadNetworkName,
    CannotDelete,
    DeletePending,
    DirectoryNotEmpty,
    /// The quota of the share has no room.
    DiskFull,
    /// A read that begins behind the end.
    EndOfFile,
    /// The open is over: closed by its client, or by Force Close Handles, or with its server.
    FileClosed,
    FileDeleted,
    FileIsADirectory,
    /// A read or write meets the lock of another open.
    FileLockConflict,
    InsufficientResources,
    InvalidDeviceRequest,
    InvalidLockRange,
    /// An acknowledgement of a break to a level that cannot be.
    InvalidOplockProtocol,
    InvalidParameter,
    /// A lock that cannot be had and is not waited for.
    LockNotGranted,
    /// A snapshot is not written to.
    MediaWriteProtected,
    NotADirectory,
    NotSupported,
    ObjectNameCollision,
    ObjectNameInvalid,
    ObjectNameNotFound,
    ObjectPathNotFound,
    ObjectPathSyntaxBad,
    RangeNotLocked,
    /// A lease key that the client uses for another file, an acknowledgement of no break.
    RequestNotAccepted,
    SharingViolation,
    /// An acknowledgement of more than was offered.
    Unsuccessful,
    UnmappableSecurity,
    /// The store failed, or was too slow: the cause is for the log.
    Failed(Failure),
}

pub type Outcome<T> = Result<T, Refusal>;

impl From<EngineError> for Refusal {
    fn from(error: EngineError) -> Self {
        Fault::from(error).into()
    }
}

impl From<Fault> for Refusal {
    fn from(fault: Fault) -> Self {
        fault.0.into()
    }
}

impl From<ErrorCode> for Refusal {
    fn from(code: ErrorCode) -> Self {
        Failure::from(code).into()
    }
}

impl From<Failure> for Refusal {
    fn from(failure: Failure) -> Self {
        match failure.code {
            ErrorCode::ShareNotFound => Self::BadNetworkName,
            ErrorCode::ResourceNotFound => Self::ObjectNameNotFound,
            ErrorCode::ParentNotFound => Self::ObjectPathNotFound,
            ErrorCode::ResourceAlreadyExists => Self::ObjectNameCollision,
            ErrorCode::ResourceTypeMismatch => Self::ObjectNameCollision,
            ErrorCode::DirectoryNotEmpty => Self::DirectoryNotEmpty,
            ErrorCode::CannotDeleteFileOrDirectory => Self::CannotDelete,
            ErrorCode::SharingViolation => Self::SharingViolation,
            ErrorCode::DeletePending => Self::DeletePending,
            ErrorCode::ReadOnlyAttribute => Self::AccessDenied,
            ErrorCode::FileLockConflict => Self::FileLockConflict,
            ErrorCode::ShareSizeLimitReached | ErrorCode::InsufficientStorage => Self::DiskFull,
            ErrorCode::ShareSnapshotOperationNotSupported => Self::MediaWriteProtected,
            ErrorCode::HandleLimitExceeded => Self::InsufficientResources,
            ErrorCode::FileInvalidPermission | ErrorCode::FileInvalidPermissionKey => {
                Self::UnmappableSecurity
            }
            ErrorCode::InvalidResourceName | ErrorCode::InvalidFileOrDirectoryPathName => {
                Self::ObjectNameInvalid
            }
            _ => Self::Failed(failure),
        }
    }
}

impl From<OpenRefusal> for Refusal {
    fn from(refusal: OpenRefusal) -> Self {
        match refusal {
            OpenRefusal::AccessDenied => Self::AccessDenied,
            OpenRefusal::CannotDelete => Self::CannotDelete,
            OpenRefusal::DeletePending => Self::DeletePending,
            OpenRefusal::FileIsADirectory => Self::FileIsADirectory,
            OpenRefusal::InvalidParameter => Self::InvalidParameter,
            OpenRefusal::MediaWriteProtected => Self::MediaWriteProtected,
            OpenRefusal::NotADirectory => Self::NotADirectory,
            OpenRefusal::ObjectNameCollision => Self::ObjectNameCollision,
            OpenRefusal::ObjectNameNotFound => Self::ObjectNameNotFound,
            OpenRefusal::SharingViolation => Self::SharingViolation,
        }
    }
}
