//! Copies of sources elsewhere, against a server of the test's own.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use lazuli_engine::{Engine, Host, KeyRange, Scan};
use lazuli_rest::auth::Accounts;
use lazuli_rest::copy::{ForeignHosts, Sources};
use lazuli_service::blob::{Abroad, take_up_copies};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};

use super::client::{Answer, Client, Request};

/// More than is copied before the answer.
const LARGE: usize = 9 * 1024 * 1024;

/// Answers each connection once. `/slow` announces much and sends nothing, `/large` sends it.
async fn source() -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        // So many are asked for at most.
        for _ in 0..100 {
            let Ok((stream, _)) = listener.accept().await else { return };
            tokio::spawn(answer(stream, address));
        }
    });
    address
}

async fn answer(mut stream: TcpStream, address: SocketAddr) {
    let mut asked = Vec::new();
    let mut buffer = [0; 1024];
    while !asked.windows(4).any(|end| end == b"\r\n\r\n") {
        match stream.read(&mut buffer).await {
            Ok(read) if read > 0 => asked.extend_from_slice(&buffer[..read]),
            _ => return,
        }
    }
    let asked = String::from_utf8_lossy(&asked).into_owned();
    let (head, body) = match asked.split([' ', '?']).nth(1).unwrap_or_default() {
        "/ok" => {
            let range = asked.to_ascii_lowercase().contains("range: bytes=1-2");
            let (line, body) = match range {
                true => ("206 Partial Content\r\ncontent-range: bytes 1-2/5", "el"),
                false => ("200 OK", "hello"),
            };
            let head = format!(
                "HTTP/1.1 {line}\r\ncontent-type: text/x\r\nx-ms-meta-from: afar\r\ncontent-length: {}\r\n\r\n",
                body.len()
            );
            (head, body.as_bytes().to_vec())
        }
        "/changed" => ("HTTP/1.1 412 Changed\r\ncontent-length: 0\r\n\r\n".into(), Vec::new()),
        "/moved" => {
            let to = format!("http://{address}/ok");
            (format!("HTTP/1.1 302 Found\r\nlocation: {to}\r\ncontent-length: 0\r\n\r\n"), Vec::new())
        }
        "/endless" => ("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n".into(), Vec::new()),
        "/large" => (format!("HTTP/1.1 200 OK\r\ncontent-length: {LARGE}\r\n\r\n"), vec![b'x'; LARGE]),
        "/pages" => {
            let length: usize = if asked.contains("odd") { 5 } else { LARGE };
            let head = format!(
                "HTTP/1.1 200 OK\r\nx-ms-blob-type: PageBlob\r\nx-ms-blob-sequence-number: 7\r\ncontent-length: {length}\r\n\r\n"
            );
            (head, vec![b'p'; length])
        }
        "/log" => {
            let length: usize = if asked.contains("large") { LARGE } else { 5 };
            let head = format!(
                "HTTP/1.1 200 OK\r\nx-ms-blob-type: AppendBlob\r\nx-ms-blob-committed-block-count: 3\r\ncontent-length: {length}\r\n\r\n"
            );
            (head, vec![b'l'; length])
        }
        // Sources that say one thing and send another; what follows the second slash is their head.
        "/lies" => {
            let said = asked.split_once("?").and_then(|(_, said)| said.split(' ').next()).unwrap_or_default();
            let said = said.replace('+', " ").replace('&', "\r\n");
            (format!("HTTP/1.1 {said}\r\n\r\n"), b"0123456789".to_vec())
        }
        "/chunks" => {
            let said = asked.split_once("?").and_then(|(_, said)| said.split(' ').next()).unwrap_or_default();
            let head =
                format!("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\ncontent-length: {said}\r\n\r\n");
            (head, b"5\r\nhello\r\n0\r\n\r\n".to_vec())
        }
        "/breaks" => {
            let _ = stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nhello").await;
            return;
        }
        // Breaks off, unless it is asked for the same again.
        "/again" => {
            let head = format!("HTTP/1.1 200 OK\r\netag: \"e1\"\r\ncontent-length: {LARGE}\r\n\r\n");
            if !asked.to_ascii_lowercase().contains("if-match: \"e1\"") {
                let _ = stream.write_all(head.as_bytes()).await;
                let _ = stream.write_all(&vec![b'x'; LARGE / 2]).await;
                return;
            }
            // It is asked with what it was asked with first.
            assert!(asked.contains("sig=secret"), "{asked}");
            (head, vec![b'y'; LARGE])
        }
        "/slow" => (format!("HTTP/1.1 200 OK\r\ncontent-length: {LARGE}\r\n\r\n"), Vec::new()),
        _ => ("HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\n\r\n".into(), Vec::new()),
    };
    let _ = stream.write_all(head.as_bytes()).await;
    let _ = stream.write_all(&body).await;
    // A slow source keeps its connection.
    let _ = stream.read(&mut buffer).await;
}

