//! An entity as stored: read where it lies, property by property, without being taken apart first.
//!
//! ```text
//! value    := shape(1) timestamp(8 LE) 0 body            the body inline
//!           | shape(1) timestamp(8 LE) 1 content(16 BE) length(4 LE)     the body in segments under `m`
//! body     := property*
//! property := length name type(1) payload                length: LEB128
//! payload  := length bytes     of a String or Binary
//!           | 1, 4, 8, 8, 16 or 8 bytes LE of a Boolean, Int32, Int64, Double, Guid or DateTime
//! ```
//! The keys are in the entity's key and not repeated here.

use bytes::{BufMut, Bytes, BytesMut};
use lazuli_engine::EngineError;
use lazuli_model::odata::{EdmValue, ValueRef};
use lazuli_model::time::Timestamp;
use uuid::Uuid;

use super::corrupt;
use crate::store::key::ContentId;

const SHAPE: u8 = 1;
const NAME: &str = "entity";
const INLINE: u8 = 0;
const SEGMENTED: u8 = 1;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredEntity {
    pub timestamp: Timestamp,
    pub body: StoredBody,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StoredBody {
    Inline(Bytes),
    Segments { content: ContentId, length: u32 },
}

impl StoredEntity {
    pub fn encode(&self) -> Bytes {
        let inline = match &self.body {
            StoredBody::Inline(body) => body.len(),
            StoredBody::Segments { .. } => 20,
        };
        let mut value = BytesMut::with_capacity(10 + inline);
        value.put_u8(SHAPE);
        value.put_u64_le(self.timestamp.0);
        match &self.body {
            StoredBody::Inline(body) => {
                value.put_u8(INLINE);
                value.put_slice(body);
            }
            StoredBody::Segments { content, length } => {
                value.put_u8(SEGMENTED);
                value.put_u128(content.0);
                value.put_u32_le(*length);
            }
        }
        value.freeze()
    }

    pub fn decode(value: &Bytes) -> Result<Self, EngineError> {
        let EntityView { timestamp, body } = EntityView::of(value)?;
        let body = match body {
            BodyView::Inline(body) => StoredBody::Inline(value.slice_ref(body)),
            BodyView::Segments { content, length } => StoredBody::Segments { content, length },
        };
        Ok(Self { timestamp, body })
    }
}

/// A stored entity where it lies.
#[derive(Clone, Copy, Debug)]
pub struct EntityView<'a> {
    pub timestamp: Timestamp,
    pub body: BodyView<'a>,
}

#[derive(Clone, Copy, Debug)]
pub enum BodyView<'a> {
    Inline(&'a [u8]),
    Segments { content: ContentId, length: u32 },
}

impl<'a> EntityView<'a> {
    pub fn of(value: &'a [u8]) -> Result<Self, EngineError> {
        let (header, rest) = value.split_at_checked(10).ok_or_else(|| corrupt(NAME, "short value"))?;
        if header[0] != SHAPE {
            return Err(corrupt(NAME, &format!("unknown shape {}", header[0])));
        }
        let timestamp = Timestamp(u64::from_le_bytes(array(&header[1..9])));
        let body = match header[9] {
            INLINE => BodyView::Inline(rest),
            SEGMENTED if rest.len() == 20 => BodyView::Segments {
                content: ContentId(u128::from_be_bytes(array(&rest[..16]))),
                length: u32::from_le_bytes(array(&rest[16..])),
            },
            _ => return Err(corrupt(NAME, "unknown body")),
        };
        Ok(Self { timestamp, body })
    }
}

impl lazuli_model::admission::table::Entity for StoredEntity {
    fn timestamp(&self) -> Timestamp {
        self.timestamp
    }
}

/// Only called with as many bytes as the array has.
fn array<const N: usize>(bytes: &[u8]) -> [u8; N] {
    let mut array = [0; N];
    array.copy_from_slice(bytes);
    array
}

