//! What only a real connection shows: status lines, lengths, keep-alive, bodies that nobody reads.

use std::sync::Arc;
use std::time::Duration;

use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use lazuli_model::operation::Service;
use lazuli_testing::Answer;
use tokio::io::AsyncWriteExt;
use tokio::net::{TcpListener, TcpStream};

use super::client::{Client, Request};

struct Connection {
    client: Arc<Client>,
    wire: lazuli_testing::Connection<TcpStream>,
}

impl Connection {
    async fn open() -> Self {
        let client = Arc::new(Client::new());
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let server = Arc::clone(&client);
        tokio::spawn(async move {
            let (stream, _) = listener.accept().await.unwrap();
            let service = service_fn(move |request| {
                let server = Arc::clone(&server);
                async move {
                    let answer = server.gateway.serve(Service::Blob, None, false, request).await;
                    Ok::<_, std::convert::Infallible>(answer)
                }
            });
            let _ = hyper::server::conn::http1::Builder::new()
                .preserve_header_case(true)
                .serve_connection(TokioIo::new(stream), service)
                .await;
        });
        let stream = lazuli_testing::connect(address).await.unwrap();
        Self { client, wire: lazuli_testing::Connection::new(stream) }
    }

    /// The head of a request as bytes; its body is up to the test.
    fn head(&self, text: &str) -> String {
        let mut request = Request::parse(text);
        request.finish(&self.client.gateway.services.wall_now().rfc1123());
        let headers: String =
            request.headers.iter().map(|(name, value)| format!("{name}: {value}\r\n")).collect();
        format!("{} {} HTTP/1.1\r\n{headers}\r\n", request.method, request.uri)
    }

    async fn write(&mut self, bytes: &[u8]) {
        self.wire.stream.write_all(bytes).await.unwrap();
    }

    /// What the server says next, when a request of this method was sent.
    async fn next(&mut self, method: &str) -> Answer {
        let next = tokio::time::timeout(Duration::from_secs(5), self.wire.next(method));
        next.await.expect("the server is silent").unwrap()
    }

    async fn exchange(&mut self, text: &str) -> Answer {
        let head = self.head(text);
        self.write(head.as_bytes()).await;
        self.next(text.split(' ').next().unwrap()).await
    }
}

#[tokio::test]
async fn answers_keep_the_connection_and_say_their_length() {
    let mut connection = Connection::open().await;
    let created = connection.exchange("PUT /devstoreaccount1/con1?restype=container").await;
    assert!(created.line.starts_with("HTTP/1.1 201 "), "{created:?}");
    assert_eq!(created.header("content-length"), Some("0"));

    // A refusal's status line carries its message, and its body follows.
    let refused = connection.exchange("PUT /devstoreaccount1/con1?restype=container").await;
    assert_eq!(refused.line, "HTTP/1.1 409 The specified container already exists.");
    assert!(refused.text().contains("<Code>ContainerAlreadyExists</Code>"), "{refused:?}");

    // A refused HEAD announces no length: a client would wait for the bytes.
    let missing = connection.exchange("HEAD /devstoreaccount1/con2?restype=container").await;
    assert!(missing.line.starts_with("HTTP/1.1 404 "), "{missing:?}");
    assert_eq!(missing.header("content-length"), None);
    assert_eq!(missing.header("x-ms-error-code"), Some("ContainerNotFound"));

    let put = connection.head("PUT /devstoreaccount1/con1/b\nx-ms-blob-type: BlockBlob\ncontent-length: 5");
    connection.write(put.as_bytes()).await;
    connection.write(b"hello").await;
    let put = connection.next("PUT").await;
    assert!(put.line.starts_with("HTTP/1.1 201 "), "{put:?}");

    let found = connection.exchange("HEAD /devstoreaccount1/con1/b").await;
    assert!(found.line.starts_with("HTTP/1.1 200 "), "{found:?}");
    assert_eq!(found.header("content-length"), Some("5"));

    let etag = found.header("etag").unwrap();
    let unchanged =
        connection.exchange(&format!("GET /devstoreaccount1/con1/b\nif-none-match: {etag}")).await;
    assert!(unchanged.line.starts_with("HTTP/1.1 304 The condition"), "{unchanged:?}");
    assert_eq!(unchanged.header("etag"), None);

    let list = connection.exchange("GET /devstoreaccount1/con1?restype=container&comp=list").await;
    assert!(list.line.starts_with("HTTP/1.1 200 "), "{list:?}");
    assert!(connection.wire.is_empty());
}

