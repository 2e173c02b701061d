//! Structured messages over the wire: what is sent in one is stored as if it had been sent plainly, and read in one.

use bytes::Bytes;
use lazuli_rest::structured::{Decoder, Encoder, FORM};

use super::client::{Answer, Client, Request};

const VERSION: &str = "2025-07-05";

fn message(bytes: &[u8], segment: u64) -> Vec<u8> {
    let mut encoder = Encoder::with_segments(bytes.len() as u64, segment);
    encoder.push(Bytes::copy_from_slice(bytes));
    let mut message = Vec::new();
    while let Some(part) = encoder.pull() {
        message.extend_from_slice(&part);
    }
    message
}

fn read(message: &Bytes, length: u64) -> Vec<u8> {
    let mut decoder = Decoder::new(length, Some(message.len() as u64));
    decoder.push(message.clone());
    let mut bytes = Vec::new();
    while let Some(part) = decoder.pull().unwrap() {
        bytes.extend_from_slice(&part);
    }
    decoder.finish().unwrap();
    bytes
}

async fn ask(client: &Client, text: &str) -> Answer {
    client.send(Request::parse(&format!("{text}\nx-ms-version: {VERSION}"))).await
}

async fn send(client: &Client, text: &str, message: Vec<u8>, length: usize) -> Answer {
    let text = format!(
        "{text}\nx-ms-version: {VERSION}\nx-ms-structured-body: {FORM}\n\
         x-ms-structured-content-length: {length}"
    );
    client.send(Request { binary: Some(message.into()), ..Request::parse(&text) }).await
}

fn code(answer: &Answer) -> (u16, &str) {
    (answer.status, answer.headers.get("x-ms-error-code").map_or("", String::as_str))
}

async fn begun() -> Client {
    let client = Client::new();
    assert_eq!(ask(&client, "PUT /devstoreaccount1/box?restype=container").await.status, 201);
    assert_eq!(ask(&client, "PUT /devstoreaccount1/box/log\nx-ms-blob-type: AppendBlob").await.status, 201);
    let pages = "PUT /devstoreaccount1/box/pages\nx-ms-blob-type: PageBlob\nx-ms-blob-content-length: 1024";
    assert_eq!(ask(&client, pages).await.status, 201);
    client
}

const WRITES: [&str; 4] = [
    "PUT /devstoreaccount1/box/b\nx-ms-blob-type: BlockBlob",
    "PUT /devstoreaccount1/box/blocks?comp=block&blockid=MQ==",
    "PUT /devstoreaccount1/box/log?comp=appendblock",
    "PUT /devstoreaccount1/box/pages?comp=page\nx-ms-page-write: update\nx-ms-range: bytes=0-1023",
];

#[tokio::test]
async fn bytes_in_a_structured_message_are_stored_and_read() {
    let client = begun().await;
    let bytes: Vec<u8> = (0..1024).map(|at| (at % 251) as u8).collect();
    for write in WRITES {
        let answer = send(&client, write, message(&bytes, 100), bytes.len()).await;
        assert_eq!(answer.status, 201, "{write} {}", answer.text());
        assert_eq!(answer.headers["x-ms-structured-body"], FORM, "{write}");
        let plain = lazuli_service::crc64(&bytes).to_le_bytes();
        let crc64 = base64::Engine::encode(&base64::prelude::BASE64_STANDARD, plain);
        assert_eq!(answer.headers["x-ms-content-crc64"], crc64, "{write}");
    }
    for name in ["b", "log", "pages"] {
        let plain = ask(&client, &format!("GET /devstoreaccount1/box/{name}")).await;
        assert_eq!((plain.status, &plain.body[..]), (200, &bytes[..]), "{name}");
        for (range, status, wanted) in
            [("", 200, &bytes[..]), ("\nx-ms-range: bytes=100-199", 206, &bytes[100..200])]
        {
            let text = format!("GET /devstoreaccount1/box/{name}\nx-ms-structured-body: {FORM}{range}");
            let answer = ask(&client, &text).await;
            assert_eq!(answer.status, status, "{name} {range}");
            assert_eq!(answer.headers["x-ms-structured-body"], FORM);
            let length = wanted.len() as u64;
            assert_eq!(answer.headers["x-ms-structured-content-length"], length.to_string());
            assert_eq!(read(&answer.body, length), wanted, "{name} {range}");
        }
    }
    let list = "PUT /devstoreaccount1/box/blocks?comp=blocklist";
    let list = format!("{list}\n\n<BlockList><Latest>MQ==</Latest></BlockList>");
    assert_eq!(client.send(Request::parse(&list)).await.status, 201);
    assert_eq!(&ask(&client, "GET /devstoreaccount1/box/blocks").await.body[..], &bytes[..]);
    // Of no bytes there is a message too.
    let put = "PUT /devstoreaccount1/box/empty\nx-ms-blob-type: BlockBlob";
    assert_eq!(send(&client, put, message(b"", 100), 0).await.status, 201);
    let get = format!("GET /devstoreaccount1/box/empty\nx-ms-structured-body: {FORM}");
    assert_eq!(read(&ask(&client, &get).await.body, 0), b"");
}

