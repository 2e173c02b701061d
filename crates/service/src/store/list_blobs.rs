//! A page of a container's blobs: one snapshot, merged from the sources that were asked for.

use lazuli_engine::{Key, KeyRange, Reader, Scan, SkipItem, SkipScan};
use lazuli_model::error::ErrorCode;
use lazuli_model::time::Timestamp;

use super::by_name::before;
use super::gone::{Gone, InRange, Listed};
use super::key::{self, Generation};
use super::record::Record;
use super::record::blob::BlobRecord;
use super::record::block::StagedRecord;
use super::unit::View;
use crate::blob::{BlobList, BlobListItem, BlobState, ListBlobs};
use crate::fault::Answer;
use crate::shared::marker::Position;

impl View {
    pub(crate) async fn list_blobs(&self, request: &ListBlobs) -> Answer<BlobList> {
        let reader = self.reader();
        let generation = self.container_of(&request.container).await?.generation;
        let gone = &Gone::seen_by(self, request.deleted).await?;
        let mut sources = vec![request.source(reader, key::blobs(generation), Kind::Base, gone).await?];
        if request.snapshots && request.delimiter.is_empty() {
            sources.push(request.moments(reader, generation, Kind::Snapshot, gone).await?);
        }
        if request.versions {
            sources.push(request.moments(reader, generation, Kind::Version, gone).await?);
        }
        if request.deleted {
            let space = key::deleted_blobs(generation);
            sources.push(request.source(reader, space, Kind::Deleted, gone).await?);
        }
        if request.deleted_with_versions {
            sources.push(request.versions_only(reader, generation, gone).await?);
        }
        if request.uncommitted {
            sources.push(request.source(reader, key::all_staged(generation), Kind::Staged, gone).await?);
        }
        let (mut found, mut next) = merge(sources, request.max_results);
        if let Some(end) = &request.end_before
            && let Some(cut) = request.cut(reader, generation, &mut found, end, gone).await?
        {
            next = cut;
        }
        let items = found.into_iter().map(|found| found.into_item(self.now())).collect::<Answer<Vec<_>>>()?;
        Ok(BlobList { items, next, now: self.now() })
    }
}

impl ListBlobs {
    /// Drops what does not stand before the end. If there was any: where to go on, which is nowhere, unless too much was to be
    /// passed over to tell what stands before the end.
    async fn cut(
        &self,
        reader: &Reader,
        generation: Generation,
        found: &mut Vec<Candidate>,
        end: &str,
        gone: &Gone,
    ) -> Answer<Option<Option<Position>>> {
        let count = found.len();
        found.retain(|candidate| candidate.name.as_str() < end);
        // A group that the end lies within is listed for the names in it that stand before the end.
        let Some(group) = found.pop_if(|last| last.kind == Kind::Group && end.starts_with(&last.name)) else {
            return Ok((found.len() < count).then_some(None));
        };
        let mut spaces = vec![(key::blobs(generation), Listed::Blobs)];
        spaces.extend(self.uncommitted.then(|| (key::all_staged(generation), Listed::Stages)));
        spaces.extend(self.deleted.then(|| (key::deleted_blobs(generation), Listed::Deleted)));
        let with_versions = self.versions || self.deleted_with_versions;
        spaces.extend(with_versions.then(|| (key::versions(generation), Listed::Versions)));
        let mut reached: Option<String> = None;
        for (space, listed) in spaces {
            let at = |name: &str| Key::from([&space[..], name.as_bytes()].concat());
            let start = match &self.marker {
                Some(Position::Name { name, .. }) if name.starts_with(&group.name) => at(name),
                _ => at(&group.name),
            };
            match gone.look_into(reader, listed, KeyRange::new(start, at(end))).await? {
                InRange::Some => {
                    found.push(group);
                    return Ok(Some(None));
                }
                InRange::None => {}
                InRange::NoneUpTo(last) => {
                    let name = name(until_nul(&last), space.len())?;
                    reached = Some(reached.map_or(name.clone(), |reached| reached.min(name)));
                }
            }
        }
        Ok(Some(reached.map(|name| Position::Name { name, ticks: u64::MAX })))
    }

