//! The `Range` and `x-ms-range` headers (common.md section 9).

use std::ops::Range;

use crate::error::{ErrorCode, Failure};

/// `bytes=start-end`, both inclusive as on the wire; an absent end means to the last byte.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ByteRange {
    pub start: u64,
    pub end: Option<u64>,
}

impl ByteRange {
    /// `None` for every form that the service does not know; such a header is ignored.
    pub fn parse(header: &str) -> Option<Self> {
        let (start, end) = header.trim().strip_prefix("bytes=")?.split_once('-')?;
        let start = number(start)?;
        let end = match end {
            "" => None,
            end => Some(number(end)?),
        };
        end.is_none_or(|end| end >= start).then_some(ByteRange { start, end })
    }

    /// The bytes that exist of it, half open; past the end of the resource it is 416 InvalidRange.
    pub fn resolve(self, len: u64) -> Result<Range<u64>, Failure> {
        if self.start >= len {
            return Err(Failure::new(ErrorCode::InvalidRange));
        }
        let end = self.end.map_or(len, |last| last.saturating_add(1).min(len));
        Ok(self.start..end)
    }
}

fn number(text: &str) -> Option<u64> {
    (!text.is_empty() && text.bytes().all(|b| b.is_ascii_digit())).then(|| text.parse().ok()).flatten()
}

#[cfg(test)]
mod tests;
