//! What a request wants to become of the properties that SMB clients see.

use super::{FileAttributes, Wish};
use crate::sddl::{PermissionKey, SecurityDescriptor};
use crate::time::Timestamp;

/// A permission by itself, or by the key of one that the share has already.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Permission {
    Descriptor(SecurityDescriptor),
    Key(PermissionKey),
}

/// What a request wants of a directory or file; nothing is left open.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SmbWishes {
    pub attributes: Wish<FileAttributes>,
    pub creation_time: Wish<Timestamp>,
    pub last_write_time: Wish<Timestamp>,
    pub change_time: Wish<Timestamp>,
    pub permission: Wish<Permission>,
}

impl SmbWishes {
    /// Of a create that says nothing about them.
    pub const NEW: SmbWishes = SmbWishes {
        attributes: Wish::Value(FileAttributes::NONE),
        creation_time: Wish::Now,
        last_write_time: Wish::Now,
        change_time: Wish::Now,
        permission: Wish::Inherit,
    };

    /// Of a change that says nothing about them: only that something was changed.
    pub const UNCHANGED: SmbWishes = SmbWishes {
        attributes: Wish::Preserve,
        creation_time: Wish::Preserve,
        last_write_time: Wish::Preserve,
        change_time: Wish::Now,
        permission: Wish::Preserve,
    };
}

impl Wish<Timestamp> {
    /// The time that is meant. `kept` is what there is already, or what the source of a copy has.
    pub fn time(&self, now: Timestamp, kept: Timestamp) -> Timestamp {
        match self {
            Self::Value(time) => *time,
            Self::Now => now,
            Self::Preserve | Self::Inherit | Self::Source => kept,
        }
    }
}
