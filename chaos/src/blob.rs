//! Requests of the Blob service, signed by the one SAS.

use std::time::Duration;

use bytes::Bytes;
use lazuli_testing::xml::element;

use crate::Trial;
use crate::random::mix;
use crate::sas::signed;
use crate::server::Server;
use crate::wire::{Client, Request};

pub const CONTAINER: &str = "chaos";

pub fn create_container() -> Request {
    signed("PUT", CONTAINER, "restype=container")
}

pub fn of_service(method: &'static str, query: &str) -> Request {
    signed(method, "", query)
}

pub fn of_container(method: &'static str, query: &str) -> Request {
    signed(method, CONTAINER, query)
}

pub fn of_blob(method: &'static str, name: &str, query: &str) -> Request {
    signed(method, &format!("{CONTAINER}/{name}"), query)
}

pub fn get(name: &str) -> Request {
    of_blob("GET", name, "")
}

pub fn put(name: &str, body: impl Into<Bytes>) -> Request {
    of_blob("PUT", name, "").header("x-ms-blob-type", "BlockBlob").body(body)
}

pub fn delete(name: &str) -> Request {
    of_blob("DELETE", name, "")
}

pub fn lease(name: &str, action: &str) -> Request {
    of_blob("PUT", name, "comp=lease").header("x-ms-lease-action", action)
}

/// `seconds`: -1 for one that never ends.
pub fn acquire(name: &str, id: &str, seconds: i32) -> Request {
    lease(name, "acquire").header("x-ms-lease-duration", seconds).header("x-ms-proposed-lease-id", id)
}

/// At once, whatever is left of it.
pub fn break_now(name: &str) -> Request {
    lease(name, "break").header("x-ms-lease-break-period", 0)
}

/// A lease id that is somebody's.
pub fn lease_id(owner: u64) -> String {
    format!("00000000-0000-4000-8000-{owner:012x}")
}

/// Bytes that tell from which seed they are.
pub fn content(seed: u64, length: usize) -> Bytes {
    let mut bytes = Vec::with_capacity(length + 8);
    let mut word = seed;
    while bytes.len() < length {
        word = word.wrapping_add(0x9E37_79B9_7F4A_7C15);
        bytes.extend_from_slice(&mix(word).to_le_bytes());
    }
    bytes.truncate(length);
    bytes.into()
}

/// Moves the test clock forward.
pub async fn advance(server: &Server, by: Duration) -> Trial {
    let request = Request::new("POST", "/clock").body(format!("{{\"advance_ms\": {}}}", by.as_millis()));
    Client::new(server.admin).must(&request).await?.expect(200, "moving the clock").map(drop)
}

/// Every blob under a prefix, with its ETag.
pub async fn list(client: &mut Client, prefix: &str) -> Trial<Vec<(String, String)>> {
    let mut found = Vec::new();
    let mut marker = String::new();
    loop {
        let query = format!("restype=container&comp=list&prefix={prefix}&marker={marker}");
        let answer = client.must(&of_container("GET", &query)).await?.expect(200, "List Blobs")?;
        let text = String::from_utf8_lossy(&answer.body).into_owned();
        for blob in text.split("<Blob>").skip(1) {
            found.push((element(blob, "Name").to_owned(), element(blob, "Etag").to_owned()));
        }
        marker = element(&text, "NextMarker").to_owned();
        if marker.is_empty() {
            return Ok(found);
        }
    }
}
