//! Security descriptors of files: as text (SDDL, [MS-DTYP] section 2.5.1) and as bytes (self-relative, 2.4.6).
//!
//! What a text names by a domain that this server does not have (`DA`, the domain's administrators) cannot be read, nor
//! can conditional entries. Bytes may hold entries of such kinds: they are kept, and cannot be written as text.

mod ace;
mod binary;
mod inherit;
mod rights;
mod sid;
mod text;

pub use ace::{Ace, AceKind};
pub use sid::Sid;

use std::fmt;

use crate::error::ErrorCode;

/// The most that one descriptor takes, as bytes. Its lists have 16 bits for their length.
pub const DESCRIPTOR_MAX: usize = 64 * 1024;

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SecurityDescriptor {
    pub owner: Option<Sid>,
    pub group: Option<Sid>,
    /// Who may do what; without one, everybody everything.
    pub dacl: Option<Acl>,
    /// What is audited.
    pub sacl: Option<Acl>,
}

/// An access control list.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Acl {
    /// `P`: nothing is inherited from the parent.
    pub protected: bool,
    /// `AR`
    pub auto_inherit_required: bool,
    /// `AI`: what is inherited came by itself.
    pub auto_inherited: bool,
    /// None: `NO_ACCESS_CONTROL`, a list that is there and controls nothing. An empty one lets nobody do anything.
    pub entries: Option<Vec<Ace>>,
}

impl Acl {
    /// Controls nothing.
    pub const NULL: Acl =
        Acl { protected: false, auto_inherit_required: false, auto_inherited: false, entries: None };
}

impl SecurityDescriptor {
    /// As the File service keeps one. It must say whose the file is and who may use it, or it is refused. One that says
    /// nothing of audits comes back with `S:NO_ACCESS_CONTROL` (recorded).
    pub fn for_file(self) -> Result<Self, BadDescriptor> {
        if self.owner.is_none() || self.group.is_none() || self.dacl.is_none() {
            return Err(BadDescriptor::Incomplete);
        }
        Ok(Self { sacl: Some(self.sacl.unwrap_or(Acl::NULL)), ..self })
    }

    pub fn parse_text(text: &str) -> Result<Self, BadDescriptor> {
        text::parse(text).ok_or(BadDescriptor::Text)
    }

    /// `NotText` if it holds an entry that text cannot express.
    pub fn to_text(&self) -> Result<String, BadDescriptor> {
        text::print(self).ok_or(BadDescriptor::NotText)
    }

    pub fn parse_bytes(bytes: &[u8]) -> Result<Self, BadDescriptor> {
        binary::parse(bytes).ok_or(BadDescriptor::Bytes)
    }

    /// `TooLong` if a list is longer than its length can say.
    pub fn to_bytes(&self) -> Result<Vec<u8>, BadDescriptor> {
        binary::print(self).ok_or(BadDescriptor::TooLong)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BadDescriptor {
    Text,
    Bytes,
    TooLong,
    /// Owner, group or the list of who may do what is missing.
    Incomplete,
    /// Good, and cannot be written as SDDL.
    NotText,
}

impl BadDescriptor {
    /// What the request is told.
    pub const fn code(self) -> ErrorCode {
        match self {
            Self::NotText => ErrorCode::CannotConvertToSddlDueToCustomAce,
            Self::Text | Self::Bytes | Self::TooLong | Self::Incomplete => ErrorCode::FileInvalidPermission,
        }
    }
}

/// `x-ms-file-permission-key`: names a descriptor within its share. Two decimal numbers with an asterisk between them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PermissionKey(pub [u64; 2]);

impl PermissionKey {
    /// Of a digest of the descriptor's bytes.
    pub const fn from_number(number: u128) -> Self {
        Self([(number >> 64) as u64, number as u64])
    }

    pub const fn to_number(self) -> u128 {
        let [high, low] = self.0;
        ((high as u128) << 64) | low as u128
    }

    pub fn parse(text: &str) -> Option<Self> {
        let number = |text: &str| {
            let digits = !text.is_empty() && text.bytes().all(|digit| digit.is_ascii_digit());
            digits.then(|| text.parse().ok()).flatten()
        };
        let (high, low) = text.split_once('*')?;
        Some(Self([number(high)?, number(low)?]))
    }
}

impl fmt::Display for PermissionKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [high, low] = self.0;
        write!(f, "{high}*{low}")
    }
}

/// `x-ms-file-permission-format`
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum PermissionFormat {
    #[default]
    Sddl,
    /// Base64 of the bytes.
    Binary,
}

impl PermissionFormat {
    pub fn parse(text: &str) -> Option<Self> {
        match text {
            _ if text.eq_ignore_ascii_case("sddl") => Some(Self::Sddl),
            _ if text.eq_ignore_ascii_case("binary") => Some(Self::Binary),
            _ => None,
        }
    }

    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Sddl => "sddl",
            Self::Binary => "binary",
        }
    }
}

#[cfg(test)]
mod tests;
