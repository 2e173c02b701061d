//! An HTTP client that knows the one thing the checks depend on: whether a request may have been carried out.

use std::io;
use std::net::SocketAddr;
use std::time::Duration;

use bytes::Bytes;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::TcpStream;
use tokio::time::timeout;

use crate::Trial;

const MAX_HEAD_LINE: u64 = 256 * 1024;

#[derive(Clone, Debug, Default)]
pub struct Request {
    pub method: &'static str,
    /// Path and query, as they are sent.
    pub target: String,
    pub headers: Vec<(&'static str, String)>,
    pub body: Bytes,
}

impl Request {
    pub fn header(mut self, name: &'static str, value: impl ToString) -> Self {
        self.headers.push((name, value.to_string()));
        self
    }

    pub fn maybe(self, name: &'static str, value: Option<impl ToString>) -> Self {
        match value {
            Some(value) => self.header(name, value),
            None => self,
        }
    }

    pub fn body(mut self, body: impl Into<Bytes>) -> Self {
        self.body = body.into();
        self
    }

    /// Request line and headers, for a body of this length.
    pub fn head(&self, length: u64) -> String {
        let mut head = format!("{} {} HTTP/1.1\r\nHost: 127.0.0.1\r\n", self.method, self.target);
        if length > 0 || self.method != "GET" {
            head.push_str(&format!("Content-Length: {length}\r\n"));
        }
        for (name, value) in &self.headers {
            head.push_str(&format!("{name}: {value}\r\n"));
        }
        head.push_str("\r\n");
        head
    }
}

#[derive(Clone, Debug)]
pub struct Answer {
    pub status: u16,
    headers: Vec<(String, String)>,
    pub body: Vec<u8>,
}

impl Answer {
    pub fn header(&self, name: &str) -> Option<&str> {
        let found = self.headers.iter().find(|(known, _)| known.eq_ignore_ascii_case(name));
        found.map(|(_, value)| value.as_str())
    }

    /// The service's word for what went wrong; empty when nothing did.
    pub fn code(&self) -> &str {
        self.header("x-ms-error-code").unwrap_or_default()
    }

    pub fn etag(&self) -> String {
        self.header("etag").unwrap_or_default().to_owned()
    }

    pub fn shown(&self) -> String {
        format!("{} {}", self.status, self.code())
    }

    pub fn expect(self, status: u16, what: &str) -> Trial<Self> {
        match self.status == status {
            true => Ok(self),
            false => Err(format!("{what}: {} instead of {status}", self.shown())),
        }
    }
}

/// No answer came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lost {
    /// Nothing was sent: it was certainly not carried out.
    Unsent,
    /// It may have been carried out, or may yet be.
    Open,
}

impl std::fmt::Display for Lost {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Unsent => "no connection",
            Self::Open => "no answer",
        })
    }
}

/// One connection, opened when it is needed.
pub struct Client {
    address: SocketAddr,
    stream: Option<BufReader<TcpStream>>,
    patience: Duration,
}

impl Client {
    pub fn new(address: SocketAddr) -> Self {
        Self { address, stream: None, patience: Duration::from_secs(30) }
    }

    pub async fn send(&mut self, request: &Request) -> Result<Answer, Lost> {
        match timeout(self.patience, self.exchange(request)).await {
            Ok(outcome) => outcome,
            Err(_) => {
                self.stream = None;
                Err(Lost::Open)
            }
        }
    }

    /// For requests that must be answered.
    pub async fn must(&mut self, request: &Request) -> Trial<Answer> {
        let what =
            || format!("{} {}", request.method, request.target.split("sv=").next().unwrap_or_default());
        self.send(request).await.map_err(|lost| format!("{}: {lost}", what()))
    }

    async fn exchange(&mut self, request: &Request) -> Result<Answer, Lost> {
        let mut stream = match self.stream.take() {
            Some(stream) => stream,
            None => BufReader::new(connect(self.address).await.map_err(|_| Lost::Unsent)?),
        };
        let mut bytes = request.head(request.body.len() as u64).into_bytes();
        bytes.extend_from_slice(&request.body);
        stream.get_mut().write_all(&bytes).await.map_err(|_| Lost::Open)?;
        let answer = read_answer(&mut stream, request.method).await.map_err(|_| Lost::Open)?;
        let last = answer.header("connection").is_some_and(|value| value.eq_ignore_ascii_case("close"));
        self.stream = (!last).then_some(stream);
        Ok(answer)
    }
}

pub async fn connect(address: SocketAddr) -> io::Result<TcpStream> {
    let stream = TcpStream::connect(address).await?;
    stream.set_nodelay(true)?;
    Ok(stream)
}

pub async fn read_answer(stream: &mut BufReader<TcpStream>, method: &str) -> io::Result<Answer> {
    let broken = |what| io::Error::new(io::ErrorKind::InvalidData, what);
    loop {
        let first = line(stream).await?;
        let status = first.split(' ').nth(1).and_then(|status| status.parse::<u16>().ok());
        let status = status.ok_or_else(|| broken("no status"))?;
        let mut headers = Vec::new();
        loop {
            let header = line(stream).await?;
            if header.is_empty() {
                break;
            }
            let (name, value) = header.split_once(':').ok_or_else(|| broken("no header"))?;
            headers.push((name.to_owned(), value.trim().to_owned()));
        }
        if status == 100 {
            continue;
        }
        let mut answer = Answer { status, headers, body: Vec::new() };
        if method == "HEAD" || matches!(status, 204 | 304) {
            return Ok(answer);
        }
        if answer.header("transfer-encoding").is_some() {
            answer.body = chunks(stream).await?;
        } else if let Some(length) = answer.header("content-length") {
            let length = length.parse().map_err(|_| broken("no length"))?;
            answer.body.resize(length, 0);
            stream.read_exact(&mut answer.body).await?;
        } else {
            stream.read_to_end(&mut answer.body).await?;
        }
        return Ok(answer);
    }
}

async fn chunks(stream: &mut BufReader<TcpStream>) -> io::Result<Vec<u8>> {
    let broken = |_| io::Error::new(io::ErrorKind::InvalidData, "no chunk size");
    let mut body = Vec::new();
    loop {
        let size = usize::from_str_radix(&line(stream).await?, 16).map_err(broken)?;
        let before = body.len();
        body.resize(before + size, 0);
        stream.read_exact(&mut body[before..]).await?;
        line(stream).await?;
        if size == 0 {
            return Ok(body);
        }
    }
}

async fn line(stream: &mut BufReader<TcpStream>) -> io::Result<String> {
    let mut text = Vec::new();
    stream.take(MAX_HEAD_LINE).read_until(b'\n', &mut text).await?;
    if text.pop() != Some(b'\n') {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    if text.last() == Some(&b'\r') {
        text.pop();
    }
    Ok(String::from_utf8_lossy(&text).into_owned())
}
