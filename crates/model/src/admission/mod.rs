//! Whether a request may act on what is there: existence, leases, conditional headers, tags, types and
//! positions, judged in one declared [`ORDER`].
//!
//! [`admit`] is pure, so it can be run twice: early, before a large body is read, and again on the
//! values that the commit is conditional on. Only the second run counts. The store writes a record only
//! where it was given the [`Admitted`] of that very record.

pub mod caching;
mod conditions;
mod hold;
pub mod lease;
mod lease_id;
pub mod locks;
pub mod open;
mod position;
pub mod queue;
pub mod sharing;
mod source;
mod syntax;
pub mod table;
#[cfg(test)]
mod tests;

use crate::blob::BlobType;
use crate::error::{ErrorCode, Failure};
use crate::etag::{ETag, ETagCondition};
use crate::operation::{Conditions, LeaseUse, Policy, Rule};
use crate::tags::{TagExpression, Tags};
use crate::time::Timestamp;
use crate::version::{ApiVersion, Feature};

pub use hold::Hold;
pub use lease::{Lease, LeaseAction, LeaseChange, LeaseDuration, LeaseId, LeaseState};
pub use position::SequenceConditions;
pub use sharing::{Needs, OpenState};
pub use source::admit_source;
pub use syntax::check_syntax;

/// Everything that a request asserts about its target. What the operation does not take is not judged.
#[derive(Debug, Clone, Default)]
pub struct Preconditions {
    pub if_match: Option<ETagCondition>,
    pub if_none_match: Option<ETagCondition>,
    pub if_modified_since: Option<Timestamp>,
    pub if_unmodified_since: Option<Timestamp>,
    pub if_tags: Option<TagExpression>,
    pub lease_id: Option<LeaseId>,
    pub sequence_number: SequenceConditions,
    /// `x-ms-blob-condition-appendpos`
    pub append_position: Option<u64>,
    /// `x-ms-blob-condition-maxsize`, judged with the bytes that the request would add.
    pub max_size: Option<u64>,
    pub added_length: u64,
    /// `x-ms-access-tier-if-modified-since` and `-if-unmodified-since`
    pub tier_if_modified_since: Option<Timestamp>,
    pub tier_if_unmodified_since: Option<Timestamp>,
    /// The credential permits creating and not replacing. Known to authorisation, but only the commit
    /// can tell whether the target exists.
    pub create_only: bool,
    /// Set Blob Properties with a new length: it changes bytes, which it does not do otherwise.
    pub resizes: bool,
    /// `x-ms-file-rename-ignore-readonly`, `x-ms-file-copy-ignore-readonly`, and attributes without it.
    pub ignores_read_only: bool,
    /// The bytes of a file that are read; all of them where this says nothing.
    pub locked_range: Option<std::ops::Range<u64>>,
    /// The operation acquires a lease.
    pub begins_lease: bool,
}

/// What is the same for everything that a request meets.
#[derive(Debug, Clone, Copy)]
pub struct Circumstances {
    pub now: Timestamp,
    pub version: ApiVersion,
    /// A blob that is replaced stays as a version of its name.
    pub keeps_versions: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Kind {
    Container,
    Blob,
    Share,
    /// Or a directory.
    File,
}

impl Kind {
    fn not_found(self) -> ErrorCode {
        match self {
            Self::Container => ErrorCode::ContainerNotFound,
            Self::Blob => ErrorCode::BlobNotFound,
            Self::Share => ErrorCode::ShareNotFound,
            Self::File => ErrorCode::ResourceNotFound,
        }
    }

    /// As the service's messages name it.
    fn noun(self) -> &'static str {
        match self {
            Self::Container => "container",
            Self::Blob => "blob",
            Self::Share => "file share",
            Self::File => "file",
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Existence {
    Absent,
    /// A blob that has uncommitted blocks and nothing else. It can be leased, and for the rest it is
    /// absent, except that its dates are those of [`UNCOMMITTED`].
    Uncommitted,
    Present,
}

/// The ETag and Last-Modified of a blob of uncommitted blocks only: 1 January 1601.
pub const UNCOMMITTED: (ETag, Timestamp) = (ETag(Timestamp::YEAR_1601.0), Timestamp::YEAR_1601);

/// What the rules may look at.
#[derive(Debug, Clone, Copy)]
pub struct Target<'a> {
    pub existence: Existence,
    pub etag: ETag,
    pub last_modified: Timestamp,
    /// Snapshots and versions have none.
    pub lease: Option<&'a Lease>,
    pub tags: Option<&'a Tags>,
    /// None for what is no blob.
    pub blob_type: Option<BlobType>,
    pub length: u64,
    pub sequence_number: u64,
    /// Of an append blob that Append Blob Seal has closed.
    pub sealed: bool,
    /// When Set Blob Tier, or a write with an explicit tier, last chose the access tier.
    pub tier_changed: Option<Timestamp>,
    /// A copy is still writing it.
    pub is_being_copied: bool,
    /// Of a file or directory.
    pub open: OpenState<'a>,
    /// The base of an incremental copy; its snapshots are blobs like others.
    pub is_incremental_copy: bool,
    /// What protects it from being changed and deleted.
    pub hold: Hold,
}

impl Target<'_> {
    pub const ABSENT: Target<'static> = Target {
        existence: Existence::Absent,
        etag: UNCOMMITTED.0,
        last_modified: UNCOMMITTED.1,
        lease: None,
        tags: None,
        blob_type: None,
        length: 0,
        sequence_number: 0,
        sealed: false,
        tier_changed: None,
        is_being_copied: false,
        open: OpenState { opens: &[], delete_pending: false, read_only: false, is_directory: false },
        is_incremental_copy: false,
        hold: Hold::NONE,
    };

