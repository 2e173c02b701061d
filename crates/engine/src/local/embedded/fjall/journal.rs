//! A look at the raw log before it is opened.
//!
//! The log's own recovery stops at the first damage, cuts the file there and goes on as if nothing had
//! been behind it; other damage makes it refuse to open at all, even when only the last, never
//! acknowledged batch is torn. So this reads the log first, and tells the two cases apart:
//! - no more groups stand behind the damage than are ever under way ([`GROUPS`]): they were being written when the machine stopped. They
//!   were not acknowledged, or their loss shows in the superblock. They are cut off.
//! - more: something durable is damaged. Nothing is changed, and the directory is not opened.
//!
//! The format is that of fjall 3.1.13 (its `journal` module), which is pinned for this reason.

use super::marker::{self, Marker};
use crate::caps::OWN;
use crate::local::commit::pending::GROUPS;
use rustix::fs::SeekFrom;
use std::collections::BTreeSet;
use std::fs::{File, OpenOptions};
use std::io::{self, BufReader, Read, Seek};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use xxhash_rust::xxh3::Xxh3;

const START: u8 = 1;
const ITEM: u8 = 2;
const END: u8 = 3;
const TRAILER: [u8; 4] = [b'F', b'J', b'L', 3];
/// No value of ours is longer; a longer one is a damaged length.
const LONGEST: u32 = 16 << 20;
const PIECE: usize = 1 << 20;
/// fjall's own sequence numbers never come this far; the top bit it keeps for itself.
const END_OF_ORDER: u64 = 1 << 62;

#[derive(Debug, Default)]
pub(crate) struct Inspected {
    /// Last sequence number of the last intact batch.
    pub last: Option<u64>,
    pub torn: Option<Torn>,
}

/// A tail that is not intact, and must be cut off before the log is opened.
#[derive(Debug)]
pub(crate) struct Torn {
    pub path: PathBuf,
    pub at: u64,
    /// Last sequence number of the first group that was being written, when that much can be told.
    pub group: Option<u64>,
}

#[derive(Debug, thiserror::Error)]
pub(crate) enum InspectError {
    #[error(transparent)]
    Io(#[from] io::Error),
    #[error("{} is damaged at byte {at}, and {groups} groups of commits stand behind the damage", path.display())]
    Damaged { path: PathBuf, at: u64, groups: usize },
    #[error("{} is damaged at byte {at}: the batch is out of order", path.display())]
    OutOfOrder { path: PathBuf, at: u64 },
    #[error("{} has no log", .0.display())]
    Missing(PathBuf),
}

pub(crate) fn inspect(dir: &Path, id: u128) -> Result<Inspected, InspectError> {
    let mut inspected = Inspected::default();
    // The first damage, and the groups that stand behind it.
    let mut damage: Option<(PathBuf, u64, BTreeSet<u64>)> = None;
    let mut order = 0;
    let journals = journals(dir)?;
    if journals.is_empty() {
        return Err(InspectError::Missing(dir.to_owned()));
    }
    for path in journals {
        let mut file = File::open(&path)?;
        if let Some((_, _, behind)) = &mut damage {
            marks(&mut file, 0, id, behind)?;
            continue;
        }
        let (good, in_order) = walk(&file, id, &mut inspected.last, &mut order)?;
        if !in_order {
            return Err(InspectError::OutOfOrder { path, at: good });
        }
        let mut behind = BTreeSet::new();
        if marks(&mut file, good, id, &mut behind)? {
            damage = Some((path, good, behind));
        }
    }
    let Some((path, at, behind)) = damage else { return Ok(inspected) };
    if behind.len() > GROUPS {
        return Err(InspectError::Damaged { path, at, groups: behind.len() });
    }
    inspected.torn = Some(Torn { path, at, group: behind.first().copied() });
    Ok(inspected)
}

/// Cuts off a torn tail.
pub(crate) fn cut(path: &Path, at: u64) -> io::Result<()> {
    let file = OpenOptions::new().write(true).open(path)?;
    file.set_len(at)?;
    file.sync_all()
}

/// In the order in which they were written.
pub(crate) fn journals(dir: &Path) -> io::Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(dir)? {
        let path = entry?.path();
        if path.extension().is_some_and(|extension| extension == "jnl")
            && let Some(number) = path.file_stem().and_then(|stem| stem.to_str()?.parse::<u64>().ok())
        {
            found.push((number, path));
        }
    }
    found.sort();
    Ok(found.into_iter().map(|(_, path)| path).collect())
}

/// The file that is written to. The log goes on in a file with the next number now and then.
pub(crate) struct Newest {
    path: Arc<Path>,
    next: PathBuf,
}

impl Newest {
    pub fn of(dir: &Path) -> io::Result<Self> {
        Self::at(&journals(dir)?.pop().ok_or(io::ErrorKind::NotFound)?)
    }

    fn at(path: &Path) -> io::Result<Self> {
        let number = path.file_stem().and_then(|stem| stem.to_str()?.parse::<u64>().ok());
        let number = number.ok_or(io::ErrorKind::InvalidData)?;
        Ok(Self { path: path.into(), next: path.with_file_name(format!("{}.jnl", number + 1)) })
    }

