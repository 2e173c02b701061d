//! Several servers over one engine, in one process: our rehearsal of what several processes will do.

use crate::client::{get, post, server_date};
use crate::process::{Server, command, in_memory};

#[test]
fn each_listens_and_the_clock_is_one() {
    let server = Server::start(in_memory().args(["--rehearse-servers", "3", "--test-clock"]));
    let listening = server.listeners();
    for name in ["blob", "blob-2", "blob-3", "queue-2", "table-3", "admin"] {
        assert!(listening.contains(&name), "{listening:?}");
    }
    assert_eq!(get(server.address("admin"), "/readyz").text(), "ready\n");
    let day = |name: &str| server_date(server.address(name)).split(' ').nth(1).map(str::to_owned);
    let before = day("blob-3");
    let moved = format!("{{\"advance_ms\": {}}}", 24 * 60 * 60 * 1000);
    assert_eq!(post(server.address("admin"), "/clock", &moved).status, 200);
    assert_ne!(day("blob-3"), before);
    assert_eq!(day("blob"), day("blob-3"));
    server.stop();
}

/// A clock that a test moved stays there over a restart, and goes no farther.
#[test]
fn a_moved_clock_is_resumed() {
    let home = tempfile::tempdir().expect("a directory");
    let year = |server: &Server| -> i32 {
        let date = server_date(server.address("blob"));
        date.split(' ').nth(3).and_then(|year| year.parse().ok()).expect("a date")
    };
    let server = Server::start(command(home.path()).arg("--test-clock"));
    let before = year(&server);
    let moved = format!("{{\"advance_ms\": {}}}", 366_u64 * 24 * 60 * 60 * 1000);
    for _ in 0..3 {
        assert_eq!(post(server.address("admin"), "/clock", &moved).status, 200);
    }
    let now = |server: &Server| -> u64 {
        let body = post(server.address("admin"), "/clock", "{\"advance_ms\": 0}").text();
        body.split(' ')
            .nth(1)
            .and_then(|ticks| ticks.trim_end().trim_end_matches('}').parse().ok())
            .expect("ticks")
    };
    let ticks = now(&server);
    assert_eq!(year(&server), before + 3);
    server.stop();
    let server = Server::start(command(home.path()).arg("--test-clock"));
    assert_eq!(year(&server), before + 3);
    let passed = now(&server) - ticks;
    assert!(passed < 600 * 10_000_000, "no lease ends early: {passed} ticks");
    server.stop();
    let server = Server::start(&mut command(home.path()));
    assert_eq!(year(&server), before, "the real time, unless the clock may be moved");
    server.stop();
}
