//! A look at the lists of tables before they are opened.
//!
//! fjall trusts what names its tables: over a damaged list it panics with a lock held, and panics again while it
//! unwinds, which ends the process; over a missing one it takes the keyspace for half made, and deletes it. So
//! everything that it would believe without a checksum is checked here first. What lies in the tables themselves is
//! in blocks with checksums, which fjall checks whenever it reads one.
//!
//! The format is that of fjall 3.1.13 (lsm-tree 3.1.10, sfa 1.0.0), which is pinned for this reason.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;
use xxhash_rust::xxh3::xxh3_128;

/// fjall's own, for names and settings, then the three of ours; made together, numbered from 0.
const KEYSPACES: u64 = 4;
const VERSION: &[u8] = b"FJL\x03";
const TRAILER: usize = 38;
/// A table has some ten sections with short names.
const LONGEST_CONTENTS: u64 = 64 << 10;

#[derive(Debug, thiserror::Error)]
pub(crate) enum TablesError {
    #[error(transparent)]
    Io(#[from] io::Error),
    #[error("{0}")]
    Damaged(String),
}

pub(crate) fn check(kv: &Path) -> Result<(), TablesError> {
    let version = kv.join("version");
    if read(&version)? != VERSION {
        return Err(damaged(&version));
    }
    let keyspaces = kv.join("keyspaces");
    for number in 0..KEYSPACES {
        keyspace(&keyspaces.join(number.to_string()))?;
    }
    for entry in std::fs::read_dir(&keyspaces)? {
        let entry = entry?;
        let numbered = entry.file_name().to_str().is_some_and(|name| name.parse::<u64>().is_ok());
        if !numbered && !entry.file_type()?.is_file() {
            return Err(TablesError::Damaged(format!("{} is not one of its files", entry.path().display())));
        }
    }
    Ok(())
}

/// `current` names the list that counts, and has its checksum.
fn keyspace(dir: &Path) -> Result<(), TablesError> {
    let path = dir.join("current");
    let current = read(&path)?;
    let (Some(number), Some(sum), Some(0), 25) =
        (array(&current, 0), array(&current, 8), current.get(24), current.len())
    else {
        return Err(damaged(&path));
    };
    let path = dir.join(format!("v{}", u64::from_le_bytes(number)));
    let list = read(&path)?;
    if xxh3_128(&list) != u128::from_le_bytes(sum) {
        return Err(damaged(&path));
    }
    let tables = tables(&list).ok_or_else(|| damaged(&path))?;
    for table in tables {
        contents_of(&dir.join("tables").join(table.to_string()))?;
    }
    Ok(())
}

/// The numbers of the tables in a list.
fn tables(list: &[u8]) -> Option<Vec<u64>> {
    let trailer = Trailer::read(list.last_chunk()?)?;
    let contents = list.get(usize::try_from(trailer.at).ok()?..list.len() - TRAILER)?;
    let mut section = section(trailer.check(contents)?, list, b"tables")?;
    let mut tables = Vec::new();
    for _level in 0..take::<1>(&mut section)?[0] {
        for _run in 0..take::<1>(&mut section)?[0] {
            for _table in 0..u32::from_le_bytes(take(&mut section)?) {
                tables.push(u64::from_le_bytes(take(&mut section)?));
                let _checksum_and_seqno: [u8; 1 + 16 + 8] = take(&mut section)?;
            }
        }
    }
    Some(tables)
}

/// Whether the table of contents at the end of a file is intact: where its blocks are.
fn contents_of(path: &Path) -> Result<(), TablesError> {
    let file = File::open(path).map_err(|error| unread(path, error))?;
    let len = file.metadata()?.len();
    let Some(end) = len.checked_sub(TRAILER as u64) else { return Err(damaged(path)) };
    let mut trailer = [0; TRAILER];
    file.read_exact_at(&mut trailer, end)?;
    let trailer = Trailer::read(&trailer)
        .filter(|trailer| end.checked_sub(trailer.at).is_some_and(|len| len <= LONGEST_CONTENTS));
    let Some(trailer) = trailer else { return Err(damaged(path)) };
    let mut contents = vec![0; (end - trailer.at) as usize];
    file.read_exact_at(&mut contents, trailer.at)?;
    trailer.check(&contents).map(|_| ()).ok_or_else(|| damaged(path))
}

/// The end of every such file.
struct Trailer {
    /// Checksum of the table of contents, and where it begins.
    sum: u128,
    at: u64,
}

impl Trailer {
    fn read(bytes: &[u8; TRAILER]) -> Option<Self> {
        let mut bytes = &bytes[..];
        if take(&mut bytes)? != *b"SFA!\x01\x00" {
            return None;
        }
        let sum = u128::from_le_bytes(take(&mut bytes)?);
        let at = u64::from_le_bytes(take(&mut bytes)?);
        Some(Self { sum, at })
    }

    fn check<'a>(&self, contents: &'a [u8]) -> Option<&'a [u8]> {
        (xxh3_128(contents) == self.sum).then_some(contents)
    }
}

/// A section of a file, by its name.
fn section<'a>(mut contents: &[u8], file: &'a [u8], name: &[u8]) -> Option<&'a [u8]> {
    if take(&mut contents)? != *b"TOC!" {
        return None;
    }
    for _ in 0..u32::from_le_bytes(take(&mut contents)?) {
        let at = u64::from_le_bytes(take(&mut contents)?);
        let len = u64::from_le_bytes(take(&mut contents)?);
        let name_len = usize::from(u16::from_le_bytes(take(&mut contents)?));
        let (found, rest) = contents.split_at_checked(name_len)?;
        if found == name {
            return file.get(usize::try_from(at).ok()?..)?.get(..usize::try_from(len).ok()?);
        }
        contents = rest;
    }
    None
}

fn take<const N: usize>(bytes: &mut &[u8]) -> Option<[u8; N]> {
    let (taken, rest) = bytes.split_first_chunk()?;
    *bytes = rest;
    Some(*taken)
}

fn array<const N: usize>(bytes: &[u8], at: usize) -> Option<[u8; N]> {
    bytes.get(at..)?.first_chunk().copied()
}

fn read(path: &Path) -> Result<Vec<u8>, TablesError> {
    std::fs::read(path).map_err(|error| unread(path, error))
}

fn unread(path: &Path, error: io::Error) -> TablesError {
    if error.kind() == io::ErrorKind::NotFound {
        return TablesError::Damaged(format!("{} is missing", path.display()));
    }
    error.into()
}

fn damaged(path: &Path) -> TablesError {
    TablesError::Damaged(format!("{} is damaged", path.display()))
}
