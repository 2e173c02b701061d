//! What stands in a directory, page by page, and what stands below it.

use std::collections::VecDeque;

use lazuli_engine::{Key, KeyRange, Reader, Scan};
use lazuli_model::error::ErrorCode;

use super::{Entry, NodeId, Slot, Tree, key};
use crate::fault::Answer;

/// What of a directory is asked for.
#[derive(Clone, Debug)]
pub(in crate::store) struct Listing<'a> {
    pub parent: NodeId,
    /// The moment of a snapshot.
    pub at: Option<u64>,
    /// Of the names, as they are compared.
    pub prefix: &'a str,
    /// Behind this name, as they are compared, whether it still is there or not.
    pub after: Option<&'a str>,
    pub limit: usize,
    pub max_bytes: usize,
}

/// Entries in the order of their folded names.
#[derive(Debug)]
pub(in crate::store) struct Page<P, E> {
    pub items: Vec<(P, E)>,
    /// Where the next page goes on: behind this. It may be further than the last item.
    pub next: Option<P>,
}

/// Rows of a snapshot that are looked at for one page: many may be younger than it.
const LOOKS: usize = 4_000;
/// No path is so long: each request names 250 names at the most, and a rename adds as many.
const DEEPEST: usize = 100_000;
/// Rows that are read at a time.
const BATCH: usize = 256;

impl Tree {
    pub async fn list<E: Entry>(&self, reader: &Reader, asked: &Listing<'_>) -> Answer<Page<String, E>> {
        match asked.at {
            Some(moment) => self.list_earlier(reader, asked, moment).await,
            None => list_now(reader, asked).await,
        }
    }

    /// Both what stands there and what was kept, by name: for each name what held at the moment.
    async fn list_earlier<E: Entry>(
        &self,
        reader: &Reader,
        asked: &Listing<'_>,
        moment: u64,
    ) -> Answer<Page<String, E>> {
        let Listing { parent, prefix, after, .. } = *asked;
        let behind = after.map(|name| key::entry(E::SPACE, parent, name));
        let mut present = Rows::new(key::entries(E::SPACE, parent, prefix), behind);
        let behind = after.map(|name| key::behind_earlier(E::SPACE, parent, name));
        let mut kept = Rows::new(key::earlier_entries(E::SPACE, parent, prefix), behind);
        let (mut items, mut bytes, mut looks) = (Vec::new(), 0, 0);
        loop {
            let standing = present.first(reader).await?.map(|(key, _)| folded(key)).transpose()?;
            let old = kept.first(reader).await?.map(|(key, _)| earlier_of(key)).transpose()?;
            let Some(name) = standing.iter().chain(old.as_ref().map(|(name, _)| name)).min().cloned() else {
                return Ok(Page { items, next: None });
            };
            let (mut shown, mut decided) = (None, false);
            while let Some((key, value)) = kept.first(reader).await? {
                let (of, held) = earlier_of(key)?;
                if of != name {
                    break;
                }
                if !decided && held >= moment {
                    (shown, decided) = (Some(value.clone()), true);
                }
                kept.step();
                looks += 1;
            }
            if standing.as_ref() == Some(&name) {
                if !decided {
                    shown = present.first(reader).await?.map(|(_, value)| value.clone());
                }
                present.step();
                looks += 1;
            }
            if let Some(value) = shown {
                let entry = E::from_value(&value)?;
                if entry.since() < moment {
                    bytes += name.len() + value.len();
                    items.push((name.clone(), entry));
                }
            }
            if items.len() >= asked.limit || bytes >= asked.max_bytes || looks >= LOOKS {
                let more = present.first(reader).await?.is_some() || kept.first(reader).await?.is_some();
                return Ok(Page { items, next: more.then_some(name) });
            }
        }
    }

