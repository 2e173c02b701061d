//! The machine's file system.

use std::{
    fs,
    io::{self, IoSlice, IoSliceMut},
    os::unix::fs::FileExt,
    path::{Path, PathBuf},
    sync::{Arc, OnceLock},
};

use bytes::Bytes;
use rustix::{
    buffer::spare_capacity,
    fs::FallocateFlags,
    io::{Errno, ReadWriteFlags},
};

use super::buffers::Buffer;

/// What one `pwritev` takes at most (the smallest limit in use).
const MAX_PARTS: usize = 1_000;

#[derive(Clone, Debug)]
pub struct RealDir {
    path: Arc<PathBuf>,
    handle: Arc<fs::File>,
    /// The directory's own name is durable, too.
    name_synced: Arc<OnceLock<()>>,
}

impl RealDir {
    pub fn open(path: &Path) -> io::Result<Self> {
        fs::create_dir_all(path)?;
        let handle = fs::File::open(path)?;
        Ok(Self { path: Arc::new(path.to_owned()), handle: Arc::new(handle), name_synced: Arc::default() })
    }

    pub fn open_file(&self, name: &str) -> io::Result<RealFile> {
        let file = fs::File::options().read(true).write(true).open(self.path.join(name))?;
        Ok(RealFile(Arc::new(file)))
    }

    pub fn create(&self, name: &str) -> io::Result<RealFile> {
        let file = fs::File::options().read(true).write(true).create_new(true).open(self.path.join(name))?;
        Ok(RealFile(Arc::new(file)))
    }

    pub fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        fs::rename(self.path.join(from), self.path.join(to))
    }

    pub fn remove(&self, name: &str) -> io::Result<()> {
        fs::remove_file(self.path.join(name))
    }

    pub fn list(&self) -> io::Result<Vec<(String, u64)>> {
        let mut files = Vec::new();
        for entry in fs::read_dir(&*self.path)? {
            let entry = entry?;
            let metadata = entry.metadata()?;
            if metadata.is_file()
                && let Ok(name) = entry.file_name().into_string()
            {
                files.push((name, metadata.len()));
            }
        }
        Ok(files)
    }

    pub fn sync(&self) -> io::Result<()> {
        if self.name_synced.get().is_none() {
            let parent = self.path.parent().filter(|parent| !parent.as_os_str().is_empty());
            fs::File::open(parent.unwrap_or(Path::new(".")))?.sync_all()?;
            let _ = self.name_synced.set(());
        }
        self.handle.sync_all()
    }

    pub fn available(&self) -> io::Result<u64> {
        let stat = rustix::fs::fstatvfs(&self.handle)?;
        Ok(stat.f_bavail.saturating_mul(stat.f_frsize))
    }
}

#[derive(Clone, Debug)]
pub struct RealFile(Arc<fs::File>);

impl RealFile {
    pub fn read_at(&self, offset: u64, len: usize) -> io::Result<Vec<u8>> {
        let mut bytes = Vec::with_capacity(len);
        while bytes.len() < len {
            let at = offset + bytes.len() as u64;
            match rustix::io::pread(&self.0, spare_capacity(&mut bytes), at) {
                Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
                Ok(_) | Err(Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
        }
        // The allocator may have given more room than was asked for.
        bytes.truncate(len);
        Ok(bytes)
    }

    /// `None` when part of it is not in the page cache, or the file system cannot tell.
    pub fn read_at_once(&self, offset: u64, len: usize) -> io::Result<Option<Bytes>> {
        let mut buffer = Buffer::of(len);
        let parts = &mut [IoSliceMut::new(buffer.as_mut())];
        match rustix::io::preadv2(&self.0, parts, offset, ReadWriteFlags::NOWAIT) {
            Ok(read) if read == len => Ok(Some(buffer.filled())),
            Ok(_) | Err(Errno::AGAIN | Errno::OPNOTSUPP | Errno::NOSYS | Errno::INTR) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    pub fn write_at(&self, mut offset: u64, parts: &[IoSlice<'_>]) -> io::Result<()> {
        for parts in parts.chunks(MAX_PARTS) {
            let whole: usize = parts.iter().map(|part| part.len()).sum();
            let mut written = match rustix::io::pwritev(&self.0, parts, offset) {
                Ok(written) => written,
                Err(Errno::INTR) => 0,
                Err(error) => return Err(error.into()),
            };
            if written < whole {
                // Rare (a signal, a full disk): finish part by part.
                let mut at = offset;
                for part in parts {
                    let skip = written.min(part.len());
                    written -= skip;
                    self.0.write_all_at(&part[skip..], at + skip as u64)?;
                    at += part.len() as u64;
                }
            }
            offset += whole as u64;
        }
        Ok(())
    }

    pub fn allocate(&self, len: u64) -> io::Result<()> {
        match rustix::fs::fallocate(&self.0, FallocateFlags::empty(), 0, len) {
            // A file system without fallocate: the length must do.
            Err(Errno::OPNOTSUPP | Errno::NOSYS) => self.0.set_len(len),
            Err(error) => Err(error.into()),
            Ok(()) => Ok(()),
        }
    }

    pub fn set_len(&self, len: u64) -> io::Result<()> {
        self.0.set_len(len)
    }

    pub fn size(&self) -> io::Result<u64> {
        self.0.metadata().map(|metadata| metadata.len())
    }

    pub fn sync(&self) -> io::Result<()> {
        self.0.sync_data()
    }
}
