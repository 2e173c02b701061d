//! Downloads of contents with holes that take long, where no snapshot is held for them: the bytes are of one moment, or the
//! download ends with an error.

use std::time::Duration;

use lazuli_engine::Host;
use lazuli_model::time::Timestamp;
use lazuli_service::ServiceOptions;
use lazuli_service::blob::DeleteSnapshots;
use lazuli_service::download::Download;
use lazuli_service::file::GetFile;

use crate::support::{Bench, drain};
use crate::tree::{Read, at, given};

const PAGE: u64 = 512;
/// Of each run of pages: inline, so that a few of them fill a batch.
const RUN: u64 = 16;
/// More than are loaded at a time where a snapshot is held.
const RUNS: u64 = 150;

/// As over a database, and with so little memory that a batch is some eight intervals.
fn in_small_batches() -> ServiceOptions {
    ServiceOptions { holds_snapshots: false, answer_memory: 0, ..ServiceOptions::default() }
}

/// Two layers, the upper one with every third run. The snapshot holds the lower one.
async fn layered(bench: &Bench) -> (Vec<u8>, Timestamp) {
    bench.create_pages("b", RUNS * RUN).await;
    for run in 0..RUNS {
        bench.put_pages("b", run * RUN, RUN, 1).await.unwrap();
    }
    let snapshot = bench.snapshot("b").await.unwrap();
    for run in (0..RUNS).step_by(3) {
        bench.put_pages("b", run * RUN, RUN, 2).await.unwrap();
    }
    (bench.get("b", None).await.unwrap(), snapshot)
}

