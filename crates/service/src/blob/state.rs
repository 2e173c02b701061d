//! Which state of a blob is meant.

use lazuli_model::time::Timestamp;

/// The base, or what was kept of it. A version may be the current one: the base has its id then.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum BlobState {
    #[default]
    Base,
    Snapshot(Timestamp),
    Version(Timestamp),
}

impl BlobState {
    pub fn snapshot(self) -> Option<Timestamp> {
        match self {
            Self::Snapshot(at) => Some(at),
            Self::Base | Self::Version(_) => None,
        }
    }
}

/// Of an operation that can be asked of a snapshot and of no version.
impl From<Option<Timestamp>> for BlobState {
    fn from(snapshot: Option<Timestamp>) -> Self {
        snapshot.map_or(Self::Base, Self::Snapshot)
    }
}
