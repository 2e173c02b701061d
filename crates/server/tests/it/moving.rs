//! `lazuli move` and `lazuli upgrade finish`, as an operator runs them. Where PostgreSQL is not installed, these say so and pass.

use std::net::SocketAddr;
use std::path::Path;
use std::process::{Command, Output};

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