    /// As of when it was last looked for.
    pub fn path(&self) -> &Arc<Path> {
        &self.path
    }

    pub fn look(&mut self) -> io::Result<&Arc<Path>> {
        while std::fs::exists(&self.next)? {
            *self = Self::at(&self.next)?;
        }
        Ok(&self.path)
    }
}

/// Reads batch by batch; gives the end of the last intact one, and whether the next is not even in order.
///
/// fjall's sequence number decides which of two values of a key is the newer, and no checksum covers it. In an intact
/// batch it can be out of order only by damage; a batch that is being written has other marks of it.
fn walk(file: &File, id: u128, last: &mut Option<u64>, order: &mut u64) -> io::Result<(u64, bool)> {
    let mut reader = BufReader::with_capacity(64 << 10, file);
    reader.rewind()?;
    let mut good = 0;
    loop {
        match batch(&mut reader, id) {
            Ok(Some(batch)) if (*order..END_OF_ORDER).contains(&batch.seqno) => {
                good += batch.len;
                *order = batch.seqno + 1;
                *last = batch.last.or(*last);
            }
            Ok(Some(_)) => return Ok((good, false)),
            Ok(None) => return Ok((good, true)),
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok((good, true)),
            Err(error) => return Err(error),
        }
    }
}

struct Batch {
    len: u64,
    /// fjall's number of the batch.
    seqno: u64,
    /// Last sequence number of the group, from its end mark.
    last: Option<u64>,
}

/// One batch; `None` when it is not intact.
fn batch(reader: &mut impl Read, id: u128) -> io::Result<Option<Batch>> {
    let start: [u8; 13] = array(reader)?;
    let [START, c0, c1, c2, c3, seqno @ ..] = start else { return Ok(None) };
    let count = u32::from_le_bytes([c0, c1, c2, c3]);
    let mut len = start.len() as u64;
    let mut last = None;
    let mut hash = Xxh3::new();
    let mut body = Vec::new();
    for _ in 0..count {
        let head: [u8; 21] = array(reader)?;
        let [ITEM, _type, _compression, _, _, _, _, _, _, _, _, k0, k1, _, _, _, _, v0, v1, v2, v3] = head
        else {
            return Ok(None);
        };
        let key = usize::from(u16::from_le_bytes([k0, k1]));
        let value = u32::from_le_bytes([v0, v1, v2, v3]);
        if value > LONGEST {
            return Ok(None);
        }
        body.resize(key + value as usize, 0);
        reader.read_exact(&mut body)?;
        hash.update(&head);
        hash.update(&body);
        len += (head.len() + body.len()) as u64;
        let (key, value) = body.split_at(key);
        if key == marker::END_ROW && key.first() == Some(&OWN) {
            last = value.get(8..).and_then(|value| Marker::decode(value, id)).map(|marker| marker.last);
        }
    }
    let tail: [u8; 13] = array(reader)?;
    let [END, sum @ .., t0, t1, t2, t3] = tail else { return Ok(None) };
    if u64::from_le_bytes(sum) != hash.digest() || [t0, t1, t2, t3] != TRAILER {
        return Ok(None);
    }
    let len = len + tail.len() as u64;
    Ok(Some(Batch { len, seqno: u64::from_le_bytes(seqno), last }))
}

fn array<const N: usize>(reader: &mut impl Read) -> io::Result<[u8; N]> {
    let mut bytes = [0; N];
    reader.read_exact(&mut bytes)?;
    Ok(bytes)
}

/// Collects the groups whose marks stand behind `from`, by their last sequence number. True when there
/// is anything but zeros.
fn marks(file: &mut File, from: u64, id: u128, groups: &mut BTreeSet<u64>) -> io::Result<bool> {
    let finder = memchr::memmem::Finder::new(&id.to_be_bytes()).into_owned();
    let mut anything = false;
    let mut at = from;
    // The end of the piece before, for marks that lie across.
    let mut carried = Vec::new();
    // Journals are allocated ahead: most of a young one is a hole.
    while let Some(data) = next_data(file, at)? {
        if data > at {
            carried.clear();
        }
        at = data;
        let mut piece = std::mem::take(&mut carried);
        let old = piece.len();
        file.seek(io::SeekFrom::Start(at))?;
        file.by_ref().take(PIECE as u64).read_to_end(&mut piece)?;
        if piece.len() == old {
            break;
        }
        at += (piece.len() - old) as u64;
        anything |= piece[old..].iter().any(|&byte| byte != 0);
        for found in finder.find_iter(&piece) {
            if let Some(marker) = Marker::decode(&piece[found..], id) {
                groups.insert(marker.last);
            }
        }
        carried = piece.split_off(piece.len().saturating_sub(marker::LEN - 1));
    }
    Ok(anything)
}

/// Where the next bytes that are not a hole begin.
fn next_data(file: &File, at: u64) -> io::Result<Option<u64>> {
    match rustix::fs::seek(file, SeekFrom::Data(at)) {
        Ok(data) => Ok(Some(data)),
        Err(rustix::io::Errno::NXIO) => Ok(None),
        // A file system that knows no holes.
        Err(rustix::io::Errno::INVAL) => Ok((at < file.metadata()?.len()).then_some(at)),
        Err(error) => Err(error.into()),
    }
}
