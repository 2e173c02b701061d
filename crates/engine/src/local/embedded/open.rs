//! From a directory to a running engine.

use super::directory::{self, Directory};
use super::fjall::journal::{self, InspectError};
use super::fjall::log::Log;
use super::fjall::log_preallocator::LogPreallocator;
use super::fjall::marker::{self, Marker};
use super::fjall::tables::{self, TablesError};
use super::merging::Merging;
use super::superblock::{Noted, Superblock};
use super::{Embedded, EmbeddedSnapshot, Options, Spaces};
use crate::error::EngineError;
use crate::host::Host;
use crate::key::{Key, KeyRange, Value};
use crate::local::clock::EngineClock;
use crate::local::extent::{EXTENT_ROWS, LocalExtents};
use crate::local::shared::{Published, Shared};
use crate::local::space::{Needs, Space};
use crate::local::store::{Row, Snapshot, Step, Store, version};
use crate::outcomes::RecentOutcomes;
use crate::txn::{Commit, Ticks};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Why a directory was not opened. Nothing in it was changed, unless it says so.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    #[error("{}: in use by another process", .0.display())]
    Locked(PathBuf),
    #[error("{}: not empty, and not a data directory of this program", .0.display())]
    NotOurs(PathBuf),
    #[error("{}: written by a newer version of this program (format {found}; this one knows {known})", path.display())]
    Newer { path: PathBuf, found: u32, known: u32 },
    #[error("{}: damaged, acknowledged writes are missing: {what}. Restore it from a backup", path.display())]
    Damaged { path: PathBuf, what: String },
    #[error("{}: cannot {what}: {source}", path.display())]
    Io { what: &'static str, path: PathBuf, source: io::Error },
    #[error("{}: cannot open: {source}", path.display())]
    Engine { path: PathBuf, source: EngineError },
}

impl OpenError {
    pub(super) fn io(what: &'static str, path: &Path, source: io::Error) -> Self {
        Self::Io { what, path: path.to_owned(), source }
    }
}

pub(crate) fn open(path: &Path, options: Options, host: Host) -> Result<Shared, OpenError> {
    let directory = Directory::take(path)?;
    let made = directory.is_made()?;
    let (superblock, noted) =
        if made { superblock(&directory, path)? } else { create_superblock(&directory, &host, path)? };
    let kv = directory.file("kv");
    let fast = !made && super::fjall::fast_create::create(&kv, &options, host.random.u128());
    if made {
        inspect(&kv, &noted, path)?;
    }
    let spaces = open_spaces(&kv, &options, path)?;
    if !made {
        // fjall syncs what it makes, but not every name: after a fast creation it has made the log only.
        let named = if fast { directory::sync(&kv) } else { directory::sync_names(&kv) };
        named.map_err(|error| OpenError::io("prepare", path, error))?;
        directory.end_making()?;
    }
    let log = Log::open(&kv).map_err(|error| OpenError::io("open the log of", path, error))?;
    let log_preallocator =
        LogPreallocator::of(log.newest()).map_err(|error| OpenError::io("open the log of", path, error))?;
    let engine = |source| OpenError::Engine { path: path.to_owned(), source };
    let spaces = Arc::new(spaces);
    let newest = EmbeddedSnapshot::new(spaces.clone(), 0);
    let last = newest.last(noted.id).map_err(engine)?;
    let seq = last.map_or(0, |last| last.last);
    if seq < noted.seq {
        let what = format!("the log ends at commit {seq}, but commit {} was durable", noted.seq);
        return Err(OpenError::Damaged { path: path.to_owned(), what });
    }
    let recent = newest.recent(noted.id).map_err(engine)?;
    let extent_rows = newest.rows(EXTENT_ROWS).map_err(engine)?;

    let persisted = last.map_or(Ticks(0), |last| last.now).max(noted.now);
    let clock = EngineClock::new(host.clock.clone(), persisted);
    // Not clean until it is closed, and never below what the log proved.
    let noted = Noted { generation: noted.generation + 1, seq, now: persisted, clean: false, ..noted };
    superblock.write(noted).map_err(|error| OpenError::io("write the superblock of", path, error))?;

    let published = Snapshot::Embedded(EmbeddedSnapshot::new(spaces.clone(), seq));
    let published = Arc::new(Published::new(published));
    let ext = host.disk.dir(&directory.file("ext")).map_err(|error| OpenError::io("open", path, error))?;
    let salt = host.random.u128() as u32;
    let merging = Arc::new(Merging::default());
    let (asked, of) = (merging.clone(), Arc::downgrade(&spaces));
    let needs = Arc::new(move || of.upgrade().map_or_else(Needs::default, |spaces| asked.needs(&spaces)));
    let space = Arc::new(Space::new(ext.clone(), options.extents.reserve_bytes, needs));
    let extents =
        LocalExtents::open(ext, options.extents, salt, extent_rows, published.clone(), space.clone())
            .map_err(engine)?;
    let store = Store::Embedded(Box::new(Embedded::new(
        spaces,
        log,
        log_preallocator,
        superblock,
        noted,
        directory,
        &published,
        (merging, space),
    )));
    Ok(Shared::new(store, extents, clock, published, recent))
}

