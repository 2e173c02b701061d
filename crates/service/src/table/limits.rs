//! What an entity may be (table.md section 3).

use lazuli_model::error::{ErrorCode, Failure};
use lazuli_model::odata::ValueRef;

use super::{PARTITION_KEY, ROW_KEY, TIMESTAMP};

const KEY_UNITS: usize = 512;
const PROPERTIES: usize = 252;
const NAME_UNITS: usize = 255;
const VALUE_BYTES: usize = 64 * 1024;
const ENTITY_BYTES: usize = 1024 * 1024;

/// A partition or row key that may be asked for. One that is longer is refused by reads and deletes too.
pub fn check_key_length(key: &str) -> Result<(), Failure> {
    // A unit of UTF-16 is at most three bytes of UTF-8.
    if key.len() > 3 * KEY_UNITS || units(key) > KEY_UNITS {
        return Err(ErrorCode::KeyValueTooLong.into());
    }
    Ok(())
}

/// A partition or row key that may be stored.
pub fn check_key(key: &str) -> Result<(), Failure> {
    check_key_length(key)?;
    let forbidden = |c: char| matches!(c, '/' | '\\' | '#' | '?' | '\u{0}'..='\u{1F}' | '\u{7F}'..='\u{9F}');
    if key.contains(forbidden) {
        return Err(ErrorCode::OutOfRangeInput.into());
    }
    Ok(())
}

/// Weighs an entity as the service does, property by property.
pub struct Scale {
    count: usize,
    bytes: usize,
}

impl Scale {
    pub fn new(partition: &str, row: &str) -> Self {
        Self { count: 0, bytes: 4 + 2 * (units(partition) + units(row)) }
    }

    pub fn add(&mut self, name: &str, value: &ValueRef<'_>) -> Result<(), Failure> {
        self.count += 1;
        if self.count > PROPERTIES {
            return Err(ErrorCode::TooManyProperties.into());
        }
        check_name(name)?;
        let size = size(value);
        if matches!(value, ValueRef::String(_) | ValueRef::Binary(_)) && size - 4 > VALUE_BYTES {
            return Err(ErrorCode::PropertyValueTooLarge.into());
        }
        self.bytes += 8 + 2 * units(name) + size;
        if self.bytes > ENTITY_BYTES {
            return Err(ErrorCode::EntityTooLarge.into());
        }
        Ok(())
    }
}

fn units(text: &str) -> usize {
    if text.is_ascii() { text.len() } else { text.encode_utf16().count() }
}

/// As the documentation of sizes counts them.
fn size(value: &ValueRef<'_>) -> usize {
    match value {
        ValueRef::String(text) => 4 + 2 * units(text),
        ValueRef::Binary(bytes) => 4 + bytes.len(),
        ValueRef::Boolean(_) => 1,
        ValueRef::Int32(_) => 4,
        ValueRef::Int64(_) | ValueRef::Double(_) | ValueRef::DateTime(_) => 8,
        ValueRef::Guid(_) => 16,
    }
}

/// An identifier of C#. The keys and the timestamp are no properties of their own.
fn check_name(name: &str) -> Result<(), Failure> {
    if units(name) > NAME_UNITS {
        return Err(ErrorCode::PropertyNameTooLong.into());
    }
    let mut characters = name.chars();
    let starts = characters.next().is_some_and(|c| c.is_alphabetic() || c == '_');
    let reserved = [PARTITION_KEY, ROW_KEY, TIMESTAMP].contains(&name);
    if !starts || reserved || !characters.all(|c| c.is_alphanumeric() || c == '_' || is_joining(c)) {
        return Err(ErrorCode::PropertyNameInvalid.into());
    }
    Ok(())
}

/// Combining marks and connecting punctuation, as far as names hold them.
fn is_joining(c: char) -> bool {
    matches!(c, '\u{300}'..='\u{36F}' | '\u{203F}' | '\u{2040}' | '\u{200C}' | '\u{200D}')
}
