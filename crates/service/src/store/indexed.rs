//! What is said of a blob beside its record: its tags, when it expires, until when it is held. Written in the commit of the
//! record.

use lazuli_engine::{Key, Scan, Value};
use lazuli_model::operation::Mode;
use lazuli_model::tags::Tags;
use lazuli_model::time::Timestamp;

use super::blob::BlobPlace;
use super::key::{self, Generation};
use super::record::blob::BlobRecord;
use super::tag_index::reindex;
use super::unit::{Changes, Unit};
use crate::blob::BlobState;
use crate::fault::Answer;

/// What the indexes say of a place.
#[derive(Clone, Debug, Default)]
pub struct Indexed {
    tags: Tags,
    expires: Option<Timestamp>,
    held: Option<Timestamp>,
}

impl Indexed {
    pub(super) fn of(record: &BlobRecord) -> Self {
        Self { tags: record.tags.clone(), expires: record.ends(), held: record.hold().ends() }
    }
}

impl BlobPlace {
    /// Brings the indexes from what they say to what is so from this commit on. Of a snapshot or version they know until when it is
    /// held, and nothing else.
    pub(super) fn reindex(&self, unit: &mut Unit, now: &Indexed) {
        let was = &self.indexed;
        if self.state == BlobState::Base {
            reindex(unit, self.generation, &self.name, &was.tags, &now.tags);
            if was.expires != now.expires {
                let key = |moment| key::expiring(moment, self.generation, &self.name);
                was.expires.map(key).into_iter().for_each(|key| unit.delete(key));
                now.expires.map(key).into_iter().for_each(|key| unit.put(key, Value::new()));
            }
        }
        if was.held != now.held {
            let key = |until| key::held(self.generation, until, &self.key());
            was.held.map(key).into_iter().for_each(|key| unit.delete(key));
            now.held.map(key).into_iter().for_each(|key| unit.put(key, Value::new()));
        }
    }
}

/// For records that are deleted by their keys: what was held once is not said to be any more.
pub(super) fn forget_hold(changes: &mut impl Changes, record_key: &Key, record: &BlobRecord) {
    if let (Some(until), Some(generation)) = (record.hold().ends(), key::generation_of(record_key)) {
        changes.delete(key::held(generation, until, record_key));
    }
}

impl<M: Mode> Unit<M> {
    /// The end of the longest hold in a container, on a blob, a snapshot or a version; `None` when nothing is held at this
    /// moment. Not a check of the commit.
    pub(super) async fn longest_hold(&self, generation: Generation) -> Answer<Option<Timestamp>> {
        let range = key::held_after(generation, self.now());
        let scan = Scan { limit: 1, reverse: true, keys_only: true, ..Scan::of(range) };
        let page = self.reader().scan(scan).await?;
        Ok(page.items.first().and_then(|(key, _)| key::held_until(key)))
    }

    /// Whether there is a blob, in any container, whose time has come and which the sweeper has not deleted yet. There is
    /// hardly ever one.
    pub(super) async fn is_any_expired(&self) -> Answer<bool> {
        let scan = Scan { limit: 1, keys_only: true, ..Scan::of(key::all_expired(self.now())) };
        Ok(!self.reader().scan(scan).await?.items.is_empty())
    }
}
