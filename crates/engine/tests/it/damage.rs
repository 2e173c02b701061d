//! Directories that must not be opened, and torn ends that must be.

mod tables;

use crate::contract::{Kind, Place, options, put, text, write};
use lazuli_engine::{Engine, Host, OpenError};
use std::fs::{self, OpenOptions};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

async fn filled(commits: usize, clean: bool) -> Place {
    let place = Place::new(Kind::Embedded).unwrap();
    let engine = place.open();
    for n in 0..commits {
        write(&engine, vec![put(&format!("k/{n:04}"), &"v".repeat(3_000))]).await;
    }
    if clean {
        engine.close().await.unwrap();
    }
    drop(engine);
    place
}

fn open(place: &Place) -> Result<Engine, OpenError> {
    Engine::open(place.dir.path(), options(), Host::real())
}

fn journal(place: &Place) -> PathBuf {
    let mut found: Vec<_> = fs::read_dir(place.dir.path().join("kv"))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "jnl"))
        .collect();
    assert_eq!(found.len(), 1, "{found:?}");
    found.remove(0)
}

/// Where the written part of a journal ends.
fn end(path: &Path) -> u64 {
    let bytes = fs::read(path).unwrap();
    // Block by block first: most of the file is zeros.
    let blocks = bytes.chunks(4_096).rposition(|block| block != &[0; 4_096][..block.len()]).unwrap();
    let bytes = &bytes[..((blocks + 1) * 4_096).min(bytes.len())];
    bytes.iter().rposition(|&byte| byte != 0).unwrap() as u64 + 1
}

fn damage(path: &Path, at: u64, bytes: &[u8]) {
    OpenOptions::new().write(true).open(path).unwrap().write_all_at(bytes, at).unwrap();
}

fn cut(path: &Path, at: u64) {
    OpenOptions::new().write(true).open(path).unwrap().set_len(at).unwrap();
}

fn is_damaged(result: &Result<Engine, OpenError>) -> bool {
    matches!(result, Err(OpenError::Damaged { .. }))
}

fn reason(result: Result<Engine, OpenError>) -> String {
    result.err().expect("is refused").to_string()
}

#[tokio::test]
async fn a_log_damaged_in_the_middle_is_refused_again_and_again() {
    for clean in [true, false] {
        let place = filled(100, clean).await;
        let journal = journal(&place);
        let middle = end(&journal) / 2;
        for bytes in [&[0; 4_096][..], &[0xFF], &[1; 13]] {
            let before = fs::read(&journal).unwrap();
            damage(&journal, middle, bytes);
            let damaged = fs::read(&journal).unwrap();
            for _ in 0..2 {
                let result = open(&place);
                assert!(is_damaged(&result), "clean {clean}: {}", bytes.len());
            }
            assert!(fs::read(&journal).unwrap() == damaged, "a refused directory is left as it was");
            fs::write(&journal, before).unwrap();
        }
        let engine = open(&place).expect("opens when repaired");
        assert!(text(&engine, "k/0099").await.is_some());
    }
}

#[tokio::test]
async fn a_torn_last_group_is_cut_off() {
    // Killed, and the end of the log did not reach the disk: any part of the last batch may be missing.
    let len = {
        let place = filled(20, false).await;
        let journal = journal(&place);
        let all = end(&journal);
        drop(open(&place).unwrap());
        all / 20
    };
    for back in [1, 5, 14, 30, 100, 1_000, len - 40, len - 10] {
        for zeros in [true, false] {
            let place = filled(20, false).await;
            let journal = journal(&place);
            let at = end(&journal) - back;
            if zeros {
                // A hole in the batch, its end intact.
                damage(&journal, at, &vec![0; (back as usize).min(64)]);
            } else {
                cut(&journal, at);
            }
            // The superblock of such a crash is from before the last commit.
            forget(&place);
            let engine = open(&place).unwrap_or_else(|error| panic!("{back} {zeros}: {error}"));
            assert_eq!(text(&engine, "k/0019").await, None, "{back} {zeros}");
            assert!(text(&engine, "k/0018").await.is_some(), "{back} {zeros}");
            write(&engine, vec![put("k/0019", "again")]).await;
            drop(engine);
            let engine = open(&place).unwrap();
            assert_eq!(text(&engine, "k/0019").await.as_deref(), Some("again"));
        }
    }
}

