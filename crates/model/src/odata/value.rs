//! Property values. Null is not one of them: it is never stored and never compared.

use std::cmp::Ordering;

use uuid::Uuid;

use crate::time::Timestamp;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum EdmType {
    String,
    Boolean,
    Int32,
    Int64,
    Double,
    Guid,
    DateTime,
    Binary,
}

impl EdmType {
    pub const ALL: [EdmType; 8] = [
        EdmType::String,
        EdmType::Boolean,
        EdmType::Int32,
        EdmType::Int64,
        EdmType::Double,
        EdmType::Guid,
        EdmType::DateTime,
        EdmType::Binary,
    ];

    /// As written in `@odata.type`.
    pub const fn name(self) -> &'static str {
        match self {
            EdmType::String => "Edm.String",
            EdmType::Boolean => "Edm.Boolean",
            EdmType::Int32 => "Edm.Int32",
            EdmType::Int64 => "Edm.Int64",
            EdmType::Double => "Edm.Double",
            EdmType::Guid => "Edm.Guid",
            EdmType::DateTime => "Edm.DateTime",
            EdmType::Binary => "Edm.Binary",
        }
    }

    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|edm| edm.name() == name)
    }
}

#[derive(Debug, Clone, PartialEq)]
pub enum EdmValue {
    String(String),
    Boolean(bool),
    Int32(i32),
    Int64(i64),
    Double(f64),
    Guid(Uuid),
    DateTime(Timestamp),
    Binary(Vec<u8>),
}

/// A value where it is stored.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum ValueRef<'a> {
    String(&'a str),
    Boolean(bool),
    Int32(i32),
    Int64(i64),
    Double(f64),
    Guid(Uuid),
    DateTime(Timestamp),
    Binary(&'a [u8]),
}

impl EdmValue {
    pub fn borrowed(&self) -> ValueRef<'_> {
        match self {
            EdmValue::String(text) => ValueRef::String(text),
            EdmValue::Boolean(value) => ValueRef::Boolean(*value),
            EdmValue::Int32(value) => ValueRef::Int32(*value),
            EdmValue::Int64(value) => ValueRef::Int64(*value),
            EdmValue::Double(value) => ValueRef::Double(*value),
            EdmValue::Guid(value) => ValueRef::Guid(*value),
            EdmValue::DateTime(value) => ValueRef::DateTime(*value),
            EdmValue::Binary(bytes) => ValueRef::Binary(bytes),
        }
    }
}

impl ValueRef<'_> {
    pub fn edm_type(&self) -> EdmType {
        match self {
            ValueRef::String(_) => EdmType::String,
            ValueRef::Boolean(_) => EdmType::Boolean,
            ValueRef::Int32(_) => EdmType::Int32,
            ValueRef::Int64(_) => EdmType::Int64,
            ValueRef::Double(_) => EdmType::Double,
            ValueRef::Guid(_) => EdmType::Guid,
            ValueRef::DateTime(_) => EdmType::DateTime,
            ValueRef::Binary(_) => EdmType::Binary,
        }
    }

    /// None when the types cannot be compared; the three number types can among each other. A NaN is neither
    /// less nor greater nor equal: `Some(None)`.
    pub fn compare(&self, other: &ValueRef<'_>) -> Option<Option<Ordering>> {
        use ValueRef::{Binary, Boolean, DateTime, Double, Guid, String};
        let ordered = |ordering| Some(Some(ordering));
        match (*self, *other) {
            (String(a), String(b)) => ordered(compare_ordinal(a, b)),
            (Boolean(a), Boolean(b)) => ordered(a.cmp(&b)),
            (Guid(a), Guid(b)) => ordered(a.cmp(&b)),
            (DateTime(a), DateTime(b)) => ordered(a.cmp(&b)),
            (Binary(a), Binary(b)) => ordered(a.cmp(b)),
            (Double(a), Double(b)) => Some(a.partial_cmp(&b)),
            (a, b) => match (a.integer(), b.integer()) {
                (Some(a), Some(b)) => ordered(a.cmp(&b)),
                (Some(a), None) => b.double().map(|b| (a as f64).partial_cmp(&b)),
                (None, Some(b)) => a.double().map(|a| a.partial_cmp(&(b as f64))),
                (None, None) => None,
            },
        }
    }

    fn integer(&self) -> Option<i64> {
        match *self {
            ValueRef::Int32(value) => Some(i64::from(value)),
            ValueRef::Int64(value) => Some(value),
            _ => None,
        }
    }

    fn double(&self) -> Option<f64> {
        match *self {
            ValueRef::Double(value) => Some(value),
            _ => None,
        }
    }
}

/// By UTF-16 code unit, as the service compares strings and orders keys. Code points order the same way, but
/// for the supplementary ones, which in UTF-16 come before U+E000.
pub fn compare_ordinal(a: &str, b: &str) -> Ordering {
    let common = a.bytes().zip(b.bytes()).take_while(|(a, b)| a == b).count();
    match (a.as_bytes().get(common), b.as_bytes().get(common)) {
        // Lead bytes: 0xEE and 0xEF begin U+E000 to U+FFFF, 0xF0 and above the supplementary ones.
        (Some(&a), Some(&b)) if a >= 0xEE && b >= 0xEE && (a >= 0xF0) != (b >= 0xF0) => b.cmp(&a),
        (a, b) => a.cmp(&b),
    }
}
