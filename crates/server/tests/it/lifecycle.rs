//! Connections and the end of the process.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use crate::client::{ACCOUNT, Connection, Request, connect, get, put_blob, send, send_signed};
use crate::process::{Server, command, in_memory};

#[test]
fn one_connection_serves_many_requests() {
    let server = Server::start(&mut in_memory());
    let mut stream = connect(server.address("blob"));
    for _ in 0..3 {
        let answer = send(&mut stream, &Request::new("GET", "/devstoreaccount1?comp=list"));
        assert!(answer.header("x-ms-request-id").is_some(), "{answer:?}");
    }
}

#[test]
fn a_service_that_is_not_built_says_so() {
    let server = Server::start(&mut in_memory());
    let answer = get(server.address("dfs"), "/devstoreaccount1/filesystem?resource=filesystem");
    assert_eq!(answer.status, 501, "{answer:?}");
    assert!(answer.text().contains("NotImplemented"), "{answer:?}");
}

#[test]
fn the_file_service_answers_at_its_own_port() {
    let server = Server::start(&mut in_memory());
    let share = format!("/{ACCOUNT}/share?restype=share");
    let created = send_signed(server.address("file"), "PUT", &share);
    assert_eq!(created.status, 201, "{created:?}");
    let elsewhere = send_signed(server.address("blob"), "PUT", &share);
    assert!((400..500).contains(&elsewhere.status), "the Blob service knows no shares: {elsewhere:?}");
}

/// A client that speaks the older protocol, too, is answered in the newer one; the connection is counted, and ends with the server.
#[test]
fn smb_has_a_port_of_its_own() {
    let mut server = Server::start(&mut in_memory());
    let mut stream = connect(server.address("smb"));
    let dialects = b"\x02NT LM 0.12\0\x02SMB 2.???\0";
    let mut message = b"\xFFSMB\x72".to_vec();
    message.resize(33, 0);
    message.extend([u8::try_from(dialects.len()).expect("short"), 0]);
    message.extend(dialects);
    let length = u32::try_from(message.len()).expect("short").to_be_bytes();
    stream.write_all(&[&length[..], &message].concat()).expect("sent");
    let mut answer = [0; 4 + 64 + 6];
    stream.read_exact(&mut answer).expect("an answer");
    assert_eq!(&answer[4..8], b"\xFESMB");
    assert_eq!(&answer[72..74], [0xFF, 0x02], "any dialect: the client negotiates again");
    let metrics = get(server.address("admin"), "/metrics").text();
    assert!(metrics.contains("lazuli_smb_connections 1"), "{metrics}");
    server.terminate().expect("stops although a client is connected");
}

/// A website is asked for by path at its own port, and by host at that of the Blob service.
#[test]
fn websites_have_a_port_of_their_own() {
    let server = Server::start(in_memory().args(["--webPort", "0"]));
    let ask = |listener: &str, head: &str| {
        let mut stream = connect(server.address(listener));
        stream.write_all(format!("{head}\r\nConnection: close\r\n\r\n").as_bytes()).expect("sent");
        let mut answer = String::new();
        stream.read_to_string(&mut answer).expect("an answer");
        answer
    };
    let by_path = ask("web", "GET /devstoreaccount1/ HTTP/1.1\r\nHost: 127.0.0.1");
    let by_host = ask("blob", "GET / HTTP/1.1\r\nHost: devstoreaccount1.web.localhost");
    for answer in [by_path, by_host] {
        assert!(answer.starts_with("HTTP/1.1 404") && answer.contains("<!DOCTYPE html>"), "{answer}");
    }
    let hosts = ask("web", "GET /devstoreaccount1/ HTTP/1.1\r\nHost: a.web.localhost\r\nHost: b");
    assert!(hosts.starts_with("HTTP/1.1 400") && hosts.contains("<!DOCTYPE html>"), "{hosts}");
}