/// Clients that send everything before they read must see the refusal, not a reset, and can go on.
#[tokio::test]
async fn a_body_that_is_refused_unread_does_not_break_the_connection() {
    let mut connection = Connection::open().await;
    let length = 8 * 1024 * 1024;
    let head = connection
        .head(&format!("PUT /devstoreaccount1/none/b\nx-ms-blob-type: BlockBlob\ncontent-length: {length}"));
    connection.write(head.as_bytes()).await;
    for _ in 0..length / 65536 {
        connection.write(&[b'x'; 65536]).await;
    }
    let refused = connection.next("PUT").await;
    assert!(refused.line.starts_with("HTTP/1.1 404 "), "{refused:?}");
    let next = connection.exchange("PUT /devstoreaccount1/next?restype=container").await;
    assert!(next.line.starts_with("HTTP/1.1 201 "), "{next:?}");
}

#[tokio::test]
async fn a_sender_that_waits_is_told_to_go_on_only_when_the_body_is_wanted() {
    let mut connection = Connection::open().await;
    let refused = connection
        .exchange("PUT /devstoreaccount1/none/b\nx-ms-blob-type: BlockBlob\ncontent-length: 5\nexpect: 100-continue")
        .await;
    assert!(refused.line.starts_with("HTTP/1.1 404 "), "{refused:?}");

    let mut connection = Connection::open().await;
    connection.exchange("PUT /devstoreaccount1/con1?restype=container").await;
    let go_on = connection
        .exchange("PUT /devstoreaccount1/con1/b\nx-ms-blob-type: BlockBlob\ncontent-length: 5\nexpect: 100-continue")
        .await;
    assert!(go_on.line.starts_with("HTTP/1.1 100 "), "{go_on:?}");
    connection.write(b"hello").await;
    let stored = connection.next("PUT").await;
    assert!(stored.line.starts_with("HTTP/1.1 201 "), "{stored:?}");
}

#[tokio::test]
async fn a_body_must_say_how_long_it_is() {
    let mut connection = Connection::open().await;
    connection.exchange("PUT /devstoreaccount1/con1?restype=container").await;
    let mut request =
        Request::parse("PUT /devstoreaccount1/con1/b\nx-ms-blob-type: BlockBlob\ntransfer-encoding: chunked");
    request.headers.push(("content-length".into(), String::new()));
    request.finish(&connection.client.gateway.services.wall_now().rfc1123());
    request.headers.retain(|(name, _)| name != "content-length");
    let headers: String =
        request.headers.iter().map(|(name, value)| format!("{name}: {value}\r\n")).collect();
    let text = format!("PUT {} HTTP/1.1\r\n{headers}\r\n5\r\nhello\r\n0\r\n\r\n", request.uri);
    connection.write(text.as_bytes()).await;
    let refused = connection.next("PUT").await;
    assert!(refused.line.starts_with("HTTP/1.1 411 "), "{refused:?}");
    assert_eq!(refused.header("x-ms-error-code"), Some("MissingContentLengthHeader"));
}

/// The Table service sends the phrase that belongs to the status (recorded, 25 of 25), whatever it speaks of.
#[tokio::test]
async fn refusals_of_tables_carry_the_standard_phrase() {
    let mut connection = Connection::open().await;
    let host = "host: devstoreaccount1.table.localhost:10002";
    for (line, status) in [
        ("GET /Tables('absent')", "404 Not Found"),
        ("GET /absent()", "404 Not Found"),
        ("GET /aa?comp=acl", "400 Bad Request"),
        ("GET /Tables?$top=x", "400 Bad Request"),
        ("GET /Tables?$orderby=x", "501 Not Implemented"),
    ] {
        let refused = connection.exchange(&format!("{line}\n{host}")).await;
        assert_eq!(refused.line, format!("HTTP/1.1 {status}"), "{line}");
    }
}

/// HTTP says that header names have no case; the service's clients rely on it keeping that of metadata.
#[tokio::test]
async fn metadata_names_keep_their_case() {
    let mut connection = Connection::open().await;
    let created = connection
        .exchange(
            "PUT /devstoreaccount1/con1?restype=container\nX-Ms-Meta-Capital: letter\nx-ms-meta-UPPER: case",
        )
        .await;
    assert!(created.line.starts_with("HTTP/1.1 201 "), "{created:?}");
    let found = connection.exchange("HEAD /devstoreaccount1/con1?restype=container").await;
    for (name, value) in [("x-ms-meta-Capital", "letter"), ("x-ms-meta-UPPER", "case")] {
        assert!(found.headers.contains(&(name.to_owned(), value.to_owned())), "{found:?}");
    }
}
