//! One line for each request, and no secret in any.

use std::process::Command;

use crate::client::{Request, connect, send};
use crate::process::{Server, in_memory};

/// Sends a request full of secrets and gives back the whole log.
fn log_of(command: &mut Command) -> String {
    let server = Server::start(command);
    let request = Request::new("GET", "/devstoreaccount1?comp=list&sig=SECRETSIG&se=x")
        .header("Authorization", "SharedKey devstoreaccount1:SECRETMAC=")
        .header("x-ms-client-request-id", "mine-7");
    let answer = send(connect(server.address("blob")), &request);
    let id = answer.header("x-ms-request-id").expect("an id").to_owned();
    let log = server.stop();
    assert!(!log.contains("SECRET"), "{log}");
    log.replace(&id, "REQUESTID")
}

#[test]
fn the_access_line_names_the_request_and_no_secret() {
    let log = log_of(&mut in_memory());
    let line =
        log.lines().find(|line| line.contains("REQUESTID")).unwrap_or_else(|| panic!("no line: {log}"));
    let operation = "operation=\"ListContainers\"";
    for expected in ["comp=list", "sig=REDACTED", "mine-7", "GET", "status=", operation, "sent=\"complete\""]
    {
        assert!(line.contains(expected), "{expected}: {line}");
    }
}

#[test]
fn json_lines_are_json() {
    let log = log_of(in_memory().args(["--logFormat", "json"]));
    let line = log.lines().find(|line| line.contains("REQUESTID")).expect("a line");
    let line: serde_json::Value = serde_json::from_str(line).expect("JSON");
    assert_eq!(line["method"], "GET");
    assert_eq!(line["operation"], "ListContainers");
    assert_eq!(line["client_request_id"], "mine-7");
    assert!(line["status"].is_number());
}

#[test]
fn silence_means_no_line_for_requests() {
    let log = log_of(in_memory().arg("--silent"));
    assert!(!log.contains("REQUESTID"), "{log}");
}

#[test]
fn every_line_written_for_a_request_names_it_when_asked_to() {
    let refused_line = |filter: &str| {
        let log = log_of(in_memory().arg("--silent").env("LAZULI_LOG", filter));
        log.lines().find(|line| line.contains("request refused")).map(str::to_owned)
    };
    assert_eq!(refused_line("info"), None);
    // The line is written inside of the span of the request.
    let line = refused_line("info,request=debug,lazuli_rest=debug").expect("a line");
    assert!(line.contains("request{request_id=REQUESTID operation=\"ListContainers\"}"), "{line}");
}