pub fn put_property(body: &mut Vec<u8>, name: &str, value: &ValueRef<'_>) {
    put_bytes(body, name.as_bytes());
    match value {
        ValueRef::String(text) => {
            body.push(0);
            put_bytes(body, text.as_bytes());
        }
        ValueRef::Boolean(value) => body.extend_from_slice(&[1, u8::from(*value)]),
        ValueRef::Int32(value) => {
            body.push(2);
            body.extend_from_slice(&value.to_le_bytes());
        }
        ValueRef::Int64(value) => {
            body.push(3);
            body.extend_from_slice(&value.to_le_bytes());
        }
        ValueRef::Double(value) => {
            body.push(4);
            body.extend_from_slice(&value.to_le_bytes());
        }
        ValueRef::Guid(value) => {
            body.push(5);
            body.extend_from_slice(value.as_bytes());
        }
        ValueRef::DateTime(value) => {
            body.push(6);
            body.extend_from_slice(&value.0.to_le_bytes());
        }
        ValueRef::Binary(bytes) => {
            body.push(7);
            put_bytes(body, bytes);
        }
    }
}

pub fn encode_body(properties: &[(String, EdmValue)]) -> Bytes {
    let mut body = Vec::with_capacity(properties.len() * 32);
    for (name, value) in properties {
        put_property(&mut body, name, &value.borrowed());
    }
    body.into()
}

fn put_bytes(body: &mut Vec<u8>, bytes: &[u8]) {
    let mut length = bytes.len();
    while length >= 0x80 {
        body.push((length & 0x7F) as u8 | 0x80);
        length >>= 7;
    }
    body.push(length as u8);
    body.extend_from_slice(bytes);
}

/// A property where it is stored, its value not yet looked at.
#[derive(Clone, Copy, Debug)]
pub struct RawProperty<'a> {
    pub name: &'a [u8],
    kind: u8,
    payload: &'a [u8],
    /// All of it, to be copied into another body.
    pub whole: &'a [u8],
}

impl<'a> RawProperty<'a> {
    pub fn name(&self) -> Result<&'a str, EngineError> {
        text(self.name)
    }

    pub fn value(&self) -> Result<ValueRef<'a>, EngineError> {
        // `read` gave each kind as many bytes as it has.
        let payload = self.payload;
        Ok(match self.kind {
            0 => ValueRef::String(text(payload)?),
            1 => ValueRef::Boolean(payload != [0]),
            2 => ValueRef::Int32(i32::from_le_bytes(array(payload))),
            3 => ValueRef::Int64(i64::from_le_bytes(array(payload))),
            4 => ValueRef::Double(f64::from_le_bytes(array(payload))),
            5 => ValueRef::Guid(Uuid::from_bytes(array(payload))),
            6 => ValueRef::DateTime(Timestamp(u64::from_le_bytes(array(payload)))),
            _ => ValueRef::Binary(payload),
        })
    }
}

fn text(bytes: &[u8]) -> Result<&str, EngineError> {
    std::str::from_utf8(bytes).map_err(|_| corrupt(NAME, "text that is not UTF-8"))
}

/// The properties of a body, in the order in which they are stored.
#[derive(Clone, Debug)]
pub struct Properties<'a>(&'a [u8]);

impl<'a> Properties<'a> {
    pub fn of(body: &'a [u8]) -> Self {
        Self(body)
    }
}

impl<'a> Iterator for Properties<'a> {
    type Item = Result<RawProperty<'a>, EngineError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.0.is_empty() {
            return None;
        }
        let read = read(self.0);
        // Whatever stands behind a damaged property cannot be found.
        self.0 = read.as_ref().map_or(&[][..], |(_, rest)| *rest);
        Some(read.map(|(property, _)| property).ok_or_else(|| corrupt(NAME, "damaged property")))
    }
}

fn read(from: &[u8]) -> Option<(RawProperty<'_>, &[u8])> {
    let (name, rest) = take_bytes(from)?;
    let (&kind, rest) = rest.split_first()?;
    let (payload, rest) = match kind {
        0 | 7 => take_bytes(rest)?,
        1 => rest.split_at_checked(1)?,
        2 => rest.split_at_checked(4)?,
        3 | 4 | 6 => rest.split_at_checked(8)?,
        5 => rest.split_at_checked(16)?,
        _ => return None,
    };
    let whole = from.get(..from.len() - rest.len())?;
    Some((RawProperty { name, kind, payload, whole }, rest))
}

fn take_bytes(from: &[u8]) -> Option<(&[u8], &[u8])> {
    let (mut length, mut shift, mut rest) = (0_usize, 0, from);
    loop {
        let (&byte, behind) = rest.split_first()?;
        rest = behind;
        length |= usize::from(byte & 0x7F) << shift;
        if byte < 0x80 {
            return rest.split_at_checked(length);
        }
        shift += 7;
        if shift > 28 {
            return None;
        }
    }
}

#[cfg(test)]
mod tests;