struct Copies {
    client: Client,
    source: SocketAddr,
    sources: Arc<Sources>,
    engine: Engine,
}

impl Copies {
    async fn new(allowed: impl Fn(SocketAddr) -> String) -> Self {
        let source = source().await;
        let hosts = ForeignHosts::parse([allowed(source).as_str()]).unwrap();
        let engine = Engine::memory(Host::test());
        let mut client = Client::over(engine.clone());
        let sources = Arc::new(Sources::new(Vec::new(), hosts, Accounts::development()));
        client.gateway = client.gateway.with_sources(Arc::clone(&sources));
        let copies = Self { client, source, sources, engine };
        assert_eq!(copies.ask("PUT /devstoreaccount1/box?restype=container").await.status, 201);
        copies
    }

    async fn ask(&self, text: &str) -> Answer {
        self.client.send(Request::parse(text)).await
    }

    /// Of a request that copies `path` of the source.
    async fn copy(&self, request: &str, path: &str) -> Answer {
        self.ask(&format!("{request}\nx-ms-copy-source: http://{}{path}", self.source)).await
    }
}

fn said(answer: &Answer) -> String {
    format!("{} {}", answer.status, answer.headers.get("x-ms-error-code").map_or("", String::as_str))
}

const BLOB: &str = "PUT /devstoreaccount1/box/blob";

#[tokio::test]
async fn a_source_that_is_allowed_is_read_with_what_it_says_of_itself() {
    let copies = Copies::new(|address| address.to_string()).await;
    for request in [
        BLOB.to_owned(),
        format!("{BLOB}\nx-ms-requires-sync: true"),
        format!("{BLOB}\nx-ms-blob-type: BlockBlob"),
    ] {
        let copied = copies.copy(&request, "/ok?sig=secret").await;
        assert!(copied.status < 300, "{request}: {}", copied.text());
        let read = copies.ask("GET /devstoreaccount1/box/blob").await;
        assert_eq!(read.text(), "hello");
        assert_eq!(read.headers["content-type"], "text/x");
        assert_eq!(read.headers["x-ms-meta-from"], "afar");
        assert!(!format!("{:?}", read.headers).contains("secret"));
    }
    let block = "PUT /devstoreaccount1/box/parts?comp=block&blockid=MQ%3D%3D\nx-ms-source-range: bytes=1-2";
    assert_eq!(copies.copy(block, "/ok").await.status, 201);
    let list = "<BlockList><Latest>MQ==</Latest></BlockList>";
    let listed = copies.ask(&format!("PUT /devstoreaccount1/box/parts?comp=blocklist\n\n{list}")).await;
    assert_eq!(listed.status, 201);
    assert_eq!(copies.ask("GET /devstoreaccount1/box/parts").await.text(), "el");
}

#[tokio::test]
async fn a_source_that_fails_fails_the_copy() {
    let copies = Copies::new(|address| address.to_string()).await;
    let put = format!("{BLOB}\nx-ms-blob-type: BlockBlob");
    let conditional = format!("{BLOB}\nx-ms-source-if-match: \"1\"");
    for (request, path, wanted) in [
        (BLOB, "/none", "404 CannotVerifyCopySource"),
        (put.as_str(), "/none", "404 CannotVerifyCopySource"),
        (conditional.as_str(), "/changed", "412 SourceConditionNotMet"),
        (put.as_str(), "/changed", "412 CannotVerifyCopySource"),
        (BLOB, "/moved", "400 CannotVerifyCopySource"),
        (BLOB, "/endless", "400 CannotVerifyCopySource"),
    ] {
        assert_eq!(said(&copies.copy(request, path).await), wanted, "{request} {path}");
    }
    assert_eq!(copies.ask("GET /devstoreaccount1/box/blob").await.status, 404, "nothing was written");
}

