//! The policy of an operation: what admission judges it by. It knows nothing of HTTP, so that an operation of another
//! protocol has a policy and no row.

use super::{Conditions, Op};
use crate::admission::Needs;
use crate::blob::BlobType;
use crate::version::{ApiVersion, Feature};

/// Which evaluation of conditional headers applies (conditional.md section 2).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rule {
    Read,
    Write,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LeaseUse {
    /// `x-ms-lease-id` is not looked at.
    None,
    /// A lease id that is sent must be right; none is needed.
    Read,
    /// The id is needed while the resource is locked.
    Write,
    /// The operation acts on the lease itself.
    Manage,
}

/// How an operation looks at the source that it reads, and so what the request is told when the source is not the one
/// that it means (all recorded).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Source {
    /// There is none.
    None,
    /// The service looks at the source itself and answers like a write.
    Looked,
    /// The service reads the source over HTTP; a failed If-Match is its own word, the rest is what the read is told.
    Fetched,
    /// The same, and everything is what the read is told.
    FetchedBlindly,
}

/// What a condition that is not met is called.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unmet {
    Condition,
    /// TargetConditionNotMet, to tell it from the source's.
    Target,
    /// The same, of a failed If-Match alone.
    TargetOfMatch,
    /// The same since this feature.
    TargetOfMatchSince(Feature),
}

/// What an operation does to that which an immutability policy or a legal hold protects.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Touches {
    /// Neither the bytes nor the metadata.
    Nothing,
    /// Changes bytes or metadata in place. A policy forbids that even after its time.
    Content,
    /// Puts another content in its place. The old one is protected where it stays as a version.
    Replaces,
    Deletes,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Policy {
    pub conditions: Conditions,
    pub rule: Rule,
    pub lease: LeaseUse,
    /// Before this feature the lease was used as reads use it.
    pub lease_since: Option<Feature>,
    /// A lease of the target must be infinite: the operation may take longer than any other lasts.
    pub needs_infinite_lease: bool,
    pub source: Source,
    pub unmet: Unmet,
    /// May act where the target does not exist.
    pub creates: bool,
    /// Refuses a target that exists.
    pub only_creates: bool,
    /// `If-None-Match: *` is not met by a target that exists, although the operation does not create.
    pub honours_none_match_any: bool,
    /// The request must say which state of the target it means.
    pub needs_match: bool,
    pub changes_etag: bool,
    /// Up to this feature the operation changed the ETag, since then it does not.
    pub changed_etag_before: Option<Feature>,
    /// The one type of blob that the operation works on, creates included: a blob never changes its type.
    pub blob_type: Option<BlobType>,
    /// Changes the bytes of an append blob, which its seal forbids.
    pub refuses_sealed: bool,
    /// Finds a blob of uncommitted blocks although it does not create.
    pub finds_uncommitted: bool,
    /// A condition that would be ignored is refused: the client counts on it.
    pub refuses_other_conditions: bool,
    /// Works on a blob that a copy is still writing; every other write waits for the copy's end.
    pub works_on_pending_copy: bool,
    /// Works on the base of an incremental copy, which can be read through its snapshots only.
    pub works_on_incremental_copy: bool,
    /// The blob goes on telling which copy wrote it, although the operation changes it.
    pub keeps_copy_state: bool,
    /// What an immutability policy or a legal hold has to do with it.
    pub touches: Touches,
    /// What the opens of a file by SMB clients have to let the operation do.
    pub needs: Needs,
}

/// Reads; its answers to conditions are those of reads.
pub(super) const READ: Policy = Policy {
    conditions: Conditions::NONE,
    rule: Rule::Read,
    lease: LeaseUse::None,
    lease_since: None,
    needs_infinite_lease: false,
    source: Source::None,
    unmet: Unmet::Condition,
    creates: false,
    only_creates: false,
    honours_none_match_any: false,
    needs_match: false,
    changes_etag: false,
    changed_etag_before: None,
    blob_type: None,
    refuses_sealed: false,
    finds_uncommitted: false,
    refuses_other_conditions: false,
    works_on_pending_copy: false,
    works_on_incremental_copy: false,
    keeps_copy_state: false,
    touches: Touches::Nothing,
    needs: Needs::Nothing,
};

pub(super) const WRITE: Policy = Policy { rule: Rule::Write, ..READ };

