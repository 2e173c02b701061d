//! Answers out of the bytes of a connection.

use std::io;

use crate::Answer;

const MOST_HEADERS: usize = 128;
/// Of a head that has no end.
const LONGEST_HEAD: usize = 256 * 1024;

/// Takes what was received and gives answers. What comes behind an answer stays for the next one.
#[derive(Default)]
pub struct Decoder {
    pub received: Vec<u8>,
    begun: Option<(Answer, Body)>,
}

#[derive(Clone, Copy)]
enum Body {
    /// Bytes left.
    Length(usize),
    Chunked,
    UntilTheEnd,
}

impl Decoder {
    /// The next answer to a request of this method, interim ones (100) included; None when there is more to come.
    pub fn next(&mut self, method: &str) -> io::Result<Option<Answer>> {
        if self.begun.is_none() {
            self.begun = self.head(method)?;
        }
        let Some((answer, body)) = &mut self.begun else { return Ok(None) };
        let done = match body {
            Body::Length(length) => {
                let part = self.received.len().min(*length);
                answer.body.extend_from_slice(self.received.get(..part).unwrap_or_default());
                self.received.drain(..part);
                *length -= part;
                *length == 0
            }
            Body::Chunked => chunks(&mut self.received, &mut answer.body)?,
            Body::UntilTheEnd => {
                answer.body.append(&mut self.received);
                false
            }
        };
        Ok(if done { self.begun.take().map(|(answer, _)| answer) } else { None })
    }

    /// The connection has ended: the answer that only its end ends, or an error.
    pub fn end(&mut self) -> io::Result<Answer> {
        match self.begun.take() {
            Some((answer, Body::UntilTheEnd)) => Ok(answer),
            _ => Err(io::ErrorKind::UnexpectedEof.into()),
        }
    }

    fn head(&mut self, method: &str) -> io::Result<Option<(Answer, Body)>> {
        let mut headers = [httparse::EMPTY_HEADER; MOST_HEADERS];
        let mut parsed = httparse::Response::new(&mut headers);
        let length = match parsed.parse(&self.received).map_err(|error| broken(&error.to_string()))? {
            httparse::Status::Complete(length) => length,
            httparse::Status::Partial if self.received.len() > LONGEST_HEAD => {
                return Err(broken("an endless head"));
            }
            httparse::Status::Partial => return Ok(None),
        };
        let status = parsed.code.unwrap_or_default();
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).trim().to_owned();
        let headers = parsed.headers.iter().map(|header| (header.name.to_owned(), text(header.value)));
        let (minor, phrase) = (parsed.version.unwrap_or_default(), parsed.reason.unwrap_or_default());
        let line = format!("HTTP/1.{minor} {status} {phrase}");
        let answer = Answer { status, line, headers: headers.collect(), body: Vec::new() };
        let body = body_of(&answer, method)?;
        self.received.drain(..length);
        Ok(Some((answer, body)))
    }
}

fn body_of(answer: &Answer, method: &str) -> io::Result<Body> {
    if method == "HEAD" || matches!(answer.status, 100..200 | 204 | 304) {
        return Ok(Body::Length(0));
    }
    if answer.header("transfer-encoding").is_some() {
        return Ok(Body::Chunked);
    }
    let length = answer.header("content-length");
    let length = length.map(|length| length.parse().map_err(|_| broken("no length"))).transpose()?;
    Ok(length.map_or(Body::UntilTheEnd, Body::Length))
}

/// Moves the chunks that are there; true after the last one.
fn chunks(received: &mut Vec<u8>, body: &mut Vec<u8>) -> io::Result<bool> {
    loop {
        let parsed = httparse::parse_chunk_size(received).map_err(|_| broken("no chunk size"))?;
        let httparse::Status::Complete((start, size)) = parsed else { return Ok(false) };
        let size = usize::try_from(size).map_err(|_| broken("a chunk without end"))?;
        let end = start.checked_add(size).ok_or_else(|| broken("a chunk without end"))?;
        let Some(chunk) = received.get(start..end) else { return Ok(false) };
        // Behind each chunk, and the last one, which is empty, stands the end of a line: our server sends no trailers.
        let Some(after) = received.get(end..end + 2) else { return Ok(false) };
        if after != b"\r\n" {
            return Err(broken("a chunk that goes on"));
        }
        body.extend_from_slice(chunk);
        received.drain(..end + 2);
        if size == 0 {
            return Ok(true);
        }
    }
}

fn broken(what: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, format!("the answer is not HTTP: {what}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// All answers, when the bytes come in pieces of this length and then end.
    fn decode(bytes: &[u8], piece: usize, method: &str) -> (Vec<Answer>, io::Result<Answer>) {
        let (mut decoder, mut answers) = (Decoder::default(), Vec::new());
        for part in bytes.chunks(piece) {
            decoder.received.extend_from_slice(part);
            while let Some(answer) = decoder.next(method).expect("HTTP") {
                answers.push(answer);
            }
        }
        (answers, decoder.end())
    }

    #[test]
    fn answers_are_the_same_however_their_bytes_come() {
        let bytes = b"HTTP/1.1 100 Continue\r\n\r\n\
            HTTP/1.1 409 The blob is there.\r\nContent-Length: 5\r\nx-ms-Meta: a \r\n\r\nhello\
            HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\nA\r\n0123456789\r\n0\r\n\r\n\
            HTTP/1.1 204 No Content\r\n\r\nHTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n\
            HTTP/1.0 200 OK\r\n\r\nto the end";
        for piece in 1..bytes.len() {
            let (answers, last) = decode(bytes, piece, "GET");
            let found: Vec<(u16, String)> = answers.iter().map(|one| (one.status, one.text())).collect();
            let expected = [(100, ""), (409, "hello"), (200, "abc0123456789"), (204, ""), (200, "")];
            assert_eq!(found, expected.map(|(status, body)| (status, body.to_owned())), "{piece}");
            assert_eq!(answers[1].line, "HTTP/1.1 409 The blob is there.");
            assert_eq!(answers[1].headers[1], ("x-ms-Meta".to_owned(), "a".to_owned()));
            assert_eq!(last.expect("an end").text(), "to the end");
        }
    }

    #[test]
    fn an_answer_to_head_has_no_body() {
        let (answers, _) = decode(b"HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\n", 7, "HEAD");
        assert_eq!(answers.len(), 1);
    }

    #[test]
    fn what_breaks_off_is_no_answer() {
        for bytes in [
            "HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nhell",
            "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n3\r\nabc\r\n",
            "HTTP/1.1 200 O",
            "",
        ] {
            let (answers, end) = decode(bytes.as_bytes(), 8, "GET");
            assert!(answers.is_empty() && end.is_err(), "{bytes}");
        }
    }

    #[test]
    fn what_is_not_http_is_an_error() {
        for bytes in [
            "nonsense\r\n\r\n",
            "HTTP/1.1 200 OK\r\ncontent-length: x\r\n\r\n",
            "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n",
            "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n1\r\nabc",
        ] {
            let mut decoder = Decoder { received: bytes.as_bytes().to_vec(), begun: None };
            assert!(decoder.next("GET").is_err(), "{bytes}");
        }
    }
}
