//! Query Tables: all of an account, or one by its name.

use std::time::{Duration, Instant};

use lazuli_engine::{Key, KeyRange, Scan};
use lazuli_model::odata::{Filter, ValueRef};

use super::find;
use crate::fault::Answer;
use crate::pace::Pace;
use crate::record::Record;
use crate::record::table::TableRecord;
use crate::{Context, Services, key};

const TABLE_NAME: &str = "TableName";
const SCAN: usize = 200;
/// One answer ends here at the latest, and the client goes on from there.
const PATIENCE: Duration = Duration::from_secs(5);

#[derive(Clone, Debug)]
pub struct QueryTables {
    pub filter: Option<Filter>,
    pub top: usize,
    /// The first table to look at, as [`TablePage::next`] named it.
    pub from: Option<String>,
}

#[derive(Clone, Debug)]
pub struct TablePage {
    pub tables: Vec<String>,
    pub next: Option<String>,
}

impl QueryTables {
    pub async fn execute(self, services: &Services, context: &Context) -> Answer<TablePage> {
        let reader = services.engine().reader().await?;
        let mut range = KeyRange::prefix(key::tables(&context.account));
        if let Some(from) = &self.from {
            range.start = range.start.max(key::table(&context.account, from));
        }
        let mut page = TablePage { tables: Vec::new(), next: None };
        if self.top == 0 {
            return Ok(page);
        }
        let cost = self.filter.as_ref().map_or(0, Filter::cost);
        let (mut pace, until) = (Pace::default(), Instant::now() + PATIENCE);
        let mut after: Option<Key> = None;
        loop {
            let scan = Scan { after: after.clone(), limit: SCAN, ..Scan::of(range.clone()) };
            let found = reader.scan(scan).await?;
            // Judged once a scan: each one gets somewhere.
            let late = after.is_some() && Instant::now() > until;
            for (key, entry) in &found.items {
                let name = TableRecord::decode(&entry.value)?.name;
                if page.tables.len() >= self.top || late {
                    page.next = Some(name);
                    return Ok(page);
                }
                pace.spend(key.len() + entry.value.len() + cost).await;
                if self.matches(&name) {
                    page.tables.push(name);
                }
            }
            after = found.items.last().map(|(key, _)| key.clone());
            if !found.more {
                return Ok(page);
            }
        }
    }

    fn matches(&self, name: &str) -> bool {
        let Some(filter) = &self.filter else { return true };
        let names = filter.names().iter();
        let slots: Vec<_> =
            names.map(|property| (property == TABLE_NAME).then_some(ValueRef::String(name))).collect();
        filter.matches(&slots)
    }
}

/// The table's name as its creator spelled it; none when there is no such table.
pub async fn find_table(services: &Services, context: &Context, name: &str) -> Answer<Option<String>> {
    let reader = services.engine().reader().await?;
    Ok(find(&reader, &context.account, name).await?.map(|fields| fields.name))
}
