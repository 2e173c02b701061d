//! How far the engine is known to have come: a small file beside the log, written each second and at a
//! clean stop. A log that ends earlier than this has lost something.
//!
//! Two slots in two blocks take turns, so that a torn write leaves the other one.

use crate::crc::crc64;
use crate::txn::Ticks;
use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;

const SLOT: u64 = 4_096;
const MAGIC: &[u8; 8] = b"LAZULI\0S";
const LEN: usize = 8 + 8 + 16 + 8 + 8 + 1 + 8;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Noted {
    pub generation: u64,
    /// Names this directory in the marks of its log. Never leaves the directory.
    pub id: u128,
    /// Every commit up to this one was durable.
    pub seq: u64,
    pub now: Ticks,
    pub clean: bool,
}

#[derive(Debug)]
pub(super) struct Superblock {
    file: File,
}

impl Superblock {
    pub fn create(path: &Path, noted: Noted) -> io::Result<Self> {
        let file = OpenOptions::new().read(true).write(true).create(true).truncate(true).open(path)?;
        file.set_len(2 * SLOT)?;
        for generation in [noted.generation - 1, noted.generation] {
            let noted = Noted { generation, ..noted };
            file.write_all_at(&encode(&noted), slot(&noted))?;
        }
        file.sync_all()?;
        Ok(Self { file })
    }

    /// The newest intact slot; `None` when neither is.
    pub fn open(path: &Path) -> io::Result<Option<(Self, Noted)>> {
        let file = OpenOptions::new().read(true).write(true).open(path)?;
        let mut newest: Option<Noted> = None;
        for slot in 0..2 {
            let mut bytes = [0; LEN];
            match file.read_exact_at(&mut bytes, slot * SLOT) {
                Ok(()) => {}
                Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => continue,
                Err(error) => return Err(error),
            }
            let noted = decode(&bytes);
            newest = newest.into_iter().chain(noted).max_by_key(|noted| noted.generation);
        }
        Ok(newest.map(|noted| (Self { file }, noted)))
    }

    /// Durable when it returns.
    pub fn write(&self, noted: Noted) -> io::Result<()> {
        self.file.write_all_at(&encode(&noted), slot(&noted))?;
        self.file.sync_data()
    }
}

/// Where it goes; the slot before stays as it is.
fn slot(noted: &Noted) -> u64 {
    noted.generation % 2 * SLOT
}

fn encode(noted: &Noted) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(LEN);
    bytes.extend_from_slice(MAGIC);
    bytes.extend_from_slice(&noted.generation.to_be_bytes());
    bytes.extend_from_slice(&noted.id.to_be_bytes());
    bytes.extend_from_slice(&noted.seq.to_be_bytes());
    bytes.extend_from_slice(&noted.now.0.to_be_bytes());
    bytes.push(u8::from(noted.clean));
    let crc = crc64(&bytes);
    bytes.extend_from_slice(&crc.to_be_bytes());
    bytes
}

fn decode(bytes: &[u8; LEN]) -> Option<Noted> {
    let (body, crc) = bytes.split_last_chunk()?;
    if crc64(body) != u64::from_be_bytes(*crc) {
        return None;
    }
    let body = body.strip_prefix(MAGIC)?;
    let (generation, body) = body.split_first_chunk()?;
    let (id, body) = body.split_first_chunk()?;
    let (seq, body) = body.split_first_chunk()?;
    let (now, body) = body.split_first_chunk()?;
    Some(Noted {
        generation: u64::from_be_bytes(*generation),
        id: u128::from_be_bytes(*id),
        seq: u64::from_be_bytes(*seq),
        now: Ticks(u64::from_be_bytes(*now)),
        clean: body.first() == Some(&1),
    })
}
