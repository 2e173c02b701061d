//! What the metrics say about requests and about the engine.

use std::fs::OpenOptions;
use std::io::{Read, Write};
use std::net::SocketAddr;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::time::{Duration, Instant};

use crate::client::{ACCOUNT, Request, connect, get, put_blob, send, send_signed, signed};
use crate::process::{Server, command, in_memory};

const MIB: usize = 1 << 20;

/// The figure of a line that begins so.
fn figure(admin: SocketAddr, line: &str) -> Option<f64> {
    let text = get(admin, "/metrics").text();
    let found = text.lines().find_map(|found| found.strip_prefix(line));
    found.map(|value| value.trim().parse().unwrap_or_else(|_| panic!("{line}: {value}")))
}

fn there(admin: SocketAddr, line: &str) -> f64 {
    figure(admin, line).unwrap_or_else(|| panic!("no {line}"))
}

/// Waits until the figure is there: answers are counted when they are sent, which may be after the client has them.
fn soon(admin: SocketAddr, line: &str) -> f64 {
    let end = Instant::now() + Duration::from_secs(20);
    loop {
        match figure(admin, line) {
            Some(figure) => return figure,
            None if Instant::now() > end => panic!("no {line} in {}", get(admin, "/metrics").text()),
            None => std::thread::sleep(Duration::from_millis(20)),
        }
    }
}

/// What a Put Blob is answered.
fn put(blob: SocketAddr, target: &str, body: &[u8]) -> u16 {
    send(connect(blob), &put_blob(blob, target, body)).status
}

/// A server with a blob of so many MiB, far more than sockets keep.
fn with_blob(server: &Server, mib: usize) -> String {
    let target = format!("/{ACCOUNT}/box/large");
    let body: Vec<u8> = (0..mib * MIB).map(|at| b'a' + (at % 23) as u8).collect();
    assert_eq!(put(server.address("blob"), &target, &body), 201);
    target
}

/// Asks for it and reads nothing yet.
fn begin(server: &Server, target: &str) -> std::net::TcpStream {
    let blob = server.address("blob");
    let mut stream = connect(blob);
    let get = signed(blob, Request::new("GET", target));
    stream.write_all(&get.to_bytes()).expect("sent");
    stream
}

/// Reads until the server ends the connection, or what was announced is there.
fn read_up_to(mut stream: std::net::TcpStream, bytes: usize) -> usize {
    let (mut buffer, mut read) = (vec![0; 64 * 1024], 0);
    while read < bytes {
        match stream.read(&mut buffer) {
            Ok(0) | Err(_) => break,
            Ok(more) => read += more,
        }
    }
    read
}

#[test]
fn a_duration_ends_with_the_last_byte_of_the_answer() {
    let server = Server::start(in_memory().args(["--createContainers", "box"]));
    let target = with_blob(&server, 24);
    let stream = begin(&server, &target);
    std::thread::sleep(Duration::from_secs(1));
    let sum = "lazuli_request_duration_seconds_sum{operation=\"GetBlob\"}";
    assert_eq!(figure(server.address("admin"), sum), None, "counted before it was sent");
    assert!(read_up_to(stream, 24 * MIB) >= 24 * MIB);
    let seconds = soon(server.address("admin"), sum);
    assert!(seconds >= 0.5, "{seconds}");
    assert_eq!(figure(server.address("admin"), "lazuli_answers_cut_short_total{"), None);
}

#[test]
fn a_client_that_leaves_is_counted_as_such() {
    let server = Server::start(in_memory().args(["--createContainers", "box"]));
    let target = with_blob(&server, 24);
    let stream = begin(&server, &target);
    assert!(read_up_to(stream, MIB) >= MIB);
    let line = "lazuli_answers_cut_short_total{operation=\"GetBlob\",by=\"client\"}";
    assert_eq!(soon(server.address("admin"), line), 1.0);
    let log = server.stop();
    let left = |line: &&str| line.contains("operation=\"GetBlob\"") && line.contains("sent=\"left\"");
    assert_eq!(log.lines().filter(left).count(), 1, "{log}");
}

/// Overwrites some bytes of a blob where they lie on the disk.
fn damage(data: &Path, bytes: &[u8]) {
    let extents = std::fs::read_dir(data.join("lazuli-data/ext")).expect("extents");
    for path in extents.flatten().map(|entry| entry.path()) {
        let content = std::fs::read(&path).expect("readable");
        if let Some(at) = memchr::memmem::find(&content, bytes) {
            let file = OpenOptions::new().write(true).open(&path).expect("opens");
            file.write_all_at(&vec![b'?'; bytes.len()], at as u64).expect("overwritten");
            return;
        }
    }
    panic!("not found in any extent");
}