#[test]
fn a_head_beyond_the_limit_is_refused() {
    let server = Server::start(&mut in_memory());
    let large = "x".repeat(100 * 1024);
    let mut stream = connect(server.address("blob"));
    // The refusal may come before all of it is sent.
    let _ = stream.write_all(format!("GET / HTTP/1.1\r\nHost: a\r\nX-Large: {large}\r\n\r\n").as_bytes());
    let mut answer = Vec::new();
    let _ = stream.read_to_end(&mut answer);
    let answer = String::from_utf8_lossy(&answer);
    assert!(answer.starts_with("HTTP/1.1 431") || answer.is_empty(), "{answer}");
    assert_eq!(get(server.address("admin"), "/healthz").status, 200);
}

#[test]
fn a_stop_finishes_what_is_under_way_and_keeps_what_was_acknowledged() {
    let data = tempfile::tempdir().expect("a directory");
    let mut server = Server::start(command(data.path()).args(["--createContainers", "box"]));
    let blob = server.address("blob");
    let target = format!("/{ACCOUNT}/box/late");
    let mut upload = connect(blob);
    let put = put_blob(blob, &target, b"0123456789");
    upload.write_all(put.head(10).as_bytes()).expect("its head");
    upload.write_all(b"01234").expect("half of it");
    let idle = connect(blob);
    std::thread::sleep(Duration::from_millis(300));

    server.signal("TERM");
    // New connections are refused, idle ones closed, the upload is waited for.
    let mut nothing = [0; 1];
    assert_eq!((&idle).read(&mut nothing).expect("an orderly end"), 0);
    let refused = (0..500).any(|_| {
        std::thread::sleep(Duration::from_millis(10));
        TcpStream::connect(blob).is_err()
    });
    assert!(refused, "still accepts");
    assert!(server.is_running(), "left without finishing");
    upload.write_all(b"56789").expect("the other half");
    let answer = Connection::new(&upload).answer("PUT").expect("an answer");
    assert_eq!(answer.status, 201, "{answer:?}");
    assert_eq!(server.wait().code(), Some(0));

    let server = Server::start(&mut command(data.path()));
    assert_eq!(send_signed(server.address("blob"), "GET", &target).text(), "0123456789");
}

#[test]
fn a_second_signal_cuts_the_waiting_short() {
    let mut server = Server::start(in_memory().args(["--createContainers", "box"]));
    let blob = server.address("blob");
    let target = format!("/{ACCOUNT}/box/never");
    let mut upload = connect(blob);
    let put = put_blob(blob, &target, b"0123456789");
    upload.write_all(put.head(10).as_bytes()).expect("its head");
    upload.write_all(b"0").expect("a bit of it");
    std::thread::sleep(Duration::from_millis(300));
    server.signal("INT");
    std::thread::sleep(Duration::from_millis(300));
    assert!(server.is_running());
    let started = Instant::now();
    server.signal("TERM");
    assert_eq!(server.wait().code(), Some(75));
    assert!(started.elapsed() < Duration::from_secs(10));
}

#[test]
fn a_server_that_is_told_to_stop_goes_on_until_balancers_have_left() {
    let mut server = Server::start(in_memory().args(["--shutdownDelay", "60"]));
    let (blob, admin) = (server.address("blob"), server.address("admin"));
    assert_eq!(get(admin, "/readyz").status, 200);
    server.signal("TERM");
    let began = Instant::now();
    while get(admin, "/readyz").status == 200 {
        assert!(began.elapsed() < Duration::from_secs(10), "it is still ready");
        std::thread::sleep(Duration::from_millis(10));
    }
    let mut late = connect(blob);
    let answer = send(&mut late, &Request::new("GET", "/devstoreaccount1?comp=list"));
    assert!(answer.header("x-ms-request-id").is_some(), "{answer:?}");
    // Told again, it does not wait, and nothing is cut short.
    server.signal("TERM");
    assert_eq!(server.wait().code(), Some(0));
    assert!(began.elapsed() < Duration::from_secs(30));
}