/// What a source says of its bytes is compared with what was asked and what comes; nothing is written otherwise.
#[tokio::test]
async fn a_source_that_lies_is_not_believed() {
    let copies = Copies::new(|address| address.to_string()).await;
    let put = format!("{BLOB}\nx-ms-blob-type: BlockBlob");
    let block = format!("{BLOB}?comp=block&blockid=MQ%3D%3D");
    let part = format!("{block}\nx-ms-source-range: bytes=1-2");
    for (request, path) in [
        (&part, "/lies?206+Part&content-range:+bytes+0-1/5&content-length:+2"),
        (&part, "/lies?206+Part&content-range:+bytes+1-3/5&content-length:+3"),
        (&part, "/lies?206+Part&content-range:+bytes+1-2/5&content-length:+10"),
        (&part, "/lies?206+Part&content-range:+bytes+1-2/2&content-length:+2"),
        (&part, "/lies?206+Part&content-length:+2"),
        (&block, "/chunks?4"),
        (&block, "/chunks?6"),
        (&put, "/chunks?6"),
        (&BLOB.to_owned(), "/chunks?6"),
        (&BLOB.to_owned(), "/chunks?4"),
    ] {
        assert_eq!(said(&copies.copy(request, path).await), "400 CannotVerifyCopySource", "{request} {path}");
    }
    for request in [BLOB, &put, &block] {
        let broken = copies.copy(request, "/breaks").await;
        assert_eq!(said(&broken), "500 CannotVerifyCopySource", "{request}");
    }
    let list = "<BlockList><Latest>MQ==</Latest></BlockList>";
    let listed = copies.ask(&format!("{BLOB}?comp=blocklist\n\n{list}")).await;
    assert_eq!(said(&listed), "400 InvalidBlockList", "no block was written");
    assert_eq!(copies.ask("GET /devstoreaccount1/box/blob").await.status, 404, "nothing was written");
    // Of a source that is shorter than the pages that are to be written.
    let pages = "PUT /devstoreaccount1/box/pages\nx-ms-blob-type: PageBlob\nx-ms-blob-content-length: 1024";
    assert_eq!(copies.ask(pages).await.status, 201);
    let page = "PUT /devstoreaccount1/box/pages?comp=page\nx-ms-page-write: update\nx-ms-range: bytes=0-511\nx-ms-source-range: bytes=0-511";
    let short = copies.copy(page, "/lies?206+Part&content-range:+bytes+0-9/10&content-length:+10").await;
    assert_eq!(said(&short), "416 CannotVerifyCopySource");
    // A part is no whole, though the operation does not take ranges.
    let whole = copies.copy(&format!("{put}\nx-ms-source-range: bytes=1-2"), "/ok").await;
    assert_eq!(whole.status, 201, "{}", whole.text());
    assert_eq!(copies.ask("GET /devstoreaccount1/box/blob").await.text(), "hello");
    // A port that is none is not the usual one.
    let port = copies.ask(&format!("{BLOB}\nx-ms-copy-source: http://127.0.0.1:99999/ok")).await;
    assert_eq!(said(&port), "400 InvalidHeaderValue");
}

/// By default no host is, and one port of a host is not another.
#[tokio::test]
async fn a_source_that_is_not_allowed_is_not_asked() {
    for allowed in [String::new(), "127.0.0.1".to_owned(), "127.0.0.1:1".to_owned(), "localhost".to_owned()] {
        let copies = Copies::new(|_| allowed.clone()).await;
        let copied = copies.copy(BLOB, "/ok").await;
        assert_eq!(said(&copied), "403 CannotVerifyCopySource", "{allowed:?}");
    }
    // A name that is allowed does not lead to an address that is not.
    let copies = Copies::new(|address| format!("localhost:{}", address.port())).await;
    let request = format!("{BLOB}\nx-ms-copy-source: http://localhost:{}/ok", copies.source.port());
    assert_eq!(said(&copies.ask(&request).await), "403 CannotVerifyCopySource");
}

