//! Health, metrics and the clock.

use std::time::{Duration, Instant};

use crate::client::{Request, connect, get, post, send, server_date};
use crate::process::{Server, in_memory};

#[test]
fn health_readiness_and_metrics_need_no_credential_on_loopback() {
    let server = Server::start(&mut in_memory());
    let admin = server.address("admin");
    assert_eq!(get(admin, "/healthz").status, 200);
    assert_eq!(get(admin, "/readyz").text(), "ready\n");
    assert_eq!(get(admin, "/nowhere").status, 404);
    assert_eq!(post(admin, "/healthz", "").status, 405);

    // Two requests to the service, then they are counted.
    get(server.address("blob"), "/devstoreaccount1?comp=list");
    get(server.address("blob"), "/devstoreaccount1?comp=list");
    let counted = |line: &str| {
        line.starts_with("lazuli_requests_total{operation=\"ListContainers\"") && line.ends_with(" 2")
    };
    let end = Instant::now() + Duration::from_secs(20);
    // Answers are counted when they are sent, which the client may see a moment earlier.
    let metrics = loop {
        let metrics = get(admin, "/metrics");
        assert_eq!(metrics.status, 200);
        if metrics.text().lines().any(counted) || Instant::now() > end {
            break metrics;
        }
    };
    assert!(metrics.text().lines().any(counted), "{}", metrics.text());
    assert!(metrics.text().contains("lazuli_request_duration_seconds_bucket"), "{}", metrics.text());
    assert!(metrics.text().contains("lazuli_connections "), "{}", metrics.text());
}

#[test]
fn a_token_guards_metrics_but_not_health() {
    let server = Server::start(in_memory().args(["--adminToken", "letmein"]));
    let admin = server.address("admin");
    assert_eq!(get(admin, "/healthz").status, 200);
    assert_eq!(get(admin, "/metrics").status, 401);
    let with = |token: &str| {
        let request = Request::new("GET", "/metrics").header("Authorization", format!("Bearer {token}"));
        send(connect(admin), &request).status
    };
    assert_eq!(with("letmein"), 200);
    assert_eq!(with("letmeout"), 401);
    assert_eq!(with("letmei"), 401);
}

#[test]
fn the_clock_moves_only_when_asked_for_at_start() {
    let server = Server::start(&mut in_memory());
    assert_eq!(post(server.address("admin"), "/clock", "{\"advance_ms\": 1000}").status, 403);

    let server = Server::start(in_memory().arg("--test-clock"));
    let (admin, blob) = (server.address("admin"), server.address("blob"));
    let day = |date: String| date.split(' ').nth(1).and_then(|day| day.parse::<u32>().ok()).expect("a date");
    let before = day(server_date(blob));
    assert_eq!(post(admin, "/clock", &format!("{{\"advance_ms\": {}}}", 24 * 60 * 60 * 1000)).status, 200);
    assert_ne!(day(server_date(blob)), before, "answers carry the moved time");
    for wrong in ["", "{}", "{\"advance_ms\": -1}", "{\"advance_ms\": 99999999999999}", "{\"advance\": 1}"] {
        assert_eq!(post(admin, "/clock", wrong).status, 400, "{wrong}");
    }
}
