//! `multipart/mixed` and the requests inside, cut apart without copying.

use memchr::memmem;

/// The deepest that a batch goes is a changeset of requests; what holds more parts than this is no batch.
pub const PARTS_MAX: usize = 1_000;
pub const HEADERS_MAX: usize = 64;

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

/// The boundary of a multipart content type.
pub fn boundary(content_type: &str) -> Option<&str> {
    let mut parts = content_type.split(';').map(str::trim);
    if !parts.next()?.eq_ignore_ascii_case("multipart/mixed") {
        return None;
    }
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

/// The parts between the boundaries; none when it is not framed as it says.
pub fn parts<'a>(body: &'a [u8], boundary: &str) -> Option<Vec<Part<'a>>> {
    let delimiter = format!("--{boundary}");
    let mut parts = Vec::new();
    let mut open: Option<usize> = None;
    let mut from = 0;
    while let Some(found) = memmem::find(body.get(from..)?, delimiter.as_bytes()) {
        let (start, end) = (from + found, from + found + delimiter.len());
        from = end;
        let begins_line = start == 0 || body.get(start - 1) == Some(&b'\n');
        let rest = body.get(end..)?;
        let closes = rest.starts_with(b"--");
        let line = rest.iter().position(|&byte| byte == b'\n').map_or(rest.len(), |at| at + 1);
        let padded = rest.get(..line)?.trim_ascii().is_empty();
        if !begins_line || !(closes || padded) {
            continue;
        }
        if let Some(open) = open.take() {
            let part = body.get(open..start)?;
            let part = part.strip_suffix(b"\n").unwrap_or(part);
            let part = part.strip_suffix(b"\r").unwrap_or(part);
            let (headers, body) = headers(part)?;
            if parts.len() == PARTS_MAX {
                return None;
            }
            parts.push(Part { headers, body });
        }
        if closes {
            return Some(parts);
        }
        open = Some(end + line);
        from = end + line;
    }
    None
}

/// `METHOD url HTTP/1.1`, headers, body.
pub fn request(text: &[u8]) -> Option<Request<'_>> {
    let (line, rest) = line(text)?;
    let mut words = std::str::from_utf8(line).ok()?.trim().splitn(2, ' ');
    let method = words.next()?;
    let rest_of_line = words.next()?.trim();
    let url = rest_of_line.rsplit_once(' ').map_or(rest_of_line, |(url, _)| url.trim());
    let (headers, body) = headers(rest)?;
    Some(Request { method, url, headers, body })
}

type Headers<'a> = Vec<(&'a str, &'a str)>;

fn headers(text: &[u8]) -> Option<(Headers<'_>, &[u8])> {
    let mut found = Vec::new();
    let mut rest = text;
    while !rest.is_empty() {
        let (next, behind) = line(rest)?;
        rest = behind;
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
