//! A page of an account's containers or queues, in the order of their names.

use lazuli_engine::{Key, KeyRange, Reader, Scan};
use lazuli_model::error::ErrorCode;

use crate::fault::Answer;
use crate::shared::marker::Position;
use crate::store::record::Record;

/// The greatest byte string below a name among those that names are compared with: 0xFF occurs in no UTF-8, so
/// nothing lies between this and the name.
pub fn before(name: &str) -> Vec<u8> {
    let mut bytes = name.as_bytes().to_vec();
    if let Some(last) = bytes.pop() {
        bytes.extend([last.wrapping_sub(1), 0xFF]);
    }
    bytes
}

/// What of them is asked for.
pub struct ByName<'a> {
    /// In front of each name in a key.
    pub space: Key,
    pub prefix: &'a str,
    pub marker: Option<&'a Position>,
    pub max_results: usize,
    /// What the page may take in memory.
    pub max_bytes: usize,
}

impl ByName<'_> {
    /// The names with their records, and where the next page begins.
    pub async fn page<R: Record>(self, reader: &Reader) -> Answer<(Vec<(String, R)>, Option<Position>)> {
        let full = |name: &str| Key::from([&self.space[..], name.as_bytes()].concat());
        let after = match self.marker {
            Some(Position::Name { name, ticks: u64::MAX }) => Some(full(name)),
            // Of this name, what is not deleted is still to come.
            Some(Position::Name { name, .. }) => {
                Some(Key::from([&self.space[..], &before(name)[..]].concat()))
            }
            _ => None,
        };
        let range = KeyRange::prefix(full(self.prefix));
        let scan = Scan { after, limit: self.max_results, max_bytes: self.max_bytes, ..Scan::of(range) };
        let page = reader.scan(scan).await?;
        let mut items = Vec::with_capacity(page.items.len());
        for (key, entry) in page.items {
            let name = key.get(self.space.len()..).unwrap_or_default().to_vec();
            let name = String::from_utf8(name).map_err(|_| ErrorCode::InternalError)?;
            items.push((name, R::decode(&entry.value)?));
        }
        let last = if page.more { items.last() } else { None };
        let next = last.map(|(name, _)| Position::Name { name: name.clone(), ticks: u64::MAX });
        Ok((items, next))
    }
}

/// The first of two sources' items in order, and where to go on: behind that, a source that has more was not read.
pub fn merge<T>(
    mut items: Vec<T>,
    ends: [Option<Position>; 2],
    limit: usize,
    order: fn(&T) -> (&str, u64),
) -> (Vec<T>, Option<Position>) {
    items.sort_by(|a, b| order(a).cmp(&order(b)));
    let ends = ends.iter().flatten().filter_map(|end| match end {
        Position::Name { name, ticks } => Some((name.as_str(), *ticks)),
        Position::Group(_) => None,
    });
    let mut end = ends.min();
    if let Some(end) = end {
        items.retain(|item| order(item) <= end);
    }
    if items.len() > limit {
        items.truncate(limit);
        end = items.last().map(order);
    }
    let next = end.map(|(name, ticks)| Position::Name { name: name.to_owned(), ticks });
    (items, next)
}