/// Overwrites the newer slot of the superblock: the older one, from the opening, counts.
fn forget(place: &Place) {
    let path = place.dir.path().join("superblock");
    let bytes = fs::read(&path).unwrap();
    let generation = |slot: usize| u64::from_be_bytes(bytes[slot * 4_096 + 8..][..8].try_into().unwrap());
    let newer = usize::from(generation(1) > generation(0));
    if u64::from_be_bytes(bytes[newer * 4_096 + 32..][..8].try_into().unwrap()) > 0 {
        damage(&path, newer as u64 * 4_096, &[0; 64]);
    }
}

#[tokio::test]
async fn a_log_that_lost_its_end_after_a_clean_stop_is_refused() {
    let place = filled(20, true).await;
    let journal = journal(&place);
    cut(&journal, end(&journal) - 10);
    let before = fs::read(&journal).unwrap();
    for _ in 0..2 {
        assert!(is_damaged(&open(&place)));
        assert!(fs::read(&journal).unwrap() == before);
    }
}

#[tokio::test]
async fn an_empty_log_after_a_clean_stop_is_refused() {
    let place = filled(20, true).await;
    cut(&journal(&place), 0);
    for _ in 0..2 {
        assert!(is_damaged(&open(&place)));
    }
}

#[tokio::test]
async fn a_stored_value_cannot_pass_for_a_mark() {
    // Whoever reads the log can copy marks, a client cannot: but even a copy within a value must do no harm
    // as long as the log is intact.
    let place = filled(5, false).await;
    let log = fs::read(journal(&place)).unwrap();
    let engine = open(&place).unwrap();
    let copy = bytes::Bytes::from(log[..15_000].to_vec());
    write(&engine, vec![lazuli_engine::Write::Put(crate::contract::key("copy"), copy.clone())]).await;
    drop(engine);
    let engine = open(&place).expect("opens");
    assert_eq!(crate::contract::peek(&engine, "copy").await.map(|entry| entry.value), Some(copy));
}

#[tokio::test]
async fn a_damaged_superblock_slot_is_survived_and_both_are_not() {
    let place = filled(5, true).await;
    let path = place.dir.path().join("superblock");
    let good = fs::read(&path).unwrap();
    for slot in [0, 4_096] {
        damage(&path, slot + 20, &[0x55]);
        let engine = open(&place).expect("one slot is enough");
        assert!(text(&engine, "k/0004").await.is_some());
        drop(engine);
        fs::write(&path, &good).unwrap();
    }
    damage(&path, 20, &[0x55]);
    damage(&path, 4_096 + 20, &[0x55]);
    assert!(is_damaged(&open(&place)));
}

#[tokio::test]
async fn a_directory_has_one_owner() {
    let place = Place::new(Kind::Embedded).unwrap();
    let engine = place.open();
    assert!(matches!(open(&place), Err(OpenError::Locked(_))));
    drop(engine);
    open(&place).expect("free again");
}

#[tokio::test]
async fn a_foreign_directory_is_left_alone() {
    let place = Place::new(Kind::Embedded).unwrap();
    fs::write(place.dir.path().join("thesis.tex"), "years of work").unwrap();
    fs::create_dir(place.dir.path().join("kv")).unwrap();
    assert!(matches!(open(&place), Err(OpenError::NotOurs(_))));
    assert!(place.dir.path().join("kv").exists());
}

#[tokio::test]
async fn a_newer_format_is_named() {
    let place = filled(1, true).await;
    fs::write(place.dir.path().join("FORMAT"), "lazuli data, format 2\n").unwrap();
    let reason = reason(open(&place));
    assert!(reason.contains("newer version") && reason.contains("format 2"), "{reason}");
    fs::write(place.dir.path().join("FORMAT"), "something else").unwrap();
    assert!(matches!(open(&place), Err(OpenError::NotOurs(_))));
}

#[tokio::test]
async fn a_directory_whose_making_was_cut_short_is_made_again() {
    let place = filled(1, true).await;
    let dir = place.dir.path();
    fs::remove_file(dir.join("FORMAT")).unwrap();
    fs::write(dir.join("NEW"), "").unwrap();
    for missing in ["kv/version", "kv/0.jnl", "superblock"] {
        let _ = fs::remove_file(dir.join(missing));
    }
    let engine = open(&place).expect("starts anew");
    assert_eq!(text(&engine, "k/0000").await, None);
}
