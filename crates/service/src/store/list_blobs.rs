//! A page of a container's blobs: one snapshot, merged from the sources that were asked for.

use lazuli_engine::{Key, KeyRange, Reader, Scan, SkipItem, SkipScan};
use lazuli_model::error::ErrorCode;
use lazuli_model::time::Timestamp;

use super::gone::{Gone, Listed};
use super::key::{self, Generation};
use super::record::Record;
use super::record::blob::BlobRecord;
use super::record::block::StagedRecord;
use super::record::dead_snapshots::DeadSnapshots;
use super::unit::View;
use crate::blob::{BlobList, BlobListItem, ListBlobs};
use crate::fault::Answer;
use crate::shared::marker::Position;

impl View {
    pub(crate) async fn list_blobs(&self, request: &ListBlobs) -> Answer<BlobList> {
        let reader = self.reader();
        let generation = self.container_of(&request.container).await?.generation;
        let gone = &Gone::seen_by(self).await?;
        let mut sources = vec![request.source(reader, key::blobs(generation), Kind::Base, gone).await?];
        if request.snapshots && request.delimiter.is_empty() {
            sources.push(request.snapshots(reader, generation, gone).await?);
        }
        if request.uncommitted {
            sources.push(request.source(reader, key::all_staged(generation), Kind::Staged, gone).await?);
        }
        let (mut found, mut next) = merge(sources, request.max_results);
        if let Some(end) = &request.end_before
            && request.cut(reader, generation, &mut found, end, gone).await?
        {
            next = None;
        }
        let items = found.into_iter().map(|found| found.into_item(self.now())).collect::<Answer<Vec<_>>>()?;
        Ok(BlobList { items, next, now: self.now() })
    }
}

impl ListBlobs {
    /// Drops what does not stand before the end; true if there was any, so that no page follows.
    async fn cut(
        &self,
        reader: &Reader,
        generation: Generation,
        found: &mut Vec<Candidate>,
        end: &str,
        gone: &Gone,
    ) -> Answer<bool> {
        let count = found.len();
        found.retain(|candidate| candidate.name.as_str() < end);
        // A group that the end lies within is listed for the names in it that stand before the end.
        if let Some(last) = found.last()
            && last.kind == Kind::Group
            && end.starts_with(&last.name)
        {
            let mut spaces = vec![(key::blobs(generation), Listed::Blobs)];
            spaces.extend(self.uncommitted.then(|| (key::all_staged(generation), Listed::Stages)));
            let mut is_listed = false;
            for (space, listed) in spaces {
                let at = |name: &str| Key::from([&space[..], name.as_bytes()].concat());
                let range = KeyRange::new(at(&last.name), at(end));
                let scan = Scan { limit: 1, keys_only: true, ..Scan::of(range.clone()) };
                is_listed |= !reader.scan(scan).await?.items.is_empty()
                    && !gone.has_all(reader, listed, range).await?;
            }
            if !is_listed {
                found.pop();
            }
            return Ok(true);
        }
        Ok(found.len() < count)
    }

