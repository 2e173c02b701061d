//! A stored record that is nothing but what admission looks at.

use super::super::{
    Admitted, BlobType, Circumstances, Existence, Hold, Kind, Lease, Preconditions, Subject, Target, admit,
};
use super::{ETAG, NEWEST, now, printed};
use crate::error::Failure;
use crate::etag::ETag;
use crate::operation::{Resource, Row};
use crate::tags::Tags;
use crate::time::Timestamp;
use crate::version::ApiVersion;

#[derive(Debug, Clone)]
pub(super) struct Record {
    pub existence: Existence,
    pub etag: ETag,
    pub last_modified: Timestamp,
    pub lease: Option<Lease>,
    pub tags: Tags,
    pub blob_type: Option<BlobType>,
    pub length: u64,
    pub sequence_number: u64,
    pub sealed: bool,
    pub tier_changed: Option<Timestamp>,
    pub is_being_copied: bool,
    pub is_incremental_copy: bool,
    pub hold: Hold,
}

impl Record {
    pub fn present() -> Self {
        Self {
            existence: Existence::Present,
            etag: ETAG,
            last_modified: now().plus_seconds(-3600),
            lease: None,
            tags: Tags::default(),
            blob_type: None,
            length: 0,
            sequence_number: 0,
            sealed: false,
            tier_changed: None,
            is_being_copied: false,
            is_incremental_copy: false,
            hold: Hold::NONE,
        }
    }

    /// Whatever the record says of its ETag and date must not matter: it has neither.
    pub fn uncommitted() -> Self {
        Self { existence: Existence::Uncommitted, ..Self::present() }
    }
}

impl Subject for Record {
    fn target(&self) -> Target<'_> {
        Target {
            existence: self.existence,
            etag: self.etag,
            last_modified: self.last_modified,
            lease: self.lease.as_ref(),
            tags: Some(&self.tags),
            blob_type: self.blob_type,
            length: self.length,
            sequence_number: self.sequence_number,
            sealed: self.sealed,
            tier_changed: self.tier_changed,
            is_being_copied: self.is_being_copied,
            open: Default::default(),
            is_incremental_copy: self.is_incremental_copy,
            hold: self.hold,
        }
    }

    fn reset_lease(&mut self) {
        self.lease = None;
    }
}

pub(super) fn kind(row: &Row) -> Kind {
    match row.route.resource {
        Resource::Container => Kind::Container,
        _ => Kind::Blob,
    }
}

pub(super) fn admitted(
    row: &Row,
    given: &Preconditions,
    record: Option<Record>,
) -> Result<Admitted<Record>, Failure> {
    admit(&row.policy, given, kind(row), record, on_a_plain_account(NEWEST))
}

/// "ok" or the failure, in the notation of the tables.
pub(super) fn outcome(
    row: &Row,
    given: &Preconditions,
    record: Option<Record>,
    version: ApiVersion,
) -> String {
    outcome_in(row, given, record, on_a_plain_account(version))
}

pub(super) fn on_a_plain_account(version: ApiVersion) -> Circumstances {
    Circumstances { now: now(), version, keeps_versions: false }
}

pub(super) fn outcome_in(
    row: &Row,
    given: &Preconditions,
    record: Option<Record>,
    circumstances: Circumstances,
) -> String {
    match admit(&row.policy, given, kind(row), record, circumstances) {
        Ok(_) => "ok".to_owned(),
        Err(failure) => printed(&failure),
    }
}
