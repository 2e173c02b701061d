mod changes;
mod limits;
mod ordinal;
mod pace;
mod queries;
mod races;
mod tokens;

use lazuli_engine::{Engine, Host};
use lazuli_model::admission::table::EntityMatch;
use lazuli_model::odata::{EdmValue, Filter};
use lazuli_model::operation::Op;
use lazuli_model::time::Timestamp;
use lazuli_model::version::ApiVersion;

use super::*;
use crate::testing::Servers;
use crate::{Context, ServiceOptions};

struct Bench {
    services: Servers,
    context: Context,
}

impl Bench {
    async fn new() -> Self {
        let options = ServiceOptions::default();
        let services = Servers::new(Engine::memory(Host::test()), options, 2).await;
        let context = Context::of_owner("acct", ApiVersion::NEWEST);
        let bench = Self { services, context };
        bench.create("people").await;
        bench
    }

    async fn create(&self, table: &str) {
        CreateTable { table: table.to_owned() }
            .execute(&self.services, &self.context)
            .await
            .expect("a table");
    }

    async fn commit(&self, changes: Vec<EntityChange>) -> Result<Vec<Timestamp>, String> {
        let input = EntityGroupTransaction { table: "people".to_owned(), changes };
        let done = input.execute(&self.services, &self.context).await;
        done.map_err(|refused| format!("{} {}", refused.index, refused.fault.0.code.name()))
    }

    async fn one(&self, change: EntityChange) -> Result<Timestamp, String> {
        self.commit(vec![change]).await.map(|timestamps| timestamps[0])
    }

    async fn read(&self, partition: &str, row: &str) -> Result<Read, String> {
        let (table, partition, row) = ("People".to_owned(), partition.to_owned(), row.to_owned());
        let found = GetEntity { table, partition, row }.execute(&self.services, &self.context).await;
        found.map(|entity| Read::of(&entity)).map_err(|fault| fault.0.code.name().to_owned())
    }

    async fn query(&self, filter: &str, top: usize, from: Option<(String, String)>) -> EntityPage {
        let filter = (!filter.is_empty()).then(|| Filter::parse(filter).expect(filter));
        let limits = KeyLimits::default();
        let input =
            QueryEntities { table: "people".to_owned(), filter, top, from, limits, max_bytes: 4 << 20 };
        input.execute(&self.services, &self.context).await.expect("a page")
    }

    /// All rows of a query, page by page, and how many pages it took.
    async fn rows(&self, filter: &str, top: usize) -> (Vec<String>, usize) {
        let (mut rows, mut pages, mut from) = (Vec::new(), 0, None);
        loop {
            let page = self.query(filter, top, from).await;
            pages += 1;
            assert!(page.entities.len() <= top);
            rows.extend(page.entities.iter().map(|entity| {
                let (partition, row) = entity.keys().expect("keys");
                format!("{partition}/{row}")
            }));
            from = page.next;
            if from.is_none() {
                return (rows, pages);
            }
        }
    }
}

/// An entity taken apart.
#[derive(Debug, PartialEq)]
struct Read {
    timestamp: Timestamp,
    properties: Vec<(String, String)>,
}

impl Read {
    fn of(entity: &Entity) -> Self {
        let properties = entity.properties().map(|property| {
            let property = property.expect("a property");
            let value = property.value().expect("a value");
            (property.name().expect("a name").to_owned(), format!("{value:?}"))
        });
        Self { timestamp: entity.timestamp, properties: properties.collect() }
    }

    fn has(&self, name: &str, value: &str) -> bool {
        self.properties.iter().any(|(known, text)| known == name && text == value)
    }
}

fn change(op: Op, partition: &str, row: &str, properties: &[(&str, EdmValue)]) -> EntityChange {
    let properties = properties.iter().map(|(name, value)| ((*name).to_owned(), value.clone()));
    let needs_match = matches!(op, Op::UpdateEntity | Op::MergeEntity | Op::DeleteEntity);
    EntityChange {
        op,
        partition: partition.to_owned(),
        row: row.to_owned(),
        if_match: needs_match.then_some(EntityMatch::Any),
        properties: properties.collect(),
    }
}

fn text(text: &str) -> EdmValue {
    EdmValue::String(text.to_owned())
}

fn large(letter: char, units: usize) -> EdmValue {
    EdmValue::String(letter.to_string().repeat(units))
}
