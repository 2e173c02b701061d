//! Bodies that lie about their length, or never end. What was not received whole is not stored, and what follows a
//! body is never taken for something else.

use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::time::timeout;

use super::{WITNESS, prepare, raw, serves};
use crate::Trial;
use crate::blob;
use crate::options::Options;
use crate::server::{Launch, Server};
use crate::wire::{Client, Connection, connect};

const NAME: &str = "liar";

/// A head with these header lines instead of Content-Length.
fn head(lines: &str) -> String {
    blob::put(NAME, "").head(1).replace("Content-Length: 1\r\n", lines)
}

pub async fn run(options: &Options) -> Trial<String> {
    let launch = Launch::new(options, "lengths")?;
    let mut server = launch.start()?;
    prepare(&server).await?;
    let lies: &[(&str, String, &[u16])] = &[
        ("no number", head("Content-Length: abc\r\n") + "x", &[400]),
        ("negative", head("Content-Length: -1\r\n") + "x", &[400]),
        ("more than 64 bits", head("Content-Length: 99999999999999999999\r\n") + "x", &[400, 413]),
        ("8 EiB", head("Content-Length: 9223372036854775807\r\n") + "x", &[400, 413]),
        ("two that differ", head("Content-Length: 1\r\nContent-Length: 2\r\n") + "xx", &[400]),
        ("with a plus", head("Content-Length: +1\r\n") + "x", &[400]),
        ("no length", head(""), &[400, 411]),
        ("not chunks", head("Transfer-Encoding: chunked\r\n") + "zz\r\nxx\r\n0\r\n\r\n", &[400, 411]),
        ("a chunk of 2^64", head("Transfer-Encoding: chunked\r\n") + "fffffffffffffffff\r\n", &[400, 411]),
        ("another coding", head("Transfer-Encoding: gzip\r\n") + "x", &[400, 411, 501]),
        ("endless chunk extension", endless("1;"), &[400, 411]),
        ("endless trailers", endless("0\r\nA: "), &[400, 411]),
    ];
    for (what, bytes, statuses) in lies {
        let answer =
            raw(server.blob, bytes.as_bytes()).await.map_err(|reason| format!("{what}: {reason}"))?;
        if let Some(answer) = answer.filter(|answer| !statuses.contains(&answer.status)) {
            return Err(format!("{what}: answered {}", answer.shown()));
        }
        absent(&server).await.map_err(|reason| format!("{what}: {reason}"))?;
        serves(&mut server).await.map_err(|reason| format!("after {what}: {reason}"))?;
    }
    short(&server).await?;
    smuggled(&server).await?;
    let endless = endless_chunks(&server).await?;
    continue_refused(&server).await?;
    serves(&mut server).await?;
    let memory = server.peak_memory() >> 20;
    server.stop().await?;
    Ok(format!(
        "{} lies; an endless body was cut off after {} MiB; {memory} MiB",
        lies.len() + 4,
        endless >> 20
    ))
}

fn endless(start: &str) -> String {
    head("Transfer-Encoding: chunked\r\n") + start + &"a".repeat(4 << 20)
}

async fn absent(server: &Server) -> Trial {
    Client::new(server.blob).must(&blob::get(NAME)).await?.expect(404, "what was never whole").map(drop)
}

/// The sender leaves before it has sent what it announced.
async fn short(server: &Server) -> Trial {
    for size in [1000, 8 << 20] {
        let failed = |error: std::io::Error| format!("a body cut short: {error}");
        let mut stream = connect(server.blob).await.map_err(failed)?;
        stream.write_all(blob::put(NAME, "").head(size).as_bytes()).await.map_err(failed)?;
        let part = blob::content(1, size as usize / 2);
        stream.write_all(&part).await.map_err(failed)?;
        stream.shutdown().await.map_err(failed)?;
        let mut rest = Vec::new();
        let _ = timeout(Duration::from_secs(10), stream.read_to_end(&mut rest)).await;
        if rest.starts_with(b"HTTP/1.1 2") {
            return Err("a body cut short was acknowledged".to_owned());
        }
        absent(server).await?;
    }
    Ok(())
}

/// Two readings of where a body ends would let a request hide in it.
async fn smuggled(server: &Server) -> Trial {
    let hidden = blob::delete(WITNESS).head(0);
    let both = head(&format!("Content-Length: {}\r\nTransfer-Encoding: chunked\r\n", 5 + hidden.len()));
    raw(server.blob, format!("{both}0\r\n\r\n{hidden}").as_bytes()).await?;
    let after_zero = head("Content-Length: 1\r\n") + "x" + "GARBAGE";
    raw(server.blob, after_zero.as_bytes()).await?;
    let mut client = Client::new(server.blob);
    client.must(&blob::delete(NAME)).await?;
    client.must(&blob::get(WITNESS)).await?.expect(200, "the target of a hidden request").map(drop)
}

/// How much was taken before the connection was closed.
async fn endless_chunks(server: &Server) -> Trial<u64> {
    const MOST: u64 = 1 << 30;
    let mut stream = connect(server.blob).await.map_err(|error| error.to_string())?;
    let start = head("Transfer-Encoding: chunked\r\n");
    stream.write_all(start.as_bytes()).await.map_err(|error| error.to_string())?;
    let mut chunk = b"100000\r\n".to_vec();
    chunk.extend(std::iter::repeat_n(b'x', 1 << 20));
    chunk.extend_from_slice(b"\r\n");
    let mut sent = 0;
    while sent < MOST {
        match timeout(Duration::from_secs(60), stream.write_all(&chunk)).await {
            Ok(Ok(())) => sent += 1 << 20,
            Ok(Err(_)) => return absent(server).await.map(|()| sent),
            Err(_) => return Err("an endless body is neither taken nor refused".to_owned()),
        }
    }
    Err(format!("{} MiB of an endless body were taken", sent >> 20))
}

/// Who asks first is told before sending.
async fn continue_refused(server: &Server) -> Trial {
    let request = blob::put(NAME, "").header("Expect", "100-continue").header("If-Match", "\"0x1\"");
    let failed = |error: std::io::Error| format!("100-continue: {error}");
    let mut stream = connect(server.blob).await.map_err(failed)?;
    stream.write_all(request.head(100 << 20).as_bytes()).await.map_err(failed)?;
    let mut connection = Connection::new(stream);
    let answer = timeout(Duration::from_secs(10), connection.answer("PUT")).await;
    let answer = answer.map_err(|_| "100-continue: no answer")?.map_err(failed)?;
    answer.expect(412, "a refused upload that waits for leave").map(drop)
}
