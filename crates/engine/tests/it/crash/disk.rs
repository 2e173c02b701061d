//! The disk as the recorded calls left it: what is synced, and what is not.
//!
//! As strict as POSIX: bytes are safe after a sync of their file, a name after a sync of its directory, and
//! of the rest any part may be there. Only the changes of one directory come in order.

use super::trace::Call;
use lazuli_engine::Crc64;
use std::collections::{BTreeMap, HashMap};
use std::fs;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

const PAGE: u64 = 4_096;
const SECTOR: usize = 512;

/// A file's bytes; what is not in a page is zero.
#[derive(Clone, Default)]
struct Content {
    len: u64,
    pages: BTreeMap<u64, Vec<u8>>,
}

#[derive(Clone)]
enum Change {
    Write(u64, Vec<u8>),
    SetLen(u64),
    AtLeast(u64),
}

#[derive(Clone)]
enum NameChange {
    Add(String, usize),
    Rename { from: String, into: usize, to: String },
    Remove(String),
}

#[derive(Default)]
struct Inode {
    is_dir: bool,
    durable: Content,
    current_len: u64,
    /// With the moment at which each was made.
    unsynced: Vec<(usize, Change)>,
    names: BTreeMap<String, usize>,
    durable_names: BTreeMap<String, usize>,
    unsynced_names: Vec<(usize, NameChange)>,
}

struct Open {
    inode: usize,
    path: PathBuf,
    position: u64,
    append: bool,
}

pub struct Recorded {
    root: PathBuf,
    inodes: Vec<Inode>,
    open: HashMap<i64, Open>,
    /// Lines that the process wrote to its standard output.
    pub said: String,
}

/// What becomes of the unsynced changes in an image.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    There,
    Missing,
    Torn,
}

impl Content {
    fn apply(&mut self, change: &Change, torn: bool) {
        match change {
            Change::SetLen(len) => {
                if *len < self.len {
                    self.pages.retain(|page, _| page * PAGE < *len);
                    if let Some(last) = self.pages.get_mut(&(len / PAGE)) {
                        last[(len % PAGE) as usize..].fill(0);
                    }
                }
                self.len = *len;
            }
            Change::AtLeast(len) => self.len = self.len.max(*len),
            Change::Write(offset, bytes) => {
                for (n, sector) in bytes.chunks(SECTOR).enumerate() {
                    if !torn || n % 2 == 1 {
                        self.write(offset + (n * SECTOR) as u64, sector);
                    }
                }
            }
        }
    }

    fn write(&mut self, offset: u64, bytes: &[u8]) {
        self.len = self.len.max(offset + bytes.len() as u64);
        let mut rest = bytes;
        let mut at = offset;
        while !rest.is_empty() {
            let inside = (at % PAGE) as usize;
            let (now, later) = rest.split_at(rest.len().min(PAGE as usize - inside));
            let page = self.pages.entry(at / PAGE).or_insert_with(|| vec![0; PAGE as usize]);
            page[inside..inside + now.len()].copy_from_slice(now);
            at += now.len() as u64;
            rest = later;
        }
    }
}

impl Recorded {
    pub fn new(root: &Path) -> Self {
        let root_inode = Inode { is_dir: true, ..Inode::default() };
        Self { root: root.to_owned(), inodes: vec![root_inode], open: HashMap::new(), said: String::new() }
    }

