//! One keep-alive connection: a request out, its answer in. As little work as possible, since the client
//! shares the machine with the server; so it is not the client of `lazuli-testing`, which keeps every header and the body.

use std::io::{self, IoSlice};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::request::Request;

const BUFFER: usize = 256 * 1024;
/// Up to here head and body leave in one copy and one call.
const JOINED: usize = 16 * 1024;

pub struct Connection {
    stream: TcpStream,
    buffer: Box<[u8]>,
    /// The bytes received and not yet taken are `buffer[start..end]`.
    start: usize,
    end: usize,
    sent: Vec<u8>,
}

#[derive(Debug)]
pub struct Answer {
    pub status: u16,
    pub etag: String,
    /// Of the body that came.
    pub length: u64,
    /// Keys at which a query of the Table service goes on; empty at its end.
    pub next_partition: String,
    pub next_row: String,
    /// How many messages a queue says that it holds.
    pub messages: usize,
}

struct Head {
    answer: Answer,
    chunked: bool,
}

impl Connection {
    pub async fn open(address: std::net::SocketAddr) -> io::Result<Self> {
        let stream = TcpStream::connect(address).await?;
        stream.set_nodelay(true)?;
        let buffer = vec![0; BUFFER].into_boxed_slice();
        Ok(Self { stream, buffer, start: 0, end: 0, sent: Vec::with_capacity(JOINED) })
    }

    /// The body is counted and dropped.
    pub async fn exchange(&mut self, request: &Request) -> io::Result<Answer> {
        self.send(request).await?;
        self.receive(request.answered_without_body, None).await
    }

    pub async fn exchange_into(&mut self, request: &Request, body: &mut Vec<u8>) -> io::Result<Answer> {
        body.clear();
        self.send(request).await?;
        self.receive(request.answered_without_body, Some(body)).await
    }

    /// An error unless the answer is the one expected.
    pub async fn expect(&mut self, request: &Request, status: u16) -> io::Result<Answer> {
        let mut body = Vec::new();
        let answer = self.exchange_into(request, &mut body).await?;
        if answer.status == status {
            return Ok(answer);
        }
        let asked = request.line();
        let told = String::from_utf8_lossy(&body);
        Err(io::Error::other(format!("{asked}: {} instead of {status}: {told}", answer.status)))
    }

    async fn send(&mut self, request: &Request) -> io::Result<()> {
        if request.body.is_empty() {
            return self.stream.write_all(&request.head).await;
        }
        if request.body.len() <= JOINED {
            self.sent.clear();
            self.sent.extend_from_slice(&request.head);
            self.sent.extend_from_slice(&request.body);
            return self.stream.write_all(&self.sent).await;
        }
        let written =
            self.stream.write_vectored(&[IoSlice::new(&request.head), IoSlice::new(&request.body)]).await?;
        let of_body = written.saturating_sub(request.head.len());
        self.stream.write_all(request.head.get(written..).unwrap_or_default()).await?;
        self.stream.write_all(request.body.get(of_body..).unwrap_or_default()).await
    }

    async fn receive(&mut self, bodyless: bool, mut kept: Option<&mut Vec<u8>>) -> io::Result<Answer> {
        let Head { mut answer, chunked } = self.head().await?;
        if bodyless || matches!(answer.status, 204 | 304) {
            answer.length = 0;
        } else if chunked {
            answer.length = 0;
            loop {
                let length = self.chunk_size().await?;
                self.take(length, kept.as_deref_mut()).await?;
                self.take(2, None).await?;
                if length == 0 {
                    break;
                }
                answer.length += length;
            }
        } else {
            self.take(answer.length, kept).await?;
        }
        Ok(answer)
    }

    async fn head(&mut self) -> io::Result<Head> {
        loop {
            let received = self.received();
            if let Some(at) = memchr::memmem::find(received, b"\r\n\r\n") {
                let head = parse(received.get(..at).unwrap_or_default())?;
                self.start += at + 4;
                return Ok(head);
            }
            self.fill().await?;
        }
    }

    async fn chunk_size(&mut self) -> io::Result<u64> {
        loop {
            let received = self.received();
            if let Some(at) = memchr::memmem::find(received, b"\r\n") {
                let line = std::str::from_utf8(received.get(..at).unwrap_or_default()).unwrap_or_default();
                let size = u64::from_str_radix(line.trim(), 16).map_err(|_| bad("chunk size"))?;
                self.start += at + 2;
                return Ok(size);
            }
            self.fill().await?;
        }
    }

