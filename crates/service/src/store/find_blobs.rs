//! A page of the blobs whose tags match, read from the index.

use lazuli_engine::{Key, KeyRange, Scan};
use lazuli_model::error::ErrorCode;
use lazuli_model::tags::{Tags, ValueRange};

use super::by_name::ByName;
use super::key::{self, Generation};
use super::record::Record;
use super::record::blob::BlobRecord;
use super::record::container::ContainerRecord;
use super::unit::View;
use crate::blob::{FindBlobsByTags, FoundAt, TaggedBlob, TaggedBlobs};
use crate::fault::Answer;
use crate::shared::marker::Position;

/// What one page looks at, whether it matches or not; the next one goes on there.
const CANDIDATES_MAX: usize = 10_000;
const CONTAINERS_MAX: usize = 1_000;
/// Keys, and then records, that are read at a time.
const BATCH: usize = 250;
const CONTAINERS_AT_ONCE: usize = 100;

impl View {
    pub(crate) async fn find_blobs(&self, request: &FindBlobsByTags) -> Answer<TaggedBlobs> {
        let range = request.expression.value_range().ok_or(ErrorCode::InvalidQueryParameterValue)?;
        // Where the time of some blob has come, the records tell of which.
        let by_records = self.is_any_expired().await?;
        let mut search = Search {
            view: self,
            request,
            range,
            found: Vec::new(),
            bytes: 0,
            looked: 0,
            next: None,
            by_records,
        };
        match request.container.as_deref() {
            Some(name) => {
                let generation = self.container_of(name).await?.generation;
                search.within(name, generation, request.after.as_ref()).await?;
            }
            None => match request.expression.container() {
                Some(name) => {
                    if let Some(container) = self.find_container(name).await? {
                        search.within(name, container.generation, request.after.as_ref()).await?;
                    }
                }
                None => search.everywhere().await?,
            },
        }
        Ok(TaggedBlobs { items: search.found, next: search.next })
    }
}

struct Search<'a> {
    view: &'a View,
    request: &'a FindBlobsByTags,
    /// The tag that the index is read by, and which values of it can match.
    range: ValueRange<'a>,
    found: Vec<TaggedBlob>,
    bytes: usize,
    looked: usize,
    /// Where the next page goes on. Set when this one is full.
    next: Option<FoundAt>,
    /// The index alone does not tell what is there.
    by_records: bool,
}

