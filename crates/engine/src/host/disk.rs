//! The only door to the files that the engine writes itself: a real one, and a simulated one that can
//! fail, be cut off, and lose what was not synced.

mod buffers;
mod real;
pub mod sim;

use std::{
    io::{self, IoSlice},
    path::Path,
};

use bytes::Bytes;
use sim::{SimDir, SimDisk, SimFile};

/// Where directories come from.
#[derive(Clone, Debug, Default)]
pub enum Disk {
    #[default]
    Real,
    Sim(SimDisk),
}

/// A directory; the files in it are addressed by name.
#[derive(Clone, Debug)]
pub enum Dir {
    Real(real::RealDir),
    Sim(SimDir),
}

/// An open file. Clones are the same open file.
#[derive(Clone, Debug)]
pub enum File {
    Real(real::RealFile),
    Sim(SimFile),
}

impl Disk {
    /// The directory at `path`, created when missing.
    pub fn dir(&self, path: &Path) -> io::Result<Dir> {
        match self {
            Self::Real => real::RealDir::open(path).map(Dir::Real),
            Self::Sim(disk) => Ok(Dir::Sim(disk.dir(path))),
        }
    }
}

/// One call, both disks.
macro_rules! both {
    ($self:ident, $kind:ident, $inner:ident => $call:expr) => {
        match $self {
            $kind::Real($inner) => $call,
            $kind::Sim($inner) => $call,
        }
    };
}

impl Dir {
    /// Opens a file that exists, for reading and writing.
    pub fn open(&self, name: &str) -> io::Result<File> {
        match self {
            Self::Real(dir) => dir.open_file(name).map(File::Real),
            Self::Sim(dir) => dir.open_file(name).map(File::Sim),
        }
    }

    /// Makes a new empty file; an error when the name is taken.
    pub fn create(&self, name: &str) -> io::Result<File> {
        match self {
            Self::Real(dir) => dir.create(name).map(File::Real),
            Self::Sim(dir) => dir.create(name).map(File::Sim),
        }
    }

    /// Replaces `to` when it exists.
    pub fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        both!(self, Dir, dir => dir.rename(from, to))
    }

    pub fn remove(&self, name: &str) -> io::Result<()> {
        both!(self, Dir, dir => dir.remove(name))
    }

    /// Names and lengths of all files.
    pub fn list(&self) -> io::Result<Vec<(String, u64)>> {
        both!(self, Dir, dir => dir.list())
    }

    /// Makes created, renamed and removed names durable.
    pub fn sync(&self) -> io::Result<()> {
        both!(self, Dir, dir => dir.sync())
    }

    /// Bytes that may still be allocated here.
    pub fn available(&self) -> io::Result<u64> {
        both!(self, Dir, dir => dir.available())
    }
}

impl File {
    /// Exactly `len` bytes; `UnexpectedEof` when the file ends before.
    pub fn read_at(&self, offset: u64, len: usize) -> io::Result<Vec<u8>> {
        both!(self, File, file => file.read_at(offset, len))
    }

    /// The same if it can be had without waiting for the device.
    pub fn read_at_once(&self, offset: u64, len: usize) -> io::Result<Option<Bytes>> {
        match self {
            Self::Real(file) => file.read_at_once(offset, len),
            Self::Sim(file) => file.read_at(offset, len).map(|bytes| Some(bytes.into())),
        }
    }

    /// Writes all of the parts, one behind the other.
    pub fn write_at(&self, offset: u64, parts: &[IoSlice<'_>]) -> io::Result<()> {
        both!(self, File, file => file.write_at(offset, parts))
    }

    /// Makes the file this long and owns the blocks for it.
    pub fn allocate(&self, len: u64) -> io::Result<()> {
        both!(self, File, file => file.allocate(len))
    }

    pub fn set_len(&self, len: u64) -> io::Result<()> {
        both!(self, File, file => file.set_len(len))
    }

    pub fn size(&self) -> io::Result<u64> {
        both!(self, File, file => file.size())
    }

    /// Makes bytes and length durable (fdatasync). After an error it is not known what is on the device.
    pub fn sync(&self) -> io::Result<()> {
        both!(self, File, file => file.sync())
    }
}
