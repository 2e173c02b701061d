//! ETags of blobs, containers, shares, files: `"0x8D8C5A1F2E3B4C5"`, the ticks of a [`Timestamp`] in hexadecimal.
//! (Table ETags are weak and printed from the Timestamp; see table.md section 2.)

use std::fmt;

use crate::time::Timestamp;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ETag(pub u64);

impl ETag {
    /// The form of a response header, from version 2011-08-18 on.
    pub fn quoted(self) -> String {
        let mut text = String::with_capacity(19);
        text.push_str("\"0x");
        // 15 digits last until the year 3654.
        let digits = if self.0 >> 60 == 0 { 15 } else { 16 };
        for place in (0..digits).rev() {
            let digit = (self.0 >> (4 * place)) as u8 & 0xF;
            text.push(char::from(if digit < 10 { b'0' + digit } else { b'A' + digit - 10 }));
        }
        text.push('"');
        text
    }

    pub const fn from_timestamp(at: Timestamp) -> Self {
        ETag(at.0)
    }

    pub const fn timestamp(self) -> Timestamp {
        Timestamp(self.0)
    }

    /// Exactly what the service could have issued: `0x` and 15 upper-case hexadecimal digits.
    pub fn parse(text: &str) -> Option<Self> {
        let digits = text.strip_prefix("0x")?;
        let exact = digits.len() == 15 && digits.bytes().all(|b| matches!(b, b'0'..=b'9' | b'A'..=b'F'));
        exact.then(|| u64::from_str_radix(digits, 16).ok().map(ETag)).flatten()
    }
}

impl fmt::Display for ETag {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "0x{:015X}", self.0)
    }
}

/// One value of If-Match or If-None-Match. Foreign values are legal and match nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ETagToken {
    Service(ETag),
    Opaque(String),
}

impl ETagToken {
    /// Takes one pair of quotes off; anything that is not a service ETag stays as it is.
    pub fn parse(text: &str) -> Self {
        let bare = text.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')).unwrap_or(text);
        match ETag::parse(bare) {
            Some(etag) => ETagToken::Service(etag),
            None => ETagToken::Opaque(bare.to_owned()),
        }
    }

    pub fn is(&self, etag: ETag) -> bool {
        matches!(self, ETagToken::Service(own) if *own == etag)
    }
}

/// The value of If-Match or If-None-Match.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ETagCondition {
    /// `*`
    Any,
    List(Vec<ETagToken>),
}

impl ETagCondition {
    /// An empty header counts as absent.
    pub fn parse(header: &str) -> Option<Self> {
        let header = header.trim();
        if header == "*" {
            return Some(ETagCondition::Any);
        }
        let tokens: Vec<ETagToken> = split_outside_quotes(header)
            .map(str::trim)
            .filter(|token| !token.is_empty())
            .map(ETagToken::parse)
            .collect();
        (!tokens.is_empty()).then_some(ETagCondition::List(tokens))
    }

    /// True if the header names this ETag; `*` names every one.
    pub fn matches(&self, etag: ETag) -> bool {
        match self {
            ETagCondition::Any => true,
            ETagCondition::List(tokens) => tokens.iter().any(|token| token.is(etag)),
        }
    }

    pub fn is_any(&self) -> bool {
        matches!(self, ETagCondition::Any)
    }

    pub fn count(&self) -> usize {
        match self {
            ETagCondition::Any => 1,
            ETagCondition::List(tokens) => tokens.len(),
        }
    }

    /// True if some token is one that the service could have issued.
    pub fn names_service_etag(&self) -> bool {
        match self {
            ETagCondition::Any => false,
            ETagCondition::List(tokens) => tokens.iter().any(|t| matches!(t, ETagToken::Service(_))),
        }
    }
}

fn split_outside_quotes(text: &str) -> impl Iterator<Item = &str> {
    let mut quoted = false;
    text.split(move |c| {
        quoted ^= c == '"';
        c == ',' && !quoted
    })
}

#[cfg(test)]
mod tests;
