//! Requests over the limits: refused in a moment, with a word that says why, and nobody else is hurt.

use std::time::{Duration, Instant};

use super::{prepare, raw, serves};
use crate::Trial;
use crate::blob::{of_blob, of_service, put};
use crate::options::Options;
use crate::server::Launch;

const PATIENCE: Duration = Duration::from_secs(10);

struct Attempt {
    what: &'static str,
    bytes: Vec<u8>,
    /// Any of these; none means that closing the connection is an answer, too.
    statuses: &'static [u16],
}

fn long_header(length: usize) -> Vec<u8> {
    put("refused", "x").header("x-ms-client-request-id", "a".repeat(length)).to_bytes()
}

fn many_headers(count: usize) -> Vec<u8> {
    let extra: String = (0..count).map(|number| format!("x-extra-{number}: 1\r\n")).collect();
    let head = put("refused", "").head(0);
    format!("{}{extra}\r\n", head.strip_suffix("\r\n").unwrap_or(&head)).into_bytes()
}

fn document(query: &str, body: String) -> Vec<u8> {
    of_blob("PUT", "refused", query).body(body).to_bytes()
}

fn properties(body: String) -> Vec<u8> {
    of_service("PUT", "restype=service&comp=properties").body(body).to_bytes()
}

fn blocks(count: usize) -> String {
    format!("<BlockList>{}</BlockList>", "<Latest>MDAw</Latest>".repeat(count))
}

fn entities() -> String {
    let mut text = "<!DOCTYPE x [<!ENTITY a0 \"aaaaaaaaaa\">".to_owned();
    for level in 1..30 {
        let below = format!("&a{};", level - 1);
        text.push_str(&format!("<!ENTITY a{level} \"{}\">", below.repeat(10)));
    }
    text + "]><BlockList><Latest>&a29;</Latest></BlockList>"
}

fn attempts() -> Vec<Attempt> {
    let attempt = |what, bytes, statuses| Attempt { what, bytes, statuses };
    let attributes: String = (0..200_000).map(|number| format!(" a{number}=\"1\"")).collect();
    let metadata = put("refused", "x").header("x-ms-meta-much", "m".repeat(20_000));
    vec![
        attempt("a header of 100 KiB", long_header(100 << 10), &[400, 431]),
        attempt("a header of 20 MiB", long_header(20 << 20), &[]),
        attempt("1,000 headers", many_headers(1000), &[400, 431]),
        attempt("a target of 100 KiB", put(&"n".repeat(100 << 10), "x").to_bytes(), &[400, 414, 431]),
        attempt("a name of 2,000 characters", put(&"n".repeat(2000), "x").to_bytes(), &[400]),
        attempt("no HTTP", b"\x00\x01\x02\x03 nonsense\r\n\r\n".to_vec(), &[]),
        attempt("a TLS greeting", b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n".to_vec(), &[]),
        attempt("HTTP/2 without asking", b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".to_vec(), &[]),
        attempt("a bare line feed in a header", b"GET / HTTP/1.1\nHost: a\nA : b\n\n".to_vec(), &[]),
        attempt("20,000 bytes of metadata", metadata.to_bytes(), &[400]),
        attempt("50,001 blocks", document("comp=blocklist", blocks(50_001)), &[400]),
        attempt("a block list of 40 MB", document("comp=blocklist", blocks(2_000_000)), &[400, 413]),
        attempt("100,000 levels", properties("<a>".repeat(100_000)), &[400, 413]),
        attempt(
            "200,000 attributes",
            properties(format!("<StorageServiceProperties{attributes}/>")),
            &[400, 413],
        ),
        attempt("entities of entities", document("comp=blocklist", entities()), &[400]),
        attempt("half a document", document("comp=blocklist", "<BlockList><Latest>MDA".into()), &[400]),
        attempt("no document", document("comp=blocklist", "\u{0}\u{1}".into()), &[400]),
    ]
}

pub async fn run(options: &Options) -> Trial<String> {
    let launch = Launch::new(options, "heads")?;
    let mut server = launch.start()?;
    prepare(&server).await?;
    let attempts = attempts();
    let mut slowest = (Duration::ZERO, "");
    for Attempt { what, bytes, statuses } in &attempts {
        let started = Instant::now();
        let answer = raw(server.blob, bytes).await.map_err(|reason| format!("{what}: {reason}"))?;
        let took = started.elapsed();
        match answer {
            Some(answer) if statuses.contains(&answer.status) => {}
            Some(answer) if statuses.is_empty() && (400..500).contains(&answer.status) => {}
            None if statuses.is_empty() => {}
            Some(answer) => return Err(format!("{what}: answered {}", answer.shown())),
            None => return Err(format!("{what}: closed without an answer")),
        }
        if took > PATIENCE {
            return Err(format!("{what}: answered after {took:?}"));
        }
        slowest = slowest.max((took, what));
        serves(&mut server).await.map_err(|reason| format!("after {what}: {reason}"))?;
    }
    let memory = server.peak_memory() >> 20;
    server.stop().await?;
    let (took, what) = slowest;
    Ok(format!("{} refused; slowest: {what}, {} ms; {memory} MiB", attempts.len(), took.as_millis()))
}
