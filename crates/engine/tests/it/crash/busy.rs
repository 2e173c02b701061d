//! The power goes while several writers are at work: groups of many, and one being written while those before it
//! are synced.

use super::cut::cut_everywhere;
use super::{DIR, say, script, strace};
use bytes::Bytes;
use lazuli_engine::{ChunkId, Engine, EngineError, Plan};
use std::path::{Path, PathBuf};
use tokio::runtime::Runtime;

/// Enough that a group is begun while two others are synced.
const WRITERS: usize = 64;
const TURNS: usize = 2;
/// Few: chunks are synced while their group is written, so none comes up behind it.
const CHUNK_EVERY: usize = 32;

#[test]
fn a_crash_among_many_writers_keeps_each_ones_last() {
    if !strace() {
        return;
    }
    // Slow syncs, so that the next group is written during each.
    let slow = ["-e", "inject=fdatasync:delay_enter=10000"];
    let tried = cut_everywhere("crash::busy::child", &slow, judge);
    let acks = tried.disk.said.lines().filter(|line| line.starts_with("ack ")).count();
    assert_eq!(acks, WRITERS * TURNS, "the life ended early: {}", tried.disk.said);
    println!("{} images of {} changes", tried.images, tried.changes);
    assert!(tried.images > 200, "{} images of {} changes", tried.images, tried.changes);
}

/// The process that is recorded.
#[test]
#[ignore = "started by the test here"]
fn child() {
    let Some(dir) = std::env::var_os(DIR).map(PathBuf::from) else { return };
    runtime().block_on(async {
        let engine = script::open(&dir).expect("opens");
        let writers: Vec<_> = (0..WRITERS)
            .map(|writer| {
                let engine = engine.clone();
                tokio::spawn(async move {
                    for turn in 1..=TURNS {
                        write(&engine, writer, turn).await.expect("writes");
                        say(&format!("ack {writer} {turn}\n"));
                    }
                })
            })
            .collect();
        for writer in writers {
            writer.await.expect("a writer");
        }
    });
}

fn runtime() -> Runtime {
    tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().expect("a runtime")
}

/// One turn: two values that must agree, in different tables, and for some writers a chunk that replaces the last.
async fn write(engine: &Engine, writer: usize, turn: usize) -> Result<(), EngineError> {
    let written = match writer % CHUNK_EVERY {
        1.. => None,
        0 => Some(engine.extents().write(chunk(writer, turn)).await?),
    };
    let written = written.as_ref();
    engine
        .run(None, |reader| async move {
            let mut plan = Plan::new(());
            plan.put(format!("k/{writer}"), turn.to_string());
            // Long, so that a group takes several writes and can be torn between them.
            plan.put(format!("~w/{writer}"), format!("{turn:<600}"));
            if let Some(written) = written {
                let key = Bytes::from(format!("c/{writer}"));
                plan.release.extend(reader.get(key.clone()).await?.map(|old| id(&old.value)));
                plan.publish.push(written.id);
                plan.put(key, written.id.0.to_be_bytes().to_vec());
            }
            Ok(plan)
        })
        .await
}

fn chunk(writer: usize, turn: usize) -> Bytes {
    vec![(4 * writer + turn) as u8; 9_000].into()
}

fn id(value: &[u8]) -> ChunkId {
    ChunkId(value.try_into().map_or(0, u128::from_be_bytes))
}

fn judge(dir: &Path, said: &str, runtime: &Runtime) -> Result<(), String> {
    runtime.block_on(async {
        let engine = script::open(dir).map_err(|error| error.to_string())?;
        for writer in 0..WRITERS {
            let prefix = format!("ack {writer} ");
            let acks = said.lines().filter_map(|line| line.strip_prefix(&prefix)?.parse::<usize>().ok());
            let done = acks.max().unwrap_or(0);
            let found = turn_of(&engine, writer).await?;
            if found != done && found != done + 1 {
                return Err(format!("writer {writer} had {done} turns acknowledged, found {found}"));
            }
        }
        // What was opened takes writes again.
        write(&engine, 0, TURNS).await.map_err(|error| format!("after reopening: {error}"))?;
        (turn_of(&engine, 0).await? == TURNS).then_some(()).ok_or("after reopening: not there".into())
    })
}

/// The writer's last turn, which all that it wrote must agree on.
async fn turn_of(engine: &Engine, writer: usize) -> Result<usize, String> {
    let text = |error: EngineError| error.to_string();
    let reader = engine.reader().await.map_err(text)?;
    let mut turns = Vec::new();
    for key in [format!("k/{writer}"), format!("~w/{writer}")] {
        let value = reader.get(Bytes::from(key)).await.map_err(text)?.map(|entry| entry.value);
        let turn = value.map(|value| String::from_utf8_lossy(&value).trim().parse::<usize>());
        turns.push(turn.transpose().map_err(|error| error.to_string())?.unwrap_or(0));
    }
    if writer.is_multiple_of(CHUNK_EVERY) {
        let row = reader.get(Bytes::from(format!("c/{writer}"))).await.map_err(text)?;
        turns.push(match row {
            None => 0,
            Some(row) => {
                let bytes = engine.extents().read(id(&row.value), 0..9_000).await.map_err(text)?;
                (1..=TURNS).find(|&turn| bytes == chunk(writer, turn)).ok_or("foreign bytes in a chunk")?
            }
        });
    }
    let first = turns[0];
    turns.iter().all(|turn| *turn == first).then_some(first).ok_or(format!("half there: {turns:?}"))
}