fn superblock(directory: &Directory, path: &Path) -> Result<(Superblock, Noted), OpenError> {
    match Superblock::open(&directory.file("superblock")) {
        Ok(Some(found)) => Ok(found),
        Ok(None) => {
            let what = "neither copy of the superblock is readable".into();
            Err(OpenError::Damaged { path: path.to_owned(), what })
        }
        Err(error) => Err(OpenError::io("read the superblock of", path, error)),
    }
}

fn create_superblock(
    directory: &Directory,
    host: &Host,
    path: &Path,
) -> Result<(Superblock, Noted), OpenError> {
    let noted = Noted { generation: 1, id: host.random.u128(), seq: 0, now: Ticks(0), clean: true };
    let superblock = Superblock::create(&directory.file("superblock"), noted)
        .map_err(|error| OpenError::io("write the superblock of", path, error))?;
    Ok((superblock, noted))
}

/// Before fjall opens the log, and possibly cuts it without a word, and the tables: see [`journal`] and [`tables`].
fn inspect(kv: &Path, noted: &Noted, path: &Path) -> Result<(), OpenError> {
    let damaged = |what| OpenError::Damaged { path: path.to_owned(), what };
    let inspected = journal::inspect(kv, noted.id).map_err(|error| match error {
        InspectError::Io(error) => OpenError::io("read the log of", path, error),
        error => damaged(error.to_string()),
    })?;
    tables::check(kv).map_err(|error| match error {
        TablesError::Io(error) => OpenError::io("read the tables of", path, error),
        TablesError::Damaged(what) => damaged(what),
    })?;
    let Some(torn) = inspected.torn else { return Ok(()) };
    if torn.group.is_some_and(|last| last <= noted.seq) {
        return Err(damaged(format!("the log ends before commit {}, which was durable", noted.seq)));
    }
    tracing::warn!(
        at = torn.at,
        "the last group of the log is torn; it was not acknowledged, and is cut off"
    );
    journal::cut(&torn.path, torn.at).map_err(|error| OpenError::io("cut the log of", path, error))
}

/// A panic over something that was not foreseen in [`inspect`] is an error like any other, if it can be caught: fjall's
/// own clean-up panics as well when a lock was held.
fn open_spaces(kv: &Path, options: &Options, path: &Path) -> Result<Spaces, OpenError> {
    let opened = std::panic::catch_unwind(|| Spaces::open(kv, options));
    let damaged = |_| {
        let what = "the tables cannot be opened".into();
        OpenError::Damaged { path: path.to_owned(), what }
    };
    opened.map_err(damaged)?.map_err(|error| fjall_error(error, path))
}

fn fjall_error(error: fjall::Error, path: &Path) -> OpenError {
    match error {
        fjall::Error::Io(error) => OpenError::io("open the log and tables of", path, error),
        fjall::Error::Locked => OpenError::Locked(path.to_owned()),
        error => OpenError::Damaged { path: path.to_owned(), what: error.to_string() },
    }
}

impl EmbeddedSnapshot {
    /// The end mark of the last commit.
    fn last(&self, id: u128) -> Result<Option<Marker>, EngineError> {
        Ok(self.get(marker::END_ROW)?.and_then(|(_, value)| Marker::decode(&value, id)))
    }

    fn rows(&self, prefix: &'static [u8]) -> Result<Vec<(Key, Value)>, EngineError> {
        let mut rows = Vec::new();
        self.walk(&KeyRange::prefix(Key::from_static(prefix)), false, &mut |Row { key, value, .. }| {
            rows.push((key, value));
            Step::Next
        })?;
        Ok(rows)
    }

    fn recent(&self, id: u128) -> Result<RecentOutcomes, EngineError> {
        let rows = self.rows(marker::BEGIN_ROWS)?;
        let mut groups: Vec<_> = rows.iter().filter_map(|(_, value)| marker::begun(value, id)).collect();
        groups.sort_by_key(|(marker, _)| marker.first);
        let mut recent = RecentOutcomes::default();
        for (marker, ids) in groups {
            for (seq, id) in ids {
                recent.insert(id, Commit { version: version(seq), now: marker.now });
            }
        }
        Ok(recent)
    }
}
