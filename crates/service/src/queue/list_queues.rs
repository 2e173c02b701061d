//! List Queues.

use lazuli_engine::{Key, KeyRange, Scan};
use lazuli_model::error::ErrorCode;

use crate::fault::Answer;
use crate::record::Record;
use crate::record::queue::QueueFields;
use crate::shared::marker::Position;
use crate::{Context, Services, key};

#[derive(Clone, Debug, Default)]
pub struct ListQueues {
    pub prefix: String,
    pub marker: Option<Position>,
    pub max_results: usize,
}

#[derive(Clone, Debug)]
pub struct QueueList {
    pub items: Vec<(String, QueueFields)>,
    pub next: Option<Position>,
}

impl ListQueues {
    pub async fn execute(self, services: &Services, context: &Context) -> Answer<QueueList> {
        let reader = services.engine().reader().await?;
        let space = key::queues(&context.account);
        let full = |name: &str| Key::from([&space[..], name.as_bytes()].concat());
        let after = match &self.marker {
            Some(Position::Name { name, .. }) => Some(full(name)),
            _ => None,
        };
        let range = KeyRange::prefix(full(&self.prefix));
        let scan = Scan { after, limit: self.max_results, max_bytes: 16 << 20, ..Scan::of(range) };
        let page = reader.scan(scan).await?;
        let mut items = Vec::with_capacity(page.items.len());
        for (key, entry) in page.items {
            let name = key.get(space.len()..).unwrap_or_default().to_vec();
            let name = String::from_utf8(name).map_err(|_| ErrorCode::InternalError)?;
            items.push((name, QueueFields::decode(&entry.value)?));
        }
        let last = if page.more { items.last() } else { None };
        let next = last.map(|(name, _)| Position::Name { name: name.clone(), ticks: u64::MAX });
        Ok(QueueList { items, next })
    }
}
