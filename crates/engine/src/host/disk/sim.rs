//! A disk in memory that tells written from synced.
//!
//! Every call has a number. A [`Fault`] makes one call fail, or cuts the power at it: that call and all
//! later ones fail. Then [`SimDisk::images`] gives the disks that a machine could find after the crash:
//! of the writes that were not synced any may be there, missing or torn; names come and go in order, so
//! some prefix of the unsynced changes of a directory is there.

use std::{
    collections::BTreeMap,
    io::{self, IoSlice},
    path::{Path, PathBuf},
    sync::Arc,
};

use parking_lot::Mutex;

/// A device writes sectors whole.
const SECTOR: usize = 512;
/// Unsynced writes of which every subset is tried; beyond that, each alone missing and each alone there.
const SUBSET_LIMIT: usize = 4;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// This call fails with the error number, having done nothing (a sync: having lost the writes).
    Fail { call: u64, errno: i32 },
    /// The power goes at this call.
    Cut { call: u64 },
}

#[derive(Clone, Debug, Default)]
pub struct SimDisk(Arc<Mutex<State>>);

#[derive(Clone, Debug, Default)]
struct State {
    calls: u64,
    fault: Option<Fault>,
    /// Bytes left to allocate; `None` is without end.
    capacity: Option<u64>,
    inodes: Vec<Inode>,
    dirs: BTreeMap<PathBuf, Names>,
    log: Vec<&'static str>,
}

#[derive(Clone, Debug, Default)]
struct Inode {
    current: Vec<u8>,
    durable: Vec<u8>,
    unsynced: Vec<Change>,
    /// A sync failed: what was unsynced then may be lost, and no later sync brings it back.
    doubtful: Vec<Change>,
}

#[derive(Clone, Debug)]
enum Change {
    Write { offset: usize, bytes: Vec<u8> },
    SetLen(usize),
}

#[derive(Clone, Debug, Default)]
struct Names {
    current: BTreeMap<String, usize>,
    durable: BTreeMap<String, usize>,
    unsynced: Vec<NameChange>,
}

#[derive(Clone, Debug)]
enum NameChange {
    Create(String, usize),
    Rename(String, String),
    Remove(String),
}

impl Change {
    fn apply(&self, content: &mut Vec<u8>) {
        match self {
            Self::Write { offset, bytes } => {
                let end = offset + bytes.len();
                if content.len() < end {
                    content.resize(end, 0);
                }
                content[*offset..end].copy_from_slice(bytes);
            }
            Self::SetLen(len) => content.resize(*len, 0),
        }
    }

    /// Only every second sector reaches the device.
    fn apply_torn(&self, content: &mut Vec<u8>) {
        match self {
            Self::Write { offset, bytes } => {
                for (index, sector) in bytes.chunks(SECTOR).enumerate() {
                    if index % 2 == 0 {
                        let part = Self::Write { offset: offset + index * SECTOR, bytes: sector.to_vec() };
                        part.apply(content);
                    }
                }
            }
            Self::SetLen(_) => self.apply(content),
        }
    }
}

impl NameChange {
    fn apply(&self, names: &mut BTreeMap<String, usize>) {
        match self {
            Self::Create(name, inode) => {
                names.insert(name.clone(), *inode);
            }
            Self::Rename(from, to) => {
                if let Some(inode) = names.remove(from) {
                    names.insert(to.clone(), inode);
                }
            }
            Self::Remove(name) => {
                names.remove(name);
            }
        }
    }
}

impl SimDisk {
    pub fn new() -> Self {
        Self::default()
    }

    pub fn dir(&self, path: &Path) -> SimDir {
        self.0.lock().dirs.entry(path.to_owned()).or_default();
        SimDir { disk: self.clone(), path: path.to_owned() }
    }

    pub fn set_fault(&self, fault: Option<Fault>) {
        self.0.lock().fault = fault;
    }

    pub fn set_capacity(&self, bytes: Option<u64>) {
        self.0.lock().capacity = bytes;
    }

    /// Calls made so far; reads do not count.
    pub fn calls(&self) -> u64 {
        self.0.lock().calls
    }

    /// The power has gone.
    pub fn is_cut(&self) -> bool {
        let state = self.0.lock();
        matches!(state.fault, Some(Fault::Cut { call }) if state.calls > call)
    }

