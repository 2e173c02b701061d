//! Text in columns: separators of any length, fields between quotes, a character that takes the meaning from the next.

use std::borrow::Cow;

/// The work of taking out the quotes of a byte.
const DECODED: usize = 2;
/// A record has no more columns.
pub(super) const COLUMNS: usize = 16 * 1024;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Delimited {
    /// Not empty.
    pub column: Vec<u8>,
    /// Not empty. A carriage return in front of a line feed belongs to it.
    pub record: Vec<u8>,
    pub quote: Option<u8>,
    pub escape: Option<u8>,
    /// The first record names the columns.
    pub headers: bool,
}

impl Default for Delimited {
    fn default() -> Self {
        let (column, record) = (b",".to_vec(), b"\n".to_vec());
        Self { column, record, quote: Some(b'"'), escape: None, headers: false }
    }
}

/// Where a field lies in its record.
#[derive(Clone, Copy, Debug)]
pub(super) struct Field {
    start: u32,
    end: u32,
    /// Quotes or escapes are to be taken out.
    is_coded: bool,
}

impl Field {
    /// Bytes to decode.
    pub(super) fn length(&self) -> usize {
        let length = self.end.saturating_sub(self.start) as usize;
        if self.is_coded { length.saturating_mul(DECODED) } else { length }
    }
}

pub(super) enum Read {
    /// A record of so many bytes, its separator included.
    Record(usize),
    /// It goes on behind what is there.
    More,
    TooManyColumns,
    OpenQuote,
}

enum End {
    Column,
    Record,
    Input,
}

impl Delimited {
    /// Reads the record that the bytes begin with. `at_end` says that nothing follows them.
    pub(super) fn read(&self, bytes: &[u8], at_end: bool, fields: &mut Vec<Field>) -> Read {
        fields.clear();
        let mut at = 0;
        loop {
            if fields.len() == COLUMNS {
                return Read::TooManyColumns;
            }
            let (field, next, end) = match self.field(bytes, at, at_end) {
                Ok(found) => found,
                Err(read) => return read,
            };
            fields.push(field);
            match end {
                End::Column => at = next,
                End::Record | End::Input => return Read::Record(next),
            }
        }
    }

    fn field(&self, bytes: &[u8], start: usize, at_end: bool) -> Result<(Field, usize, End), Read> {
        let mut at = start;
        let mut is_coded = false;
        if self.quote.is_some() && bytes.get(at).copied() == self.quote {
            is_coded = true;
            at = self.closing(bytes, at + 1, at_end)?;
        }
        // The longest thing that may begin here must be here as a whole, or be known not to come.
        let longest = self.column.len().max(self.record.len()).max(2);
        loop {
            let special = self.next_special(bytes.get(at..).unwrap_or_default());
            let Some(found) = special.map(|found| at + found) else {
                return match at_end {
                    true => Ok((self.cut(bytes, start, bytes.len(), is_coded), bytes.len(), End::Input)),
                    false => Err(Read::More),
                };
            };
            if !at_end && bytes.len() - found < longest {
                return Err(Read::More);
            }
            let rest = &bytes[found..];
            if rest.starts_with(&self.column) {
                let next = found + self.column.len();
                return Ok((field(start, found, is_coded), next, End::Column));
            }
            if rest.starts_with(&self.record) {
                let next = found + self.record.len();
                return Ok((self.cut(bytes, start, found, is_coded), next, End::Record));
            }
            if rest.first().copied() == self.escape {
                is_coded = true;
                at = (found + 2).min(bytes.len());
            } else {
                at = found + 1;
            }
        }
    }

    /// The place behind the quote that closes a field.
    fn closing(&self, bytes: &[u8], mut at: usize, at_end: bool) -> Result<usize, Read> {
        let open = if at_end { Read::OpenQuote } else { Read::More };
        let Some(quote) = self.quote else { return Err(open) };
        let escape = self.escape.unwrap_or(quote);
        loop {
            let rest = bytes.get(at..).unwrap_or_default();
            let Some(found) = memchr::memchr2(quote, escape, rest).map(|found| at + found) else {
                return Err(open);
            };
            let next = bytes.get(found + 1).copied();
            if bytes[found] != quote || next == Some(quote) {
                at = found + 2;
            } else if next.is_none() && !at_end {
                return Err(Read::More);
            } else {
                return Ok(found + 1);
            }
        }
    }

    fn next_special(&self, bytes: &[u8]) -> Option<usize> {
        let (column, record) = (self.column[0], self.record[0]);
        memchr::memchr3(column, record, self.escape.unwrap_or(record), bytes)
    }

    /// The last field of a record, without the carriage return of its line.
    fn cut(&self, bytes: &[u8], start: usize, mut end: usize, is_coded: bool) -> Field {
        if self.record == b"\n" && end > start && bytes.get(end - 1) == Some(&b'\r') {
            end -= 1;
        }
        field(start, end, is_coded)
    }

    /// The text of a field.
    pub(super) fn text<'a>(&self, record: &'a [u8], field: Field) -> Cow<'a, str> {
        let bytes = record.get(field.start as usize..field.end as usize).unwrap_or_default();
        if !field.is_coded {
            return String::from_utf8_lossy(bytes);
        }
        let mut text = Vec::with_capacity(bytes.len());
        let mut rest = bytes.iter().copied().peekable();
        let mut inside = false;
        if self.quote.is_some() && rest.peek().copied() == self.quote {
            rest.next();
            inside = true;
        }
        while let Some(byte) = rest.next() {
            if inside && Some(byte) == self.quote {
                match rest.peek().copied() {
                    Some(next) if next == byte => text.extend(rest.next()),
                    _ => inside = false,
                }
            } else if Some(byte) == self.escape {
                text.extend(rest.next());
            } else {
                text.push(byte);
            }
        }
        Cow::Owned(String::from_utf8_lossy(&text).into_owned())
    }

    /// Writes a field so that it is read as the same.
    pub(super) fn write(&self, out: &mut Vec<u8>, text: &str) {
        let bytes = text.as_bytes();
        let begins = |what: &[u8]| memchr::memmem::find(bytes, what).is_some();
        let special = begins(&self.column)
            || begins(&self.record)
            || bytes.iter().any(|byte| matches!(byte, b'\r' | b'\n') || Some(*byte) == self.quote);
        let (Some(quote), true) = (self.quote, special) else { return out.extend_from_slice(bytes) };
        out.push(quote);
        for byte in bytes {
            if *byte == quote || (Some(*byte) == self.escape) {
                out.push(self.escape.unwrap_or(quote));
            }
            out.push(*byte);
        }
        out.push(quote);
    }
}

fn field(start: usize, end: usize, is_coded: bool) -> Field {
    let place = |at: usize| u32::try_from(at).unwrap_or(u32::MAX);
    Field { start: place(start), end: place(end), is_coded }
}
