//! What a blob's name stands for: a committed blob, or uncommitted blocks only.

use lazuli_model::admission::lease::Lease;
use lazuli_model::admission::{Subject, Target};

use super::blob::BlobRecord;
use super::block::StagedRecord;

#[derive(Clone, Debug)]
pub enum Existing {
    Blob(Box<BlobRecord>),
    Staged(StagedRecord),
}

impl Existing {
    pub fn blob(self) -> Option<BlobRecord> {
        match self {
            Self::Blob(blob) => Some(*blob),
            Self::Staged(_) => None,
        }
    }

    pub fn lease(&self) -> Option<&Lease> {
        match self {
            Self::Blob(blob) => blob.lease.as_ref(),
            Self::Staged(staged) => staged.lease.as_ref(),
        }
    }
}

impl Subject for Existing {
    fn target(&self) -> Target<'_> {
        match self {
            Self::Blob(blob) => blob.target(),
            Self::Staged(staged) => Target { lease: staged.lease.as_ref(), ..Target::UNCOMMITTED },
        }
    }

    fn reset_lease(&mut self) {
        match self {
            Self::Blob(blob) => blob.reset_lease(),
            Self::Staged(staged) => staged.lease = None,
        }
    }
}