    pub const UNCOMMITTED: Target<'static> =
        Target { existence: Existence::Uncommitted, blob_type: Some(BlobType::Block), ..Self::ABSENT };

    /// The rest is given by `Target { lease, ..Target::present(etag, last_modified) }`.
    pub const fn present(etag: ETag, last_modified: Timestamp) -> Target<'static> {
        Target { existence: Existence::Present, etag, last_modified, ..Target::ABSENT }
    }
}

/// A stored record as admission sees it.
pub trait Subject {
    fn target(&self) -> Target<'_>;

    /// Makes the lease available and forgets its id.
    fn reset_lease(&mut self);
}

/// One step of [`admit`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Check {
    Syntax,
    Existence,
    DeletePending,
    Overwrite,
    Lease,
    Conditions,
    Tags,
    TierTime,
    Type,
    PendingCopy,
    IncrementalCopy,
    Hold,
    Seal,
    SequenceNumber,
    AppendPosition,
    MaxSize,
    ReadOnly,
    Sharing,
}

/// The first check that fails is the one reported. What comes later in the service (archive tier,
/// checks of the content) is the operation's own.
///
/// The lease stands before the conditions: an upload with `If-None-Match: *` onto a leased blob is
/// told LeaseIdMissing, not BlobAlreadyExists (recorded).
pub const ORDER: &[Check] = &[
    Check::Syntax,
    Check::Existence,
    Check::DeletePending,
    Check::Overwrite,
    Check::Lease,
    Check::Conditions,
    Check::Tags,
    Check::TierTime,
    Check::Type,
    Check::PendingCopy,
    Check::IncrementalCopy,
    Check::Hold,
    Check::Seal,
    Check::SequenceNumber,
    Check::AppendPosition,
    Check::MaxSize,
    Check::ReadOnly,
    Check::Sharing,
];

/// What a check has before it.
struct Request<'a> {
    policy: &'a Policy,
    given: &'a Preconditions,
    kind: Kind,
    target: Target<'a>,
    now: Timestamp,
    version: ApiVersion,
    keeps_versions: bool,
}

/// Lets `record`, which is what the address names now, through to an operation of this policy, or says why
/// not. None is an absent target: 404 unless the operation creates.
pub fn admit<R: Subject>(
    policy: &Policy,
    given: &Preconditions,
    kind: Kind,
    mut record: Option<R>,
    circumstances: Circumstances,
) -> Result<Admitted<R>, Failure> {
    let Circumstances { now, version, keeps_versions } = circumstances;
    let target = record.as_ref().map_or(Target::ABSENT, Subject::target);
    let request = Request { policy, given, kind, target, now, version, keeps_versions };
    for check in ORDER {
        request.judge(*check)?;
    }
    if request.ends_lease()
        && let Some(record) = &mut record
    {
        record.reset_lease();
    }
    Ok(Admitted { record, noun: kind.noun(), now })
}

/// The same gate for what only its existence guards: queues and tables.
pub fn admit_name<R>(
    policy: &Policy,
    record: Option<R>,
    now: Timestamp,
    not_found: ErrorCode,
) -> Result<Admitted<R>, Failure> {
    if record.is_none() && !policy.creates {
        return Err(not_found.into());
    }
    Ok(Admitted { record, noun: "resource", now })
}

