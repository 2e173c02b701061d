//! A query: the keys that its filter can match, in order, a page at a time, at one snapshot.

use std::time::{Duration, Instant};

use lazuli_engine::{Key, KeyRange, Looks, Reader, Scan, Value};

use super::Entity;
use super::entity::keys;
use super::range::ranges;
use super::row_filter::RowFilter;
use crate::fault::Answer;
use crate::pace::{Pace, SLICE};
use crate::store::record::entity::{StoredBody, StoredEntity};
use crate::store::unit::View;
use crate::table::{EntityPage, PAGE_MAX, QueryEntities};

/// Entities looked at between two moments at which others get their turn, when asking about each costs nothing.
const ROWS: usize = 1024;
/// One answer ends here at the latest, and the client goes on from there. Its snapshot is held so long: some engines
/// have none for longer than five seconds.
const PATIENCE: Duration = Duration::from_secs(3);
/// So many ranges that hold little are looked at in one go.
const RANGES: usize = 16;

impl View {
    /// A page of the entities that a query asks for.
    pub(crate) async fn query_entities(&self, request: QueryEntities) -> Answer<EntityPage> {
        let generation = self.table_of(&request.table).await?;
        // No page of no entities ever gets to the end: it has no continuation either.
        if request.top == 0 {
            return Ok(EntityPage::default());
        }
        let from = request.from.as_ref().map(|(partition, row)| (partition.as_str(), row.as_str()));
        let ranges = ranges(generation, request.filter.as_ref(), &request.limits, from);
        let filter = request.filter.map(RowFilter::new);
        let mut page = Page {
            reader: self.reader().clone(),
            looks: looks(filter.as_ref()),
            filter,
            pace: Pace::default(),
            top: request.top.min(PAGE_MAX),
            until: Instant::now() + PATIENCE,
            late: false,
            max_bytes: request.max_bytes,
            bytes: 0,
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

/// What is looked at before others get their turn: so many bytes, and so many rows that asking the filter about them
/// costs no more than looking at the bytes.
fn looks(filter: Option<&RowFilter>) -> Looks {
    let cost = filter.map_or(0, RowFilter::cost);
    Looks { rows: (SLICE / cost.max(1)).clamp(1, ROWS), bytes: SLICE }
}

struct Page {
    reader: Reader,
    filter: Option<RowFilter>,
    looks: Looks,
    pace: Pace,
    top: usize,
    until: Instant,
    late: bool,
    max_bytes: usize,
    bytes: usize,
    entities: Vec<Entity>,
}

impl Page {
    /// Reads a range; gives the key at which the page was full.
    async fn fill(&mut self, mut range: KeyRange) -> Answer<Option<Key>> {
        loop {
            let limit = if self.is_full() { 0 } else { self.top - self.entities.len() };
            let scan = Scan { limit, ..Scan::of(range.clone()) };
            let filter = self.filter.as_ref();
            let may_pass = |key: &Key, value: &Value| filter.is_none_or(|filter| filter.may_pass(key, value));
            let found = self.reader.scan_filtered(scan, self.looks, may_pass).await?;
            for (key, entry) in found.items {
                // Bodies that lie elsewhere count only when they are loaded.
                if self.is_full() {
                    return Ok(Some(key));
                }
                self.take(key, &entry.value).await?;
            }
            match found.next {
                // The next range is another look.
                None => {
                    self.spend(SLICE / RANGES).await;
                    return Ok(None);
                }
                Some(next) if self.is_full() => return Ok(Some(next)),
                Some(next) => range.start = next,
            }
            self.spend(SLICE).await;
        }
    }

    async fn spend(&mut self, work: usize) {
        self.pace.spend(work).await;
        self.late = Instant::now() > self.until;
    }

    async fn take(&mut self, key: Key, value: &Value) -> Answer<()> {
        let stored = StoredEntity::decode(value)?;
        let undecided = matches!(stored.body, StoredBody::Segments { .. });
        let entity = Entity::load(&self.reader, key, stored).await?;
        if undecided {
            self.spend(entity.size()).await;
        }
        if let Some(filter) = self.filter.as_ref().filter(|_| undecided)
            && !entity.passes(filter)?
        {
            return Ok(());
        }
        self.bytes += entity.size();
        self.entities.push(entity);
        Ok(())
    }

    fn is_full(&self) -> bool {
        self.entities.len() >= self.top || self.bytes >= self.max_bytes || self.late
    }
}
