//! How the lines of a request's head end. hyper takes a bare line feed for an end of line where others on the way may
//! not, and then the two disagree about where a request ends. The bytes are watched as they are read, so that a head
//! with such a line is known before it is answered.

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
    /// Behind a head whose request is not known yet; so many bytes came since.
    Behind {
        bytes: u64,
    },
    Body {
        left: u64,
    },
    /// Where the next head begins is not known.
    Lost,
}

const START: At = At::Head { before: 0, in_line: false, in_head: false };

/// What is to be said of a head.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Judged {
    pub bare_line_feed: bool,
    /// The bytes behind this request can no longer be followed: the connection must end with it.
    pub last: bool,
}

impl Default for LineEnds {
    fn default() -> Self {
        Self { at: START, bare: false }
    }
}

impl LineEnds {
    pub fn read(&mut self, mut bytes: &[u8]) {
        while !bytes.is_empty() {
            match &mut self.at {
                At::Lost => return,
                At::Behind { bytes: seen } => {
                    *seen += bytes.len() as u64;
                    return;
                }
                At::Body { left } => {
                    let now = usize::try_from(*left).unwrap_or(usize::MAX).min(bytes.len());
                    *left -= now as u64;
                    bytes = &bytes[now..];
                    if *left == 0 {
                        self.at = START;
                    }
                }
                At::Head { .. } => bytes = self.head(bytes),
            }
        }
    }

    /// Gives what is behind the head.
    fn head<'a>(&mut self, bytes: &'a [u8]) -> &'a [u8] {
        let At::Head { before, in_line, in_head } = &mut self.at else { return bytes };
        for (at, &byte) in bytes.iter().enumerate() {
            if byte == b'\n' {
                self.bare |= *before != b'\r';
                if !*in_line && *in_head {
                    self.at = At::Behind { bytes: 0 };
                    return &bytes[at + 1..];
                }
                *in_line = false;
            } else if byte != b'\r' {
                (*in_line, *in_head) = (true, true);
            }
            *before = byte;
        }
        &[]
    }

    /// A head was parsed, and this many bytes of body follow it; None when only the body itself tells.
    pub fn request(&mut self, length: Option<u64>) -> Judged {
        let bare_line_feed = std::mem::take(&mut self.bare);
        self.at = match (&self.at, length) {
            (At::Behind { bytes }, Some(length)) if *bytes < length => At::Body { left: length - bytes },
            (At::Behind { bytes }, Some(length)) if *bytes == length => START,
            _ => At::Lost,
        };
        Judged { bare_line_feed, last: bare_line_feed || matches!(self.at, At::Lost) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FINE: Judged = Judged { bare_line_feed: false, last: false };
    const BARE: Judged = Judged { bare_line_feed: true, last: true };
    const LAST: Judged = Judged { bare_line_feed: false, last: true };

    /// Whole, and byte by byte.
    fn judged(head: &str, length: Option<u64>) -> Judged {
        let (mut whole, mut slow) = (LineEnds::default(), LineEnds::default());
        whole.read(head.as_bytes());
        head.bytes().for_each(|byte| slow.read(&[byte]));
        let judged = whole.request(length);
        assert_eq!(slow.request(length), judged, "{head:?}");
        judged
    }

    #[test]
    fn lines_end_in_both_characters() {
        assert_eq!(judged("GET / HTTP/1.1\r\nHost: a\r\n\r\n", Some(0)), FINE);
        assert_eq!(judged("\r\n\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n", Some(0)), FINE);
        for head in [
            "GET / HTTP/1.1\nHost: a\r\n\r\n",
            "GET / HTTP/1.1\r\nHost: a\n\r\n",
            "GET / HTTP/1.1\r\nHost: a\r\n\n",
            "GET / HTTP/1.1\nHost: a\n\n",
            "\nGET / HTTP/1.1\r\nHost: a\r\n\r\n",
        ] {
            assert_eq!(judged(head, Some(0)), BARE, "{head:?}");
        }
    }

    #[test]
    fn a_body_may_hold_what_it_likes_and_the_next_head_is_judged() {
        let mut ends = LineEnds::default();
        ends.read(b"PUT / HTTP/1.1\r\nHost: a\r\n\r\na\nb");
        assert_eq!(ends.request(Some(5)), FINE);
        ends.read(b"\nc");
        ends.read(b"GET / HTTP/1.1\r\nHost: a\r\n\r\n");
        assert_eq!(ends.request(Some(0)), FINE);
        ends.read(b"PUT / HTTP/1.1\r\nHost: a\r\n\r\n");
        assert_eq!(ends.request(Some(3)), FINE);
        // The end of a body and a bad head in one reading.
        ends.read(b"\n\n\nGET / HTTP/1.1\nHost: a\n\n");
        assert_eq!(ends.request(Some(0)), BARE);
    }

    #[test]
    fn what_cannot_be_followed_is_the_last_of_its_connection() {
        let two = "GET / HTTP/1.1\r\nHost: a\r\n\r\nGET / HTTP/1.1\nHost: a\n\n";
        assert_eq!(judged(two, Some(0)), LAST);
        assert_eq!(judged("PUT / HTTP/1.1\r\nHost: a\r\n\r\n", None), LAST);
    }
}
