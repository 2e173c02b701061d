//! Open files: what an operation may do to a file that SMB clients hold open.
//!
//! An operation over REST acts as an open of a moment, with the access that it [`Needs`] and with full sharing; the share
//! mode of every open has to allow that access. An SMB open is judged the same way, against every open and against the
//! file's lease, which is an open too (file.md section 6).

use std::ops::Range;

use super::Request;
use crate::error::{ErrorCode, Failure};
use crate::operation::LeaseUse;

/// Reading, writing, deleting: what an open does, or what it lets others do. An open that does none of them looks at
/// attributes only.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct Rights {
    pub read: bool,
    pub write: bool,
    pub delete: bool,
}

impl Rights {
    pub const NONE: Self = Self { read: false, write: false, delete: false };
    pub const READ: Self = Self { read: true, ..Self::NONE };
    pub const WRITE: Self = Self { write: true, ..Self::NONE };
    pub const DELETE: Self = Self { delete: true, ..Self::NONE };
    pub const ALL: Self = Self { read: true, write: true, delete: true };

    #[must_use]
    pub const fn and(self, other: Self) -> Self {
        Self {
            read: self.read || other.read,
            write: self.write || other.write,
            delete: self.delete || other.delete,
        }
    }

    /// Whether all that the others ask for is among these.
    pub const fn allow(self, asked: Self) -> bool {
        (self.read || !asked.read) && (self.write || !asked.write) && (self.delete || !asked.delete)
    }
}

/// A range of bytes that one open has locked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ByteRangeLock {
    pub range: Range<u64>,
    /// Others may not even read it.
    pub exclusive: bool,
}

/// An open, as far as others are judged by it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Open {
    pub access: Rights,
    pub share: Rights,
    pub locks: Vec<ByteRangeLock>,
}

/// What an operation over REST needs of a file that may be open.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum Needs {
    /// It looks at properties, or at what cannot be open.
    #[default]
    Nothing,
    Read,
    Write,
    /// Puts another file in its place.
    Replace,
    /// No open at all, whatever it shares.
    Delete,
    /// Gives the file another name.
    Rename,
    Lease,
}

impl Needs {
    /// What the share mode of each open has to allow.
    const fn access(self) -> Rights {
        match self {
            Self::Nothing => Rights::NONE,
            Self::Read => Rights::READ,
            Self::Write => Rights::WRITE,
            Self::Replace => Rights::WRITE.and(Rights::DELETE),
            Self::Delete | Self::Rename => Rights::DELETE,
            // The published table: no share mode lets a lease in but the one that denies nothing.
            Self::Lease => Rights::ALL,
        }
    }

    const fn changes(self) -> bool {
        matches!(self, Self::Write | Self::Replace | Self::Delete | Self::Rename)
    }
}

/// What a lease lets others do while it is held.
const LEASE_SHARES: Rights = Rights::READ;

/// What the rules may look at of a file or directory that can be open.
#[derive(Debug, Clone, Copy, Default)]
pub struct OpenState<'a> {
    pub opens: &'a [Open],
    /// An SMB client has asked for its deletion, and others have it open still.
    pub delete_pending: bool,
    /// By its attribute.
    pub read_only: bool,
}

/// Whether every open lets an operation with these needs through.
pub fn check(needs: Needs, opens: &[Open]) -> Result<(), Failure> {
    let lets_through = |open: &Open| match needs {
        Needs::Delete => false,
        // An open for attributes only denies nothing.
        _ if open.access == Rights::NONE => true,
        Needs::Lease => open.share.allow(needs.access()) && LEASE_SHARES.allow(open.access),
        _ => open.share.allow(needs.access()),
    };
    if opens.iter().all(lets_through) { Ok(()) } else { Err(ErrorCode::SharingViolation.into()) }
}

/// Whether an SMB client may open a file that others have open, and that is leased or not.
pub fn check_open(wanted: &Open, opens: &[Open], is_leased: bool) -> Result<(), Failure> {
    if wanted.access == Rights::NONE {
        return Ok(());
    }
    let agree = |open: &Open| {
        open.access == Rights::NONE || wanted.share.allow(open.access) && open.share.allow(wanted.access)
    };
    let lease_agrees = !is_leased || LEASE_SHARES.allow(wanted.access);
    if lease_agrees && opens.iter().all(agree) { Ok(()) } else { Err(ErrorCode::SharingViolation.into()) }
}

/// Whether the locks of others let an operation through: one that writes finds none at all, one that reads finds no
/// exclusive one in what it reads, which is the whole file where no range is given.
pub fn check_locks(needs: Needs, range: Option<&Range<u64>>, opens: &[Open]) -> Result<(), Failure> {
    let is_met = |lock: &ByteRangeLock| match range {
        Some(range) => lock.range.start < range.end && range.start < lock.range.end,
        None => true,
    };
    let mut locks = opens.iter().flat_map(|open| &open.locks);
    let conflicts = match needs {
        Needs::Write | Needs::Replace => locks.next().is_some(),
        Needs::Read => locks.any(|lock| lock.exclusive && is_met(lock)),
        Needs::Nothing | Needs::Delete | Needs::Rename | Needs::Lease => false,
    };
    if conflicts { Err(ErrorCode::FileLockConflict.into()) } else { Ok(()) }
}

/// What an SMB client keeps in its memory by its oplock or lease: data it has read, data it has written, and files
/// that its application has closed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct Caching {
    pub read: bool,
    pub write: bool,
    pub handle: bool,
}

/// A client has to give up what it keeps, down to `to`; the operation waits for it or goes on at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Break {
    pub to: Caching,
    pub waits: bool,
}

/// What an operation breaks of what a client keeps of the file.
pub const fn breaks(needs: Needs, looks_at_length: bool, held: Caching) -> Option<Break> {
    let nothing = Caching { read: false, write: false, handle: false };
    let Caching { read, write, handle } = held;
    match needs {
        Needs::Read | Needs::Nothing if write && (looks_at_length || matches!(needs, Needs::Read)) => {
            Some(Break { to: Caching { write: false, ..held }, waits: true })
        }
        Needs::Write | Needs::Replace if read || write || handle => Some(Break { to: nothing, waits: write }),
        Needs::Delete | Needs::Rename if handle => {
            Some(Break { to: Caching { handle: false, ..held }, waits: true })
        }
        _ => None,
    }
}

pub(super) fn check_delete_pending(request: &Request<'_>) -> Result<(), Failure> {
    match request.target.open.delete_pending {
        true => Err(ErrorCode::DeletePending.into()),
        false => Ok(()),
    }
}

pub(super) fn check_read_only(request: &Request<'_>) -> Result<(), Failure> {
    let is_refused = request.policy.needs.changes() && !request.given.ignores_read_only;
    match is_refused && request.target.open.read_only {
        true => Err(ErrorCode::ReadOnlyAttribute.into()),
        false => Ok(()),
    }
}

pub(super) fn check_sharing(request: &Request<'_>) -> Result<(), Failure> {
    let (needs, opens) = (request.policy.needs, request.target.open.opens);
    // Of what is done to a lease, only its beginning is an open.
    if request.policy.lease == LeaseUse::Manage && !request.given.begins_lease {
        return Ok(());
    }
    check(needs, opens)?;
    check_locks(needs, request.given.locked_range.as_ref(), opens)
}
