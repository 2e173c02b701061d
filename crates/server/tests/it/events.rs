//! Events of the binary: into a queue and to a webhook.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use base64::Engine as _;
use serde_json::Value;

use crate::client::{ACCOUNT, Request, connect, get, post, put_blob, send, send_signed, signed};
use crate::process::{Server, in_memory, refused};

const PATIENCE: Duration = Duration::from_secs(30);

/// The next event of the queue, taken out of it.
fn next(server: &Server) -> Value {
    let (queue, end) = (server.address("queue"), Instant::now() + PATIENCE);
    while Instant::now() < end {
        let target = format!("/{ACCOUNT}/news/messages?visibilitytimeout=600");
        let answer = send_signed(queue, "GET", &target).text();
        let text = lazuli_testing::xml::element(&answer, "MessageText").to_owned();
        if !text.is_empty() {
            let bytes = base64::prelude::BASE64_STANDARD.decode(text).expect("base64");
            return serde_json::from_slice(&bytes).expect("JSON");
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    panic!("no event comes");
}

fn start(arguments: &[&str]) -> Server {
    let server = Server::start(
        in_memory().args(["--createContainers", "box", "--createQueues", "news"]).args(arguments),
    );
    assert_eq!(get(server.address("admin"), "/readyz").text(), "ready\n");
    server
}

#[test]
fn what_happens_to_blobs_comes_into_the_queue() {
    let server = start(&["--events", "queue:news"]);
    let blob = server.address("blob");
    let put = Request::new("PUT", format!("/{ACCOUNT}/box/a%20b"))
        .header("x-ms-blob-type", "BlockBlob")
        .header("x-ms-client-request-id", "my-own-id")
        .header("content-type", "text/plain");
    let stored = send(connect(blob), &signed(blob, put.body("four")));
    assert_eq!(stored.status, 201);
    let event = next(&server);
    assert_eq!(event["eventType"], "Microsoft.Storage.BlobCreated");
    assert_eq!(event["subject"], "/blobServices/default/containers/box/blobs/a b");
    let data = &event["data"];
    assert_eq!(data["api"], "PutBlob");
    assert_eq!(data["url"], format!("http://127.0.0.1/{ACCOUNT}/box/a b"));
    assert_eq!(data["requestId"].as_str(), stored.header("x-ms-request-id"));
    assert_eq!(data["eTag"].as_str(), stored.header("etag").map(|etag| etag.trim_matches('"')));
    assert_eq!((&data["clientRequestId"], &data["contentType"]), (&"my-own-id".into(), &"text/plain".into()));
    let created = data["sequencer"].as_str().expect("a sequencer").to_owned();

    // A part of a batch has no host of its own.
    let part = format!("DELETE /{ACCOUNT}/box/a%20b HTTP/1.1\r\n");
    let inner = signed(blob, Request::new("DELETE", format!("/{ACCOUNT}/box/a%20b")));
    let headers: String = inner.headers.iter().map(|(name, value)| format!("{name}: {value}\r\n")).collect();
    let body = format!(
        "--b\r\nContent-Type: application/http\r\nContent-Transfer-Encoding: binary\r\nContent-ID: 0\r\n\r\n\
         {part}{headers}Content-Length: 0\r\n\r\n--b--\r\n"
    );
    let batch = Request::new("POST", format!("/{ACCOUNT}/?comp=batch"))
        .header("content-type", "multipart/mixed; boundary=b")
        .body(body);
    let answer = send(connect(blob), &signed(blob, batch));
    assert!(answer.status == 202 && answer.text().contains(" 202 "), "{}", answer.text());
    let event = next(&server);
    assert_eq!(event["eventType"], "Microsoft.Storage.BlobDeleted");
    assert_eq!(event["data"]["api"], "DeleteBlob");
    assert_eq!(event["data"]["url"], format!("http://127.0.0.1/{ACCOUNT}/box/a b"));
    assert!(event["data"]["sequencer"].as_str().expect("a sequencer") > created.as_str());
    let metrics = get(server.address("admin"), "/metrics").text();
    assert!(metrics.contains("lazuli_events_delivered_total 2"), "{metrics}");
    server.stop();
}

/// Answers each request with the next status, and tells what came; the last status goes on.
fn endpoint(statuses: &'static [u16]) -> (SocketAddr, Receiver<Value>) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("bound");
    let (tell, told) = channel();
    std::thread::spawn(move || {
        for (number, stream) in listener.incoming().enumerate() {
            let Ok(mut stream) = stream else { return };
            let mut read = Vec::new();
            let mut buffer = [0; 4096];
            let body = loop {
                let Ok(count @ 1..) = stream.read(&mut buffer) else { break Vec::new() };
                read.extend_from_slice(&buffer[..count]);
                let text = String::from_utf8_lossy(&read).to_lowercase();
                let Some(at) = text.find("\r\n\r\n") else { continue };
                let length = text.split("content-length: ").nth(1).and_then(|rest| rest.split("\r\n").next());
                let length: usize = length.and_then(|length| length.parse().ok()).unwrap_or(0);
                if read.len() >= at + 4 + length {
                    break read.split_off(at + 4);
                }
            };
            let _ = tell.send(serde_json::from_slice(&body).unwrap_or_default());
            let status = statuses[number.min(statuses.len() - 1)];
            let _ = write!(stream, "HTTP/1.1 {status} -\r\ncontent-length: 0\r\nconnection: close\r\n\r\n");
        }
    });
    (address, told)
}

#[test]
fn a_webhook_that_fails_first_gets_the_event_and_the_queue_does_not_wait() {
    let (address, told) = endpoint(&[503, 200]);
    let hook = format!("http://{address}/hook validation=off types=BlobCreated");
    let server = start(&["--test-clock", "--events", &format!("{hook},queue:news")]);
    let blob = server.address("blob");
    assert_eq!(send(connect(blob), &put_blob(blob, &format!("/{ACCOUNT}/box/b"), b"1")).status, 201);
    let first = told.recv_timeout(PATIENCE).expect("a first try");
    assert_eq!(next(&server)["id"], first[0]["id"]);
    // It waits ten seconds, by the clock of the engine, from when the failure is noted.
    let end = Instant::now() + PATIENCE;
    let second = loop {
        assert!(Instant::now() < end, "no second try");
        assert_eq!(post(server.address("admin"), "/clock", "{\"advance_ms\": 11000}").status, 200);
        if let Ok(second) = told.recv_timeout(Duration::from_millis(500)) {
            break second;
        }
    };
    assert_eq!(first, second);
    server.stop();
}

#[test]
fn a_subscription_that_is_none_is_refused_at_start() {
    for bad in ["news", "queue:No", "http://hooks.example/a", "nobody/queue:news"] {
        let message = refused(in_memory().args(["--events", bad]));
        assert!(message.contains("events") && message.contains(bad), "{message}");
    }
}
