//! `multipart/mixed` and the requests inside, cut apart without copying.

use memchr::memmem;

/// The deepest that a batch goes is a changeset of requests; what holds more parts than this is no batch.
pub const PARTS_MAX: usize = 1_000;
pub const HEADERS_MAX: usize = 64;
/// The most that stands before the body of a part, and before the body of the request inside: as much as the head of a
/// request on its own may be.
pub const HEAD_MAX: usize = 64 * 1024;
/// Lines that begin like a delimiter and are none. A boundary is made not to stand in what it parts.
const ALIKE_MAX: usize = 1_000;

#[derive(Debug)]
pub struct Part<'a> {
    pub headers: Vec<(&'a str, &'a str)>,
    pub body: &'a [u8],
}

impl Part<'_> {
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(header, _)| header.eq_ignore_ascii_case(name)).map(|(_, value)| *value)
    }
}

#[derive(Debug)]
pub struct Request<'a> {
    pub method: &'a str,
    pub url: &'a str,
    pub headers: Vec<(&'a str, &'a str)>,
    pub body: &'a [u8],
}

pub fn is_multipart(content_type: &str) -> bool {
    let media = content_type.split(';').next().unwrap_or_default();
    media.trim().eq_ignore_ascii_case("multipart/mixed")
}

/// The boundary of a multipart content type.
pub fn boundary(content_type: &str) -> Option<&str> {
    if !is_multipart(content_type) {
        return None;
    }
    let mut parts = content_type.split(';').skip(1).map(str::trim);
    let parameter = |part: &str| part.get(..9).is_some_and(|name| name.eq_ignore_ascii_case("boundary="));
    let value = parts.find(|part| parameter(part))?.get(9..)?.trim_matches('"');
    (!value.is_empty() && value.len() <= 200).then_some(value)
}

/// The boundary that a body begins with.
pub fn own_boundary(body: &[u8]) -> Option<&str> {
    let (first, _) = line(body)?;
    let boundary = std::str::from_utf8(first.strip_prefix(b"--")?).ok()?.trim_end();
    (!boundary.is_empty() && boundary.len() <= 200).then_some(boundary)
}

/// The parts of a body. Some recorders and proxies rewrite the header that names the boundary; the body then still knows
/// its own.
pub fn parts_of<'a>(body: &'a [u8], boundary: &str) -> Option<Vec<Part<'a>>> {
    parts(body, boundary).or_else(|| parts(body, own_boundary(body)?))
}

/// Whether a body has more delimiters than so many parts need.
pub fn exceeds(body: &[u8], boundary: &str, most: usize) -> bool {
    let Some(mut lines) = DelimiterLines::new(body, boundary) else { return false };
    (0..most + 2).all(|_| lines.next().is_some())
}

/// The parts between the boundaries; none when it is not framed as it says.
pub fn parts<'a>(body: &'a [u8], boundary: &str) -> Option<Vec<Part<'a>>> {
    parts_counted(body, boundary, &mut 0)
}

/// The same, and how many bytes were looked at for it, each as often as it was.
pub fn parts_counted<'a>(body: &'a [u8], boundary: &str, looked: &mut usize) -> Option<Vec<Part<'a>>> {
    let mut lines = DelimiterLines::new(body, boundary)?;
    let mut parts = Vec::new();
    let mut open: Option<usize> = None;
    let closed = loop {
        let Some(line) = lines.next() else { break false };
        if let Some(open) = open {
            let part = body.get(open..line.start)?;
            let part = part.strip_suffix(b"\n").unwrap_or(part);
            let part = part.strip_suffix(b"\r").unwrap_or(part);
            if parts.len() == PARTS_MAX {
                break false;
            }
            let (headers, rest) = headers(part, HEAD_MAX)?;
            *looked += part.len() - rest.len();
            parts.push(Part { headers, body: rest });
        }
        if line.closes {
            break true;
        }
        open = Some(line.end);
    };
    *looked += lines.looked;
    closed.then_some(parts)
}