    /// Names under `space`, which are the keys behind it.
    async fn source(&self, reader: &Reader, space: Key, kind: Kind, gone: &Gone) -> Answer<Source> {
        let listed = if kind == Kind::Staged { Listed::Stages } else { Listed::Blobs };
        let limit = self.max_results + 1;
        let full = |name: &str| Key::from([&space[..], name.as_bytes()].concat());
        let behind = |name: &str| Key::from([&space[..], &before(name)[..]].concat());
        // Where the page begins: behind the marker, at the first name wanted, whichever is later.
        let after = match &self.marker {
            Some(Position::Name { name, ticks: u64::MAX }) => Some(full(name)),
            Some(Position::Name { name, .. }) => Some(behind(name)),
            Some(Position::Group(group)) => Some(full(group)),
            None => None,
        };
        let after = after.max(self.start_from.as_deref().map(behind));
        let name_at = space.len();
        let mut source = Source { kind, candidates: Vec::new(), horizon: None };
        let more;
        if self.delimiter.is_empty() {
            let range = KeyRange::prefix(full(&self.prefix));
            let page =
                reader.scan(Scan { after, limit, max_bytes: self.max_bytes, ..Scan::of(range) }).await?;
            more = page.more;
            source.candidates.reserve(page.items.len());
            for (key, entry) in page.items {
                let is_gone = gone.has(listed, &entry.value)?;
                let name = name(&key, name_at)?;
                source.add(Candidate::new(name, kind, u64::MAX, Some(entry.value)), is_gone);
            }
        } else {
            let (prefix, delimiter) = (full(&self.prefix), Key::from(self.delimiter.clone()));
            let scan = SkipScan { prefix, delimiter, after, limit, max_bytes: self.max_bytes };
            let page = reader.skip_scan(scan).await?;
            more = page.more;
            for item in page.items {
                let (candidate, is_gone) = match item {
                    SkipItem::Entry(key, entry) => {
                        let is_gone = gone.has(listed, &entry.value)?;
                        (Candidate::new(name(&key, name_at)?, kind, u64::MAX, Some(entry.value)), is_gone)
                    }
                    SkipItem::Group(key) => {
                        let is_gone = gone.has_all(reader, listed, KeyRange::prefix(key.clone())).await?;
                        (Candidate::new(name(&key, name_at)?, Kind::Group, u64::MAX, None), is_gone)
                    }
                };
                source.add(candidate, is_gone);
            }
        }
        Ok(source.read_to_its_end(!more))
    }

    async fn snapshots(&self, reader: &Reader, generation: Generation, gone: &Gone) -> Answer<Source> {
        let space = key::snapshots(generation);
        let full = |name: &str| Key::from([&space[..], name.as_bytes()].concat());
        let after = match &self.marker {
            Some(Position::Name { name, ticks }) => Some(key::snapshot(generation, name, *ticks)),
            Some(Position::Group(group)) => Some(full(group)),
            None => None,
        };
        let first =
            self.start_from.as_deref().map(|name| Key::from([&space[..], &before(name)[..]].concat()));
        let range = KeyRange::prefix(full(&self.prefix));
        let limit = self.max_results + 1;
        let scan = Scan { after: after.max(first), limit, max_bytes: self.max_bytes, ..Scan::of(range) };
        let page = reader.scan(scan).await?;
        let mut source = Source { kind: Kind::Snapshot, candidates: Vec::new(), horizon: None };
        let mut dead = DeadNames::of(reader, generation, &self.prefix).await?;
        for (key, entry) in page.items {
            let (Some(ticks), Some(name_end)) = (key::snapshot_ticks(&key), key.len().checked_sub(9)) else {
                continue;
            };
            let name = name(&key[..name_end], space.len())?;
            let is_gone = dead.contains(reader, &name, ticks).await?
                || gone.has_base(reader, generation, &name).await?;
            source.add(Candidate::new(name, Kind::Snapshot, ticks, Some(entry.value)), is_gone);
        }
        Ok(source.read_to_its_end(!page.more))
    }
}

/// The greatest byte string below a name among those that names are compared with: 0xFF occurs in no UTF-8, so
/// nothing lies between this and the name.
fn before(name: &str) -> Vec<u8> {
    let mut bytes = name.as_bytes().to_vec();
    if let Some(last) = bytes.pop() {
        bytes.extend([last.wrapping_sub(1), 0xFF]);
    }
    bytes
}

fn name(key: &[u8], at: usize) -> Answer<String> {
    let bytes = key.get(at..).unwrap_or_default();
    Ok(String::from_utf8(bytes.to_vec()).map_err(|_| ErrorCode::InternalError)?)
}

/// Names with snapshots that are deleted and not swept yet. There are hardly ever any, so it is first asked whether
/// there is one at all.
struct DeadNames {
    generation: Generation,
    any: bool,
    /// The last name that was asked for.
    known: Option<(String, u64)>,
}

impl DeadNames {
    async fn of(reader: &Reader, generation: Generation, prefix: &str) -> Answer<Self> {
        let range = KeyRange::prefix(key::dead_snapshots(generation, prefix));
        let page = reader.scan(Scan { limit: 1, keys_only: true, ..Scan::of(range) }).await?;
        Ok(Self { generation, any: !page.items.is_empty(), known: None })
    }