/// What a row says that is special about it.
impl Policy {
    pub(super) const fn conditions(self, conditions: Conditions) -> Self {
        Self { conditions, ..self }
    }

    pub(super) const fn lease(self, lease: LeaseUse) -> Self {
        Self { lease, ..self }
    }

    pub(super) const fn lease_since(self, feature: Feature) -> Self {
        Self { lease_since: Some(feature), ..self }
    }

    pub(super) const fn needs_infinite_lease(self) -> Self {
        Self { needs_infinite_lease: true, ..self }
    }

    pub(super) const fn source(self, source: Source) -> Self {
        Self { source, ..self }
    }

    pub(super) const fn unmet(self, unmet: Unmet) -> Self {
        Self { unmet, ..self }
    }

    pub(super) const fn creates(self) -> Self {
        Self { creates: true, ..self }
    }

    pub(super) const fn only_creates(self) -> Self {
        Self { creates: true, only_creates: true, ..self }
    }

    pub(super) const fn honours_none_match_any(self) -> Self {
        Self { honours_none_match_any: true, ..self }
    }

    pub(super) const fn needs_match(self) -> Self {
        Self { needs_match: true, ..self }
    }

    pub(super) const fn changes_etag(self) -> Self {
        Self { changes_etag: true, ..self }
    }

    pub(super) const fn changed_etag_before(self, feature: Feature) -> Self {
        Self { changed_etag_before: Some(feature), ..self }
    }

    pub(super) const fn of_type(self, blob_type: BlobType) -> Self {
        Self { blob_type: Some(blob_type), ..self }
    }

    pub(super) const fn refuses_sealed(self) -> Self {
        Self { refuses_sealed: true, ..self }
    }

    pub(super) const fn finds_uncommitted(self) -> Self {
        Self { finds_uncommitted: true, ..self }
    }

    pub(super) const fn refuses_other_conditions(self) -> Self {
        Self { refuses_other_conditions: true, ..self }
    }

    pub(super) const fn works_on_pending_copy(self) -> Self {
        Self { works_on_pending_copy: true, ..self }
    }

    pub(super) const fn works_on_incremental_copy(self) -> Self {
        Self { works_on_incremental_copy: true, ..self }
    }

    pub(super) const fn keeps_copy_state(self) -> Self {
        Self { keeps_copy_state: true, ..self }
    }

    pub(super) const fn touches(self, touches: Touches) -> Self {
        Self { touches, ..self }
    }

    pub(super) const fn needs(self, needs: Needs) -> Self {
        Self { needs, ..self }
    }
}

impl Policy {
    /// Whether what the operation writes gets a new ETag.
    pub fn changes_etag_in(&self, version: ApiVersion) -> bool {
        self.changes_etag || self.changed_etag_before.is_some_and(|feature| !version.has(feature))
    }
}

/// An operation that only reads: nothing can be written by what it admits.
#[derive(Debug, Clone, Copy)]
pub enum Reads {}

/// An operation that may write what it admits.
#[derive(Debug, Clone, Copy)]
pub enum Writes {}

/// Whether an operation writes, as a type.
pub trait Mode: Send + Sync + 'static {
    const WRITES: bool;
}

impl Mode for Reads {
    const WRITES: bool = false;
}

impl Mode for Writes {
    const WRITES: bool = true;
}

/// An operation as a type, so that what it may do with a record is known when it is compiled. Those of the table are in
/// [`policy`](super::policy); a protocol without rows brings its own.
pub trait Judged: Copy + Send + Sync + 'static {
    type Mode: Mode;

    fn policy(self) -> &'static Policy;
}

/// An operation of the table that is known at run time only; it reads what it admits, whatever it could do.
#[derive(Debug, Clone, Copy)]
pub struct ReadingOp(pub Op);

impl Judged for ReadingOp {
    type Mode = Reads;

    fn policy(self) -> &'static Policy {
        &self.0.row().policy
    }
}

/// An operation of the table that is known at run time only, and that may write what it admits.
#[derive(Debug, Clone, Copy)]
pub struct WritingOp(Op);

impl WritingOp {
    /// None for an operation that only reads.
    pub fn of(op: Op) -> Option<Self> {
        op.writes().then_some(Self(op))
    }

    pub fn op(self) -> Op {
        self.0
    }
}

impl Judged for WritingOp {
    type Mode = Writes;

    fn policy(self) -> &'static Policy {
        &self.0.row().policy
    }
}