async fn first_parts(download: &mut Download, count: usize) -> Vec<u8> {
    let mut bytes = Vec::new();
    for _ in 0..count {
        bytes.extend_from_slice(&download.next().await.unwrap().unwrap());
    }
    bytes
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Act {
    Nothing,
    Snapshot,
    SweepTheLowerLayer,
    Write,
    Clear,
    Resize,
    Recreate,
    Delete,
    SnapshotAndWrite,
    WriteAndSnapshot,
}

use Act::*;

impl Act {
    async fn act(self, bench: &Bench, lower: Timestamp) {
        // Near the end, where it is not read yet.
        let (from, end) = ((RUNS - 2) * RUN + 3, RUNS * RUN);
        match self {
            Nothing => {}
            Snapshot => drop(bench.snapshot("b").await.unwrap()),
            SweepTheLowerLayer => {
                bench.delete("b", Some(lower), None).await.unwrap();
                bench.sweep().await;
            }
            Write => drop(bench.put_pages("b", from, 4, 9).await.unwrap()),
            Clear => bench.clear_pages("b", from, 4).await.unwrap(),
            Resize => {
                bench.resize("b", from).await;
                bench.resize("b", end).await;
            }
            Recreate => {
                bench.delete("b", None, Some(DeleteSnapshots::Include)).await.unwrap();
                bench.create_pages("b", end).await;
                bench.put_pages("b", from, 4, 9).await.unwrap();
                bench.sweep().await;
            }
            Delete => {
                bench.delete("b", None, Some(DeleteSnapshots::Include)).await.unwrap();
                bench.sweep().await;
            }
            SnapshotAndWrite => {
                bench.snapshot("b").await.unwrap();
                bench.put_pages("b", from, 4, 9).await.unwrap();
            }
            WriteAndSnapshot => {
                bench.put_pages("b", from, 4, 9).await.unwrap();
                bench.snapshot("b").await.unwrap();
            }
        }
    }
}

#[tokio::test]
async fn what_is_loaded_in_batches_is_of_one_moment_or_cut() {
    let acts = [
        Nothing,
        Snapshot,
        SweepTheLowerLayer,
        Write,
        Clear,
        Resize,
        Recreate,
        Delete,
        SnapshotAndWrite,
        WriteAndSnapshot,
    ];
    for act in acts {
        for parts in [0, 1, 30] {
            let bench = Bench::with(in_small_batches()).await;
            let (bytes, lower) = layered(&bench).await;
            let mut open = bench.open("b", None, None).await.unwrap();
            let mut read = first_parts(&mut open, parts).await;
            act.act(&bench, lower).await;
            match drain(open).await {
                Ok(rest) => {
                    read.extend(rest);
                    assert!(read == bytes, "{act:?} after {parts} parts: bytes of two moments");
                    assert!(act as u8 <= SweepTheLowerLayer as u8, "{act:?}: there was another batch");
                }
                Err(fault) => {
                    assert!(act as u8 > SweepTheLowerLayer as u8, "{act:?} changes no byte: {fault:?}");
                    assert!(bytes.starts_with(&read));
                }
            }
        }
    }
}

/// A snapshot is not written to: its download goes on whatever happens to the blob.
#[tokio::test]
async fn a_snapshot_is_downloaded_in_batches_while_its_blob_is_written_to() {
    let bench = Bench::with(in_small_batches()).await;
    let (_, snapshot) = layered(&bench).await;
    let mut open = bench.open("b", Some(snapshot), None).await.unwrap();
    let mut read = first_parts(&mut open, 3).await;
    bench.clear_pages("b", 0, RUNS * RUN).await.unwrap();
    bench.put_pages("b", 7, 50 * RUN, 9).await.unwrap();
    bench.sweep().await;
    read.extend(drain(open).await.unwrap());
    assert!(read == vec![1; (RUNS * RUN * PAGE) as usize]);
}

/// A range ends where it was asked to, also where a later batch begins in the middle of an interval's layer.
#[tokio::test]
async fn ranges_are_loaded_in_batches_too() {
    let bench = Bench::with(in_small_batches()).await;
    let (bytes, _) = layered(&bench).await;
    for (from, to) in [(0, 1), (5_000, 200_000), (100_001, bytes.len() - 1), (400_000, 400_001)] {
        let range = format!("bytes={from}-{to}");
        let part = drain(bench.open("b", None, Some(&range)).await.unwrap()).await.unwrap();
        assert!(part == bytes[from..=to], "{range}");
    }
}

/// In this process a snapshot costs nothing: writers cut no download.
#[tokio::test]
async fn where_snapshots_are_held_no_writer_disturbs_a_download() {
    let bench = Bench::with(ServiceOptions { holds_snapshots: true, ..in_small_batches() }).await;
    if crate::SERVERS > 1 || bench.services.engine().stats().remote.is_some() {
        return;
    }
    bench.create_pages("b", 100 * RUN).await;
    for run in 0..100 {
        bench.put_pages("b", run * RUN, RUN, 1).await.unwrap();
    }
    let open = bench.open("b", None, None).await.unwrap();
    bench.put_pages("b", 0, 100 * RUN, 2).await.unwrap();
    bench.delete("b", None, None).await.unwrap();
    bench.sweep().await;
    assert!(drain(open).await.unwrap() == vec![1; (100 * RUN * PAGE) as usize]);
}

#[tokio::test]
async fn files_are_loaded_in_batches_too() {
    let bench = Bench::with(in_small_batches()).await;
    bench.create_share().await;
    let length = 60 * 8_192;
    bench.make_file("f", length).await.unwrap();
    for part in 0..60 {
        bench.write_range("f", part * 8_192..(part + 1) * 8_192, 1).await.unwrap();
    }
    let open = async |snapshot| {
        let input = GetFile { at: at("f", snapshot), preconditions: given(), range: None };
        input.execute(&bench.services, &bench.context, Read).await.unwrap().content.unwrap().1
    };
    let undisturbed = open(None).await;
    assert!(drain(undisturbed).await.unwrap() == vec![1; length as usize]);
    let disturbed = open(None).await;
    let moment = bench.snapshot_share().await;
    let of_snapshot = open(Some(moment)).await;
    bench.write_range("f", length - 100..length, 2).await.unwrap();
    assert!(drain(disturbed).await.is_err());
    assert!(drain(of_snapshot).await.unwrap() == vec![1; length as usize]);
    let replaced = open(None).await;
    bench.make_file("g", length).await.unwrap();
    bench.rename_path("g", "f", true).await.unwrap();
    assert!(drain(replaced).await.is_err());
}

/// A database holds few snapshots, and each for seconds: a client that takes longer than that needs none.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn slow_clients_hold_no_connection_to_the_database() {
    let Some(engine) = crate::testing::on_postgres(Host::real()).await else {
        eprintln!("there is no PostgreSQL here");
        return;
    };
    let bench = Bench::over(engine, in_small_batches()).await;
    let (bytes, _) = layered(&bench).await;
    // Several servers look after one another meanwhile, which holds some for a moment.
    let held = || match crate::SERVERS {
        1 => bench.services.engine().stats().remote.unwrap().snapshots_held,
        _ => 0,
    };
    // More than there are snapshots at a time.
    let mut open = Vec::new();
    for _ in 0..20 {
        let mut download = bench.open("b", None, None).await.unwrap();
        let read = first_parts(&mut download, 1).await;
        open.push((download, read));
    }
    assert_eq!(held(), 0);
    assert_eq!(crate::support::listed(&bench, "").await, ["b@", "b"]);
    tokio::time::sleep(Duration::from_secs(11)).await;
    for (mut download, mut read) in open {
        while let Some(part) = download.next().await {
            read.extend_from_slice(&part.unwrap());
            assert_eq!(held(), 0, "between the batches");
        }
        assert!(read == bytes);
    }
}