    async fn take(&mut self, mut length: u64, mut kept: Option<&mut Vec<u8>>) -> io::Result<()> {
        while length > 0 {
            if self.start == self.end {
                self.fill().await?;
            }
            let received = self.received();
            let part = received.len().min(usize::try_from(length).unwrap_or(usize::MAX));
            if let Some(kept) = kept.as_deref_mut() {
                kept.extend_from_slice(received.get(..part).unwrap_or_default());
            }
            self.start += part;
            length -= part as u64;
        }
        Ok(())
    }

    fn received(&self) -> &[u8] {
        self.buffer.get(self.start..self.end).unwrap_or_default()
    }

    async fn fill(&mut self) -> io::Result<()> {
        if self.start == self.end {
            (self.start, self.end) = (0, 0);
        } else if self.end == self.buffer.len() {
            self.buffer.copy_within(self.start..self.end, 0);
            (self.start, self.end) = (0, self.end - self.start);
        }
        let read = self.stream.read(self.buffer.get_mut(self.end..).unwrap_or_default()).await?;
        if read == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        self.end += read;
        Ok(())
    }
}

fn bad(what: &str) -> io::Error {
    io::Error::other(format!("the answer is not HTTP: {what}"))
}

/// Looks at the few headers that matter, and at no more of the others than their first letter.
fn parse(head: &[u8]) -> io::Result<Head> {
    let mut lines = Lines(head);
    let status = lines.next().and_then(|line| line.get(9..12)).and_then(|status| text(status).parse().ok());
    let mut answer = Answer {
        status: status.ok_or_else(|| bad("status"))?,
        etag: String::new(),
        length: 0,
        next_partition: String::new(),
        next_row: String::new(),
        messages: 0,
    };
    let mut chunked = false;
    for line in lines {
        let first = line.first().map(u8::to_ascii_lowercase);
        let value = |name| value_of(line, name);
        match first {
            Some(b'c') => {
                if let Some(length) = value("content-length:") {
                    answer.length = length.parse().map_err(|_| bad("length"))?;
                }
            }
            Some(b'e') => {
                if let Some(etag) = value("etag:") {
                    etag.clone_into(&mut answer.etag);
                }
            }
            Some(b't') => {
                if let Some(encoding) = value("transfer-encoding:") {
                    chunked = encoding.eq_ignore_ascii_case("chunked");
                }
            }
            Some(b'x') => {
                if let Some(partition) = value("x-ms-continuation-NextPartitionKey:") {
                    partition.clone_into(&mut answer.next_partition);
                } else if let Some(row) = value("x-ms-continuation-NextRowKey:") {
                    row.clone_into(&mut answer.next_row);
                } else if let Some(count) = value("x-ms-approximate-messages-count:") {
                    answer.messages = count.parse().map_err(|_| bad("count"))?;
                }
            }
            _ => {}
        }
    }
    Ok(Head { answer, chunked })
}

struct Lines<'a>(&'a [u8]);

impl<'a> Iterator for Lines<'a> {
    type Item = &'a [u8];

    fn next(&mut self) -> Option<&'a [u8]> {
        if self.0.is_empty() {
            return None;
        }
        let end = memchr::memchr(b'\n', self.0).unwrap_or(self.0.len());
        let (line, rest) = self.0.split_at(end);
        self.0 = rest.get(1..).unwrap_or_default();
        Some(line.strip_suffix(b"\r").unwrap_or(line))
    }
}

/// `name` with its colon, in any case.
fn value_of<'a>(line: &'a [u8], name: &str) -> Option<&'a str> {
    let (own, value) = line.split_at_checked(name.len())?;
    own.eq_ignore_ascii_case(name.as_bytes()).then(|| text(value).trim())
}

fn text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_head_gives_what_matters_in_any_case() {
        let head = b"HTTP/1.1 206 Partial Content\r\nContent-Length: 12\r\netag: \"0x1\"\r\nTE: x\r\n\
            Transfer-Encoding: chunked\r\nx-ms-continuation-nextpartitionkey: p\r\n\
            X-Ms-Continuation-NextRowKey: r";
        let Head { answer, chunked } = parse(head).expect("a head");
        assert_eq!((answer.status, answer.length, chunked), (206, 12, true));
        assert_eq!((&*answer.etag, &*answer.next_partition, &*answer.next_row), ("\"0x1\"", "p", "r"));
    }
}
