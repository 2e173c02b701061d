//! Servers over one database and one place for bytes. Where PostgreSQL is not installed, these say so and pass.

use std::net::SocketAddr;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use lazuli_testing::postgres::Postgres;

use crate::client::{
    ACCOUNT, Answer, Request, connect, get, post, put_blob, send, send_signed, server_date, signed,
};
use crate::process::{Server, bare, refused};

fn server(database: &str, bytes: &Path) -> Command {
    let mut command = bare();
    command
        .args(["--database", database, "--test-clock", "--bytes"])
        .arg(format!("file://{}", bytes.display()));
    command
}

fn until(what: &str, so: impl Fn() -> bool) {
    let end = Instant::now() + Duration::from_secs(30);
    while !so() {
        assert!(Instant::now() < end, "not so: {what}");
        std::thread::sleep(Duration::from_millis(50));
    }
}

fn put(blob: SocketAddr, name: &str, body: &[u8]) -> u16 {
    send(connect(blob), &put_blob(blob, &format!("/{ACCOUNT}/con/{name}"), body)).status
}

fn read(blob: SocketAddr, name: &str) -> Answer {
    send_signed(blob, "GET", &format!("/{ACCOUNT}/con/{name}"))
}

/// More than fits into a row.
fn large(seed: usize) -> Vec<u8> {
    (0..9 << 20).map(|i| (i * 31 + i / 257 + seed) as u8).collect()
}

#[test]
fn two_servers_are_one_service() {
    let Some(postgres) = Postgres::start(&[]) else { return };
    let bytes = tempfile::tempdir().expect("a directory");
    let start = || Server::start(&mut server(&postgres.url(), bytes.path()));
    let (one, mut other) = (start(), start());
    let (here, there) = (one.address("blob"), other.address("blob"));
    assert_eq!(send_signed(here, "PUT", &format!("/{ACCOUNT}/con?restype=container")).status, 201);
    assert_eq!(put(there, "small", b"few"), 201);
    assert_eq!(put(there, "large", &large(1)), 201);
    assert_eq!(read(here, "small").body, b"few");
    assert!(read(here, "large").body == large(1));
    let part =
        Request::new("GET", format!("/{ACCOUNT}/con/large")).header("x-ms-range", "bytes=5000000-5000099");
    let part = send(connect(here), &signed(here, part));
    assert_eq!((part.status, &part.body[..]), (206, &large(1)[5_000_000..5_000_100]));
    // The clock is one, and the tests' moving it too.
    let day = |address| server_date(address).split(' ').nth(1).map(str::to_owned);
    let before = day(there);
    let moved = format!("{{\"advance_ms\": {}}}", 24 * 60 * 60 * 1000);
    assert_eq!(post(one.address("admin"), "/clock", &moved).status, 200);
    until("the other's clock", || day(there) != before && day(there) == day(here));
    // A server that is killed leaves everything behind, and what it had is given back by others.
    other.kill();
    assert!(read(here, "large").body == large(1));
    assert_eq!(put(here, "large", &large(2)), 201);
    let again = start();
    assert!(read(again.address("blob"), "large").body == large(2));
    assert_eq!(get(again.address("admin"), "/readyz").text(), "ready\n");
    every_metric_is_documented(again.address("admin"));
    again.stop();
    one.stop();
}

fn every_metric_is_documented(admin: SocketAddr) {
    let text = get(admin, "/metrics").text();
    let documentation = include_str!("../../../../docs/configuration.md");
    let types = text.lines().filter_map(|line| line.strip_prefix("# TYPE "));
    for (name, kind) in types.filter_map(|line| line.split_once(' ')) {
        let name = match kind {
            "counter" => format!("{name}_total"),
            "info" => format!("{name}_info"),
            _ => name.to_owned(),
        };
        assert!(documentation.contains(&format!("`{name}")), "{name} is not in docs/configuration.md");
    }
    for name in
        ["lazuli_database_primary_proven 1", "lazuli_objects_put_bytes_total ", "lazuli_objects_cache_bytes "]
    {
        assert!(text.contains(name), "{name}: {text}");
    }
}

#[test]
fn without_a_database_a_server_is_alive_and_not_ready() {
    let Some(mut postgres) = Postgres::start(&[]) else { return };
    let bytes = tempfile::tempdir().expect("a directory");
    let server = Server::start(&mut server(&postgres.url(), bytes.path()));
    let (admin, blob) = (server.address("admin"), server.address("blob"));
    assert_eq!(send_signed(blob, "PUT", &format!("/{ACCOUNT}/con?restype=container")).status, 201);
    assert_eq!(put(blob, "b", b"kept"), 201);
    postgres.kill();
    until("not ready", || get(admin, "/readyz").status == 503);
    assert_eq!(get(admin, "/healthz").status, 200);
    let list = send_signed(blob, "GET", &format!("/{ACCOUNT}/con/b"));
    assert_eq!(list.status, 503, "{}", list.text());
    postgres.come_back();
    until("ready again", || get(admin, "/readyz").status == 200);
    assert_eq!(read(blob, "b").body, b"kept");
    server.stop();
}

