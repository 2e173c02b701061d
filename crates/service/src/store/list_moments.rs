//! Snapshots and versions as sources of a listing: keys of a name and a moment.

use lazuli_engine::{Key, KeyRange, Reader, Scan, SkipItem, SkipScan};

use super::by_name::before;
use super::deleted_snapshots::{DeletedSnapshots, Fate};
use super::gone::Gone;
use super::key::{self, Generation};
use super::list_blobs::{Candidate, Kind, Source, name};
use super::record::Record as _;
use super::record::blob::BlobRecord;
use crate::blob::ListBlobs;
use crate::fault::Answer;
use crate::shared::marker::Position;

/// What is read at once by hierarchy, where a group ends what was read.
const FEW: usize = 100;
/// So many names are looked at for a page of those that have no base.
const NAMES_MAX: usize = 5_000;

impl ListBlobs {
    /// The snapshots or versions that are asked for, in the order of name and moment.
    pub(super) async fn moments(
        &self,
        reader: &Reader,
        generation: Generation,
        kind: Kind,
        gone: &Gone,
    ) -> Answer<Source> {
        let space = match kind {
            Kind::Snapshot => key::snapshots(generation),
            _ => key::versions(generation),
        };
        let range = KeyRange::prefix(joined(&space, self.prefix.as_bytes()));
        let limit = self.max_results + 1;
        let mut after = self.first_moment(&space, |name, ticks| match kind {
            Kind::Snapshot => key::snapshot(generation, name, ticks),
            _ => key::version(generation, name, ticks),
        });
        let mut deleted = DeletedNames::of(reader, generation, &self.prefix, kind).await?;
        let mut source = Source::new(kind);
        let (mut bytes, mut few) = (0, 1);
        'pages: loop {
            let wanted = limit - source.candidates.len();
            let limit = if self.delimiter.is_empty() { wanted } else { wanted.min(few) };
            let scan = Scan { after, limit, max_bytes: self.max_bytes, ..Scan::of(range.clone()) };
            let page = reader.scan(scan).await?;
            let (mut last, mut passed_over) = (None, 0);
            for (key, entry) in &page.items {
                let (Some(ticks), Some(name_end)) = (key::snapshot_ticks(key), key.len().checked_sub(9))
                else {
                    continue;
                };
                let name = name(&key[..name_end], space.len())?;
                bytes += key.len() + entry.value.len();
                let mut blob = BlobRecord::decode(&entry.value)?;
                last = Some((name.clone(), ticks, kind));
                let is_shown = match deleted.fate(reader, &name, ticks, &blob).await? {
                    Fate::Alive => true,
                    Fate::Kept(deletion) => {
                        blob.set_deletion(Some(deletion));
                        gone.shows(deletion)
                    }
                    Fate::Dead => false,
                };
                // Snapshots are gone with a base that has expired; versions are not.
                let is_gone = kind == Kind::Snapshot && gone.has_base(reader, generation, &name).await?;
                if !is_shown || is_gone {
                    passed_over += 1;
                    continue;
                }
                let Some(group) = self.group_of(&name) else {
                    source.candidates.push(Candidate::read(name, kind, ticks, blob));
                    continue;
                };
                bytes -= entry.value.len();
                after = Some(behind(&space, group));
                source.candidates.push(Candidate::group(group.to_owned()));
                if source.candidates.len() > self.max_results || bytes >= self.max_bytes {
                    source.horizon = source.candidates.last().map(Candidate::place);
                    return Ok(source);
                }
                // What was read behind it is of the same group, most often.
                few = 1;
                continue 'pages;
            }
            if !page.more {
                return Ok(source);
            }
            // By hierarchy a page of few is read on; otherwise the listing goes on where this one was read to.
            let is_full = source.candidates.len() > self.max_results
                || bytes >= self.max_bytes
                || gone.pass_over(passed_over);
            if self.delimiter.is_empty() || is_full {
                source.horizon = last;
                return Ok(source);
            }
            few = FEW.min(few * 4);
            after = page.items.last().map(|(key, _)| key.clone());
        }
    }

    /// Names that have versions and no base, each with its youngest version.
    pub(super) async fn versions_only(
        &self,
        reader: &Reader,
        generation: Generation,
        gone: &Gone,
    ) -> Answer<Source> {
        let space = key::versions(generation);
        let limit = self.max_results + 1;
        let mut after = self.first_moment(&space, |name, ticks| match ticks {
            u64::MAX => joined(&space, &[name.as_bytes(), &[0]].concat()),
            // Behind some version of it: the name itself is still to come.
            _ => joined(&space, &before(name)),
        });
        let mut source = Source::new(Kind::VersionsOnly);
        let (mut bytes, mut looked) = (0, 0);
        'pages: loop {
            let scan = SkipScan {
                prefix: joined(&space, self.prefix.as_bytes()),
                delimiter: Key::from_static(&[0]),
                after,
                limit: limit.min(FEW),
                max_bytes: self.max_bytes,
            };
            let page = reader.skip_scan(scan).await?;
            let mut last = None;
            for item in page.items {
                let SkipItem::Group(key) = item else { continue };
                let name = name(&key[..key.len() - 1], space.len())?;
                let group = self.group_of(&name).map(str::to_owned);
                let place = group.as_ref().map_or(Kind::VersionsOnly, |_| Kind::Group);
                looked += 1;
                if looked > NAMES_MAX {
                    source.horizon = Some((name, u64::MAX, Kind::VersionsOnly));
                    return Ok(source);
                }
                if !self.has_base(reader, generation, &name, gone).await?
                    && let Some(blob) = youngest(reader, generation, &name, gone).await?
                {
                    bytes += name.len() + 1_000;
                    source.candidates.push(match &group {
                        Some(group) => Candidate::group(group.clone()),
                        None => Candidate::read(name.clone(), Kind::VersionsOnly, u64::MAX, blob),
                    });
                    if source.candidates.len() == limit || bytes >= self.max_bytes {
                        source.horizon = Some((group.unwrap_or(name), u64::MAX, place));
                        return Ok(source);
                    }
                    if let Some(group) = group {
                        after = Some(behind(&space, &group));
                        continue 'pages;
                    }
                }
                last = Some(key);
            }
            if !page.more {
                return Ok(source);
            }
            after = last;
        }
    }

    /// Whether the name is listed with a base, which may be a soft-deleted one.
    async fn has_base(
        &self,
        reader: &Reader,
        generation: Generation,
        name: &str,
        gone: &Gone,
    ) -> Answer<bool> {
        let base = reader.get_untracked(key::blob(generation, name)).await?;
        if base.is_some() && !gone.has_base(reader, generation, name).await? {
            return Ok(true);
        }
        if !self.deleted {
            return Ok(false);
        }
        let deleted = reader.get_untracked(key::deleted_blob(generation, name)).await?;
        let deletion = match deleted {
            Some(entry) => BlobRecord::decode(&entry.value)?.extras().deletion,
            None => None,
        };
        Ok(deletion.is_some_and(|deletion| !gone.is_over(deletion)))
    }

    /// Where a source of moments begins: behind the marker, at the first name wanted, whichever is later.
    fn first_moment(&self, space: &Key, at: impl Fn(&str, u64) -> Key) -> Option<Key> {
        let after = match &self.marker {
            Some(Position::Name { name, ticks }) => Some(at(name, *ticks)),
            Some(Position::Group(group)) => Some(behind(space, group)),
            None => None,
        };
        after.max(self.start_from.as_deref().map(|name| joined(space, &before(name))))
    }

    /// What a name is folded into.
    fn group_of<'a>(&self, name: &'a str) -> Option<&'a str> {
        if self.delimiter.is_empty() {
            return None;
        }
        let rest = name.get(self.prefix.len()..)?;
        let end = self.prefix.len() + rest.find(&self.delimiter)? + self.delimiter.len();
        name.get(..end)
    }
}

