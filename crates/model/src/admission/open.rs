//! Whether an SMB client may open what a path stands for, and what becomes of it ([MS-FSA] section 2.1.5.1). Judged on the values
//! that the commit of the open checks.

use super::caching::{self, Act, Actor};
use super::sharing::{self, Break, Open, Rights};
use crate::smb::{AccessMask, FileAttributes};
use crate::time::Timestamp;

/// What is to become of a file that is there, or is not ([MS-SMB2] section 2.2.13).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Disposition {
    /// In place of the one that is there, or a new one.
    Supersede,
    /// Only one that is there.
    Open,
    /// Only a new one.
    Create,
    OpenIf,
    /// Only one that is there, cut off.
    Overwrite,
    OverwriteIf,
}

impl Disposition {
    pub const ALL: [Self; 6] =
        [Self::Supersede, Self::Open, Self::Create, Self::OpenIf, Self::Overwrite, Self::OverwriteIf];

    pub const fn overwrites(self) -> bool {
        matches!(self, Self::Supersede | Self::Overwrite | Self::OverwriteIf)
    }
}

/// What a client asks for.
#[derive(Clone, Copy, Debug)]
pub struct OpenRequest {
    pub desired: AccessMask,
    pub share: Rights,
    pub disposition: Disposition,
    pub directory: bool,
    pub non_directory: bool,
    pub delete_on_close: bool,
    /// Of a file that is made or overwritten.
    pub attributes: FileAttributes,
    pub actor: Actor,
}

/// What stands there.
#[derive(Clone, Copy, Debug)]
pub struct OpenTarget<'a> {
    pub is_directory: bool,
    pub is_root: bool,
    pub attributes: FileAttributes,
    pub delete_pending: bool,
    pub opens: &'a [Open],
    /// By a lease over REST.
    pub is_leased: bool,
    /// A copy is still writing it.
    pub is_being_copied: bool,
}

/// Where it stands.
#[derive(Clone, Copy, Debug, Default)]
pub struct OpenPlace {
    /// In a snapshot, where nothing is changed.
    pub is_snapshot: bool,
    /// The directory goes when it is closed: nothing is made in it.
    pub parent_pending: bool,
}

