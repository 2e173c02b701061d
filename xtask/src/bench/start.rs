//! From exec to the first answer, on an empty directory and in memory, and the memory of an idle server.

use std::fs;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use lazuli_testing::{Server, free_ports};

use crate::paths;
use crate::shell::{self, Chore, cargo_dist};

const ROUNDS: usize = 15;
/// Memory is looked at when the work of starting is over.
const SETTLE: Duration = Duration::from_secs(3);

pub fn run(_arguments: &[&str]) -> Chore {
    shell::run(cargo_dist("build").args(["--package", "lazuli"]))?;
    for (name, in_memory) in [("empty directory", false), ("in memory", true)] {
        let mut times = Vec::with_capacity(ROUNDS);
        let mut resident = None;
        for round in 1..=ROUNDS {
            let seen = start(in_memory, round == ROUNDS)?;
            times.push(seen.first_answer);
            resident = seen.resident.or(resident);
        }
        times.sort();
        let (fastest, median, slowest) = (times.first(), times.get(times.len() / 2), times.last());
        println!(
            "start, {name}: first answer after {fastest:.1?} .. {median:.1?} .. {slowest:.1?}; idle memory {}",
            resident.unwrap_or_default(),
            fastest = fastest.copied().unwrap_or_default(),
            median = median.copied().unwrap_or_default(),
            slowest = slowest.copied().unwrap_or_default(),
        );
    }
    Ok(())
}

struct Seen {
    first_answer: Duration,
    resident: Option<String>,
}

fn start(in_memory: bool, settle: bool) -> Chore<Seen> {
    let failed = |error: std::io::Error| format!("start: {error}");
    let place = paths::target().join(format!("bench-start-{}", std::process::id()));
    fs::create_dir_all(&place).map_err(failed)?;
    let mut command = Command::new(paths::dist().join("lazuli"));
    free_ports(&mut command);
    match in_memory {
        true => command.arg("--inMemoryPersistence"),
        false => command.arg("--location").arg(&place),
    };
    let started = Instant::now();
    let mut server = Server::start(command.arg("--silent").stderr(Stdio::null()))?;
    let answered = first_answer(&server);
    let first_answer = started.elapsed();
    let resident = settle.then(|| {
        std::thread::sleep(SETTLE);
        let status = fs::read_to_string(format!("/proc/{}/status", server.id())).unwrap_or_default();
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap_or("unknown");
        line.trim().to_owned()
    });
    server.kill();
    fs::remove_dir_all(&place).map_err(failed)?;
    answered.map_err(failed)?;
    Ok(Seen { first_answer, resident })
}

/// Asks the Blob service as soon as the server has said that it is ready; the first bytes of the answer will do.
fn first_answer(server: &Server) -> std::io::Result<()> {
    let blob = server.listener("blob").ok_or(std::io::ErrorKind::NotFound)?;
    let mut stream = TcpStream::connect(blob.address)?;
    stream.write_all(b"GET /devstoreaccount1?comp=list HTTP/1.1\r\nHost: a\r\n\r\n")?;
    stream.read_exact(&mut [0; 12])
}
