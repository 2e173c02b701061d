//! Where the bytes of a small blob were when its record was last read here. With it, the record and the bytes are read in one batch, where
//! reading takes a round trip; a wrong guess makes the database read bytes that Get Blob throws away, or look for some that are gone.

use std::collections::HashMap;

use lazuli_engine::Key;
use lazuli_model::operation::Service;
use parking_lot::Mutex;

use super::key::{self, ContentId};
use super::record::blob::BlobRecord;
use super::record::content::{Piece, Shape};
use super::unit::{Unit, View};
use crate::blob::BlobAddress;
use crate::fault::Answer;

/// Names are forgotten all at once when there are more.
const MOST: usize = 10_000;

#[derive(Default)]
pub(super) struct SmallContents {
    known: Mutex<HashMap<Key, ContentId>>,
}

impl View {
    /// For an operation that reads a base and its bytes: whatever of them can be guessed is read in one batch.
    pub async fn near_bytes(&self, at: &BlobAddress) -> Answer<()> {
        let keys = || {
            let container = key::container(self.account(), &at.container);
            let Some(generation) = self.services().generations().known(&container) else { return Vec::new() };
            let blob = key::blob(generation, &at.blob);
            let Some(content) = self.services().small_contents().known.lock().get(&blob).copied() else {
                return Vec::new();
            };
            vec![container, blob, key::inline(content)]
        };
        Ok(self.reader().near(keys).await?)
    }

    /// Remembers where the bytes of a base are, if they are small. Where reading takes no round trip, nothing is kept.
    pub fn learn_bytes(&self, at: &BlobAddress, blob: &BlobRecord) {
        if self.reader().is_near() {
            return;
        }
        let container = key::container(self.account(), &at.container);
        let Some(generation) = self.services().generations().known(&container) else { return };
        let blob_key = key::blob(generation, &at.blob);
        let mut known = self.services().small_contents().known.lock();
        match &blob.content.shape {
            Shape::Pieces(pieces) if let [Piece::Inline { id, .. }] = pieces[..] => {
                if known.len() >= MOST {
                    known.clear();
                }
                known.insert(blob_key, id);
            }
            _ => {
                known.remove(&blob_key);
            }
        }
    }
}

impl Unit {
    /// What decides about the old content of a blob that is replaced or deleted is read in one batch.
    pub(super) async fn near_retired(&self, old: &BlobRecord) -> Answer<()> {
        let keys = || {
            let properties =
                key::service_properties(self.account(), super::service_properties::letter(Service::Blob));
            vec![properties, key::holders(old.content.id)]
        };
        Ok(self.reader().near(keys).await?)
    }
}