/// What the open does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OpenVerdict {
    Create {
        directory: bool,
        granted: AccessMask,
    },
    Open {
        granted: AccessMask,
        breaks: Vec<(u64, Break)>,
    },
    Overwrite {
        granted: AccessMask,
        breaks: Vec<(u64, Break)>,
    },
    /// Others have to give up what they keep first; then it is judged again.
    Wait {
        breaks: Vec<(u64, Break)>,
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum OpenRefusal {
    AccessDenied,
    CannotDelete,
    DeletePending,
    FileIsADirectory,
    InvalidParameter,
    MediaWriteProtected,
    NotADirectory,
    ObjectNameCollision,
    ObjectNameNotFound,
    SharingViolation,
}

/// What a client that opens a file could do to it. The owner of the account may do everything; the attribute keeps bytes from being written.
pub fn maximal_access(place: OpenPlace, target: Option<&OpenTarget<'_>>) -> AccessMask {
    let is_read_only =
        target.is_some_and(|target| !target.is_directory && target.attributes.has(FileAttributes::READ_ONLY));
    match (place.is_snapshot, is_read_only) {
        (true, _) => AccessMask::FILE_READ_AND_EXECUTE,
        (_, true) => AccessMask::FILE_ALL.without(AccessMask::WRITE_DATA.and(AccessMask::APPEND_DATA)),
        _ => AccessMask::FILE_ALL,
    }
}

pub fn judge_open(
    request: &OpenRequest,
    place: OpenPlace,
    target: Option<&OpenTarget<'_>>,
    now: Timestamp,
) -> Result<OpenVerdict, OpenRefusal> {
    if request.directory && (request.non_directory || request.disposition.overwrites()) {
        return Err(OpenRefusal::InvalidParameter);
    }
    if !request.desired.is_valid() {
        return Err(OpenRefusal::AccessDenied);
    }
    match target {
        None => judge_new(request, place),
        Some(target) => judge_existing(request, place, target, now),
    }
}

fn judge_new(request: &OpenRequest, place: OpenPlace) -> Result<OpenVerdict, OpenRefusal> {
    if matches!(request.disposition, Disposition::Open | Disposition::Overwrite) {
        return Err(OpenRefusal::ObjectNameNotFound);
    }
    if place.is_snapshot {
        return Err(OpenRefusal::MediaWriteProtected);
    }
    if place.parent_pending {
        return Err(OpenRefusal::DeletePending);
    }
    let granted = request.desired.granted(AccessMask::FILE_ALL).ok_or(OpenRefusal::AccessDenied)?;
    if request.delete_on_close {
        if !granted.has(AccessMask::DELETE) {
            return Err(OpenRefusal::AccessDenied);
        }
        if request.attributes.has(FileAttributes::READ_ONLY) {
            return Err(OpenRefusal::CannotDelete);
        }
    }
    Ok(OpenVerdict::Create { directory: request.directory, granted })
}

fn judge_existing(
    request: &OpenRequest,
    place: OpenPlace,
    target: &OpenTarget<'_>,
    now: Timestamp,
) -> Result<OpenVerdict, OpenRefusal> {
    let overwrites = request.disposition.overwrites();
    if target.delete_pending {
        return Err(OpenRefusal::DeletePending);
    }
    if request.disposition == Disposition::Create {
        return Err(OpenRefusal::ObjectNameCollision);
    }
    match target.is_directory {
        true if request.non_directory => return Err(OpenRefusal::FileIsADirectory),
        true if overwrites => return Err(OpenRefusal::ObjectNameCollision),
        false if request.directory => return Err(OpenRefusal::NotADirectory),
        _ => {}
    }
    if place.is_snapshot && (overwrites || request.delete_on_close) {
        return Err(OpenRefusal::MediaWriteProtected);
    }
    let maximal = maximal_access(place, Some(target));
    let granted = request.desired.granted(maximal).ok_or(OpenRefusal::AccessDenied)?;
    let is_read_only = target.attributes.has(FileAttributes::READ_ONLY);
    if request.delete_on_close {
        if is_read_only || target.is_root {
            return Err(OpenRefusal::CannotDelete);
        }
        if !granted.has(AccessMask::DELETE) {
            return Err(OpenRefusal::AccessDenied);
        }
    }
    // What is hidden or of the system is overwritten only by a client that names these attributes.
    let lost = |attribute| target.attributes.has(attribute) && !request.attributes.has(attribute);
    if overwrites && (is_read_only || lost(FileAttributes::HIDDEN) || lost(FileAttributes::SYSTEM)) {
        return Err(OpenRefusal::AccessDenied);
    }
    let access = match request.disposition {
        Disposition::Supersede => granted.rights().and(Rights::WRITE).and(Rights::DELETE),
        Disposition::Overwrite | Disposition::OverwriteIf => granted.rights().and(Rights::WRITE),
        _ => granted.rights(),
    };
    if target.is_being_copied && access.write || !sharing::lease_agrees(access, target.is_leased) {
        return Err(OpenRefusal::SharingViolation);
    }
    let against = || target.opens.iter().filter(|open| !sharing::agree(access, request.share, open));
    if against().next().is_some() {
        let breaks = caching::breaks_of_conflict(against(), now);
        return if breaks.is_empty() {
            Err(OpenRefusal::SharingViolation)
        } else {
            Ok(OpenVerdict::Wait { breaks })
        };
    }
    let act = match overwrites {
        true => Some(Act::Overwrite),
        false if granted.is_attributes_only() => None,
        false => Some(Act::Open),
    };
    let mut breaks = act.map_or(Vec::new(), |act| caching::breaks_of(act, request.actor, target.opens, now));
    if !overwrites && granted.breaks_no_lease() {
        let is_lease =
            |handle: u64| target.opens.iter().any(|open| open.handle == handle && open.kept.owner.is_some());
        breaks.retain(|(handle, _)| !is_lease(*handle));
    }
    // It is to go when this is closed: applications may have closed what their clients keep open.
    if request.delete_on_close && breaks.is_empty() {
        breaks = caching::breaks_of(Act::Move, request.actor, target.opens, now);
    }
    if breaks.iter().any(|(_, change)| change.waits) {
        return Ok(OpenVerdict::Wait { breaks });
    }
    Ok(match overwrites {
        true => OpenVerdict::Overwrite { granted, breaks },
        false => OpenVerdict::Open { granted, breaks },
    })
}
