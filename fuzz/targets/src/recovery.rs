//! A directory of an engine that was damaged while nobody looked: it opens or it is refused, and whatever it then reads
//! is what was written. Never other bytes, never a hang.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use bytes::Bytes;
use lazuli_engine::{ChunkId, Engine, Host, Key, Options, Txn, Write};
use tempfile::TempDir;
use tokio::runtime::{Builder, Runtime};

const COMMITS: usize = 40;
/// Bytes of one change: file, kind, four of place, two of value.
const CHANGE: usize = 8;

/// A directory as it was left, once stopped well and once not.
struct Left {
    files: BTreeMap<PathBuf, Vec<u8>>,
    chunk: ChunkId,
}

struct Written {
    runtime: Runtime,
    /// Two ways of ending.
    left: [Left; 2],
}

fn options() -> Options {
    let mut options = Options { cache_bytes: 1 << 20, memtable_bytes: 1 << 20, ..Options::default() };
    options.extents.extent_bytes = 1 << 20;
    options
}

fn value(number: usize) -> Bytes {
    Bytes::from(format!("{number:04}").repeat(50 + number))
}

fn payload() -> Bytes {
    Bytes::from((0..100_000_u32).map(|byte| (byte % 251) as u8).collect::<Vec<u8>>())
}

fn name(number: usize) -> Key {
    Key::from(format!("k/{number:04}"))
}

pub fn run(data: &[u8]) {
    let _ = opens(data);
}

/// Whether the directory was opened in spite of the changes.
pub fn opens(data: &[u8]) -> bool {
    static WRITTEN: OnceLock<Written> = OnceLock::new();
    let written = WRITTEN.get_or_init(|| {
        // fjall panics over some damage, and the engine makes an error of that; libFuzzer's hook would end us first.
        std::panic::set_hook(Box::new(|told| {
            if told.location().is_some_and(|place| place.file().contains("fuzz")) {
                eprintln!("{told}");
            }
        }));
        let runtime = Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
        let left = [true, false].map(|clean| runtime.block_on(fill(clean)));
        Written { runtime, left }
    });
    let (ending, changes) = data.split_first().map_or((0, data), |(first, rest)| (*first, rest));
    let left = &written.left[usize::from(ending & 1)];
    let directory = TempDir::with_prefix("lazuli-fuzz-").unwrap();
    restore(left, directory.path(), changes);
    written.runtime.block_on(read(directory.path(), left, changes.len() < CHANGE))
}

async fn fill(clean: bool) -> Left {
    let directory = TempDir::with_prefix("lazuli-fuzz-").unwrap();
    let engine = Engine::open(directory.path(), options(), Host::real()).unwrap();
    let written = engine.extents().write(payload()).await.unwrap();
    let chunk = written.id;
    for number in 0..COMMITS {
        let publish = if number == 0 { vec![chunk] } else { Vec::new() };
        let writes = vec![Write::Put(name(number), value(number))];
        engine.commit(Txn { writes, publish, ..Txn::new(engine.new_txn_id()) }).await.unwrap();
    }
    drop(written);
    // Killed: as the files are while it still runs.
    if clean {
        engine.close().await.unwrap();
    }
    let mut files = BTreeMap::new();
    collect(directory.path(), directory.path(), &mut files);
    Left { files, chunk }
}

fn collect(root: &Path, directory: &Path, files: &mut BTreeMap<PathBuf, Vec<u8>>) {
    for entry in fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            collect(root, &path, files);
        } else {
            let mut bytes = fs::read(&path).unwrap();
            // Most of a log is room; holes are read as zeros.
            let size = bytes.len();
            let end = bytes.iter().rposition(|byte| *byte != 0).map_or(0, |last| last + 1);
            bytes.truncate(end);
            bytes.shrink_to_fit();
            files.insert(
                path.strip_prefix(root).unwrap().to_owned(),
                [&(size as u64).to_le_bytes()[..], &bytes].concat(),
            );
        }
    }
}

fn restore(left: &Left, directory: &Path, changes: &[u8]) {
    let mut files: Vec<(&PathBuf, u64, Vec<u8>)> = left
        .files
        .iter()
        .map(|(path, stored)| {
            let (size, bytes) = stored.split_at(8);
            (path, u64::from_le_bytes(size.try_into().unwrap()), bytes.to_vec())
        })
        .collect();
    for change in changes.chunks_exact(CHANGE).take(8) {
        let count = files.len();
        let (_, size, bytes) = &mut files[usize::from(change[0]) % count];
        let at = u32::from_le_bytes(change[2..6].try_into().unwrap()) as usize % (bytes.len() + 1);
        match change[1] % 4 {
            0 if at < bytes.len() => bytes[at] ^= change[6].max(1),
            1 => {
                let end = (at + usize::from(change[7]) * 16).min(bytes.len());
                bytes[at..end].fill(change[6]);
            }
            2 => {
                bytes.truncate(at);
                *size = at as u64;
            }
            _ => bytes.splice(at..at, [change[6]; 3]).for_each(drop),
        }
    }
    for (path, size, bytes) in files {
        let path = directory.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, &bytes).unwrap();
        fs::File::options().write(true).open(&path).unwrap().set_len(size.max(bytes.len() as u64)).unwrap();
    }
}

async fn read(directory: &Path, left: &Left, whole: bool) -> bool {
    let engine = match Engine::open(directory, options(), Host::real()) {
        Ok(engine) => engine,
        Err(refusal) => {
            assert!(!whole, "an intact directory is refused: {refusal}");
            return false;
        }
    };
    let reader = engine.reader().await.unwrap();
    let mut missing = None;
    for number in 0..COMMITS {
        match reader.get_untracked(name(number)).await {
            Ok(Some(entry)) => {
                assert!(entry.value == value(number), "a value that nobody wrote");
                // Commits are kept from the first to some last one: none is lost from between.
                assert!(missing.is_none(), "commit {missing:?} is lost, {number} is there");
            }
            Ok(None) => missing = missing.or(Some(number)),
            Err(_) => {}
        }
    }
    assert!(!whole || missing.is_none(), "an intact directory lost commit {missing:?}");
    let len = payload().len() as u32;
    match engine.extents().read(left.chunk, 0..len).await {
        Ok(bytes) => assert!(bytes == payload(), "a chunk that nobody wrote"),
        Err(error) => assert!(!whole, "an intact chunk cannot be read: {error}"),
    }
    true
}
