//! Heads that HTTP does not allow are refused with a body, and the connection ends.

use std::io::ErrorKind;

use crate::client::{Connection, connect};
use crate::process::{Server, in_memory};

#[test]
fn each_is_refused_and_ends_its_connection() {
    let server = Server::start(&mut in_memory());
    let hidden = "GET /devstoreaccount1?comp=list HTTP/1.1\nHost: a\n\n";
    let attempts = [
        ("two hosts", "GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n".to_owned(), "InvalidHeaderValue"),
        (
            "two hosts of one name",
            "GET / HTTP/1.1\r\nHost: a\r\nhost: a\r\n\r\n".to_owned(),
            "InvalidHeaderValue",
        ),
        ("no host", "GET / HTTP/1.1\r\nAccept: a\r\n\r\n".to_owned(), "MissingRequiredHeader"),
        ("two hosts in 1.0", "GET / HTTP/1.0\r\nHost: a\r\nHost: b\r\n\r\n".to_owned(), "InvalidHeaderValue"),
        (
            "a host in the target alone",
            "GET http://a/ HTTP/1.1\r\nAccept: a\r\n\r\n".to_owned(),
            "MissingRequiredHeader",
        ),
        ("bare line feeds", hidden.to_owned(), "InvalidInput"),
        ("one bare line feed", "GET / HTTP/1.1\r\nHost: a\nAccept: b\r\n\r\n".to_owned(), "InvalidInput"),
    ];
    for service in ["blob", "queue", "table"] {
        for (what, head, code) in &attempts {
            let mut connection = Connection::new(connect(server.address(service)));
            connection.send(head.as_bytes()).expect("sent");
            let answer = connection.answer("GET").expect("an answer");
            assert_eq!(answer.status, 400, "{service}, {what}: {answer:?}");
            assert!(answer.text().contains(code), "{service}, {what}: {answer:?}");
            assert!(answer.header("x-ms-request-id").is_some(), "{service}, {what}: {answer:?}");
            assert_eq!(answer.header("connection"), Some("close"), "{service}, {what}");
            let end = connection.answer("GET").expect_err("an end").kind();
            assert_eq!(end, ErrorKind::UnexpectedEof, "{service}, {what}: the connection stays open");
        }
    }
}

#[test]
fn what_is_hidden_behind_a_request_is_refused() {
    let server = Server::start(&mut in_memory());
    let hidden = "GET /devstoreaccount1?comp=list HTTP/1.1\nHost: a\n\n";
    for first in [
        "GET /devstoreaccount1?comp=list HTTP/1.1\r\nHost: a\r\n\r\n",
        "PUT /devstoreaccount1/c/b HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\n\n\n",
        "PUT /devstoreaccount1/c/b HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n1\r\n\n\r\n0\r\n\r\n",
    ] {
        let mut connection = Connection::new(connect(server.address("blob")));
        connection.send(format!("{first}{first}{hidden}{first}").as_bytes()).expect("sent");
        for _ in 0..2 {
            let answer = connection.answer("GET").expect("an answer");
            assert_eq!(answer.header("connection"), None, "{first:?}: {answer:?}");
            assert!(!answer.text().contains("InvalidInput"), "{first:?}: {answer:?}");
        }
        let answer = connection.answer("GET").expect("an answer");
        assert_eq!(
            (answer.status, answer.header("connection")),
            (400, Some("close")),
            "{first:?}: {answer:?}"
        );
        assert!(answer.text().contains("InvalidInput"), "{first:?}: {answer:?}");
        // The bytes behind it are never read, which may end the connection with a reset.
        let rest = connection.rest();
        assert!(rest.is_empty(), "{first:?}: {:?}", String::from_utf8_lossy(&rest));
    }
}

#[test]
fn what_is_allowed_is_answered_on_one_connection() {
    let server = Server::start(&mut in_memory());
    let mut connection = Connection::new(connect(server.address("blob")));
    for (body, extra) in [("", ""), ("a\nb\n\nc", ""), ("", "\r\n"), ("\n", "")] {
        let length = body.len();
        let head = format!(
            "{extra}PUT /devstoreaccount1/c/b HTTP/1.1\r\nHost: a\r\nx-ms-blob-type: BlockBlob\r\nContent-Length: {length}\r\n\r\n"
        );
        connection.send(head.as_bytes()).expect("sent");
        connection.send(body.as_bytes()).expect("sent");
        let answer = connection.answer("PUT").expect("an answer");
        assert_eq!(answer.status, 404, "{answer:?}");
        assert_eq!(answer.header("connection"), None, "{answer:?}");
    }
    let mut old = Connection::new(connect(server.address("blob")));
    old.send(b"GET /devstoreaccount1?comp=list HTTP/1.0\r\n\r\n").expect("sent");
    assert_eq!(old.answer("GET").expect("an answer").status, 404, "HTTP/1.0 needs no host");
}
