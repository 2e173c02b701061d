//! Blob index tags: the set on a blob and the predicates over it.

mod expression;
#[cfg(test)]
mod tests;

use crate::error::{ErrorCode, Failure};

pub use expression::{TagExpression, ValueRange, WhereExpression};

pub const TAGS_MAX: usize = 10;
pub const KEY_LENGTH_MAX: usize = 128;
pub const VALUE_LENGTH_MAX: usize = 256;
/// The limit on `x-ms-tags` as sent, that is, still encoded.
pub const HEADER_LENGTH_MAX: usize = 2048;

/// Valid by construction: at most ten, sorted by key, keys unique.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Tags(Vec<(String, String)>);

impl Tags {
    /// From the pairs of a Set Blob Tags body, in any order.
    pub fn new(mut pairs: Vec<(String, String)>) -> Result<Self, Failure> {
        if pairs.len() > TAGS_MAX {
            return Err(ErrorCode::TagsTooLarge.into());
        }
        for (key, value) in &pairs {
            validate(key, value)?;
        }
        pairs.sort();
        let is_repeated = |pair: &[(String, String)]| matches!(pair, [a, b] if a.0 == b.0);
        if pairs.windows(2).any(is_repeated) {
            return Err(ErrorCode::DuplicateTagNames.into());
        }
        Ok(Self(pairs))
    }

    /// From `x-ms-tags`: `key=value&key=value`, encoded as a query string is (`+` is a space).
    pub fn parse_header(text: &str) -> Result<Self, Failure> {
        if text.len() > HEADER_LENGTH_MAX {
            return Err(ErrorCode::TagsTooLarge.into());
        }
        if text.is_empty() {
            return Ok(Self::default());
        }
        let pair = |pair: &str| {
            let (key, value) = pair.split_once('=')?;
            Some((decode(key)?, decode(value)?))
        };
        let pairs: Option<Vec<_>> = text.split('&').map(pair).collect();
        Self::new(pairs.ok_or_else(|| Failure::invalid_header("x-ms-tags", text))?)
    }

    /// From a record: checked and sorted when it was written.
    pub fn from_stored(pairs: Vec<(String, String)>) -> Self {
        Self(pairs)
    }

    pub fn into_pairs(self) -> Vec<(String, String)> {
        self.0
    }

    pub fn get(&self, key: &str) -> Option<&str> {
        let found = self.0.binary_search_by(|(have, _)| have.as_str().cmp(key));
        let (_, value) = self.0.get(found.ok()?)?;
        Some(value)
    }

    /// Sorted by key, the order in which the service returns them.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&str, &str)> {
        self.0.iter().map(|(key, value)| (key.as_str(), value.as_str()))
    }

    pub fn len(&self) -> usize {
        self.0.len()
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

fn validate(key: &str, value: &str) -> Result<(), Failure> {
    if key.is_empty() {
        return Err(ErrorCode::EmptyTagName.into());
    }
    if !key.chars().chain(value.chars()).all(is_allowed) {
        return Err(ErrorCode::InvalidTag.into());
    }
    // Every allowed character is one byte long.
    if key.len() > KEY_LENGTH_MAX || value.len() > VALUE_LENGTH_MAX {
        return Err(ErrorCode::TagsTooLarge.into());
    }
    Ok(())
}

fn is_allowed(c: char) -> bool {
    c.is_ascii_alphanumeric() || " +-./:=_".contains(c)
}

fn decode(text: &str) -> Option<String> {
    let mut decoded = Vec::with_capacity(text.len());
    let mut bytes = text.bytes();
    while let Some(byte) = bytes.next() {
        decoded.push(match byte {
            b'+' => b' ',
            b'%' => {
                let high = char::from(bytes.next()?).to_digit(16)?;
                let low = char::from(bytes.next()?).to_digit(16)?;
                u8::try_from(high * 16 + low).ok()?
            }
            byte => byte,
        });
    }
    String::from_utf8(decoded).ok()
}
