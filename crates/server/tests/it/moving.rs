//! `lazuli move` and `lazuli upgrade finish`, as an operator runs them. Where PostgreSQL is not installed, these say so and pass.

use std::collections::BTreeSet;
use std::net::SocketAddr;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use lazuli_testing::postgres::Postgres;

use crate::client::{ACCOUNT, Request, connect, put_blob, send, send_signed, signed};
use crate::process::{BINARY, Server, bare, command};

fn large() -> Vec<u8> {
    (0..9 << 20).map(|at| (at * 31 + at / 257) as u8).collect()
}

fn fill(server: &Server) {
    let (blob, queue) = (server.address("blob"), server.address("queue"));
    assert_eq!(send_signed(blob, "PUT", &format!("/{ACCOUNT}/con?restype=container")).status, 201);
    for (name, body) in [("small", b"few".to_vec()), ("large", large())] {
        let put = put_blob(blob, &format!("/{ACCOUNT}/con/{name}"), &body);
        assert_eq!(send(connect(blob), &put).status, 201);
    }
    assert_eq!(send_signed(queue, "PUT", &format!("/{ACCOUNT}/line")).status, 201);
    let message = "<QueueMessage><MessageText>hello</MessageText></QueueMessage>";
    let put = Request::new("POST", format!("/{ACCOUNT}/line/messages")).body(message);
    assert_eq!(send(connect(queue), &signed(queue, put)).status, 201);
}

fn assert_filled(server: &Server) {
    let read = |at: SocketAddr, target: &str| send_signed(at, "GET", &format!("/{ACCOUNT}/{target}"));
    assert_eq!(read(server.address("blob"), "con/small").body, b"few");
    assert!(read(server.address("blob"), "con/large").body == large());
    assert!(read(server.address("queue"), "line/messages?peekonly=true").text().contains("hello"));
}

fn lazuli(arguments: &[&str]) -> Output {
    Command::new(BINARY).args(arguments).env_remove("LAZULI_LOG").output().expect("it runs")
}

fn moved(from: &Path, to: &Path) -> Output {
    lazuli(&["move", "--from", &from.to_string_lossy(), "--to", &to.to_string_lossy()])
}

fn said(output: &Output) -> String {
    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}

#[test]
fn a_store_goes_from_a_directory_to_a_database_and_back() {
    let Some(postgres) = Postgres::start(&[]) else { return };
    let home = tempfile::tempdir().expect("a directory");
    let (before, after, file) =
        (home.path().join("before"), home.path().join("after"), home.path().join("c.toml"));
    let bytes = format!("file://{}", home.path().join("bytes").display());
    std::fs::write(&file, format!("database = {:?}\nbytes = {bytes:?}\n", postgres.url())).expect("written");
    let on_database = || {
        let mut command = bare();
        command.arg("--config").arg(&file);
        Server::start(&mut command)
    };
    let nothing = moved(&before, &file);
    assert!(!nothing.status.success() && said(&nothing).contains("there is no store"), "{}", said(&nothing));
    let server = Server::start(&mut command(&before));
    fill(&server);
    let busy = moved(&before, &file);
    assert!(!busy.status.success(), "a directory in use: {}", said(&busy));
    server.stop();

    let there = moved(&before, &file);
    assert!(there.status.success() && said(&there).contains("moved and compared"), "{}", said(&there));
    let again = moved(&before, &file);
    assert!(!again.status.success() && said(&again).contains("not empty"), "{}", said(&again));
    let server = on_database();
    assert_filled(&server);
    let used = moved(&file, &after);
    assert!(!used.status.success() && said(&used).contains("work over"), "{}", said(&used));
    let finished = lazuli(&["upgrade", "finish", "--config", &file.to_string_lossy()]);
    assert!(finished.status.success() && said(&finished).contains("the newest"), "{}", said(&finished));
    server.stop();

    let back = moved(&file, &after);
    assert!(back.status.success(), "{}", said(&back));
    let server = Server::start(&mut command(&after));
    assert_filled(&server);
    server.stop();
}

/// More pages than one, of rows and of bytes.
const MANY: usize = 300;