    async fn contains(&mut self, reader: &Reader, name: &str, ticks: u64) -> Answer<bool> {
        if !self.any {
            return Ok(false);
        }
        let up_to = match &self.known {
            Some((known, up_to)) if known == name => *up_to,
            _ => {
                let up_to = match reader.get(key::dead_snapshots(self.generation, name)).await? {
                    Some(entry) => DeadSnapshots::decode(&entry.value)?.up_to,
                    None => 0,
                };
                self.known = Some((name.to_owned(), up_to));
                up_to
            }
        };
        Ok(ticks <= up_to)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
    Snapshot,
    Base,
    Staged,
    Group,
}

struct Source {
    kind: Kind,
    candidates: Vec<Candidate>,
    /// How far it was read, when there is more behind.
    horizon: Option<Place>,
}

impl Source {
    /// What is gone is passed over; that it was read counts.
    fn add(&mut self, candidate: Candidate, is_gone: bool) {
        self.horizon = is_gone.then(|| candidate.place());
        if !is_gone {
            self.candidates.push(candidate);
        }
    }

    fn read_to_its_end(mut self, is_read: bool) -> Self {
        self.horizon = match is_read {
            true => None,
            false => self.horizon.or_else(|| self.candidates.last().map(Candidate::place)),
        };
        self
    }
}

/// Where an item stands in the order of a listing: name, moment, kind.
type Place = (String, u64, Kind);

struct Candidate {
    name: String,
    kind: Kind,
    ticks: u64,
    value: Option<lazuli_engine::Value>,
}

impl Candidate {
    fn new(name: String, kind: Kind, ticks: u64, value: Option<lazuli_engine::Value>) -> Self {
        Self { name, kind, ticks, value }
    }

    /// Snapshots of a name stand before it, oldest first.
    fn order(&self) -> (&str, u64, Kind) {
        (&self.name, self.ticks, self.kind)
    }

    fn place(&self) -> Place {
        (self.name.clone(), self.ticks, self.kind)
    }

    fn into_item(self, now: Timestamp) -> Answer<BlobListItem> {
        let Self { name, kind, ticks, value } = self;
        let value = value.unwrap_or_default();
        Ok(match kind {
            Kind::Group => BlobListItem::Prefix(name),
            Kind::Staged => BlobListItem::Uncommitted { name, staged: StagedRecord::decode(&value)? },
            Kind::Base | Kind::Snapshot => {
                let blob = Box::new(BlobRecord::decode(&value)?.at(now));
                let snapshot = (kind == Kind::Snapshot).then_some(Timestamp(ticks));
                BlobListItem::Blob { name, snapshot, blob }
            }
        })
    }
}

/// The first `limit` candidates in order, and where to go on. A source that has more to give hides everything
/// behind the place up to which it was read.
fn merge(mut sources: Vec<Source>, limit: usize) -> (Vec<Candidate>, Option<Position>) {
    let mut horizon = sources.iter_mut().filter_map(|source| source.horizon.take()).min();
    let mut all: Vec<Candidate> = match sources.len() {
        1 => sources.swap_remove(0).candidates,
        _ => {
            sources.sort_by_key(|source| source.kind);
            let mut all: Vec<Candidate> = sources.into_iter().flat_map(|source| source.candidates).collect();
            all.sort_by(|a, b| a.order().cmp(&b.order()));
            // One entry for a group found in two sources; uncommitted blocks beside a committed blob are not one.
            all.dedup_by(|later, earlier| {
                later.name == earlier.name
                    && (later.kind == earlier.kind && later.kind == Kind::Group
                        || later.kind == Kind::Staged && earlier.kind == Kind::Base)
            });
            all
        }
    };
    if let Some((name, ticks, kind)) = &horizon {
        all.retain(|candidate| candidate.order() <= (name.as_str(), *ticks, *kind));
    }
    if all.len() > limit {
        all.truncate(limit);
        horizon = all.last().map(Candidate::place);
    }
    let next = horizon.map(|(name, ticks, kind)| match kind {
        Kind::Group => Position::Group(name),
        _ => Position::Name { name, ticks },
    });
    (all, next)
}
