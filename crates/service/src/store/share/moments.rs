//! What a file was in a snapshot of its share.

use lazuli_model::error::ErrorCode;
use lazuli_model::operation::Mode;
use lazuli_model::time::Timestamp;

use super::path::Standing;
use crate::fault::Answer;
use crate::file::FileAddress;
use crate::store::found::Present;
use crate::store::record::path::{ExistingPath, PathBody, PathRecord};

/// What a snapshot has of a file that was found outside of it.
pub enum Earlier {
    /// The file, under the same path.
    Same(Box<PathRecord>),
    /// The file, under another path.
    Renamed(Box<PathRecord>),
    /// The path stood for something else.
    Another,
    /// Neither the file nor its path.
    Nothing,
}

impl<M: Mode> Present<ExistingPath, M> {
    /// `at` is where the file was found.
    pub async fn earlier(&self, at: &FileAddress, at_moment: Timestamp) -> Answer<Earlier> {
        let share = self.unit.share_of(&at.share, Some(at_moment)).await?;
        let (tree, reader, moment) = (share.tree(), self.unit.reader(), Some(at_moment.0));
        let node = self.record.record.node;
        let chain = tree.resolve::<PathRecord>(reader, &at.path, moment).await?;
        let named = chain.and_then(|chain| chain.found);
        let is_it = |record: &PathRecord| record.node == node;
        if let Some(same) = named.clone().filter(is_it) {
            // Of several names one holds the node alone; the file stands beside it, in the snapshot too.
            let same = match same.body {
                PathBody::Name => self.unit.named(&tree, &same, moment).await?,
                _ => same,
            };
            return Ok(Earlier::Same(Box::new(same)));
        }
        let Standing::Entry(_, slot) = &self.place.at else {
            return Err(ErrorCode::ResourceTypeMismatch.into());
        };
        // Where it stands now, when a directory above it was renamed; else where it stood then.
        let moved = match tree.look::<PathRecord>(reader, slot, moment).await?.filter(is_it) {
            Some(moved) => Some(moved),
            None => tree.look_for_node::<PathRecord>(reader, node, at_moment.0).await?,
        };
        Ok(match moved {
            Some(moved) => Earlier::Renamed(Box::new(moved)),
            None if named.is_some() => Earlier::Another,
            None => Earlier::Nothing,
        })
    }
}
