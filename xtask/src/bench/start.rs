//! From exec to the first answer, on an empty directory and in memory, and the memory of an idle server.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

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
    for port in ["blob", "queue", "table", "file", "dfs", "admin"] {
        command.args([format!("--{port}Port"), "0".to_owned()]);
    }
    match in_memory {
        true => command.arg("--inMemoryPersistence"),
        false => command.arg("--location").arg(&place),
    };
    let started = Instant::now();
    let mut child =
        command.arg("--silent").stdout(Stdio::piped()).stderr(Stdio::null()).spawn().map_err(failed)?;
    let answered = child.stdout.take().map(|output| first_answer(BufReader::new(output)));
    let first_answer = started.elapsed();
    let resident = settle.then(|| {
        std::thread::sleep(SETTLE);
        let status = fs::read_to_string(format!("/proc/{}/status", child.id())).unwrap_or_default();
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap_or("unknown");
        line.trim().to_owned()
    });
    child.kill().and_then(|()| child.wait()).map_err(failed)?;
    fs::remove_dir_all(&place).map_err(failed)?;
    match answered {
        Some(Ok(())) => Ok(Seen { first_answer, resident }),
        Some(Err(error)) => Err(failed(error)),
        None => Err("start: no output".to_owned()),
    }
}

/// Asks the Blob service as soon as the server says that it is ready.
fn first_answer(output: impl BufRead) -> std::io::Result<()> {
    let mut blob = None;
    for line in output.lines() {
        let line = line?;
        if let Some(address) = line.strip_prefix("lazuli: blob listening on http://") {
            blob = Some(address.to_owned());
        }
        if line == "lazuli: ready" {
            break;
        }
    }
    let address = blob.ok_or(std::io::ErrorKind::NotFound)?;
    let mut stream = TcpStream::connect(address)?;
    stream.write_all(b"GET /devstoreaccount1?comp=list HTTP/1.1\r\nHost: a\r\n\r\n")?;
    stream.read_exact(&mut [0; 12])
}
