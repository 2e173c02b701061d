//! kill -9 of a process that writes as fast as it can, a hundred times on the same directory: nothing that
//! it reported as committed may be missing, and nothing may be half there.

use crate::contract::{Kind, Place, key, options};
use bytes::Bytes;
use lazuli_engine::{ChunkId, Engine, EngineError, Host, Key, Plan, Reader};
use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

const KILLS: u64 = 100;
const WRITERS: u64 = 8;
/// Each writer keeps its last rows, so that what must be compared does not grow.
const RING: u64 = 64;
/// Every so many rounds, a writer replaces its chunk, too.
const CHUNK_EVERY: u64 = 8;
const CHUNK_LEN: u64 = 40_000;
const DIR: &str = "LAZULI_TEST_KILL_DIR";

#[test]
fn nothing_acknowledged_is_lost() {
    let place = Place::new(Kind::Embedded).unwrap();
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    let mut acknowledged = BTreeMap::new();
    let mut commits = 0;
    for kill in 0..KILLS {
        let mut child = start(place.dir.path());
        // Some are killed while they open, most while they write.
        std::thread::sleep(Duration::from_millis(20 + kill * 37 % 160));
        child.kill().unwrap();
        let mut report = String::new();
        child.stdout.take().unwrap().read_to_string(&mut report).unwrap();
        child.wait().unwrap();
        for (writer, round) in report.lines().filter_map(parse) {
            acknowledged.insert(writer, round);
            commits += 1;
        }
        runtime.block_on(async {
            let engine = place.open();
            verify(&engine, &acknowledged, kill).await;
            if kill % 3 == 0 {
                engine.close().await.unwrap();
            }
        });
    }
    assert!(commits > KILLS * 5, "only {commits} commits in {KILLS} lives: too few to prove anything");
    println!("{commits} acknowledged commits in {KILLS} lives, none lost");
}

/// This binary again, running only the writer below.
fn start(dir: &Path) -> Child {
    Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "kill::writer", "--ignored", "--nocapture", "--test-threads=1"])
        .env(DIR, dir)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap()
}

fn parse(line: &str) -> Option<(u64, u64)> {
    let (writer, round) = line.strip_prefix("ack ")?.strip_suffix(" .")?.split_once(' ')?;
    Some((writer.parse().ok()?, round.parse().ok()?))
}

/// The process that is killed.
#[test]
#[ignore = "started by nothing_acknowledged_is_lost"]
fn writer() {
    let Some(dir) = std::env::var_os(DIR) else { return };
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    runtime.block_on(async {
        let engine = Engine::open(Path::new(&dir), options(), Host::real()).expect("opens");
        let writers = (0..WRITERS).map(|writer| tokio::spawn(write_for_ever(engine.clone(), writer)));
        for writer in writers.collect::<Vec<_>>() {
            writer.await.unwrap();
        }
    });
}

async fn write_for_ever(engine: Engine, writer: u64) {
    loop {
        let guard = engine.extents().write(chunk(writer)).await.unwrap();
        for _ in 0..CHUNK_EVERY {
            let id = guard.id;
            let round = engine
                .run(None, |reader| async move { step(&reader, writer, id).await })
                .await
                .unwrap_or_else(|error: EngineError| panic!("{error}"));
            // One write call: a line is there or it is not.
            std::io::stdout().write_all(format!("ack {writer} {round} .\n").as_bytes()).unwrap();
        }
    }
}

/// The counter, the row of this round and sometimes the chunk go together.
async fn step(reader: &Reader, writer: u64, fresh: ChunkId) -> Result<Plan<u64>, EngineError> {
    let round = counter(reader, writer).await?.map_or(1, |round| round + 1);
    let mut plan = Plan::new(round);
    plan.put(counter_key(writer), round.to_string());
    plan.put(row_key(writer, round), row(writer, round));
    if round % CHUNK_EVERY == 1 {
        let chunk_key = key(&format!("chunk/{writer}"));
        if let Some(old) = reader.get(chunk_key.clone()).await? {
            plan.release.push(chunk_id(&old.value));
        }
        plan.publish.push(fresh);
        plan.put(chunk_key, fresh.0.to_string());
    }
    Ok(plan)
}

async fn verify(engine: &Engine, acknowledged: &BTreeMap<u64, u64>, kill: u64) {
    let reader = engine.reader().await.unwrap();
    let mut chunks = 0;
    for writer in 0..WRITERS {
        let known = acknowledged.get(&writer).copied().unwrap_or(0);
        let found = counter(&reader, writer).await.unwrap().unwrap_or(0);
        assert!(found >= known, "kill {kill}: writer {writer} had {known} acknowledged, {found} are there");
        for round in found.saturating_sub(RING - 1).max(1)..=found {
            let entry = reader.get_untracked(row_key(writer, round)).await.unwrap();
            let value = entry.map(|entry| entry.value);
            assert!(
                value == Some(row(writer, round)),
                "kill {kill}: row {round} of writer {writer}: {value:?}"
            );
        }
        if found > 0 {
            let entry =
                reader.get_untracked(key(&format!("chunk/{writer}"))).await.unwrap().expect("a chunk");
            let bytes = engine.extents().read(chunk_id(&entry.value), 0..CHUNK_LEN as u32).await.unwrap();
            assert!(bytes == chunk(writer), "kill {kill}: the chunk of writer {writer}");
            chunks += 1;
        }
    }
    let live = engine.extents().stats().live_bytes;
    assert!(live >= chunks * CHUNK_LEN && live <= chunks * (CHUNK_LEN + 8_192), "{live} for {chunks} chunks");
}

async fn counter(reader: &Reader, writer: u64) -> Result<Option<u64>, EngineError> {
    let entry = reader.get(counter_key(writer)).await?;
    Ok(entry.map(|entry| String::from_utf8_lossy(&entry.value).parse().unwrap()))
}

fn counter_key(writer: u64) -> Key {
    key(&format!("counter/{writer}"))
}

/// Some writers write wide values.
fn row_key(writer: u64, round: u64) -> Key {
    let head = if writer.is_multiple_of(2) { "~" } else { "" };
    key(&format!("{head}row/{writer}/{}", round % RING))
}

fn row(writer: u64, round: u64) -> Bytes {
    let len = 20 + (writer * 7_919 + round * 104_729) % 6_000;
    (0..len).map(|n| (n * 31 + round * 7 + writer) as u8).collect()
}

fn chunk(writer: u64) -> Bytes {
    (0..CHUNK_LEN).map(|n| (n * 13 + writer) as u8).collect()
}

fn chunk_id(value: &[u8]) -> ChunkId {
    ChunkId(String::from_utf8_lossy(value).parse().unwrap())
}
