//! List Blobs, flat and by hierarchy: each page is one snapshot, merged from the sources that were asked for.

use lazuli_engine::{Key, KeyRange, Reader, Scan, SkipItem, SkipScan};
use lazuli_model::error::ErrorCode;
use lazuli_model::time::Timestamp;

use crate::fault::Answer;
use crate::key::{self, Generation};
use crate::record::Record;
use crate::record::blob::{BlobFields, BlobRecord};
use crate::record::block::StagedRecord;
use crate::record::existing::StagedBlob;
use crate::shared::marker::Position;
use crate::{Context, Services, store};

#[derive(Clone, Debug, Default)]
pub struct ListBlobs {
    pub container: String,
    pub prefix: String,
    /// Empty: a flat listing.
    pub delimiter: String,
    pub marker: Option<Position>,
    /// The first name that may be listed.
    pub start_from: Option<String>,
    pub max_results: usize,
    /// What a page may take in memory; as much as there is of a page's own limit where nothing is said.
    pub max_bytes: Option<usize>,
    pub snapshots: bool,
    pub uncommitted: bool,
}

#[derive(Clone, Debug)]
pub enum BlobListItem {
    Blob { name: String, snapshot: Option<Timestamp>, blob: Box<BlobRecord> },
    Uncommitted { name: String, staged: StagedBlob },
    Prefix(String),
}

impl BlobListItem {
    /// Where a page that ends with this goes on.
    pub fn position(&self) -> Position {
        match self {
            Self::Prefix(prefix) => Position::Group(prefix.clone()),
            Self::Uncommitted { name, .. } => Position::Name { name: name.clone(), ticks: u64::MAX },
            Self::Blob { name, snapshot, .. } => {
                Position::Name { name: name.clone(), ticks: snapshot.map_or(u64::MAX, |snapshot| snapshot.0) }
            }
        }
    }
}

#[derive(Clone, Debug)]
pub struct BlobList {
    pub items: Vec<BlobListItem>,
    pub next: Option<Position>,
    /// The moment at which leases are to be judged.
    pub now: Timestamp,
}

/// What one source may give a page at the most.
const PAGE_BYTES: usize = 16 * 1024 * 1024;

impl ListBlobs {
    pub async fn execute(self, services: &Services, context: &Context) -> Answer<BlobList> {
        let reader = services.engine().reader().await?;
        let container = store::container(&reader, &context.account, &self.container).await?;
        let generation = container.fields.generation;
        let mut sources = vec![self.source(&reader, key::blobs(generation), Kind::Base).await?];
        if self.snapshots && self.delimiter.is_empty() {
            sources.push(self.snapshots(&reader, generation).await?);
        }
        if self.uncommitted {
            sources.push(self.source(&reader, key::all_staged(generation), Kind::Staged).await?);
        }
        let (found, next) = merge(sources, self.max_results);
        let items = found.into_iter().map(Candidate::into_item).collect::<Answer<Vec<_>>>()?;
        Ok(BlobList { items, next, now: store::now(&reader) })
    }

    fn page_bytes(&self) -> usize {
        self.max_bytes.unwrap_or(PAGE_BYTES).min(PAGE_BYTES)
    }

    /// Names under `space`, which are the keys behind it.
    async fn source(&self, reader: &Reader, space: Key, kind: Kind) -> Answer<Source> {
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
        let mut source = Source { kind, candidates: Vec::new(), more: false };
        if self.delimiter.is_empty() {
            let range = KeyRange::prefix(full(&self.prefix));
            let page =
                reader.scan(Scan { after, limit, max_bytes: self.page_bytes(), ..Scan::of(range) }).await?;
            source.more = page.more;
            source.candidates.reserve(page.items.len());
            for (key, entry) in page.items {
                source.candidates.push(Candidate::new(
                    name(&key, name_at)?,
                    kind,
                    u64::MAX,
                    Some(entry.value),
                ));
            }
        } else {
            let (prefix, delimiter) = (full(&self.prefix), Key::from(self.delimiter.clone()));
            let scan = SkipScan { prefix, delimiter, after, limit, max_bytes: self.page_bytes() };
            let page = reader.skip_scan(scan).await?;
            source.more = page.more;
            for item in page.items {
                source.candidates.push(match item {
                    SkipItem::Entry(key, entry) => {
                        Candidate::new(name(&key, name_at)?, kind, u64::MAX, Some(entry.value))
                    }
                    SkipItem::Group(key) => Candidate::new(name(&key, name_at)?, Kind::Group, u64::MAX, None),
                });
            }
        }
        Ok(source)
    }

    async fn snapshots(&self, reader: &Reader, generation: Generation) -> Answer<Source> {
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
        let scan = Scan { after: after.max(first), limit, max_bytes: self.page_bytes(), ..Scan::of(range) };
        let page = reader.scan(scan).await?;
        let mut source = Source { kind: Kind::Snapshot, candidates: Vec::new(), more: page.more };
        for (key, entry) in page.items {
            let Some((ticks_at, ticks)) = snapshot_ticks(&key) else { continue };
            let name = name(&key[..ticks_at], space.len())?;
            source.candidates.push(Candidate::new(name, Kind::Snapshot, ticks, Some(entry.value)));
        }
        Ok(source)
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

/// Where the NUL before the ticks stands, and the ticks.
fn snapshot_ticks(key: &[u8]) -> Option<(usize, u64)> {
    let at = key.len().checked_sub(9)?;
    Some((at, u64::from_be_bytes(key.get(at + 1..)?.try_into().ok()?)))
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
    more: bool,
}

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

    fn position(&self) -> Position {
        match self.kind {
            Kind::Group => Position::Group(self.name.clone()),
            _ => Position::Name { name: self.name.clone(), ticks: self.ticks },
        }
    }

    fn into_item(self) -> Answer<BlobListItem> {
        let Self { name, kind, ticks, value } = self;
        let value = value.unwrap_or_default();
        Ok(match kind {
            Kind::Group => BlobListItem::Prefix(name),
            Kind::Staged => {
                BlobListItem::Uncommitted { name, staged: StagedBlob::new(StagedRecord::decode(&value)?) }
            }
            Kind::Base | Kind::Snapshot => {
                let blob = Box::new(BlobRecord::new(BlobFields::decode(&value)?));
                let snapshot = (kind == Kind::Snapshot).then_some(Timestamp(ticks));
                BlobListItem::Blob { name, snapshot, blob }
            }
        })
    }
}

/// The first `limit` candidates in order, and where to go on. A source that has more to give hides everything
/// behind its last candidate.
fn merge(mut sources: Vec<Source>, limit: usize) -> (Vec<Candidate>, Option<Position>) {
    let mut more = sources.iter().any(|source| source.more);
    let horizon = sources
        .iter()
        .filter(|source| source.more)
        .filter_map(|source| source.candidates.last())
        .map(|last| (last.name.clone(), last.ticks, last.kind))
        .min();
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
    if let Some((name, ticks, kind)) = horizon {
        all.retain(|candidate| candidate.order() <= (name.as_str(), ticks, kind));
    }
    if all.len() > limit {
        all.truncate(limit);
        more = true;
    }
    let next = if more { all.last().map(Candidate::position) } else { None };
    (all, next)
}
