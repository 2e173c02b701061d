//! The NT status codes that this server answers with (MS-ERREF 2.3.1).

use std::fmt;

#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct NtStatus(pub u32);

macro_rules! statuses {
    ($( $name:ident = $value:literal; )*) => {
        impl NtStatus {
            $( pub const $name: Self = Self($value); )*

            /// Every code with its name. A test compares them, so that no two names share a value.
            pub const NAMED: &[(&str, u32)] = &[ $( (stringify!($name), $value), )* ];
        }
    };
}

statuses! {
    SUCCESS = 0x0000_0000;
    PENDING = 0x0000_0103;
    NOTIFY_CLEANUP = 0x0000_010B;
    NOTIFY_ENUM_DIR = 0x0000_010C;
    BUFFER_OVERFLOW = 0x8000_0005;
    NO_MORE_FILES = 0x8000_0006;
    UNSUCCESSFUL = 0xC000_0001;
    INVALID_INFO_CLASS = 0xC000_0003;
    INFO_LENGTH_MISMATCH = 0xC000_0004;
    INVALID_HANDLE = 0xC000_0008;
    INVALID_PARAMETER = 0xC000_000D;
    NO_SUCH_FILE = 0xC000_000F;
    INVALID_DEVICE_REQUEST = 0xC000_0010;
    END_OF_FILE = 0xC000_0011;
    MORE_PROCESSING_REQUIRED = 0xC000_0016;
    ACCESS_DENIED = 0xC000_0022;
    BUFFER_TOO_SMALL = 0xC000_0023;
    OBJECT_NAME_INVALID = 0xC000_0033;
    OBJECT_NAME_NOT_FOUND = 0xC000_0034;
    OBJECT_NAME_COLLISION = 0xC000_0035;
    OBJECT_PATH_INVALID = 0xC000_0039;
    OBJECT_PATH_NOT_FOUND = 0xC000_003A;
    OBJECT_PATH_SYNTAX_BAD = 0xC000_003B;
    SHARING_VIOLATION = 0xC000_0043;
    EAS_NOT_SUPPORTED = 0xC000_004F;
    NO_EAS_ON_FILE = 0xC000_0052;
    FILE_LOCK_CONFLICT = 0xC000_0054;
    LOCK_NOT_GRANTED = 0xC000_0055;
    DELETE_PENDING = 0xC000_0056;
    PRIVILEGE_NOT_HELD = 0xC000_0061;
    LOGON_FAILURE = 0xC000_006D;
    INVALID_ACL = 0xC000_0077;
    INVALID_SID = 0xC000_0078;
    INVALID_SECURITY_DESCR = 0xC000_0079;
    RANGE_NOT_LOCKED = 0xC000_007E;
    INVALID_LOCK_RANGE = 0xC000_01A1;
    DISK_FULL = 0xC000_007F;
    INSUFFICIENT_RESOURCES = 0xC000_009A;
    MEDIA_WRITE_PROTECTED = 0xC000_00A2;
    BAD_IMPERSONATION_LEVEL = 0xC000_00A5;
    FILE_IS_A_DIRECTORY = 0xC000_00BA;
    NOT_SUPPORTED = 0xC000_00BB;
    NETWORK_NAME_DELETED = 0xC000_00C9;
    BAD_DEVICE_TYPE = 0xC000_00CB;
    BAD_NETWORK_NAME = 0xC000_00CC;
    REQUEST_NOT_ACCEPTED = 0xC000_00D0;
    INVALID_OPLOCK_PROTOCOL = 0xC000_00E3;
    INTERNAL_ERROR = 0xC000_00E5;
    UNEXPECTED_IO_ERROR = 0xC000_00E9;
    DIRECTORY_NOT_EMPTY = 0xC000_0101;
    NOT_A_DIRECTORY = 0xC000_0103;
    TOO_MANY_OPENED_FILES = 0xC000_011F;
    CANCELLED = 0xC000_0120;
    CANNOT_DELETE = 0xC000_0121;
    FILE_DELETED = 0xC000_0123;
    DUPLICATE_OBJECTID = 0xC000_022A;
    FILE_CLOSED = 0xC000_0128;
    INVALID_LEVEL = 0xC000_0148;
    PIPE_DISCONNECTED = 0xC000_00B0;
    PIPE_BROKEN = 0xC000_014B;
    IO_DEVICE_ERROR = 0xC000_0185;
    INSUFF_SERVER_RESOURCES = 0xC000_0205;
    USER_SESSION_DELETED = 0xC000_0203;
    NOT_FOUND = 0xC000_0225;
    ACCOUNT_LOCKED_OUT = 0xC000_0234;
    FS_DRIVER_REQUIRED = 0xC000_019C;
    NETWORK_SESSION_EXPIRED = 0xC000_035C;
    SMB_NO_PREAUTH_INTEGRITY_HASH_OVERLAP = 0xC05D_0000;
    FILE_NOT_AVAILABLE = 0xC000_0467;
    REQUEST_OUT_OF_SEQUENCE = 0xC000_042A;
}

impl NtStatus {
    /// Severity 3; warnings carry a body like success does.
    pub fn is_error(self) -> bool {
        self.0 >> 30 == 3
    }
}

impl fmt::Debug for NtStatus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match Self::NAMED.iter().find(|(_, value)| *value == self.0) {
            Some((name, _)) => f.write_str(name),
            None => write!(f, "{:#010x}", self.0),
        }
    }
}

/// Bytes that are not what the protocol says they should be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Malformed;

impl From<Malformed> for NtStatus {
    fn from(_: Malformed) -> Self {
        Self::INVALID_PARAMETER
    }
}

impl From<bytes::TryGetError> for Malformed {
    fn from(_: bytes::TryGetError) -> Self {
        Self
    }
}

impl From<bytes::TryGetError> for NtStatus {
    fn from(_: bytes::TryGetError) -> Self {
        Self::INVALID_PARAMETER
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn no_two_names_share_a_value() {
        let values: HashSet<u32> = NtStatus::NAMED.iter().map(|(_, value)| *value).collect();
        assert_eq!(values.len(), NtStatus::NAMED.len());
    }
}
