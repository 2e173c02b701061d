//! A short life of an engine, step by step, and what must be there after each step.

use bytes::Bytes;
use lazuli_engine::{ChunkId, Engine, EngineError, Host, KeyRange, Options, Plan, Scan};
use std::collections::BTreeMap;
use std::path::Path;
use std::time::{Duration, Instant};

/// Steps of a life; the last one is the clean stop.
pub const STEPS: usize = 27;
/// The step in which time passes, for what happens once a second.
pub const WAIT: usize = 24;
const CHUNK: u32 = 20_000;

/// What a key stands for: its value, or the bytes of a chunk that it names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Content {
    Value(Bytes),
    Chunk { seed: u64, len: u32 },
}

pub type State = BTreeMap<String, Content>;

pub fn options() -> Options {
    let mut options = Options { cache_bytes: 1 << 20, memtable_bytes: 32 << 10, ..Options::default() };
    options.extents.first_extent_bytes = 64 << 10;
    options.extents.extent_bytes = 64 << 10;
    options.extents.reserve_bytes = 0;
    options.extents.writers = 1;
    options.extents.spare_extents = 1;
    options
}

pub fn open(dir: &Path) -> Result<Engine, lazuli_engine::OpenError> {
    Engine::open(dir, options(), Host::real())
}

pub fn payload(seed: u64, len: u32) -> Bytes {
    let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    let mut bytes = Vec::new();
    while bytes.len() < len as usize {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        bytes.extend_from_slice(&state.to_le_bytes());
    }
    bytes.truncate(len as usize);
    bytes.into()
}

/// What a step does to the keys.
#[derive(Default)]
struct Change {
    put: Vec<(String, Content)>,
    delete: Vec<String>,
}

fn change(step: usize) -> Change {
    let seed = step as u64;
    let mut change = Change::default();
    match step {
        // Commits alone: one key, two keys, a wide value; a change and a deletion together.
        0 => change.put.push(("k/a".into(), Content::Value("first".into()))),
        1 => {
            change.put.push(("k/a".into(), Content::Value("second".into())));
            change.put.push(("k/b".into(), Content::Value(payload(seed, 300))));
        }
        2 => change.put.push(("~w".into(), Content::Value(payload(seed, 6_000)))),
        3 => {
            change.put.push(("k/c".into(), Content::Value("third".into())));
            change.delete.push("k/b".into());
        }
        // Chunk writes; each extent takes three, so it is switched twice.
        4..=10 => change.put.push((format!("c/{step:02}"), Content::Chunk { seed, len: CHUNK })),
        // Two chunks at once.
        11 => {
            for n in 0..2 {
                let content = Content::Chunk { seed: seed + 100 * n, len: CHUNK / 2 };
                change.put.push((format!("c/{step:02}/{n}"), content));
            }
        }
        // Most go; then the collector empties what is left of the first extents.
        12 => change.delete.extend([4, 6, 7, 8, 9].map(|n| format!("c/{n:02}"))),
        // Into recycled extents.
        14..=17 => change.put.push((format!("c/{step:02}"), Content::Chunk { seed, len: CHUNK })),
        // A chunk replaced, with a small value beside it.
        18 => {
            change.put.push(("c/05".into(), Content::Chunk { seed: 500, len: CHUNK }));
            change.put.push(("k/a".into(), Content::Value("fourth".into())));
        }
        // More than the memory for wide values holds: tables are written, while the log goes on.
        20..=23 => {
            for n in 0..5 {
                let content = Content::Value(payload(seed + 100 * n, 7_000));
                change.put.push((format!("~w/{step}/{n}"), content));
            }
        }
        25 => change.put.push(("k/a".into(), Content::Value("last".into()))),
        _ => {}
    }
    change
}

/// What is there after so many steps.
pub fn state_after(steps: usize) -> State {
    let mut state = State::new();
    for step in 0..steps {
        let change = change(step);
        change.delete.iter().for_each(|key| drop(state.remove(key)));
        state.extend(change.put);
    }
    state
}

/// Does one step; returns when it is acknowledged.
pub async fn run_step(engine: &Engine, step: usize) -> Result<(), EngineError> {
    match step {
        13 | 19 => {
            wait_for_collector(engine).await;
            Ok(())
        }
        // The superblock is written each second.
        WAIT => {
            tokio::time::sleep(Duration::from_millis(1_100)).await;
            Ok(())
        }
        26 => engine.close().await,
        _ => apply(engine, change(step)).await,
    }
}

async fn apply(engine: &Engine, change: Change) -> Result<(), EngineError> {
    let mut guards = Vec::new();
    for (key, content) in &change.put {
        if let Content::Chunk { seed, len } = content {
            guards.push((key.clone(), engine.extents().write(payload(*seed, *len)).await?));
        }
    }
    let (change, guards) = (&change, &guards);
    let plan = |reader: lazuli_engine::Reader| async move {
        let mut plan = Plan::new(());
        let touched = change.put.iter().map(|(key, _)| key).chain(&change.delete);
        for key in touched.filter(|key| key.starts_with("c/")) {
            if let Some(old) = reader.get(Bytes::from(key.clone())).await? {
                plan.release.push(chunk_id(&old.value));
            }
        }
        change.delete.iter().for_each(|key| plan.delete(Bytes::from(key.clone())));
        for (key, content) in &change.put {
            if let Content::Value(value) = content {
                plan.put(Bytes::from(key.clone()), value.clone());
            }
        }
        for (key, written) in guards {
            plan.publish.push(written.id);
            plan.put(Bytes::from(key.clone()), written.id.0.to_be_bytes().to_vec());
        }
        Ok::<_, EngineError>(plan)
    };
    engine.run(None, plan).await
}

async fn wait_for_collector(engine: &Engine) {
    let end = Instant::now() + Duration::from_secs(3);
    while engine.extents().stats().collected_bytes == 0 && Instant::now() < end {
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
    tokio::time::sleep(Duration::from_millis(20)).await;
}

fn chunk_id(value: &[u8]) -> ChunkId {
    ChunkId(value.try_into().map_or(0, u128::from_be_bytes))
}

/// Everything that is there, or the first error met. Chunks are given by their bytes.
pub async fn read_all(engine: &Engine) -> Result<BTreeMap<String, Bytes>, EngineError> {
    let reader = engine.reader().await?;
    let mut all = BTreeMap::new();
    for prefix in ["c/", "k/", "~"] {
        let scan = Scan {
            range: KeyRange::prefix(prefix),
            after: None,
            limit: 1_000,
            max_bytes: 1 << 20,
            reverse: false,
            keys_only: false,
        };
        for (key, entry) in reader.scan(scan).await?.items {
            let value = if prefix == "c/" {
                let id = chunk_id(&entry.value);
                // The length is part of the id; asking for more would be an error.
                engine.extents().read(id, 0..(id.0 as u64 >> 40) as u32).await?
            } else {
                entry.value
            };
            all.insert(String::from_utf8_lossy(&key).into_owned(), value);
        }
    }
    Ok(all)
}

pub fn is_state(found: &BTreeMap<String, Bytes>, state: &State) -> bool {
    let same = |(key, content): (&String, &Content)| match content {
        Content::Value(value) => found.get(key) == Some(value),
        Content::Chunk { seed, len } => found.get(key) == Some(&payload(*seed, *len)),
    };
    found.len() == state.len() && state.iter().all(same)
}