    /// Takes one call; true when the disk may differ now.
    pub fn apply(&mut self, call: &Call) -> bool {
        if call.result < 0 {
            return false;
        }
        match call.name.as_str() {
            "openat" => return self.opened(call),
            "close" => {
                self.open.remove(&call.number(0));
            }
            "dup" | "dup2" | "dup3" => self.duplicate(call.number(0), call.result),
            "fcntl" if call.args[1].starts_with("F_DUPFD") => self.duplicate(call.number(0), call.result),
            "fcntl" => {}
            "lseek" | "read" => {
                if let Some(open) = self.open.get_mut(&call.number(0)) {
                    open.position = if call.name == "lseek" { 0 } else { open.position } + call.result as u64;
                }
            }
            // Nothing else in a life writes outside of the directory in this way.
            "writev" if !self.open.contains_key(&call.number(0)) => {
                self.said.push_str(&String::from_utf8_lossy(&call.data()))
            }
            "write" | "writev" => return self.write(call, None),
            "pwrite64" => return self.write(call, Some(call.number(3) as u64)),
            "pwritev" | "pwritev2" => {
                let offset = call.args.iter().rposition(|arg| arg.ends_with(']')).expect("parts") + 2;
                return self.write(call, Some(call.number(offset) as u64));
            }
            "ftruncate" => return self.change(call, Change::SetLen(call.number(1) as u64)),
            "fallocate" => {
                assert_eq!(call.args[1], "0", "an fallocate of another kind");
                return self.change(call, Change::AtLeast((call.number(2) + call.number(3)) as u64));
            }
            "fsync" | "fdatasync" => self.sync(call),
            "mkdir" => return self.add(&call.strings[0], call.ended, true).is_some(),
            "rename" => return self.rename(call, &call.strings[0], &call.strings[1]),
            "renameat" | "renameat2" => {
                assert!(call.args[0] == "AT_FDCWD" && call.args[2] == "AT_FDCWD");
                return self.rename(call, &call.strings[0], &call.strings[1]);
            }
            "unlink" | "rmdir" => return self.remove(call, &call.strings[0]),
            "unlinkat" => {
                let path = self.at(call, 0);
                return self.remove(call, path.as_os_str().as_encoded_bytes());
            }
            other => panic!("strace recorded a call that is not understood: {other}"),
        }
        false
    }

    /// The path in the first string, relative to the descriptor in the argument before.
    fn at(&self, call: &Call, arg: usize) -> PathBuf {
        let path = path(&call.strings[0]);
        match self.open.get(&call.number(arg)) {
            Some(dir) => dir.path.join(path),
            None => path,
        }
    }