    /// Names under `space`, which are the keys behind it.
    async fn source(&self, reader: &Reader, space: Key, kind: Kind, gone: &Gone) -> Answer<Source> {
        let listed = match kind {
            Kind::Staged => Listed::Stages,
            Kind::Deleted => Listed::Deleted,
            _ => Listed::Blobs,
        };
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
        let mut source = Source::new(kind);
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
            let scan = SkipScan { prefix, delimiter, after: after.clone(), limit, max_bytes: self.max_bytes };
            let page = reader.skip_scan(scan).await?;
            more = page.more;
            for item in page.items {
                let (candidate, is_gone) = match item {
                    SkipItem::Entry(key, entry) => {
                        let is_gone = gone.has(listed, &entry.value)?;
                        (Candidate::new(name(&key, name_at)?, kind, u64::MAX, Some(entry.value)), is_gone)
                    }
                    SkipItem::Group(key) => {
                        let mut range = KeyRange::prefix(key.clone());
                        range.start = range.start.max(after.clone().unwrap_or_default());
                        let within = gone.look_into(reader, listed, range).await?;
                        if let InRange::NoneUpTo(last) = within {
                            source.horizon = Some((name(&last, name_at)?, u64::MAX, kind));
                            return Ok(source);
                        }
                        (Candidate::group(name(&key, name_at)?), within == InRange::None)
                    }
                };
                source.add(candidate, is_gone);
            }
        }
        Ok(source.read_to_its_end(!more))
    }
}

pub(super) fn name(key: &[u8], at: usize) -> Answer<String> {
    let bytes = key.get(at..).unwrap_or_default();
    Ok(String::from_utf8(bytes.to_vec()).map_err(|_| ErrorCode::InternalError)?)
}

/// The key of a name, of the key of a name and a moment. Names hold no NUL; a generation may.
fn until_nul(key: &[u8]) -> &[u8] {
    let name = key.get(key::NAME_AT..).unwrap_or_default();
    let end = name.iter().position(|byte| *byte == 0).unwrap_or(name.len());
    key.get(..key::NAME_AT + end).unwrap_or_default()
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Kind {
    Snapshot,
    Version,
    Base,
    Deleted,
    VersionsOnly,
    Staged,
    Group,
}

pub(super) struct Source {
    pub kind: Kind,
    pub candidates: Vec<Candidate>,
    /// How far it was read, when there is more behind.
    pub horizon: Option<Place>,
}

impl Source {
    pub fn new(kind: Kind) -> Self {
        Self { kind, candidates: Vec::new(), horizon: None }
    }

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
pub(super) type Place = (String, u64, Kind);

pub(super) struct Candidate {
    name: String,
    kind: Kind,
    ticks: u64,
    /// As it is stored, unless it had to be looked into.
    value: Option<lazuli_engine::Value>,
    blob: Option<Box<BlobRecord>>,
}

impl Candidate {
    fn new(name: String, kind: Kind, ticks: u64, value: Option<lazuli_engine::Value>) -> Self {
        Self { name, kind, ticks, value, blob: None }
    }

    pub fn read(name: String, kind: Kind, ticks: u64, blob: BlobRecord) -> Self {
        Self { name, kind, ticks, value: None, blob: Some(Box::new(blob)) }
    }

    pub fn group(name: String) -> Self {
        Self::new(name, Kind::Group, u64::MAX, None)
    }

    /// Snapshots and versions of a name stand before it, oldest first.
    fn order(&self) -> (&str, u64, Kind) {
        (&self.name, self.ticks, self.kind)
    }

    pub fn place(&self) -> Place {
        (self.name.clone(), self.ticks, self.kind)
    }

    fn into_item(self, now: Timestamp) -> Answer<BlobListItem> {
        let Self { name, kind, ticks, value, blob } = self;
        let value = value.unwrap_or_default();
        let state = match kind {
            Kind::Group => return Ok(BlobListItem::Prefix(name)),
            Kind::Staged => {
                return Ok(BlobListItem::Uncommitted { name, staged: StagedRecord::decode(&value)? });
            }
            Kind::Snapshot => BlobState::Snapshot(Timestamp(ticks)),
            Kind::Version => BlobState::Version(Timestamp(ticks)),
            Kind::Base | Kind::Deleted | Kind::VersionsOnly => BlobState::Base,
        };
        let blob = match blob {
            Some(blob) => Box::new(blob.at(now)),
            None => Box::new(BlobRecord::decode(&value)?.at(now)),
        };
        Ok(match kind {
            Kind::VersionsOnly => BlobListItem::VersionsOnly { name, blob },
            _ => BlobListItem::Blob { name, state, blob },
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
    let next = horizon.map(|(name, ticks, kind)| match all.last() {
        // A source that ended within a group that is listed already.
        Some(last) if last.kind == Kind::Group && name.starts_with(&last.name) => {
            Position::Group(last.name.clone())
        }
        _ if kind == Kind::Group => Position::Group(name),
        _ => Position::Name { name, ticks },
    });
    (all, next)
}
