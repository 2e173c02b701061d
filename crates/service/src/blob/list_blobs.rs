//! List Blobs, flat and by hierarchy.

use lazuli_model::time::Timestamp;

use super::BlobState;
use crate::fault::Answer;
use crate::shared::marker::Position;
use crate::store::BlobRecord;
use crate::store::StagedRecord;
use crate::{Context, Services};

#[derive(Clone, Debug, Default)]
pub struct ListBlobs {
    pub container: String,
    pub prefix: String,
    /// Empty: a flat listing.
    pub delimiter: String,
    pub marker: Option<Position>,
    /// The first name that may be listed.
    pub start_from: Option<String>,
    /// The first name that may not be listed any more.
    pub end_before: Option<String>,
    pub max_results: usize,
    /// What each source of the page may take in memory.
    pub max_bytes: usize,
    pub snapshots: bool,
    pub uncommitted: bool,
    /// Versions that are not current.
    pub versions: bool,
    /// What is soft deleted, of all that is asked for.
    pub deleted: bool,
    /// Names that have versions and no base.
    pub deleted_with_versions: bool,
}

#[derive(Clone, Debug)]
pub enum BlobListItem {
    Blob {
        name: String,
        state: BlobState,
        blob: Box<BlobRecord>,
    },
    /// A name without a base; the blob is the youngest version.
    VersionsOnly {
        name: String,
        blob: Box<BlobRecord>,
    },
    Uncommitted {
        name: String,
        staged: StagedRecord,
    },
    Prefix(String),
}

impl BlobListItem {
    /// Where a page that ends with this goes on.
    pub fn position(&self) -> Position {
        match self {
            Self::Prefix(prefix) => Position::Group(prefix.clone()),
            Self::Uncommitted { name, .. } | Self::VersionsOnly { name, .. } => {
                Position::Name { name: name.clone(), ticks: u64::MAX }
            }
            Self::Blob { name, state, .. } => {
                let ticks = match state {
                    BlobState::Base => u64::MAX,
                    BlobState::Snapshot(at) | BlobState::Version(at) => at.0,
                };
                Position::Name { name: name.clone(), ticks }
            }
        }
    }
}

#[derive(Clone, Debug)]
pub struct BlobList {
    pub items: Vec<BlobListItem>,
    pub next: Option<Position>,
    /// The moment at which leases are to be judged.
    pub now: Timestamp,
}

impl ListBlobs {
    pub async fn execute(self, services: &Services, context: &Context) -> Answer<BlobList> {
        services.view(context).await?.list_blobs(&self).await
    }
}