#[tokio::test]
async fn a_large_source_is_pending_until_it_is_there() {
    let copies = Copies::new(|address| address.to_string()).await;
    let copied = copies.copy(BLOB, "/large").await;
    assert_eq!((copied.status, copied.headers["x-ms-copy-status"].as_str()), (202, "pending"));
    for _ in 0..500 {
        let read = copies.ask("HEAD /devstoreaccount1/box/blob").await;
        if read.headers["x-ms-copy-status"] == "success" {
            assert_eq!(read.headers["x-ms-copy-progress"], format!("{LARGE}/{LARGE}"));
            assert_eq!(read.headers["content-length"], LARGE.to_string());
            return;
        }
        assert_eq!(read.headers["content-length"], "0");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    panic!("the copy does not end");
}

/// A source that breaks off is asked again, for what it was.
#[tokio::test]
async fn a_copy_that_broke_off_is_begun_again() {
    let copies = Copies::new(|address| address.to_string()).await;
    let copied = copies.copy(BLOB, "/again?sig=secret").await;
    assert_eq!((copied.status, copied.headers["x-ms-copy-status"].as_str()), (202, "pending"));
    let rows = Scan::of(KeyRange::prefix(&b"J"[..]));
    let rows = copies.engine.reader().await.unwrap().scan(rows).await.unwrap().items;
    let has_secret = |bytes: &[u8]| bytes.windows(6).any(|six| six == b"secret");
    assert!(!rows.is_empty() && !rows.iter().any(|(_, row)| has_secret(&row.value)), "a signature is stored");
    let (services, sources) = (&copies.client.gateway.services, &copies.sources);
    let sources: Arc<dyn Abroad> = sources.clone();
    for _ in 0..500 {
        copies.engine.advance_clock(Duration::from_millis(100));
        take_up_copies(services, &sources).await.unwrap();
        let read = copies.ask("HEAD /devstoreaccount1/box/blob").await;
        assert!(!format!("{:?}", read.headers).contains("secret"));
        if read.headers["x-ms-copy-status"] == "success" {
            assert_eq!(read.headers["x-ms-copy-progress"], format!("{LARGE}/{LARGE}"));
            let ranged = "GET /devstoreaccount1/box/blob\nx-ms-range: bytes=0-1";
            assert_eq!(copies.ask(ranged).await.text(), "yy", "all of the second answer");
            return;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    panic!("the copy does not end");
}

/// By the type that the source tells: pages become pages, appended blocks an append blob that grows on.
#[tokio::test]
async fn the_copy_of_a_source_elsewhere_is_of_its_type() {
    let copies = Copies::new(|address| address.to_string()).await;
    let odd = copies.copy(BLOB, "/pages?odd").await;
    assert_eq!(said(&odd), "400 CannotVerifyCopySource");
    for (name, path) in [("pages", "/pages"), ("log", "/log?large"), ("small", "/log")] {
        let copied = copies.copy(&format!("PUT /devstoreaccount1/box/{name}"), path).await;
        assert_eq!(copied.status, 202, "{path}: {}", copied.text());
        let mut read = copies.ask(&format!("HEAD /devstoreaccount1/box/{name}")).await;
        for _ in 0..500 {
            if read.headers["x-ms-copy-status"] != "pending" {
                break;
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
            read = copies.ask(&format!("HEAD /devstoreaccount1/box/{name}")).await;
        }
        assert_eq!(read.headers["x-ms-copy-status"], "success", "{path}");
        match name {
            "pages" => {
                assert_eq!(read.headers["x-ms-blob-type"], "PageBlob");
                assert_eq!(read.headers["x-ms-blob-sequence-number"], "7");
                let page = "PUT /devstoreaccount1/box/pages?comp=page\nx-ms-page-write: clear\nx-ms-range: bytes=0-511";
                assert_eq!(copies.ask(page).await.status, 201);
                let ranged = "GET /devstoreaccount1/box/pages\nx-ms-range: bytes=511-512";
                assert_eq!(copies.ask(ranged).await.text(), "\0p");
            }
            _ => {
                assert_eq!(read.headers["x-ms-blob-type"], "AppendBlob");
                assert_eq!(read.headers["x-ms-blob-committed-block-count"], "3");
                let append = format!("PUT /devstoreaccount1/box/{name}?comp=appendblock\n\nmore");
                let appended = copies.ask(&append).await;
                assert_eq!(appended.headers["x-ms-blob-committed-block-count"], "4");
                let length: u64 = read.headers["content-length"].parse().unwrap();
                let range = format!("x-ms-range: bytes={}-", length - 1);
                let ranged = format!("GET /devstoreaccount1/box/{name}\n{range}");
                assert_eq!(copies.ask(&ranged).await.text(), "lmore");
            }
        }
    }
    // A block of an append blob, and pages, from there.
    let append = "PUT /devstoreaccount1/box/small?comp=appendblock\nx-ms-source-range: bytes=1-2";
    assert_eq!(copies.copy(append, "/ok").await.status, 201);
    assert_eq!(copies.ask("GET /devstoreaccount1/box/small").await.text(), "lllllmoreel");
    // A key for the source does not leave the server in the clear.
    let key = "x-ms-source-encryption-key: AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=\nx-ms-source-encryption-key-sha256: Zmh6rfhivXdsj8GLjp+OIAiXFIVu4jOzkCpZHQ1fKSU=\nx-ms-source-encryption-algorithm: AES256";
    let refused = copies.copy(&format!("{append}\n{key}"), "/ok").await;
    assert_eq!(said(&refused), "400 InvalidHeaderValue");
}

/// Also the one conversation of Abort Copy Blob that ends well.
#[tokio::test]
async fn a_pending_copy_is_seen_and_aborted() {
    abort_a_copy().await;
}

pub async fn abort_a_copy() {
    let copies = Copies::new(|address| address.to_string()).await;
    let copied = copies.copy(BLOB, "/slow").await;
    assert_eq!(copied.headers["x-ms-copy-status"], "pending");
    let id = &copied.headers["x-ms-copy-id"];
    let read = copies.ask("HEAD /devstoreaccount1/box/blob").await;
    assert_eq!(read.headers["x-ms-copy-progress"], format!("0/{LARGE}"));
    assert!(!read.headers.contains_key("x-ms-copy-completion-time"));
    let listed =
        copies.ask("GET /devstoreaccount1/box?restype=container&comp=list&include=copy").await.text();
    assert!(listed.contains("<CopyStatus>pending</CopyStatus>"), "{listed}");

    let refused = copies.ask("DELETE /devstoreaccount1/box/blob").await;
    assert_eq!(said(&refused), "409 PendingCopyOperation");
    let abort = |id: &str| format!("{BLOB}?comp=copy&copyid={id}\nx-ms-copy-action: abort");
    let other = copies.ask(&abort("11111111-2222-3333-4444-555555555555")).await;
    assert_eq!(said(&other), "409 CopyIdMismatch");
    let aborted = copies.ask(&abort(id)).await;
    assert_eq!(aborted.status, 204, "{}", aborted.text());
    let read = copies.ask("HEAD /devstoreaccount1/box/blob").await;
    assert_eq!(
        (read.headers["x-ms-copy-status"].as_str(), read.headers["content-length"].as_str()),
        ("aborted", "0")
    );
    assert_eq!(said(&copies.ask(&abort(id)).await), "409 NoPendingCopyOperation");
}

const FILE_HOST: &str = "host: devstoreaccount1.file.localhost:10003";

/// A file that a large source elsewhere is copied to: its length is counted at once, nobody writes to it meanwhile, and an
/// abort leaves it empty.
pub async fn abort_a_file_copy() {
    let copies = Copies::new(|address| address.to_string()).await;
    let ask = async |text: &str| {
        let (line, rest) = text.split_once('\n').unwrap_or((text, ""));
        copies.ask(&format!("{line}\n{FILE_HOST}\n{rest}")).await
    };
    let from = |path: &str| format!("PUT /docs/f\nx-ms-copy-source: http://{}{path}", copies.source);
    assert_eq!(ask("PUT /docs?restype=share").await.status, 201);
    let begun = ask(&from("/slow")).await;
    assert_eq!((begun.status, begun.headers["x-ms-copy-status"].as_str()), (202, "pending"));
    let id = begun.headers["x-ms-copy-id"].clone();
    let read = ask("HEAD /docs/f").await;
    assert_eq!(read.headers["x-ms-copy-progress"], format!("0/{LARGE}"));
    assert_eq!(read.headers["content-length"], LARGE.to_string());
    assert!(ask("GET /docs?restype=share&comp=stats").await.text().contains(&format!(">{LARGE}<")));
    for write in [
        "PUT /docs/f\nx-ms-type: file\nx-ms-content-length: 1",
        "PUT /docs/f?comp=range\nx-ms-write: update\nx-ms-range: bytes=0-1\n\nab",
        "PUT /docs/f?comp=metadata",
        "PUT /docs/f?comp=properties",
        "DELETE /docs/f",
        &from("/ok"),
    ] {
        assert_eq!(said(&ask(write).await), "409 PendingCopyOperation", "{write}");
    }
    let abort = |id: &str| format!("PUT /docs/f?comp=copy&copyid={id}\nx-ms-copy-action: abort");
    let other = "00000000-0000-4000-8000-000000000000";
    assert_eq!(said(&ask(&abort(other)).await), "409 CopyIdMismatch");
    assert_eq!(ask(&abort(&id)).await.status, 204);
    assert_eq!(said(&ask(&abort(&id)).await), "409 NoPendingCopyOperation");
    let read = ask("HEAD /docs/f").await;
    assert_eq!(
        (read.headers["x-ms-copy-status"].as_str(), read.headers["content-length"].as_str()),
        ("aborted", "0")
    );
    assert!(ask("GET /docs?restype=share&comp=stats").await.text().contains(">0<"));
    assert_eq!(ask(&from("/ok")).await.status, 202);
    assert_eq!(ask("GET /docs/f").await.text(), "hello");
}

/// The same as of a blob: small sources at once, large ones later and tried again, none that is not allowed.
#[tokio::test]
async fn files_are_copied_from_elsewhere_too() {
    let copies = Copies::new(|address| address.to_string()).await;
    let ask = async |text: &str| {
        let (line, rest) = text.split_once('\n').unwrap_or((text, ""));
        copies.ask(&format!("{line}\n{FILE_HOST}\n{rest}")).await
    };
    let from = |path: &str| format!("PUT /docs/f\nx-ms-copy-source: http://{}{path}", copies.source);
    assert_eq!(ask("PUT /docs?restype=share").await.status, 201);
    let copied = ask(&from("/ok?sig=secret")).await;
    assert_eq!((copied.status, copied.headers["x-ms-copy-status"].as_str()), (202, "success"));
    let read = ask("GET /docs/f").await;
    assert_eq!((read.text().as_str(), read.headers["content-type"].as_str()), ("hello", "text/x"));
    assert_eq!(read.headers["x-ms-meta-from"], "afar");
    assert!(!format!("{:?}", read.headers).contains("secret"));
    for (path, wanted) in [
        ("/none", "404 CannotVerifyCopySource"),
        ("/moved", "400 CannotVerifyCopySource"),
        ("/chunks?6", "400 CannotVerifyCopySource"),
        ("/breaks", "500 CannotVerifyCopySource"),
    ] {
        assert_eq!(said(&ask(&from(path)).await), wanted, "{path}");
    }
    assert_eq!(ask("GET /docs/f").await.text(), "hello", "it is as it was");
    let refused = ask("PUT /docs/f\nx-ms-copy-source: http://127.0.0.1:1/ok").await;
    assert_eq!(said(&refused), "403 CannotVerifyCopySource");
    assert_eq!(ask(&from("/again?sig=secret")).await.headers["x-ms-copy-status"], "pending");
    let sources: Arc<dyn Abroad> = copies.sources.clone();
    for _ in 0..500 {
        copies.engine.advance_clock(Duration::from_millis(100));
        take_up_copies(&copies.client.gateway.services, &sources).await.unwrap();
        let read = ask("HEAD /docs/f").await;
        if read.headers["x-ms-copy-status"] == "success" {
            assert_eq!(read.headers["x-ms-copy-progress"], format!("{LARGE}/{LARGE}"));
            assert_eq!(ask("GET /docs/f\nx-ms-range: bytes=0-1").await.text(), "yy");
            assert_eq!(ask("PUT /docs/f?comp=metadata").await.status, 200);
            return;
        }
        assert_eq!(ask("GET /docs/f\nx-ms-range: bytes=0-1").await.text(), "\0\0");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    panic!("the copy does not end");
}