impl Request<'_> {
    fn takes(&self, condition: Conditions) -> bool {
        self.policy.conditions.has(condition)
    }

    fn judge(&self, check: Check) -> Result<(), Failure> {
        match check {
            Check::Syntax => check_syntax(self.policy, self.given, self.version),
            Check::Existence => self.check_existence(),
            Check::Overwrite => self.check_overwrite(),
            Check::Lease => self.check_lease(),
            Check::Conditions => conditions::check(self),
            Check::Tags => conditions::check_tags(self),
            Check::TierTime => position::check_tier_time(self),
            Check::Type => self.check_type(),
            Check::PendingCopy => self.check_pending_copy(),
            Check::IncrementalCopy => self.check_incremental_copy(),
            Check::Hold => hold::check(self),
            Check::Seal => self.check_seal(),
            Check::SequenceNumber => position::check_sequence_number(self),
            Check::AppendPosition => position::check_append_position(self),
            Check::MaxSize => position::check_max_size(self),
            Check::DeletePending => sharing::check_delete_pending(self),
            Check::ReadOnly => sharing::check_read_only(self),
            Check::Sharing => sharing::check_sharing(self),
        }
    }

    fn check_existence(&self) -> Result<(), Failure> {
        let is_found = match self.target.existence {
            Existence::Present => true,
            Existence::Uncommitted => self.policy.creates || self.policy.finds_uncommitted,
            Existence::Absent => self.policy.creates,
        };
        if is_found { Ok(()) } else { Err(self.kind.not_found().into()) }
    }

    fn check_overwrite(&self) -> Result<(), Failure> {
        if self.given.create_only && self.target.existence == Existence::Present {
            return Err(ErrorCode::UnauthorizedBlobOverwrite.into());
        }
        Ok(())
    }

    fn check_lease(&self) -> Result<(), Failure> {
        let is_absent = self.target.existence == Existence::Absent;
        if is_absent && !self.version.has(Feature::LeaseIdOnMissingBlob) {
            return Ok(());
        }
        let lease = self.target.lease;
        lease::check_use(self.kind, lease, self.lease_use(), self.given.lease_id, self.now)?;
        // A copy may take longer than any fixed lease lasts.
        let is_fixed = lease.is_some_and(|lease| lease.duration != LeaseDuration::Infinite);
        if self.policy.needs_infinite_lease && is_fixed && lease::state(lease, self.now).is_locked() {
            return Err(ErrorCode::InfiniteLeaseDurationRequired.into());
        }
        Ok(())
    }

    fn lease_use(&self) -> LeaseUse {
        match self.policy.lease_since {
            Some(feature) if !self.version.has(feature) => LeaseUse::Read,
            _ => self.policy.lease,
        }
    }

    fn check_type(&self) -> Result<(), Failure> {
        match (self.target.blob_type, self.policy.blob_type) {
            (Some(have), Some(wanted)) if have != wanted => Err(ErrorCode::InvalidBlobType.into()),
            _ => Ok(()),
        }
    }

    /// What is sealed is written again only after a deletion; a position in it is not asked for any more.
    fn check_seal(&self) -> Result<(), Failure> {
        match self.policy.refuses_sealed && self.target.sealed {
            true => Err(ErrorCode::BlobIsSealed.into()),
            false => Ok(()),
        }
    }

    fn check_pending_copy(&self) -> Result<(), Failure> {
        let waits = self.policy.rule == Rule::Write && !self.policy.works_on_pending_copy;
        if waits && self.target.is_being_copied {
            Err(ErrorCode::PendingCopyOperation.into())
        } else {
            Ok(())
        }
    }

    fn check_incremental_copy(&self) -> Result<(), Failure> {
        match self.target.is_incremental_copy && !self.policy.works_on_incremental_copy {
            true => Err(ErrorCode::OperationNotAllowedOnIncrementalCopyBlob.into()),
            false => Ok(()),
        }
    }

    /// A write to a blob ends what is left of a lease that has expired or was broken: its holder can
    /// renew it no more. Containers and shares keep theirs.
    fn ends_lease(&self) -> bool {
        let state = lease::state(self.target.lease, self.now);
        matches!(self.kind, Kind::Blob | Kind::File)
            && self.policy.lease == LeaseUse::Write
            && self.policy.changes_etag
            && matches!(state, LeaseState::Broken | LeaseState::Expired)
    }
}

/// A record that passed every check, and the only way to a changed one.
#[derive(Debug)]
pub struct Admitted<R> {
    record: Option<R>,
    /// What messages about it call it.
    noun: &'static str,
    now: Timestamp,
}

impl<R> Admitted<R> {
    pub fn record(&self) -> Option<&R> {
        self.record.as_ref()
    }

    /// The record to change. Operations that create get the old one, whose lease carries over; a lease
    /// that the write ends is already gone from it.
    pub fn into_record(self) -> Option<R> {
        self.record
    }
}

impl<R: Subject> Admitted<R> {
    /// Carries out a lease action on the record; see [`lease::act`].
    pub fn act(&self, action: &LeaseAction, fresh: LeaseId) -> Result<LeaseChange, Failure> {
        let target = self.record.as_ref().map_or(Target::ABSENT, Subject::target);
        lease::act(target.lease, action, fresh, self.now).map_err(|failure| lease::worded(failure, self.noun))
    }
}
