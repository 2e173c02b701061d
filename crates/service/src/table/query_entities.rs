//! Query Entities: the keys that the filter can match, in order, a page at a time, at one snapshot.

use std::time::{Duration, Instant};

use lazuli_engine::{Key, KeyRange, Reader, Scan};
use lazuli_model::odata::Filter;

use super::entity::keys;
use super::range::{KeyLimits, ranges};
use super::{Entity, PAGE_MAX, table};
use crate::fault::Answer;
use crate::record::entity::StoredEntity;
use crate::{Context, Services};

/// Entities looked at between two moments at which others get their turn.
const SCAN: usize = 256;
/// One answer ends here at the latest, and the client goes on from there.
const PATIENCE: Duration = Duration::from_secs(5);
const PAGE_BYTES: usize = 4 * 1024 * 1024;

#[derive(Clone, Debug)]
pub struct QueryEntities {
    pub table: String,
    pub filter: Option<Filter>,
    pub top: usize,
    /// The first keys to look at, as [`EntityPage::next`] named them.
    pub from: Option<(String, String)>,
    pub limits: KeyLimits,
}

#[derive(Clone, Debug, Default)]
pub struct EntityPage {
    pub entities: Vec<Entity>,
    pub next: Option<(String, String)>,
}

impl QueryEntities {
    pub async fn execute(self, services: &Services, context: &Context) -> Answer<EntityPage> {
        let reader = services.engine().reader().await?;
        let fields = table(&reader, &context.account, &self.table).await?;
        let from = self.from.as_ref().map(|(partition, row)| (partition.as_str(), row.as_str()));
        let ranges = ranges(fields.generation, self.filter.as_ref(), &self.limits, from);
        let mut page = Page {
            reader,
            filter: self.filter,
            top: self.top.min(PAGE_MAX),
            until: Instant::now() + PATIENCE,
            bytes: 0,
            seen: 0,
            entities: Vec::new(),
        };
        for range in ranges {
            if let Some(next) = page.fill(range).await? {
                let (partition, row) = keys(&next)?;
                let next = Some((partition.into_owned(), row.into_owned()));
                return Ok(EntityPage { entities: page.entities, next });
            }
        }
        Ok(EntityPage { entities: page.entities, next: None })
    }
}

struct Page {
    reader: Reader,
    filter: Option<Filter>,
    top: usize,
    until: Instant,
    bytes: usize,
    seen: usize,
    entities: Vec<Entity>,
}

impl Page {
    /// Reads a range; gives the key at which the page was full.
    async fn fill(&mut self, range: KeyRange) -> Answer<Option<Key>> {
        let mut after = None;
        loop {
            let wanted = self.top.saturating_sub(self.entities.len()) + 1;
            let limit = if self.filter.is_none() { wanted } else { SCAN };
            let scan = Scan { after, limit: limit.min(PAGE_MAX), ..Scan::of(range.clone()) };
            let found = self.reader.scan(scan).await?;
            after = found.items.last().map(|(key, _)| key.clone());
            for (key, entry) in found.items {
                if self.is_full() {
                    return Ok(Some(key));
                }
                self.seen += 1;
                let stored = StoredEntity::decode(&entry.value)?;
                let entity = Entity::load(&self.reader, key, stored).await?;
                let wanted = match &self.filter {
                    Some(filter) => entity.matches(filter)?,
                    None => true,
                };
                if wanted {
                    self.bytes += entity.size();
                    self.entities.push(entity);
                }
            }
            if !found.more {
                return Ok(None);
            }
            tokio::task::yield_now().await;
        }
    }

    fn is_full(&self) -> bool {
        let late = self.seen > 0 && self.seen.is_multiple_of(SCAN) && Instant::now() > self.until;
        self.entities.len() >= self.top || self.bytes >= PAGE_BYTES || late
    }
}
