//! The tables of an account, a page at a time.

use std::time::{Duration, Instant};

use lazuli_engine::{Key, KeyRange, Scan};
use lazuli_model::odata::Filter;

use crate::fault::Answer;
use crate::pace::Pace;
use crate::store::key;
use crate::store::record::Record;
use crate::store::record::table::TableRecord;
use crate::store::unit::View;
use crate::table::{QueryTables, TablePage};

const SCAN: usize = 200;
/// One answer ends here at the latest, and the client goes on from there.
const PATIENCE: Duration = Duration::from_secs(5);

impl View {
    /// A page of the account's tables.
    pub(crate) async fn query_tables(&self, request: &QueryTables) -> Answer<TablePage> {
        let mut range = KeyRange::prefix(key::tables(self.account()));
        if let Some(from) = &request.from {
            range.start = range.start.max(key::table(self.account(), from));
        }
        let mut page = TablePage { tables: Vec::new(), next: None };
        if request.top == 0 {
            return Ok(page);
        }
        let cost = request.filter.as_ref().map_or(0, Filter::cost);
        let (mut pace, until) = (Pace::default(), Instant::now() + PATIENCE);
        let mut after: Option<Key> = None;
        loop {
            let scan = Scan { after: after.clone(), limit: SCAN, ..Scan::of(range.clone()) };
            let found = self.reader().scan(scan).await?;
            // Judged once a scan: each one gets somewhere.
            let late = after.is_some() && Instant::now() > until;
            for (key, entry) in &found.items {
                let name = TableRecord::decode(&entry.value)?.name;
                if page.tables.len() >= request.top || late {
                    page.next = Some(name);
                    return Ok(page);
                }
                pace.spend(key.len() + entry.value.len() + cost).await;
                if request.matches(&name) {
                    page.tables.push(name);
                }
            }
            after = found.items.last().map(|(key, _)| key.clone());
            if !found.more {
                return Ok(page);
            }
        }
    }
}