impl Search<'_> {
    /// Container by container, in the order of their names.
    async fn everywhere(&mut self) -> Answer<()> {
        let after = self.request.after.as_ref();
        if let Some(after) = after
            && let Some(container) = self.view.find_container(&after.container).await?
            && after.blob.is_some()
        {
            self.within(&after.container, container.generation, Some(after)).await?;
        }
        let mut marker = after.map(|after| Position::Name { name: after.container.clone(), ticks: u64::MAX });
        let mut containers = 0;
        while self.next.is_none() {
            let listing = ByName {
                space: key::containers(self.view.account()),
                prefix: "",
                marker: marker.as_ref(),
                max_results: CONTAINERS_AT_ONCE,
                max_bytes: 1 << 20,
            };
            let (page, more): (Vec<(String, ContainerRecord)>, _) = listing.page(self.view.reader()).await?;
            for (name, container) in page {
                self.within(&name, container.generation, None).await?;
                containers += 1;
                if self.next.is_some() {
                    return Ok(());
                }
                if containers == CONTAINERS_MAX {
                    self.next = Some(FoundAt { container: name, blob: None });
                    return Ok(());
                }
            }
            match more {
                Some(more) => marker = Some(more),
                None => return Ok(()),
            }
        }
        Ok(())
    }

    /// The matches of one container behind a place, up to the end of the page.
    async fn within(&mut self, name: &str, generation: Generation, after: Option<&FoundAt>) -> Answer<()> {
        let place = after.filter(|after| after.container == name).and_then(|after| after.blob.as_ref());
        let tag = self.range.tag;
        let mut after = place.map(|(value, blob)| key::tagged(generation, tag, value, blob));
        let Some(range) = self.keys(generation) else { return Ok(()) };
        loop {
            let scan = Scan { after, limit: BATCH, keys_only: true, ..Scan::of(range.clone()) };
            let page = self.view.reader().scan(scan).await?;
            let keys: Vec<Key> = page.items.into_iter().map(|(key, _)| key).collect();
            after = keys.last().cloned();
            let candidates = keys.iter().map(|key| key::tagged_value_and_name(key, tag));
            let candidates: Option<Vec<(&str, &str)>> = candidates.collect();
            let candidates = candidates.ok_or(ErrorCode::InternalError)?;
            let tags = self.tags(generation, &candidates).await?;
            for (at, ((value, blob), tags)) in candidates.iter().zip(tags).enumerate() {
                self.looked += 1;
                if let Some(tags) = tags
                    && self.request.expression.eval(name, &tags)
                {
                    self.take(name, value, blob, &tags);
                }
                let is_last = at + 1 == candidates.len() && !page.more;
                if self.is_full() && !is_last {
                    let blob = Some(((*value).to_owned(), (*blob).to_owned()));
                    self.next = Some(FoundAt { container: name.to_owned(), blob });
                    return Ok(());
                }
                if self.is_full() {
                    // Nothing is left here; perhaps in the containers behind.
                    self.next =
                        self.others_follow().then(|| FoundAt { container: name.to_owned(), blob: None });
                    return Ok(());
                }
            }
            if !page.more {
                return Ok(());
            }
        }
    }

    fn others_follow(&self) -> bool {
        self.request.container.is_none() && self.request.expression.container().is_none()
    }

    fn is_full(&self) -> bool {
        self.found.len() >= self.request.max_results
            || self.bytes >= self.request.max_bytes
            || self.looked >= CANDIDATES_MAX
    }

    fn take(&mut self, container: &str, value: &str, blob: &str, tags: &Tags) {
        self.bytes += container.len() + blob.len() + 600;
        let wanted = |(tag, _): &(&str, &str)| self.request.expression.keys().any(|key| key == *tag);
        let tags =
            tags.iter().filter(wanted).map(|(tag, value)| (tag.to_owned(), value.to_owned())).collect();
        self.found.push(TaggedBlob {
            container: container.to_owned(),
            name: blob.to_owned(),
            value: value.to_owned(),
            tags: Tags::from_stored(tags),
        });
    }

    /// The keys of the index that can match; none if no value can.
    fn keys(&self, generation: Generation) -> Option<KeyRange> {
        // No tag has such a name; a key of another could be taken for it.
        if self.range.tag.contains(|c| c < ' ') {
            return None;
        }
        let (start, end) =
            key::tagged_between(generation, self.range.tag, self.range.lower, self.range.upper);
        (start < end).then(|| KeyRange::new(start, end))
    }

    /// The index alone knows one tag of each. Where others count, the records are asked. `None` for what is gone.
    async fn tags(&self, generation: Generation, candidates: &[(&str, &str)]) -> Answer<Vec<Option<Tags>>> {
        let tag = self.range.tag;
        if !self.by_records && self.request.expression.keys().all(|key| key == tag) {
            let one = |value: &str| Tags::from_stored(vec![(tag.to_owned(), value.to_owned())]);
            return Ok(candidates.iter().map(|(value, _)| Some(one(value))).collect());
        }
        let keys = candidates.iter().map(|(_, blob)| key::blob(generation, blob)).collect();
        let entries = self.view.reader().get_untracked_many(keys).await?;
        let tags = entries.into_iter().map(|entry| match entry {
            Some(entry) => {
                let blob = BlobRecord::decode(&entry.value)?;
                Ok((!blob.is_expired(self.view.now())).then_some(blob.tags))
            }
            None => Ok(None),
        });
        tags.collect()
    }
}