/// The youngest version of a name that is not gone for good; one that is soft deleted counts. Where very many are gone and not
/// swept yet, the last of them that was looked at stands for the others.
async fn youngest(
    reader: &Reader,
    generation: Generation,
    name: &str,
    gone: &Gone,
) -> Answer<Option<BlobRecord>> {
    let range = key::versions_of(generation, name);
    let (mut after, mut limit) = (None, 1);
    loop {
        let scan = Scan { after, limit, reverse: true, ..Scan::of(range.clone()) };
        let page = reader.scan(scan).await?;
        let mut last = None;
        for (key, entry) in &page.items {
            let blob = BlobRecord::decode(&entry.value)?;
            if blob.extras().deletion.is_none_or(|deletion| !gone.is_over(deletion)) {
                return Ok(Some(blob));
            }
            last = Some((key.clone(), blob));
        }
        let is_enough = gone.pass_over(page.items.len());
        match last {
            Some((_, blob)) if page.more && is_enough => return Ok(Some(blob)),
            Some((key, _)) if page.more => after = Some(key),
            _ => return Ok(None),
        }
        limit = FEW;
    }
}

fn joined(space: &Key, rest: &[u8]) -> Key {
    Key::from([&space[..], rest].concat())
}

/// Behind every key that begins with the group: 0xFF occurs in no UTF-8.
fn behind(space: &Key, group: &str) -> Key {
    joined(space, &[group.as_bytes(), &[0xFF]].concat())
}

/// Names of which something is said of all snapshots together. There are hardly ever any, so it is first asked whether
/// there is one at all.
struct DeletedNames {
    generation: Generation,
    any: bool,
    /// The last name that was asked for.
    known: Option<(String, DeletedSnapshots)>,
}

impl DeletedNames {
    async fn of(reader: &Reader, generation: Generation, prefix: &str, kind: Kind) -> Answer<Self> {
        let mut any = false;
        if kind == Kind::Snapshot {
            for mark in [key::dead_snapshots(generation, prefix), key::kept_snapshots(generation, prefix)] {
                let scan = Scan { limit: 1, keys_only: true, ..Scan::of(KeyRange::prefix(mark)) };
                any |= !reader.scan(scan).await?.items.is_empty();
            }
        }
        Ok(Self { generation, any, known: None })
    }

    async fn fate(&mut self, reader: &Reader, name: &str, ticks: u64, blob: &BlobRecord) -> Answer<Fate> {
        let own = blob.extras().deletion;
        if !self.any {
            return Ok(own.map_or(Fate::Alive, Fate::Kept));
        }
        if !matches!(&self.known, Some((known, _)) if known == name) {
            let found = DeletedSnapshots::read(reader, self.generation, name).await?;
            self.known = Some((name.to_owned(), found));
        }
        Ok(self.known.as_ref().map_or(Fate::Alive, |(_, deleted)| deleted.fate(ticks, own)))
    }
}