    /// The names of the calls made so far.
    pub fn log(&self) -> Vec<&'static str> {
        self.0.lock().log.clone()
    }

    /// Everything that a restart could find now. The first image has every write, the second only what
    /// was synced.
    pub fn images(&self) -> Vec<SimDisk> {
        let state = self.0.lock();
        let mut images = Vec::new();
        let mut changes = 0;
        for inode in &state.inodes {
            changes += inode.pending().count();
        }
        let name_cuts: usize = state.dirs.values().map(|names| names.unsynced.len()).max().unwrap_or(0);
        for names in (0..=name_cuts).rev() {
            for fate in fates(changes) {
                images.push(state.image(names, &fate));
            }
        }
        images
    }

    /// Flips one bit or cuts a file short; `pick` chooses where. False when there is nothing to damage.
    pub fn damage(&self, pick: u64, truncate: bool) -> bool {
        let mut state = self.0.lock();
        let used: Vec<usize> =
            state.dirs.values().flat_map(|names| names.current.values().copied()).collect();
        let files: Vec<usize> = used.into_iter().filter(|&i| !state.inodes[i].current.is_empty()).collect();
        if files.is_empty() {
            return false;
        }
        let inode = &mut state.inodes[files[pick as usize % files.len()]];
        let at = (pick / 7) as usize % inode.current.len();
        if truncate {
            inode.current.truncate(at);
        } else {
            inode.current[at] ^= 1 << (pick % 8);
        }
        true
    }
}

/// What becomes of each unsynced change: there, missing, or torn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fate {
    There,
    Missing,
    Torn,
}

/// Every combination of there and missing for few changes, single exceptions for many; and each torn once.
fn fates(count: usize) -> Vec<Vec<Fate>> {
    let mut all = vec![vec![Fate::There; count]];
    if count == 0 {
        return all;
    }
    all.push(vec![Fate::Missing; count]);
    if count <= SUBSET_LIMIT {
        for mask in 1..(1u32 << count) - 1 {
            let fate = |bit| if mask >> bit & 1 == 1 { Fate::There } else { Fate::Missing };
            all.push((0..count).map(fate).collect());
        }
    } else {
        for exception in 0..count {
            let mut missing = vec![Fate::There; count];
            missing[exception] = Fate::Missing;
            all.push(missing);
            let mut there = vec![Fate::Missing; count];
            there[exception] = Fate::There;
            all.push(there);
        }
    }
    for torn in 0..count {
        for rest in [Fate::There, Fate::Missing] {
            let mut one = vec![rest; count];
            one[torn] = Fate::Torn;
            all.push(one);
        }
    }
    all
}

impl Inode {
    fn pending(&self) -> impl Iterator<Item = &Change> {
        self.doubtful.iter().chain(&self.unsynced)
    }
}

impl State {
    /// Counts a mutating call and lets it fail when its time has come.
    fn call(&mut self, name: &'static str) -> io::Result<()> {
        let number = self.calls;
        self.calls += 1;
        self.log.push(name);
        match self.fault {
            Some(Fault::Fail { call, errno }) if call == number => Err(io::Error::from_raw_os_error(errno)),
            Some(Fault::Cut { call }) if number >= call => Err(io::Error::other("power cut")),
            _ => Ok(()),
        }
    }

    fn image(&self, name_changes: usize, fates: &[Fate]) -> SimDisk {
        let mut fates = fates.iter();
        let mut inodes = Vec::new();
        for inode in &self.inodes {
            let mut content = inode.durable.clone();
            for change in inode.pending() {
                match fates.next() {
                    Some(Fate::There) => change.apply(&mut content),
                    Some(Fate::Torn) => change.apply_torn(&mut content),
                    Some(Fate::Missing) | None => {}
                }
            }
            let durable = content.clone();
            inodes.push(Inode { current: content, durable, ..Inode::default() });
        }
        let mut dirs = BTreeMap::new();
        for (path, names) in &self.dirs {
            let mut durable = names.durable.clone();
            names.unsynced.iter().take(name_changes).for_each(|change| change.apply(&mut durable));
            let names = Names { current: durable.clone(), durable, unsynced: Vec::new() };
            dirs.insert(path.clone(), names);
        }
        SimDisk(Arc::new(Mutex::new(State { inodes, dirs, capacity: self.capacity, ..State::default() })))
    }

    fn take_capacity(&mut self, bytes: u64) -> io::Result<()> {
        if let Some(capacity) = &mut self.capacity {
            let Some(rest) = capacity.checked_sub(bytes) else {
                return Err(io::Error::from_raw_os_error(rustix::io::Errno::NOSPC.raw_os_error()));
            };
            *capacity = rest;
        }
        Ok(())
    }

    fn give_capacity(&mut self, bytes: u64) {
        if let Some(capacity) = &mut self.capacity {
            *capacity += bytes;
        }
    }
}

#[derive(Clone, Debug)]
pub struct SimDir {
    disk: SimDisk,
    path: PathBuf,
}

impl SimDir {
    fn change<T>(
        &self,
        call: &'static str,
        change: impl FnOnce(&mut State, &mut Names) -> io::Result<T>,
    ) -> io::Result<T> {
        let mut state = self.disk.0.lock();
        state.call(call)?;
        let mut names = state.dirs.remove(&self.path).unwrap_or_default();
        let result = change(&mut state, &mut names);
        state.dirs.insert(self.path.clone(), names);
        result
    }

