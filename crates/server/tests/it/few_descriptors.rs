//! With 256 file descriptors and more clients than that, the server slows down, and neither dies nor spins.

use std::net::TcpStream;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use crate::client::{connect, get};
use crate::process::{BINARY, Server, free_ports, refused};

fn cpu_ticks(process: u32) -> u64 {
    let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).expect("a process");
    let fields: Vec<&str> = stat.rsplit(')').next().expect("fields").split_whitespace().collect();
    fields[11].parse::<u64>().expect("utime") + fields[12].parse::<u64>().expect("stime")
}

fn with_descriptors(most: u32, data: &Path) -> Command {
    let mut command = lazuli_testing::with_descriptors(BINARY, most);
    free_ports(&mut command).arg("--silent").arg("--location").arg(data);
    command
}

#[test]
fn too_few_to_keep_data_with_are_refused_at_once() {
    let data = tempfile::tempdir().expect("a directory");
    let message = refused(&mut with_descriptors(100, data.path()));
    assert!(message.contains("100 file descriptors are too few"), "{message}");
    assert!(!data.path().join("lazuli-data").exists(), "nothing is made");
}

#[test]
fn idle_clients_make_room_for_new_ones() {
    let data = tempfile::tempdir().expect("a directory");
    let server = Server::start(&mut with_descriptors(256, data.path()));
    let blob = server.address("blob");

    let crowd: Vec<TcpStream> = (0..400).map(|_| connect(blob)).collect();
    let before = cpu_ticks(server.id());
    std::thread::sleep(Duration::from_secs(2));
    assert!(cpu_ticks(server.id()) - before < 100, "spins: more than half a core while nothing happens");
    assert_eq!(get(server.address("admin"), "/healthz").status, 200, "health is answered in a full house");
    let answer = get(blob, "/devstoreaccount1?comp=list");
    assert!(answer.header("x-ms-request-id").is_some(), "{answer:?}");
    drop(crowd);
    assert!(get(blob, "/devstoreaccount1?comp=list").header("x-ms-request-id").is_some());
    server.stop();
}
