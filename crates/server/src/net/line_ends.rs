//! How the lines of a request's head end. hyper takes a bare line feed for an end of line where others on the way may
//! not, and then the two disagree about where a request ends. The bytes are watched as they are read, so that a head
//! with such a line is known before it is answered.

use super::chunks::Chunks;

/// Follows a connection's bytes from head to body to head.
#[derive(Debug)]
pub struct LineEnds {
    at: At,
    /// The present head has, or had, a line that ends in a bare line feed.
    bare: bool,
}

#[derive(Debug)]
enum At {
    /// In a head: the byte before, and whether the line has begun.
    Head {
        before: u8,
        in_line: bool,
        in_head: bool,
    },
    /// Behind a head that hyper has not given yet, and the bytes since. They are few: hyper reads no more than its buffer
    /// holds before it gives the head.
    Behind(Vec<u8>),
    Body {
        left: u64,
    },
    Chunked(Chunks),
}

const START: At = At::Head { before: 0, in_line: false, in_head: false };

/// How a request's head says where its body ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Framing {
    Length(u64),
    Chunked,
}

impl Default for LineEnds {
    fn default() -> Self {
        Self { at: START, bare: false }
    }
}

impl LineEnds {
    pub fn read(&mut self, mut bytes: &[u8]) {
        while !bytes.is_empty() {
            bytes = match &mut self.at {
                At::Head { .. } => self.head(bytes),
                At::Behind(since) => {
                    since.extend_from_slice(bytes);
                    return;
                }
                At::Body { left } => {
                    let now = usize::try_from(*left).unwrap_or(usize::MAX).min(bytes.len());
                    *left -= now as u64;
                    if *left == 0 {
                        self.at = START;
                    }
                    &bytes[now..]
                }
                At::Chunked(chunks) => {
                    let Some(behind) = chunks.read(bytes) else { return };
                    self.at = START;
                    behind
                }
            };
        }
    }

    /// Gives what is behind the head.
    fn head<'a>(&mut self, bytes: &'a [u8]) -> &'a [u8] {
        let At::Head { before, in_line, in_head } = &mut self.at else { return bytes };
        let mut rest = bytes;
        while !rest.is_empty() {
            let end = memchr::memchr(b'\n', rest);
            let line = &rest[..end.unwrap_or(rest.len())];
            if line.iter().any(|byte| *byte != b'\r') {
                (*in_line, *in_head) = (true, true);
            }
            if let Some(last) = line.last() {
                *before = *last;
            }
            let Some(end) = end else { break };
            rest = &rest[end + 1..];
            self.bare |= *before != b'\r';
            if !*in_line && *in_head {
                self.at = At::Behind(Vec::new());
                return rest;
            }
            (*before, *in_line) = (b'\n', false);
        }
        &[]
    }

    /// hyper gives the request of a head; its body is framed so. True when a line of the head ends in a bare line feed.
    pub fn request(&mut self, framing: Framing) -> bool {
        let next = match framing {
            Framing::Length(0) => START,
            Framing::Length(left) => At::Body { left },
            Framing::Chunked => At::Chunked(Chunks::default()),
        };
        let bare = std::mem::take(&mut self.bare);
        let At::Behind(since) = std::mem::replace(&mut self.at, next) else {
            // hyper found the end of a head elsewhere. What its lines end in is not known, so it is refused.
            return true;
        };
        self.read(&since);
        bare
    }
}

#[cfg(test)]
mod tests {
    use super::Framing::{Chunked, Length};
    use super::*;

    /// Whole, and byte by byte; all requests after all bytes, and each as soon as its head has come.
    fn judged(bytes: &str, requests: &[Framing]) -> Vec<bool> {
        let (mut whole, mut slow) = (LineEnds::default(), LineEnds::default());
        whole.read(bytes.as_bytes());
        let judged: Vec<_> = requests.iter().map(|framing| whole.request(*framing)).collect();
        let (mut waiting, mut found) = (requests.iter(), Vec::new());
        for byte in bytes.bytes() {
            slow.read(&[byte]);
            if matches!(slow.at, At::Behind(_)) {
                found.extend(waiting.next().map(|framing| slow.request(*framing)));
            }
        }
        assert_eq!(found, judged, "{bytes:?}");
        judged
    }

    #[test]
    fn lines_end_in_both_characters() {
        for head in ["GET / HTTP/1.1\r\nHost: a\r\n\r\n", "\r\n\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n"] {
            assert_eq!(judged(head, &[Length(0)]), [false], "{head:?}");
        }
        for head in [
            "GET / HTTP/1.1\nHost: a\r\n\r\n",
            "GET / HTTP/1.1\r\nHost: a\n\r\n",
            "GET / HTTP/1.1\r\nHost: a\r\n\n",
            "GET / HTTP/1.1\nHost: a\n\n",
            "\nGET / HTTP/1.1\r\nHost: a\r\n\r\n",
        ] {
            assert_eq!(judged(head, &[Length(0)]), [true], "{head:?}");
        }
    }

    #[test]
    fn a_body_may_hold_any_bytes_and_the_next_head_is_judged() {
        let (fine, bare) = ("GET / HTTP/1.1\r\nHost: a\r\n\r\n", "GET / HTTP/1.1\nHost: a\n\n");
        for (body, framing) in [
            ("", Length(0)),
            ("a\nb\n\n", Length(5)),
            (bare, Length(bare.len() as u64)),
            ("0\r\n\r\n", Chunked),
            ("4\r\na\n\n\n\r\n0\r\n\r\n", Chunked),
        ] {
            let bytes = format!("{fine}{body}{fine}{body}{bare}{body}{fine}");
            let requests = [framing, framing, framing, Length(0)];
            assert_eq!(judged(&bytes, &requests), [false, false, true, false], "{body:?}");
        }
    }

    #[test]
    fn a_head_whose_end_was_not_seen_is_refused() {
        let mut ends = LineEnds::default();
        ends.read(b"GET / HTTP/1.1\r\n");
        assert!(ends.request(Length(0)));
    }
}