    fn now(&self, change: NameChange, names: &mut Names) {
        change.apply(&mut names.current);
        names.unsynced.push(change);
    }

    pub fn open_file(&self, name: &str) -> io::Result<SimFile> {
        let state = self.disk.0.lock();
        let inode = state.dirs.get(&self.path).and_then(|names| names.current.get(name).copied());
        let inode = inode.ok_or(io::ErrorKind::NotFound)?;
        Ok(SimFile { disk: self.disk.clone(), inode })
    }

    pub fn create(&self, name: &str) -> io::Result<SimFile> {
        self.change("create", |state, names| {
            if names.current.contains_key(name) {
                return Err(io::ErrorKind::AlreadyExists.into());
            }
            let inode = state.inodes.len();
            state.inodes.push(Inode::default());
            self.now(NameChange::Create(name.to_owned(), inode), names);
            Ok(SimFile { disk: self.disk.clone(), inode })
        })
    }

    pub fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        self.change("rename", |_, names| {
            if !names.current.contains_key(from) {
                return Err(io::ErrorKind::NotFound.into());
            }
            self.now(NameChange::Rename(from.to_owned(), to.to_owned()), names);
            Ok(())
        })
    }

    pub fn remove(&self, name: &str) -> io::Result<()> {
        self.change("remove", |state, names| {
            let inode = *names.current.get(name).ok_or(io::ErrorKind::NotFound)?;
            state.give_capacity(state.inodes[inode].current.len() as u64);
            self.now(NameChange::Remove(name.to_owned()), names);
            Ok(())
        })
    }

    pub fn list(&self) -> io::Result<Vec<(String, u64)>> {
        let state = self.disk.0.lock();
        let names = state.dirs.get(&self.path).cloned().unwrap_or_default();
        let length = |inode: usize| state.inodes[inode].current.len() as u64;
        Ok(names.current.into_iter().map(|(name, inode)| (name, length(inode))).collect())
    }

    pub fn sync(&self) -> io::Result<()> {
        self.change("sync dir", |_, names| {
            names.durable = names.current.clone();
            names.unsynced.clear();
            Ok(())
        })
    }

    pub fn available(&self) -> io::Result<u64> {
        Ok(self.disk.0.lock().capacity.unwrap_or(u64::MAX))
    }
}

#[derive(Clone, Debug)]
pub struct SimFile {
    disk: SimDisk,
    inode: usize,
}

impl SimFile {
    pub fn read_at(&self, offset: u64, len: usize) -> io::Result<Vec<u8>> {
        let state = self.disk.0.lock();
        let start = offset as usize;
        let bytes = state.inodes[self.inode].current.get(start..start + len);
        bytes.map(<[u8]>::to_vec).ok_or_else(|| io::ErrorKind::UnexpectedEof.into())
    }

    pub fn write_at(&self, offset: u64, parts: &[IoSlice<'_>]) -> io::Result<()> {
        let mut state = self.disk.0.lock();
        state.call("write")?;
        let bytes = parts.iter().map(|part| &part[..]).collect::<Vec<_>>().concat();
        self.change(&mut state, Change::Write { offset: offset as usize, bytes })
    }

    pub fn allocate(&self, len: u64) -> io::Result<()> {
        let mut state = self.disk.0.lock();
        state.call("allocate")?;
        let len = state.inodes[self.inode].current.len().max(len as usize);
        self.change(&mut state, Change::SetLen(len))
    }

    pub fn set_len(&self, len: u64) -> io::Result<()> {
        let mut state = self.disk.0.lock();
        state.call("set len")?;
        self.change(&mut state, Change::SetLen(len as usize))
    }

    fn change(&self, state: &mut State, change: Change) -> io::Result<()> {
        let old = state.inodes[self.inode].current.len();
        let new = match &change {
            Change::Write { offset, bytes } => old.max(offset + bytes.len()),
            Change::SetLen(len) => *len,
        };
        if new > old {
            state.take_capacity((new - old) as u64)?;
        } else {
            state.give_capacity((old - new) as u64);
        }
        let inode = &mut state.inodes[self.inode];
        change.apply(&mut inode.current);
        inode.unsynced.push(change);
        Ok(())
    }

    pub fn size(&self) -> io::Result<u64> {
        Ok(self.disk.0.lock().inodes[self.inode].current.len() as u64)
    }

    pub fn sync(&self) -> io::Result<()> {
        let mut state = self.disk.0.lock();
        let result = state.call("sync");
        let cut = matches!(state.fault, Some(Fault::Cut { .. }));
        let inode = &mut state.inodes[self.inode];
        let changes = std::mem::take(&mut inode.unsynced);
        match result {
            Ok(()) => changes.iter().for_each(|change| change.apply(&mut inode.durable)),
            Err(_) if cut => inode.unsynced = changes,
            Err(_) => inode.doubtful.extend(changes),
        }
        result
    }
}

#[cfg(test)]
mod tests;