#[test]
fn a_password_is_in_no_log_and_in_no_list_of_processes() {
    const PASSWORD: &str = "cHq7-not-to-be-seen";
    let Some(postgres) = Postgres::start(&[]) else { return };
    let made =
        format!("CREATE ROLE guarded LOGIN PASSWORD '{PASSWORD}'; GRANT ALL ON DATABASE postgres TO guarded");
    postgres.psql(&made);
    let home = tempfile::tempdir().expect("a directory");
    let (file, bytes) = (home.path().join("password"), home.path().join("bytes"));
    std::fs::write(&file, format!("{PASSWORD}\n")).expect("written");
    let url = postgres.url().replace("lazuli@", "guarded@");
    let told = format!("guarded:{PASSWORD}@");
    let mut in_a_file = server(&url, &bytes);
    in_a_file.arg("--databasePasswordFile").arg(&file);
    let mut in_a_variable = server(&url, &bytes);
    in_a_variable.env("LAZULI_DATABASE_PASSWORD", PASSWORD);
    let mut in_the_url = bare();
    in_the_url.env("LAZULI_DATABASE", url.replace("guarded@", &told));
    in_the_url.arg("--bytes").arg(format!("file://{}", bytes.display()));
    for command in [&mut in_a_file, &mut in_a_variable, &mut in_the_url] {
        let server = Server::start(command.env("LAZULI_LOG", "trace"));
        let flags = std::fs::read_to_string(format!("/proc/{}/cmdline", server.id())).expect("its flags");
        assert!(!flags.contains(PASSWORD));
        let log = server.stop();
        assert!(log.len() > 300 && !log.contains(PASSWORD), "{log}");
    }
    let mut wrong = server(&url, &bytes);
    wrong.env("LAZULI_DATABASE_PASSWORD", "wrong-one").arg("--silent");
    let output = wrong.output().expect("runs");
    let message = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(
        !output.status.success() && message.contains("password") && !message.contains("wrong-one"),
        "{message}"
    );
}

#[test]
fn what_does_not_go_together_is_refused() {
    let with = |flags: &[&str]| refused(bare().args(flags));
    let database = "postgres://nobody@127.0.0.1:1/x";
    let bytes = "file:///nowhere";
    assert!(with(&["--database", database]).contains("--bytes"));
    assert!(with(&["--bytes", bytes]).contains("--database"));
    assert!(with(&["--reads", "strict"]).contains("--database"));
    let located = with(&["--database", database, "--bytes", bytes, "--location", "/nowhere"]);
    assert!(located.contains("--location"), "{located}");
    assert!(
        with(&["--database", database, "--bytes", bytes, "--inMemoryPersistence"]).contains("contradict")
    );
}

#[test]
fn what_is_not_there_yet_is_no_mistake_of_the_settings() {
    let bytes = tempfile::tempdir().expect("a directory");
    // It waits for half a minute, during which it may be told to stop.
    let waits = |database: &str, bytes: &str| {
        let mut command = bare();
        command.args(["--database", database, "--bytes", bytes]).env("AWS_ACCESS_KEY_ID", "nobody");
        command.env("AWS_SECRET_ACCESS_KEY", "secret").stdout(Stdio::null()).stderr(Stdio::piped());
        command.spawn().expect("the binary runs")
    };
    let nowhere = "postgres://nobody@127.0.0.1:1/x";
    let directory = format!("file://{}", bytes.path().display());
    let (no_database, stopped) = (waits(nowhere, &directory), waits(nowhere, &directory));
    let postgres = Postgres::start(&[]);
    let no_bytes =
        postgres.as_ref().map(|there| waits(&there.url(), "s3://b/p?endpoint=http://127.0.0.1:1&region=r"));
    std::thread::sleep(Duration::from_secs(2));
    let told = Command::new("kill").args(["-TERM", &stopped.id().to_string()]).status();
    assert!(told.expect("kill").success());
    let began = Instant::now();
    let stopped = stopped.wait_with_output().expect("it ends");
    assert_eq!(stopped.status.code(), Some(0), "{}", String::from_utf8_lossy(&stopped.stderr));
    assert!(began.elapsed() < Duration::from_secs(10));
    for (waits, what) in [(Some(no_database), "no database"), (no_bytes, "it cannot be used")] {
        let Some(waits) = waits else { continue };
        let ended = waits.wait_with_output().expect("it ends");
        let message = String::from_utf8_lossy(&ended.stderr).into_owned();
        assert_eq!(ended.status.code(), Some(75), "{message}");
        assert!(message.contains(what), "{message}");
    }
    let never = refused(bare().args(["--database", "not-an-address", "--bytes", &directory]));
    assert!(never.contains("address"), "{never}");
    let never = refused(bare().args(["--database", nowhere, "--bytes", "gs://bucket"]));
    assert!(never.contains("s3://"), "{never}");
}
