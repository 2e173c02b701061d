//! The index of blobs by their tags, written in the commit of the blob that it is about.
//!
//! Every committed base blob has one key for each of its tags; snapshots have none. The sweeper of a dead generation
//! deletes the keys of its container.

use lazuli_engine::{Key, KeyRange, Plan, Scan, Value};
use lazuli_model::tags::Tags;
use lazuli_model::time::Timestamp;

use super::key::{self, Generation};
use super::record::Record;
use super::record::blob::BlobRecord;
use super::record::container::ContainerRecord;
use super::record::settings::TagsIndexed;
use super::unit::Changes;
use super::upkeep::has_room;
use crate::Services;
use crate::fault::{Answer, Fault};

/// Brings the keys of a blob from what its tags were to what they are.
pub(super) fn reindex(
    changes: &mut impl Changes,
    generation: Generation,
    name: &str,
    old: &Tags,
    new: &Tags,
) {
    let key = |(tag, value): (&str, &str)| key::tagged(generation, tag, value, name);
    for gone in old.iter().filter(|(tag, value)| new.get(tag) != Some(value)) {
        changes.delete(key(gone));
    }
    for added in new.iter().filter(|(tag, value)| old.get(tag) != Some(value)) {
        changes.put(key(added), Value::new());
    }
}

impl Services {
    /// Indexes the blobs of a directory that was written before there was an index. To be awaited before the first
    /// request; once it has come to an end, it says so in the engine and has nothing more to do.
    pub async fn index_tags(&self) -> Answer<()> {
        if self.engine().reader().await?.get_untracked(key::tags_indexed()).await?.is_some() {
            return Ok(());
        }
        let mut after = None;
        loop {
            let scan = Scan { after, ..Scan::of(key::every_container()) };
            let page = self.engine().reader().await?.scan(scan).await?;
            for (_, entry) in &page.items {
                self.index_tags_of(ContainerRecord::decode(&entry.value)?.generation).await?;
            }
            after = page.items.last().map(|(key, _)| key.clone());
            if !page.more {
                break;
            }
        }
        self.engine()
            .run(self.deadline(), |reader| async move {
                let now = Timestamp::from_unix_ticks(reader.stamp().now.0);
                let mut plan = Plan::new(());
                plan.put(key::tags_indexed(), TagsIndexed(now.0).encode());
                Ok::<_, Fault>(plan)
            })
            .await
    }

    /// In commits of a bounded size, each on the blobs that it has read: one that changes meanwhile is read again.
    async fn index_tags_of(&self, generation: Generation) -> Answer<()> {
        let mut after: Option<Key> = None;
        loop {
            let from = &after;
            let next = self.engine().run(self.deadline(), |reader| async move {
                let range = KeyRange::prefix(key::blobs(generation));
                let page = reader.scan(Scan { after: from.clone(), ..Scan::of(range) }).await?;
                let mut plan = Plan::new(None);
                let (mut last, mut more) = (None, page.more);
                for (key, entry) in page.items {
                    if !has_room(&plan) {
                        more = true;
                        break;
                    }
                    last = Some(key.clone());
                    if BlobRecord::decode(&entry.value)?.tags.is_empty() {
                        continue;
                    }
                    // As a check of the commit.
                    let Some(entry) = reader.get(key.clone()).await? else { continue };
                    let tags = BlobRecord::decode(&entry.value)?.tags;
                    let name = key.get(key::NAME_AT..).and_then(|name| std::str::from_utf8(name).ok());
                    reindex(&mut plan, generation, name.unwrap_or_default(), &Tags::default(), &tags);
                }
                plan.output = last.filter(|_| more);
                Ok::<_, Fault>(plan)
            });
            match next.await? {
                Some(last) => after = Some(last),
                None => return Ok(()),
            }
        }
    }
}