    /// The inode of a path within the root.
    fn find(&self, path: &Path) -> Option<usize> {
        let inside = path.strip_prefix(&self.root).ok()?;
        let step = |inode: usize, name: std::path::Component<'_>| {
            self.inodes[inode].names.get(name.as_os_str().to_str()?).copied()
        };
        inside.components().try_fold(0, step)
    }

    fn parent(&self, path: &Path) -> Option<(usize, String)> {
        let parent = self.find(path.parent()?)?;
        Some((parent, path.file_name()?.to_str()?.to_owned()))
    }

    fn add(&mut self, at: &[u8], moment: usize, is_dir: bool) -> Option<usize> {
        let (parent, name) = self.parent(&path(at))?;
        let inode = self.inodes.len();
        self.inodes.push(Inode { is_dir, ..Inode::default() });
        self.inodes[parent].names.insert(name.clone(), inode);
        self.inodes[parent].unsynced_names.push((moment, NameChange::Add(name, inode)));
        Some(inode)
    }

    fn opened(&mut self, call: &Call) -> bool {
        let path = self.at(call, 0);
        let flags = &call.args[2];
        let (mut inode, mut changed) = (self.find(&path), false);
        if inode.is_none() && flags.contains("O_CREAT") {
            inode = self.add(path.as_os_str().as_encoded_bytes(), call.ended, false);
            changed = inode.is_some();
        }
        let Some(inode) = inode else {
            self.open.remove(&call.result);
            return false;
        };
        let open = Open { inode, path, position: 0, append: flags.contains("O_APPEND") };
        self.open.insert(call.result, open);
        if flags.contains("O_TRUNC") && self.inodes[inode].current_len > 0 {
            self.inodes[inode].unsynced.push((call.ended, Change::SetLen(0)));
            self.inodes[inode].current_len = 0;
            changed = true;
        }
        changed
    }

    /// A duplicate shares the position with the first; nobody here writes through both.
    fn duplicate(&mut self, from: i64, to: i64) {
        match self.open.get(&from) {
            Some(open) => {
                let copy = Open { path: open.path.clone(), ..*open };
                self.open.insert(to, copy);
            }
            None => drop(self.open.remove(&to)),
        }
    }

    fn write(&mut self, call: &Call, offset: Option<u64>) -> bool {
        let Some(open) = self.open.get_mut(&call.number(0)) else { return false };
        let data = call.data();
        let len = self.inodes[open.inode].current_len;
        let at = offset.unwrap_or(if open.append { len } else { open.position });
        if offset.is_none() {
            open.position = at + data.len() as u64;
        }
        self.change(call, Change::Write(at, data))
    }

    fn change(&mut self, call: &Call, change: Change) -> bool {
        let Some(open) = self.open.get(&call.number(0)) else { return false };
        let inode = &mut self.inodes[open.inode];
        inode.current_len = match &change {
            Change::Write(at, data) => inode.current_len.max(at + data.len() as u64),
            Change::SetLen(len) => *len,
            Change::AtLeast(len) => inode.current_len.max(*len),
        };
        inode.unsynced.push((call.ended, change));
        true
    }

    /// What was there when the sync began is safe when it ends.
    fn sync(&mut self, call: &Call) {
        let Some(open) = self.open.get(&call.number(0)) else { return };
        let inode = &mut self.inodes[open.inode];
        for (_, change) in inode.unsynced.extract_if(.., |(made, _)| *made < call.started) {
            inode.durable.apply(&change, false);
        }
        let safe: Vec<_> = inode.unsynced_names.extract_if(.., |(made, _)| *made < call.started).collect();
        let dir = open.inode;
        for (_, change) in safe {
            self.apply_name(dir, &change);
        }
    }

    /// A rename is one change; it is made durable by a sync of the directory that it takes from.
    fn apply_name(&mut self, dir: usize, change: &NameChange) {
        let mut names: Vec<_> = self.inodes.iter().map(|inode| inode.durable_names.clone()).collect();
        apply_name(&mut names, dir, change);
        for (inode, names) in self.inodes.iter_mut().zip(names) {
            inode.durable_names = names;
        }
    }

    fn rename(&mut self, call: &Call, from: &[u8], to: &[u8]) -> bool {
        let (Some((old, from)), Some((into, to))) = (self.parent(&path(from)), self.parent(&path(to))) else {
            return false;
        };
        if let Some(inode) = self.inodes[old].names.remove(&from) {
            self.inodes[into].names.insert(to.clone(), inode);
            self.inodes[old].unsynced_names.push((call.ended, NameChange::Rename { from, into, to }));
        }
        true
    }

    fn remove(&mut self, call: &Call, at: &[u8]) -> bool {
        let Some((parent, name)) = self.parent(&path(at)) else { return false };
        self.inodes[parent].names.remove(&name);
        self.inodes[parent].unsynced_names.push((call.ended, NameChange::Remove(name)));
        true
    }

    /// A directory of this name has had a file in it.
    pub fn has_seen(&self, dir: &str) -> bool {
        let mut dirs = self.inodes.iter().filter_map(|inode| inode.names.get(dir));
        dirs.any(|&inode| !self.inodes[inode].names.is_empty())
    }

    /// The unsynced changes of names, for people.
    pub fn unsynced_names(&self) -> Vec<String> {
        let mut names = Vec::new();
        for inode in &self.inodes {
            names.extend(inode.unsynced_names.iter().map(|(_, change)| match change {
                NameChange::Add(name, _) => format!("+{name}"),
                NameChange::Rename { from, to, .. } => format!("{from}->{to}"),
                NameChange::Remove(name) => format!("-{name}"),
            }));
        }
        names
    }

    /// How many changes of bytes, and of names, are not synced.
    pub fn unsynced(&self) -> (usize, usize) {
        let bytes = self.inodes.iter().map(|inode| inode.unsynced.len()).sum();
        let names = self.inodes.iter().map(|inode| inode.unsynced_names.len()).sum();
        (bytes, names)
    }

    /// The disk after a crash: unsynced changes of bytes meet these fates (in the order in which they were
    /// made), and so many of the unsynced changes of names are there.
    pub fn image(&self, fates: &[Fate], names_there: usize) -> Image {
        let mut order: Vec<(usize, usize, &Change)> = Vec::new();
        let mut name_order: Vec<(usize, usize, &NameChange)> = Vec::new();
        for (number, inode) in self.inodes.iter().enumerate() {
            order.extend(inode.unsynced.iter().map(|(moment, change)| (*moment, number, change)));
            name_order.extend(inode.unsynced_names.iter().map(|(moment, change)| (*moment, number, change)));
        }
        order.sort_by_key(|(moment, ..)| *moment);
        name_order.sort_by_key(|(moment, ..)| *moment);
        let mut contents: Vec<Content> = self.inodes.iter().map(|inode| inode.durable.clone()).collect();
        for ((_, inode, change), fate) in order.into_iter().zip(fates) {
            if *fate != Fate::Missing {
                contents[inode].apply(change, *fate == Fate::Torn);
            }
        }
        let mut names: Vec<_> = self.inodes.iter().map(|inode| inode.durable_names.clone()).collect();
        for (_, dir, change) in name_order.into_iter().take(names_there) {
            apply_name(&mut names, dir, change);
        }
        let mut image = Image::default();
        self.collect(0, Path::new(""), &contents, &names, &mut image);
        image
    }

    fn collect(
        &self,
        inode: usize,
        at: &Path,
        contents: &[Content],
        names: &[BTreeMap<String, usize>],
        image: &mut Image,
    ) {
        for (name, child) in &names[inode] {
            let path = at.join(name);
            if self.inodes[*child].is_dir {
                image.dirs.push(path.clone());
                self.collect(*child, &path, contents, names, image);
            } else {
                image.files.push((path, contents[*child].clone()));
            }
        }
    }
}

