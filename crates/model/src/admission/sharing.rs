//! Open files: what an operation may do to a file that SMB clients hold open.
//!
//! An operation over REST acts as an open of a moment, with the access that it [`Needs`] and with full sharing; the share
//! mode of every open has to allow that access. An SMB open is judged the same way, against every open and against the
//! file's lease, which is an open too (file.md section 6).

use std::ops::Range;

use super::Request;
use super::caching::{self, Act, Kept};
use crate::error::{ErrorCode, Failure};
use crate::operation::LeaseUse;
use crate::time::Timestamp;

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
    pub offset: u64,
    pub length: u64,
    /// Others may not even read it.
    pub exclusive: bool,
}

impl ByteRangeLock {
    /// Whether a byte of the range is in it. A range of no length is met where it lies between two of its bytes.
    pub fn meets(&self, offset: u64, length: u64) -> bool {
        let end = |offset: u64, length: u64| u128::from(offset) + u128::from(length);
        u128::from(self.offset) < end(offset, length) && u128::from(offset) < end(self.offset, self.length)
    }
}

/// An open, as far as others are judged by it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Open {
    /// Its number among the opens of the file.
    pub handle: u64,
    pub access: Rights,
    pub share: Rights,
    pub locks: Vec<ByteRangeLock>,
    /// What its client keeps in its memory.
    pub kept: Kept,
    /// Its client is not connected, so that it cannot be asked for anything.
    pub is_disconnected: bool,
}

/// What an operation over REST needs of a file that may be open.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum Needs {
    /// It looks at properties, or at what cannot be open.
    #[default]
    Nothing,
    /// It looks at what a client may have changed in its own memory: the length, times.
    Look,
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
            Self::Nothing | Self::Look => Rights::NONE,
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
    pub is_directory: bool,
}

fn lets_through(needs: Needs, open: &Open) -> bool {
    match needs {
        Needs::Delete => false,
        // An open for attributes only denies nothing.
        _ if open.access == Rights::NONE => true,
        Needs::Lease => open.share.allow(needs.access()) && LEASE_SHARES.allow(open.access),
        _ => open.share.allow(needs.access()),
    }
}

/// Whether every open lets an operation with these needs through.
pub fn check(needs: Needs, opens: &[Open]) -> Result<(), Failure> {
    let all = opens.iter().all(|open| lets_through(needs, open));
    if all { Ok(()) } else { Err(ErrorCode::SharingViolation.into()) }
}

/// Whether two opens let each other be.
pub fn agree(access: Rights, share: Rights, other: &Open) -> bool {
    let nothing = Rights::NONE;
    access == nothing || other.access == nothing || share.allow(other.access) && other.share.allow(access)
}

/// Whether a file's lease lets an open be.
pub const fn lease_agrees(access: Rights, is_leased: bool) -> bool {
    !is_leased || LEASE_SHARES.allow(access)
}

/// Whether an SMB client may open a file that others have open, and that is leased or not.
pub fn check_open(wanted: &Open, opens: &[Open], is_leased: bool) -> Result<(), Failure> {
    let opens_agree = opens.iter().all(|open| agree(wanted.access, wanted.share, open));
    let agrees = opens_agree && lease_agrees(wanted.access, is_leased);
    if agrees { Ok(()) } else { Err(ErrorCode::SharingViolation.into()) }
}

/// Whether the locks of others let an operation through: one that writes finds none at all, one that reads finds no
/// exclusive one in what it reads, which is the whole file where no range is given.
pub fn check_locks(needs: Needs, range: Option<&Range<u64>>, opens: &[Open]) -> Result<(), Failure> {
    let is_met = |lock: &ByteRangeLock| match range {
        Some(range) => lock.meets(range.start, range.end.saturating_sub(range.start)),
        None => true,
    };
    let mut locks = opens.iter().flat_map(|open| &open.locks);
    let conflicts = match needs {
        Needs::Write | Needs::Replace => locks.next().is_some(),
        Needs::Read => locks.any(|lock| lock.exclusive && is_met(lock)),
        Needs::Nothing | Needs::Look | Needs::Delete | Needs::Rename | Needs::Lease => false,
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

/// What an operation over REST breaks of what a client keeps of the file.
pub const fn breaks(needs: Needs, held: Caching) -> Option<Break> {
    match needs {
        Needs::Nothing | Needs::Lease => None,
        Needs::Look | Needs::Read => Act::Read.breaks(held),
        Needs::Write | Needs::Replace => Act::Write.breaks(held),
        Needs::Delete | Needs::Rename => Act::Move.breaks(held),
    }
}

/// What clients have to give up before or while an operation over REST is carried out, by the handles of their opens. Where an open
/// stands against it, only whether its client has it open still is asked first.
pub fn all_breaks(needs: Needs, opens: &[Open], now: Timestamp) -> Vec<(u64, Break)> {
    let against: Vec<&Open> = opens.iter().filter(|open| !lets_through(needs, open)).collect();
    if against.is_empty() {
        let to_break = |open: &Open| breaks(needs, open.kept.now(now));
        return caching::settled(opens.iter().filter_map(|open| to_break(open).map(|change| (open, change))));
    }
    let to_break = |open: &Open| Act::Move.breaks(open.kept.now(now));
    caching::settled(against.into_iter().filter_map(|open| to_break(open).map(|change| (open, change))))
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
    // Whoever has to give something up first is asked; then this is judged again.
    let must_wait = || all_breaks(needs, opens, request.now).iter().any(|(_, change)| change.waits);
    check(needs, opens).map_err(|failure| match (needs, request.target.open.is_directory) {
        _ if must_wait() => ErrorCode::ClientCacheFlushDelay.into(),
        (Needs::Delete, true) => ErrorCode::CannotDeleteFileOrDirectory.into(),
        _ => failure,
    })?;
    check_locks(needs, request.given.locked_range.as_ref(), opens)?;
    if must_wait() { Err(ErrorCode::ClientCacheFlushDelay.into()) } else { Ok(()) }
}
