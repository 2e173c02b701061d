//! The client of asynchronous programs. It knows the one thing that checks depend on: whether a request may have been
//! carried out.

use std::io;
use std::net::SocketAddr;
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::timeout;

use crate::decoder::Decoder;
use crate::{Answer, Request};

pub async fn connect(address: SocketAddr) -> io::Result<TcpStream> {
    let stream = TcpStream::connect(address).await?;
    stream.set_nodelay(true)?;
    Ok(stream)
}

pub struct Connection<S> {
    pub stream: S,
    decoder: Decoder,
}

impl<S: AsyncRead + AsyncWrite + Unpin> Connection<S> {
    pub fn new(stream: S) -> Self {
        Self { stream, decoder: Decoder::default() }
    }

    /// The next answer, when a request of this method was sent.
    pub async fn answer(&mut self, method: &str) -> io::Result<Answer> {
        loop {
            let answer = self.next(method).await?;
            if answer.status >= 200 {
                return Ok(answer);
            }
        }
    }

    /// The same, or an interim answer (100) before it.
    pub async fn next(&mut self, method: &str) -> io::Result<Answer> {
        loop {
            if let Some(answer) = self.decoder.next(method)? {
                return Ok(answer);
            }
            self.decoder.received.reserve(16 * 1024);
            if self.stream.read_buf(&mut self.decoder.received).await? == 0 {
                return self.decoder.end();
            }
        }
    }

    /// Whether nothing came behind the last answer.
    pub fn is_empty(&self) -> bool {
        self.decoder.received.is_empty()
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
    connection: Option<Connection<TcpStream>>,
    patience: Duration,
}

impl Client {
    pub fn new(address: SocketAddr) -> Self {
        Self { address, connection: None, patience: Duration::from_secs(30) }
    }

    pub async fn send(&mut self, request: &Request) -> Result<Answer, Lost> {
        match timeout(self.patience, self.exchange(request)).await {
            Ok(outcome) => outcome,
            Err(_) => {
                self.connection = None;
                Err(Lost::Open)
            }
        }
    }

    /// For requests that must be answered.
    pub async fn must(&mut self, request: &Request) -> Result<Answer, String> {
        // A token is not shown.
        let what =
            || format!("{} {}", request.method, request.target.split("sv=").next().unwrap_or_default());
        self.send(request).await.map_err(|lost| format!("{}: {lost}", what()))
    }

    async fn exchange(&mut self, request: &Request) -> Result<Answer, Lost> {
        let mut connection = match self.connection.take() {
            Some(connection) => connection,
            None => Connection::new(connect(self.address).await.map_err(|_| Lost::Unsent)?),
        };
        connection.stream.write_all(&request.to_bytes()).await.map_err(|_| Lost::Open)?;
        let answer = connection.answer(request.method).await.map_err(|_| Lost::Open)?;
        let last = answer.header("connection").is_some_and(|value| value.eq_ignore_ascii_case("close"));
        self.connection = (!last).then_some(connection);
        Ok(answer)
    }
}

#[cfg(test)]
mod tests {
    use tokio::net::TcpListener;

    use super::*;

    /// A server that reads one request and says these bytes, on each of its connections.
    async fn saying(bytes: &'static [u8]) -> SocketAddr {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let address = listener.local_addr().expect("bound");
        tokio::spawn(async move {
            while let Ok((mut socket, _)) = listener.accept().await {
                let _ = socket.read(&mut [0; 4096]).await;
                let _ = socket.write_all(bytes).await;
            }
        });
        address
    }

    #[tokio::test]
    async fn a_request_that_was_sent_and_not_answered_is_open() {
        let get = Request::new("GET", "/a?sv=secret");
        let closed = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let nowhere = closed.local_addr().expect("bound");
        drop(closed);
        assert_eq!(Client::new(nowhere).send(&get).await.err(), Some(Lost::Unsent));
        for broken in [&b""[..], b"HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nhalf"] {
            let mut client = Client::new(saying(broken).await);
            assert_eq!(client.send(&get).await.err(), Some(Lost::Open));
        }
        assert_eq!(Client::new(nowhere).must(&get).await.err().as_deref(), Some("GET /a?: no connection"));
    }

    #[tokio::test]
    async fn a_connection_that_is_to_end_is_not_used_again() {
        let last = b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\nConnection: Close\r\n\r\nok";
        let mut client = Client::new(saying(last).await);
        for _ in 0..2 {
            assert_eq!(
                client.send(&Request::new("GET", "/")).await.map(|answer| answer.text()),
                Ok("ok".to_owned())
            );
        }
    }
}