fn one_of_many(number: usize) -> Vec<u8> {
    // Into a row, or into a chunk.
    let length = if number.is_multiple_of(10) { 90_000 } else { 9_000 };
    (0..length).map(|at| (at * 7 + at / 251 + number * 13) as u8).collect()
}

/// Where a move that was killed goes on: behind which page.
fn place(postgres: &Postgres) -> String {
    postgres.ask("SELECT encode(v, 'hex') FROM lazuli.kv WHERE k = 'lmp'")
}

/// How many rows and objects there are.
fn progress(postgres: &Postgres, bytes: &Path) -> usize {
    if postgres.ask("SELECT to_regclass('lazuli.kv')").is_empty() {
        return 0;
    }
    let rows = postgres.ask("SELECT count(*) FROM lazuli.kv");
    rows.parse::<usize>().expect("a number") + objects(bytes)
}

fn objects(directory: &Path) -> usize {
    let entries = std::fs::read_dir(directory).into_iter().flatten().flatten();
    entries.map(|entry| if entry.path().is_dir() { objects(&entry.path()) } else { 1 }).sum()
}

/// Killed with SIGKILL when it has come further than before by so much; true when it ended by itself before that.
fn move_and_kill(from: &Path, to: &Path, further: usize, progress: &dyn Fn() -> usize) -> bool {
    let mut command = Command::new(BINARY);
    command.arg("move").arg("--from").arg(from).arg("--to").arg(to).env_remove("LAZULI_LOG");
    let (before, end) = (progress(), Instant::now() + Duration::from_secs(120));
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("it runs");
    loop {
        if let Some(status) = child.try_wait().expect("asked") {
            assert!(status.success(), "a move that goes on: {status}");
            return true;
        }
        if progress() >= before + further {
            child.kill().expect("killed");
            // It may have ended in this moment.
            return child.wait().expect("waited for").success();
        }
        assert!(Instant::now() < end, "it comes to no end");
    }
}

#[test]
fn a_move_to_a_database_that_is_killed_goes_on_when_it_is_given_again() {
    // Commits take 100 ms: there is time to look how far it is.
    let Some(postgres) = Postgres::start(&["commit_delay=100000", "commit_siblings=0"]) else { return };
    let home = tempfile::tempdir().expect("a directory");
    let (before, file, bytes) =
        (home.path().join("before"), home.path().join("c.toml"), home.path().join("bytes"));
    let text = format!("database = {:?}\nbytes = \"file://{}\"\n", postgres.url(), bytes.display());
    std::fs::write(&file, text).expect("written");
    let server = Server::start(&mut command(&before));
    fill(&server);
    let blob = server.address("blob");
    for number in 0..MANY {
        let put = put_blob(blob, &format!("/{ACCOUNT}/con/n{number}"), &one_of_many(number));
        assert_eq!(send(connect(blob), &put).status, 201);
    }
    server.stop();

    let (mut interrupted, mut places) = (0, BTreeSet::new());
    let come = || progress(&postgres, &bytes);
    // By then more is there than what a store begins with.
    while interrupted < 12 && !move_and_kill(&before, &file, 30, &come) {
        interrupted += 1;
        places.insert(place(&postgres));
        let mut command = bare();
        let started =
            lazuli_testing::Server::start(command.arg("--config").arg(&file).stderr(Stdio::piped()));
        let why = started.err().expect("no server works over half a store");
        assert!(why.contains("is not finished"), "{why}");
    }
    assert!(places.len() >= 3, "of {interrupted} interruptions, different ones: {places:?}");
    let last = moved(&before, &file);
    let is_done = said(&last).contains("moved and compared") || said(&last).contains("not empty");
    assert!(is_done, "{}", said(&last));
    let mut command = bare();
    let server = Server::start(command.arg("--config").arg(&file));
    assert_filled(&server);
    let blob = server.address("blob");
    for number in 0..MANY {
        let read = send_signed(blob, "GET", &format!("/{ACCOUNT}/con/n{number}"));
        assert!(read.body == one_of_many(number), "n{number}: {}", read.status);
    }
    let list = send_signed(blob, "GET", &format!("/{ACCOUNT}/con?restype=container&comp=list")).text();
    assert_eq!(list.matches("<Blob>").count(), MANY + 2);
    server.stop();
}
