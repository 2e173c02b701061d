//! The client of tests without a runtime, over anything that reads and writes.

use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use crate::decoder::Decoder;
use crate::{Answer, Request};

const BUFFER: usize = 64 * 1024;

pub fn connect(address: SocketAddr) -> io::Result<TcpStream> {
    let stream = TcpStream::connect_timeout(&address, Duration::from_secs(10))?;
    stream.set_nodelay(true)?;
    stream.set_read_timeout(Some(Duration::from_secs(30)))?;
    Ok(stream)
}

pub struct Connection<S> {
    stream: S,
    decoder: Decoder,
}

impl<S: Read + Write> Connection<S> {
    pub fn new(stream: S) -> Self {
        Self { stream, decoder: Decoder::default() }
    }

    pub fn send(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.stream.write_all(bytes)?;
        self.stream.flush()
    }

    pub fn exchange(&mut self, request: &Request) -> io::Result<Answer> {
        self.send(&request.to_bytes())?;
        self.answer(request.method)
    }

    /// The next answer, when a request of this method was sent.
    pub fn answer(&mut self, method: &str) -> io::Result<Answer> {
        let mut buffer = vec![0; BUFFER];
        loop {
            match self.decoder.next(method)? {
                Some(interim) if interim.status < 200 => continue,
                Some(answer) => return Ok(answer),
                None => {}
            }
            match self.stream.read(&mut buffer)? {
                0 => return self.decoder.end(),
                read => self.decoder.received.extend_from_slice(buffer.get(..read).unwrap_or_default()),
            }
        }
    }

    /// All that comes until the connection ends, in order or not.
    pub fn rest(mut self) -> Vec<u8> {
        let mut rest = self.decoder.received;
        let _ = self.stream.read_to_end(&mut rest);
        rest
    }
}