#[test]
fn an_answer_that_the_server_cannot_finish_is_counted_as_broken_and_logged_in_silence() {
    let data = tempfile::tempdir().expect("a directory");
    let server = Server::start(command(data.path()).args(["--createContainers", "box", "--silent"]));
    let target = format!("/{ACCOUNT}/box/large");
    let mut body = vec![b'x'; 24 * MIB];
    body[22 * MIB..22 * MIB + 16].copy_from_slice(b"not what it was!");
    assert_eq!(put(server.address("blob"), &target, &body), 201);
    damage(data.path(), b"not what it was!");
    let read = read_up_to(begin(&server, &target), 24 * MIB);
    assert!(read < 24 * MIB, "the damage was found");
    let line = "lazuli_answers_cut_short_total{operation=\"GetBlob\",by=\"server\"}";
    assert_eq!(soon(server.address("admin"), line), 1.0);
    let log = server.stop();
    let broken = |line: &&str| line.contains("operation=\"GetBlob\"") && line.contains("sent=\"broken\"");
    assert_eq!(log.lines().filter(broken).count(), 1, "{log}");
    let said = |line: &&str| line.contains("an answer broke off") && line.contains("operation=\"GetBlob\"");
    assert_eq!(log.lines().filter(said).count(), 1, "{log}");
}

#[test]
fn the_engine_and_the_disk_are_watched() {
    let data = tempfile::tempdir().expect("a directory");
    let server = Server::start(command(data.path()).args(["--createContainers", "box"]));
    let (admin, blob) = (server.address("admin"), server.address("blob"));
    let (groups, syncs) = ("lazuli_engine_groups_total", "lazuli_engine_sync_duration_seconds_count");
    let (hits, misses) = ("lazuli_row_cache_hits_total", "lazuli_row_cache_misses_total");
    let before = [groups, syncs, hits, misses].map(|line| there(admin, line));
    for name in ["one", "two", "one"] {
        let target = format!("/{ACCOUNT}/box/{name}");
        assert_eq!(put(blob, &target, &vec![b'x'; MIB]), 201);
        assert_eq!(send_signed(blob, "GET", &target).body.len(), MIB);
    }
    let after = [groups, syncs, hits, misses].map(|line| there(admin, line));
    for (name, (before, after)) in [groups, syncs, hits, misses].iter().zip(before.iter().zip(after)) {
        assert!(after > *before, "{name}: {before} to {after}");
    }
    assert!(
        after[0] - before[0] >= 3.0 && after[1] - before[1] >= 3.0,
        "every write is a group or more: {after:?}"
    );
    assert!(there(admin, "lazuli_engine_sync_duration_seconds_sum") > 0.0);
    let buckets = get(admin, "/metrics").text();
    let infinity = "lazuli_engine_sync_duration_seconds_bucket{le=\"+Inf\"}";
    assert!(buckets.contains(infinity), "{buckets}");
    assert!(there(admin, "lazuli_engine_transactions_total") >= 3.0);
    assert!(there(admin, "lazuli_row_cache_bytes") > 0.0);
    assert!(there(admin, "lazuli_extents") >= 1.0);
    assert!(there(admin, "lazuli_extents_used_bytes") >= 2.0 * MIB as f64);
    assert!(there(admin, "lazuli_extents_unused_bytes") >= 0.0);
    assert!(there(admin, "lazuli_disk_available_bytes") > MIB as f64);
    let build = format!("lazuli_build_info{{version=\"{}\"", env!("CARGO_PKG_VERSION"));
    assert!(buckets.contains(&build), "{buckets}");
}

/// A figure that is not described is not found.
#[test]
fn every_metric_is_documented() {
    let data = tempfile::tempdir().expect("a directory");
    let server = Server::start(&mut command(data.path()));
    let text = get(server.address("admin"), "/metrics").text();
    let documentation = include_str!("../../../../docs/configuration.md");
    let types = text.lines().filter_map(|line| line.strip_prefix("# TYPE "));
    let names: Vec<(&str, &str)> = types.filter_map(|line| line.split_once(' ')).collect();
    assert!(names.len() > 10, "{text}");
    for (name, kind) in names {
        let name = match kind {
            "counter" => format!("{name}_total"),
            "info" => format!("{name}_info"),
            _ => name.to_owned(),
        };
        assert!(documentation.contains(&format!("`{name}")), "{name} is not in docs/configuration.md");
    }
}
