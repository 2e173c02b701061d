//! Documents, one behind the other, or as the elements of one array.

use lazuli_model::query::Json;
use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;

/// A document has no more values than this.
const NODES: usize = 200_000;
/// Memory of a value, with its name, beside its text.
const NODE: usize = 64;

/// Where the reader is between two documents.
#[derive(Debug, Default)]
pub(super) struct Place {
    /// Inside of the array that holds all documents.
    in_array: bool,
    /// A comma is due before the next element.
    needs_comma: bool,
    array_ended: bool,
}

pub(super) enum Read {
    /// The document, where it begins, and where the next one may.
    Document {
        json: Json,
        start: usize,
        end: usize,
        /// Memory that it takes, about.
        size: usize,
    },
    /// So many bytes that are no document: what stands around and between the elements of an array.
    Between(usize),
    More,
    /// Nothing follows.
    Nothing,
    Malformed {
        at: usize,
        expected: &'static str,
    },
    TooManyValues,
}

impl Place {
    /// Reads the document that the bytes begin with. `at_end` says that nothing follows them.
    pub(super) fn read(&mut self, bytes: &[u8], at_end: bool, separator: &[u8]) -> Read {
        let mut at = 0;
        loop {
            let rest = &bytes[at..];
            let Some(first) = rest.first() else {
                return match (at_end, self.in_array) {
                    (false, _) if at > 0 => Read::Between(at),
                    (false, _) => Read::More,
                    (true, false) => Read::Nothing,
                    (true, true) => Read::Malformed { at, expected: "Expecting token ']'." },
                };
            };
            match first {
                b' ' | b'\t' | b'\r' | b'\n' => at += 1,
                b'[' if !self.in_array && !self.array_ended => {
                    self.in_array = true;
                    return Read::Between(at + 1);
                }
                b']' if self.in_array => {
                    *self = Self { in_array: false, needs_comma: false, array_ended: true };
                    return Read::Between(at + 1);
                }
                b',' if self.in_array && self.needs_comma => {
                    self.needs_comma = false;
                    return Read::Between(at + 1);
                }
                _ if !self.in_array && !separator.is_empty() && rest.starts_with(separator) => {
                    at += separator.len();
                }
                _ if self.in_array && self.needs_comma => {
                    return Read::Malformed { at, expected: "Expecting tokens ',', or ']'." };
                }
                _ => return self.document(bytes, at, at_end),
            }
        }
    }

    fn document(&mut self, bytes: &[u8], at: usize, at_end: bool) -> Read {
        const EXPECTED: &str = "Expecting tokens '{', or '['.";
        if !matches!(bytes[at], b'{' | b'[' | b'"' | b'-' | b'0'..=b'9' | b't' | b'f' | b'n') {
            return Read::Malformed { at, expected: EXPECTED };
        }
        let mut values = serde_json::Deserializer::from_slice(&bytes[at..]).into_iter::<&RawValue>();
        let raw = match values.next() {
            Some(Ok(raw)) => raw,
            Some(Err(error)) if error.is_eof() && !at_end => return Read::More,
            Some(Err(error)) => {
                let place = position(&bytes[at..], error.line(), error.column());
                return Read::Malformed { at: at + place, expected: "" };
            }
            None => return Read::More,
        };
        let end = at + values.byte_offset();
        // A number may go on behind what is there.
        if !at_end && end == bytes.len() && !matches!(bytes[at], b'{' | b'[' | b'"') {
            return Read::More;
        }
        let text = raw.get();
        let nodes = text.bytes().filter(|byte| matches!(byte, b',' | b'[' | b'{')).count();
        if nodes > NODES {
            return Read::TooManyValues;
        }
        self.needs_comma = self.in_array;
        match serde_json::from_str::<Parsed>(text) {
            Ok(Parsed(json)) => Read::Document { json, start: at, end, size: text.len() + nodes * NODE },
            // Only what is nested too deeply was let pass above.
            Err(_) => Read::Malformed { at, expected: "The document is nested too deeply." },
        }
    }
}

/// The place of a line and column, both counted from 1.
fn position(bytes: &[u8], line: usize, column: usize) -> usize {
    let mut start = 0;
    for _ in 1..line {
        match memchr::memchr(b'\n', &bytes[start..]) {
            Some(found) => start += found + 1,
            None => break,
        }
    }
    (start + column.saturating_sub(1)).min(bytes.len().saturating_sub(1))
}

struct Parsed(Json);

impl<'de> Deserialize<'de> for Parsed {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(AnyJson).map(Parsed)
    }
}

struct AnyJson;

impl<'de> Visitor<'de> for AnyJson {
    type Value = Json;

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("a value")
    }

    fn visit_unit<E>(self) -> Result<Json, E> {
        Ok(Json::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Json, E> {
        Ok(Json::Boolean(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Json, E> {
        Ok(Json::Int(value))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Json, E> {
        Ok(i64::try_from(value).map_or(Json::Float(value as f64), Json::Int))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Json, E> {
        Ok(Json::Float(value))
    }

    fn visit_str<E>(self, value: &str) -> Result<Json, E> {
        Ok(Json::Text(value.to_owned()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut elements: A) -> Result<Json, A::Error> {
        let mut all = Vec::new();
        while let Some(Parsed(element)) = elements.next_element()? {
            all.push(element);
        }
        Ok(Json::Array(all))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Json, A::Error> {
        let mut all = Vec::new();
        while let Some((name, Parsed(value))) = members.next_entry::<String, Parsed>()? {
            all.push((name, value));
        }
        Ok(Json::Object(all))
    }
}