/// A line that parts two parts, or ends the last one.
struct DelimiterLine {
    start: usize,
    /// Behind its end of line.
    end: usize,
    closes: bool,
}

/// The delimiter lines of a body. What is found is an end of line and a delimiter, so that a look at the rest of the
/// line never goes beyond where the next search begins: no byte is looked at more than twice.
struct DelimiterLines<'a> {
    body: &'a [u8],
    finder: memmem::Finder<'static>,
    /// The length of the delimiter.
    length: usize,
    from: usize,
    /// The body may begin with a delimiter, which then follows no end of line.
    at_start: bool,
    /// Lines that only begin like a delimiter.
    alike: usize,
    looked: usize,
}

impl<'a> DelimiterLines<'a> {
    /// None for a boundary that is more than a line.
    fn new(body: &'a [u8], boundary: &str) -> Option<Self> {
        if boundary.contains('\n') {
            return None;
        }
        let needle = format!("\n--{boundary}");
        let at_start = body.starts_with(needle.get(1..)?.as_bytes());
        let finder = memmem::Finder::new(needle.as_bytes()).into_owned();
        Some(Self { body, finder, length: needle.len() - 1, from: 0, at_start, alike: 0, looked: 0 })
    }

    fn next(&mut self) -> Option<DelimiterLine> {
        while self.alike <= ALIKE_MAX {
            let start = self.find()?;
            let rest = self.body.get(start + self.length..)?;
            let line = memchr::memchr(b'\n', rest).unwrap_or(rest.len());
            self.looked += line;
            self.from = start + self.length + line;
            let closes = rest.starts_with(b"--");
            if closes || rest.get(..line)?.trim_ascii().is_empty() {
                return Some(DelimiterLine { start, end: self.body.len().min(self.from + 1), closes });
            }
            self.alike += 1;
        }
        None
    }

    fn find(&mut self) -> Option<usize> {
        if std::mem::take(&mut self.at_start) {
            return Some(0);
        }
        let rest = self.body.get(self.from..)?;
        let found = self.finder.find(rest);
        self.looked += found.map_or(rest.len(), |at| at + 1 + self.length);
        found.map(|at| self.from + at + 1)
    }
}

/// `METHOD url HTTP/1.1`, headers, body.
pub fn request(text: &[u8]) -> Option<Request<'_>> {
    let (line, rest) = line(text)?;
    let left = HEAD_MAX.checked_sub(text.len() - rest.len())?;
    let mut words = std::str::from_utf8(line).ok()?.trim().splitn(2, ' ');
    let method = words.next()?;
    let rest_of_line = words.next()?.trim();
    let url = rest_of_line.rsplit_once(' ').map_or(rest_of_line, |(url, _)| url.trim());
    let (headers, body) = headers(rest, left)?;
    Some(Request { method, url, headers, body })
}

type Headers<'a> = Vec<(&'a str, &'a str)>;

/// The headers of at most so many bytes, and what follows them.
fn headers(text: &[u8], most: usize) -> Option<(Headers<'_>, &[u8])> {
    let mut found = Vec::new();
    let mut rest = text;
    while !rest.is_empty() {
        let (next, behind) = line(rest)?;
        rest = behind;
        if text.len() - rest.len() > most {
            return None;
        }
        if next.is_empty() {
            break;
        }
        let (name, value) = std::str::from_utf8(next).ok()?.split_once(':')?;
        if found.len() == HEADERS_MAX {
            return None;
        }
        found.push((name.trim(), value.trim()));
    }
    Some((found, rest))
}

/// Up to the end of the line, which is CR LF or LF alone.
fn line(text: &[u8]) -> Option<(&[u8], &[u8])> {
    let (line, rest) = match memchr::memchr(b'\n', text) {
        Some(at) => (text.get(..at)?, text.get(at + 1..)?),
        None => (text, &[][..]),
    };
    Some((line.strip_suffix(b"\r").unwrap_or(line), rest))
}

#[cfg(test)]
mod tests;