fn apply_name(names: &mut [BTreeMap<String, usize>], dir: usize, change: &NameChange) {
    match change {
        NameChange::Add(name, inode) => {
            names[dir].insert(name.clone(), *inode);
        }
        NameChange::Rename { from, into, to } => {
            if let Some(inode) = names[dir].remove(from) {
                names[*into].insert(to.clone(), inode);
            }
        }
        NameChange::Remove(name) => {
            names[dir].remove(name);
        }
    }
}

/// A directory tree that a machine could find after a crash.
#[derive(Default)]
pub struct Image {
    dirs: Vec<PathBuf>,
    files: Vec<(PathBuf, Content)>,
}

impl Image {
    pub fn fingerprint(&self) -> u64 {
        let mut crc = Crc64::new();
        for dir in &self.dirs {
            crc.update(dir.as_os_str().as_encoded_bytes());
        }
        for (path, content) in &self.files {
            crc.update(path.as_os_str().as_encoded_bytes());
            crc.update(&content.len.to_le_bytes());
            for (page, bytes) in &content.pages {
                crc.update(&page.to_le_bytes());
                crc.update(bytes);
            }
        }
        crc.value()
    }

    pub fn write(&self, root: &Path) -> std::io::Result<()> {
        fs::create_dir_all(root)?;
        self.dirs.iter().try_for_each(|dir| fs::create_dir_all(root.join(dir)))?;
        for (path, content) in &self.files {
            let file = fs::File::create(root.join(path))?;
            file.set_len(content.len)?;
            for (page, bytes) in &content.pages {
                let start = page * PAGE;
                let len = content.len.saturating_sub(start).min(PAGE);
                file.write_all_at(&bytes[..len as usize], start)?;
            }
        }
        Ok(())
    }
}

fn path(bytes: &[u8]) -> PathBuf {
    PathBuf::from(String::from_utf8_lossy(bytes).into_owned())
}