#[tokio::test]
async fn a_wrong_message_changes_nothing() {
    let client = begun().await;
    let bytes = vec![7; 1024];
    let good = message(&bytes, 100);
    let damaged = |at: usize| {
        let mut bad = good.clone();
        bad[at] ^= 1;
        bad
    };
    for write in WRITES {
        for (bad, length, wanted) in [
            (damaged(60), 1024, "Crc64Mismatch"),
            (damaged(good.len() - 1), 1024, "Crc64Mismatch"),
            (damaged(0), 1024, "InvalidInput"),
            (damaged(13), 1024, "InvalidInput"),
            (good[..good.len() - 8].to_vec(), 1024, "InvalidInput"),
            (good.clone(), 1000, "InvalidInput"),
        ] {
            let answer = send(&client, write, bad, length).await;
            assert_eq!(code(&answer), (400, wanted), "{write} {length}");
        }
    }
    assert_eq!(ask(&client, "GET /devstoreaccount1/box/b").await.status, 404);
    assert_eq!(ask(&client, "GET /devstoreaccount1/box/log").await.body.len(), 0);
    assert_eq!(ask(&client, "GET /devstoreaccount1/box/pages").await.body[..], [0; 1024]);
    // Conditions are judged before the bytes.
    let unmet = "PUT /devstoreaccount1/box/b\nx-ms-blob-type: BlockBlob\nif-match: \"0x1\"";
    let answer = send(&client, unmet, damaged(60), 1024).await;
    assert_eq!(code(&answer), (412, "ConditionNotMet"));
}

#[tokio::test]
async fn headers_of_structured_bodies_are_checked() {
    let client = begun().await;
    let put = |version: &str, headers: &str| {
        let text = format!(
            "PUT /devstoreaccount1/box/b\nx-ms-blob-type: BlockBlob\nx-ms-version: {version}\n{headers}"
        );
        Request { binary: Some(message(b"hello", 100).into()), ..Request::parse(&text) }
    };
    let form = format!("x-ms-structured-body: {FORM}");
    let length = "x-ms-structured-content-length: 5";
    for (version, headers, wanted) in [
        (VERSION, format!("{form}\n{length}"), (201, "")),
        (VERSION, format!("x-ms-structured-body: xsm/1.0;properties=crc64\n{length}"), (201, "")),
        (VERSION, form.clone(), (400, "MissingRequiredHeader")),
        (VERSION, length.to_owned(), (400, "MissingRequiredHeader")),
        (VERSION, format!("{form}\nx-ms-structured-content-length: -1"), (400, "InvalidHeaderValue")),
        (VERSION, format!("x-ms-structured-body: XSM/2.0\n{length}"), (400, "InvalidHeaderValue")),
        ("2025-05-05", format!("{form}\n{length}"), (400, "UnsupportedHeader")),
    ] {
        let answer = client.send(put(version, &headers)).await;
        assert_eq!(code(&answer), wanted, "{version} {headers}");
    }
}
