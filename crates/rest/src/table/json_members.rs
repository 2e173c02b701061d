//! The members of a JSON object in order, repeated ones too; no more of any object than an entity can have.

use std::fmt;
use std::marker::PhantomData;

use serde::de::{Deserialize, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::Number;

/// Twice what an entity can have with a type for each property. Who sends more is not heard out.
const MOST: usize = 1_024;

pub struct Members<V> {
    pub found: Vec<(String, V)>,
    /// There were more.
    pub more: bool,
}

impl<'de, V: Deserialize<'de>> Deserialize<'de> for Members<V> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(Walk(PhantomData))
    }
}

struct Walk<V>(PhantomData<V>);

impl<'de, V: Deserialize<'de>> Visitor<'de> for Walk<V> {
    type Value = Members<V>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Members<V>, A::Error> {
        let mut members = Members { found: Vec::with_capacity(16), more: false };
        while members.found.len() < MOST {
            match map.next_entry()? {
                Some(member) => members.found.push(member),
                None => return Ok(members),
            }
        }
        while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {
            members.more = true;
        }
        Ok(members)
    }
}

/// What a property can be written as.
pub enum Scalar {
    Null,
    Bool(bool),
    Number(Number),
    String(String),
    /// An array or an object, which nothing in an entity is.
    Nested,
}

impl<'de> Deserialize<'de> for Scalar {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ReadScalar)
    }
}

struct ReadScalar;

impl<'de> Visitor<'de> for ReadScalar {
    type Value = Scalar;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_unit<E>(self) -> Result<Scalar, E> {
        Ok(Scalar::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Scalar, E> {
        Ok(Scalar::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Scalar, E> {
        Ok(Scalar::Number(value.into()))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Scalar, E> {
        Ok(Scalar::Number(value.into()))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Scalar, E> {
        Ok(Number::from_f64(value).map_or(Scalar::Nested, Scalar::Number))
    }

    fn visit_str<E>(self, value: &str) -> Result<Scalar, E> {
        Ok(Scalar::String(value.to_owned()))
    }

    fn visit_string<E>(self, value: String) -> Result<Scalar, E> {
        Ok(Scalar::String(value))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut sequence: A) -> Result<Scalar, A::Error> {
        while sequence.next_element::<IgnoredAny>()?.is_some() {}
        Ok(Scalar::Nested)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Scalar, A::Error> {
        while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(Scalar::Nested)
    }
}