    /// Everything below a directory, each directory before what stands in it. `after` is the path of the last item, name
    /// by name as they are compared: where a directory of it is gone, the walk goes on behind that name, so that nothing is
    /// passed over that was there all the time.
    pub async fn walk<E: Entry>(
        &self,
        reader: &Reader,
        from: NodeId,
        at: Option<u64>,
        after: Option<&[String]>,
        limit: usize,
    ) -> Answer<Page<Vec<String>, E>> {
        let mut open = vec![Level::new(from, None)];
        for name in after.unwrap_or_default() {
            let Some(level) = open.last_mut() else { break };
            level.after = Some(name.clone());
            let slot = Slot { parent: level.node, folded: name.clone() };
            match self.look::<E>(reader, &slot, at).await? {
                Some(entry) if entry.is_directory() => open.push(Level::new(entry.node(), None)),
                _ => break,
            }
        }
        let mut items: Vec<(Vec<String>, E)> = Vec::new();
        while let Some(level) = open.last_mut() {
            if level.read.is_empty() && level.more {
                let asked = Listing {
                    parent: level.node,
                    at,
                    prefix: "",
                    after: level.after.as_deref(),
                    limit: (limit - items.len()).clamp(1, BATCH),
                    max_bytes: 1 << 20,
                };
                let page = self.list::<E>(reader, &asked).await?;
                level.more = page.next.is_some();
                level.behind = page.next;
                level.read = page.items.into();
            }
            let Some((name, entry)) = level.read.pop_front() else {
                match level.more {
                    // A page of nothing but what the snapshot does not show.
                    true => level.after = level.behind.take(),
                    false => drop(open.pop()),
                }
                continue;
            };
            level.after = Some(name);
            let path: Vec<String> = open.iter().filter_map(|level| level.after.clone()).collect();
            if entry.is_directory() {
                open.push(Level::new(entry.node(), None));
            }
            items.push((path, entry));
            if items.len() >= limit {
                let next = items.last().map(|(path, _)| path.clone());
                return Ok(Page { items, next });
            }
        }
        Ok(Page { items, next: None })
    }

    /// The names that lead to a node from the root, as they are compared. None for a node that is nowhere.
    pub async fn path_of<E: Entry>(&self, reader: &Reader, node: NodeId) -> Answer<Option<Vec<String>>> {
        use crate::store::record::{Record as _, place::PlaceRecord};
        let Some(tag) = E::SPACE.place else { return Ok(None) };
        let (mut path, mut at) = (Vec::new(), node);
        while at != self.root {
            let Some(entry) = reader.get(key::place(tag, at)).await? else { return Ok(None) };
            let place = PlaceRecord::decode(&entry.value)?;
            at = place.parent;
            path.push(place.folded);
            if path.len() > DEEPEST {
                return Err(ErrorCode::InternalError.into());
            }
        }
        path.reverse();
        Ok(Some(path))
    }
}

async fn list_now<E: Entry>(reader: &Reader, asked: &Listing<'_>) -> Answer<Page<String, E>> {
    let after = asked.after.map(|name| key::entry(E::SPACE, asked.parent, name));
    let range = key::entries(E::SPACE, asked.parent, asked.prefix);
    let scan = Scan { after, limit: asked.limit, max_bytes: asked.max_bytes, ..Scan::of(range) };
    let page = reader.scan(scan).await?;
    let mut items = Vec::with_capacity(page.items.len());
    for (key, entry) in &page.items {
        items.push((folded(key)?, E::from_value(&entry.value)?));
    }
    let next = items.last().filter(|_| page.more).map(|(name, _)| name.clone());
    Ok(Page { items, next })
}

/// A directory that a walk is in.
struct Level<E> {
    node: NodeId,
    /// The name that the walk has reached.
    after: Option<String>,
    behind: Option<String>,
    read: VecDeque<(String, E)>,
    more: bool,
}

impl<E> Level<E> {
    fn new(node: NodeId, after: Option<String>) -> Self {
        Self { node, after, behind: None, read: VecDeque::new(), more: true }
    }
}

/// Rows of a range, read some at a time.
struct Rows {
    range: KeyRange,
    after: Option<Key>,
    read: VecDeque<(Key, lazuli_engine::Value)>,
    more: bool,
}

impl Rows {
    fn new(range: KeyRange, after: Option<Key>) -> Self {
        Self { range, after, read: VecDeque::new(), more: true }
    }

    async fn first(&mut self, reader: &Reader) -> Answer<Option<&(Key, lazuli_engine::Value)>> {
        while self.read.is_empty() && self.more {
            let scan = Scan { after: self.after.take(), limit: BATCH, ..Scan::of(self.range.clone()) };
            let page = reader.scan(scan).await?;
            self.more = page.more;
            self.after = page.items.last().map(|(key, _)| key.clone());
            self.read.extend(page.items.into_iter().map(|(key, entry)| (key, entry.value)));
        }
        Ok(self.read.front())
    }

    fn step(&mut self) {
        self.read.pop_front();
    }
}

fn folded(key: &[u8]) -> Answer<String> {
    let name = std::str::from_utf8(key.get(key::NAME_AT..).unwrap_or_default());
    Ok(name.map_err(|_| ErrorCode::InternalError)?.to_owned())
}

fn earlier_of(key: &[u8]) -> Answer<(String, u64)> {
    let (name, moment) = key::earlier_of(key).ok_or(ErrorCode::InternalError)?;
    Ok((name.to_owned(), moment))
}
