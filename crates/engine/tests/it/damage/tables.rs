//! The files that name the tables, which fjall believes: whatever is wrong with them is told, and nothing is changed.

use super::{cut, damage, filled, is_damaged, journal, open};
use crate::contract::{Place, text};
use std::fs;
use std::path::{Path, PathBuf};

fn kv(place: &Place) -> PathBuf {
    place.dir.path().join("kv")
}

/// `current` and the list that it names, of every keyspace.
fn lists(place: &Place) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for number in 0..4 {
        let keyspace = kv(place).join("keyspaces").join(number.to_string());
        let current = keyspace.join("current");
        let version = u64::from_le_bytes(*fs::read(&current).unwrap().first_chunk().unwrap());
        found.extend([current, keyspace.join(format!("v{version}"))]);
    }
    found
}

fn refused(place: &Place, what: &str) {
    let result = open(place);
    assert!(is_damaged(&result), "{what}: {:?}", result.err().map(|error| error.to_string()));
}

#[tokio::test]
async fn a_bit_in_a_list_of_tables_is_told() {
    let place = filled(3, true).await;
    for path in lists(&place) {
        let good = fs::read(&path).unwrap();
        for at in 0..good.len() {
            damage(&path, at as u64, &[good[at] ^ (1 << (at % 8))]);
            refused(&place, &format!("{} at {at}", path.display()));
            damage(&path, at as u64, &good[at..=at]);
        }
    }
    let engine = open(&place).expect("opens when repaired");
    assert!(text(&engine, "k/0002").await.is_some());
}

#[tokio::test]
async fn a_list_of_tables_cut_short_or_grown_is_told() {
    let place = filled(3, true).await;
    for path in lists(&place) {
        let good = fs::read(&path).unwrap();
        for at in (0..good.len()).step_by(3).chain([good.len() - 1]) {
            cut(&path, at as u64);
            refused(&place, &format!("{} cut at {at}", path.display()));
        }
        fs::write(&path, [&good[..], &[0]].concat()).unwrap();
        refused(&place, &format!("{} grown", path.display()));
        fs::write(&path, good).unwrap();
    }
    assert!(open(&place).is_ok());
}

/// Of what is missing fjall would make a new, empty one.
#[tokio::test]
async fn a_missing_file_is_told() {
    let place = filled(3, true).await;
    let keyspaces = kv(&place).join("keyspaces");
    let mut missing = lists(&place);
    missing.extend([kv(&place).join("version"), journal(&place), keyspaces.clone()]);
    missing.extend((0..4).map(|number| keyspaces.join(number.to_string())));
    let away = place.dir.path().join("away");
    for path in missing {
        fs::rename(&path, &away).unwrap();
        refused(&place, &format!("{} missing", path.display()));
        assert!(!path.exists(), "{} was made again", path.display());
        fs::rename(&away, &path).unwrap();
    }
    let engine = open(&place).expect("opens when everything is there");
    assert!(text(&engine, "k/0002").await.is_some());
}

#[tokio::test]
async fn a_directory_that_is_not_a_keyspace_is_told() {
    let place = filled(1, true).await;
    let other = kv(&place).join("keyspaces/other");
    fs::create_dir(&other).unwrap();
    refused(&place, "a stray directory");
    fs::remove_dir(other).unwrap();
    assert!(open(&place).is_ok());
}

/// The first table of fjall's own keyspace: there is always one.
fn table(place: &Place) -> PathBuf {
    let tables = kv(place).join("keyspaces/0/tables");
    fs::read_dir(tables).unwrap().next().unwrap().unwrap().path()
}

#[tokio::test]
async fn a_bit_in_a_tables_contents_is_told() {
    let place = filled(1, true).await;
    let path = table(&place);
    let good = fs::read(&path).unwrap();
    // Behind the blocks: which sections there are, and the trailer without the length at its end, which nobody reads.
    let start = good.windows(4).rposition(|four| four == b"TOC!").unwrap();
    for at in start..good.len() - 8 {
        damage(&path, at as u64, &[good[at] ^ (1 << (at % 8))]);
        refused(&place, &format!("at {at} of {}..{}", start, good.len()));
        damage(&path, at as u64, &good[at..=at]);
    }
    assert!(open(&place).is_ok());
}

/// The number by which fjall tells the newer of two values, in front of every batch and under no checksum.
#[tokio::test]
async fn a_batch_of_the_log_that_is_out_of_order_is_told() {
    let place = filled(10, false).await;
    let path = journal(&place);
    let starts = batches(&path);
    assert_eq!(starts.len(), 10);
    // Bits that move the fifth before the fourth or behind the sixth; the one in the middle of both stays where it is.
    for (bit, higher) in [(1, true), (1, false), (30, true), (61, true), (62, true), (63, true)] {
        let good = fs::read(&path).unwrap();
        let at = starts[4] + 5;
        let number = u64::from_le_bytes(good[at..at + 8].try_into().unwrap());
        let moved = if higher { number + (1 << bit) } else { number - (1 << bit) };
        damage(&path, at as u64, &moved.to_le_bytes());
        refused(&place, &format!("bit {bit}"));
        damage(&path, at as u64, &number.to_le_bytes());
    }
    let engine = open(&place).expect("opens when repaired");
    assert!(text(&engine, "k/0009").await.is_some());
}

/// Where the batches start: behind the trailer of the one before.
fn batches(path: &Path) -> Vec<usize> {
    let bytes = fs::read(path).unwrap();
    let ends = memchr::memmem::find_iter(&bytes, b"FJL\x03").map(|at| at + 4);
    let mut starts: Vec<usize> = std::iter::once(0).chain(ends).collect();
    starts.pop();
    starts
}
