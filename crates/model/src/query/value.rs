//! What expressions compute with, and how values of different types meet: text gives way to numbers, times and booleans.

use std::borrow::Cow;
use std::cmp::Ordering;

use super::json::Json;
use super::moment::Moment;

#[derive(Clone, Debug, PartialEq)]
pub enum Value<'a> {
    /// A field that the record does not have.
    Missing,
    Null,
    Boolean(bool),
    Int(i64),
    Float(f64),
    Text(Cow<'a, str>),
    Time(Moment),
    /// An object or an array.
    Json(&'a Json),
}

/// Why a record cannot be answered for. The query goes on with the next one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    pub name: &'static str,
    pub description: &'static str,
    /// The query ends with it instead.
    pub is_fatal: bool,
}

pub const CONVERSION: Problem = Problem::of("InvalidTypeConversion", "Invalid type conversion.");
pub const OVERFLOW: Problem =
    Problem::of("ArithmeticOverflow", "The result of a computation is out of range.");
pub const DIVISION: Problem = Problem::of("DivideByZero", "Division by zero.");

impl Problem {
    /// A record that has fewer columns than the query names.
    pub const ORDINAL: Problem =
        Self::of("InvalidColumnOrdinal", "The record has fewer columns than the query refers to.");

    /// One of a record, which is left out.
    pub const fn of(name: &'static str, description: &'static str) -> Self {
        Self { name, description, is_fatal: false }
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Number {
    Int(i64),
    Float(f64),
}

impl Number {
    pub fn float(self) -> f64 {
        match self {
            Self::Int(number) => number as f64,
            Self::Float(number) => number,
        }
    }

    pub fn value(self) -> Value<'static> {
        match self {
            Self::Int(number) => Value::Int(number),
            Self::Float(number) => Value::Float(number),
        }
    }
}

impl<'a> Value<'a> {
    pub fn is_null(&self) -> bool {
        matches!(self, Self::Null | Self::Missing)
    }

    /// Bytes that are looked at when it is asked for a number, a text and the like.
    pub fn length(&self) -> usize {
        match self {
            Self::Text(text) => text.len(),
            _ => 0,
        }
    }

    pub fn number(&self) -> Result<Number, Problem> {
        match self {
            Self::Int(number) => Ok(Number::Int(*number)),
            Self::Float(number) => Ok(Number::Float(*number)),
            Self::Boolean(value) => Ok(Number::Int(i64::from(*value))),
            Self::Text(text) => {
                let text = text.trim();
                if let Ok(number) = text.parse() {
                    return Ok(Number::Int(number));
                }
                match text.parse::<f64>() {
                    Ok(number) if number.is_finite() => Ok(Number::Float(number)),
                    _ => Err(CONVERSION),
                }
            }
            Self::Missing | Self::Null | Self::Time(_) | Self::Json(_) => Err(CONVERSION),
        }
    }

    pub fn boolean(&self) -> Result<bool, Problem> {
        match self {
            Self::Boolean(value) => Ok(*value),
            Self::Int(number) => Ok(*number != 0),
            Self::Text(text) if text.trim().eq_ignore_ascii_case("true") => Ok(true),
            Self::Text(text) if text.trim().eq_ignore_ascii_case("false") => Ok(false),
            _ => Err(CONVERSION),
        }
    }

    pub fn time(&self) -> Result<Moment, Problem> {
        match self {
            Self::Time(moment) => Ok(*moment),
            Self::Text(text) => Moment::parse(text).ok_or(CONVERSION),
            _ => Err(CONVERSION),
        }
    }

    /// As text, the way that delimited output shows it.
    pub fn text(&self) -> Result<Cow<'_, str>, Problem> {
        Ok(match self {
            Self::Text(text) => Cow::Borrowed(text),
            Self::Boolean(value) => Cow::Borrowed(if *value { "true" } else { "false" }),
            Self::Int(number) => Cow::Owned(number.to_string()),
            Self::Float(number) => Cow::Owned(number.to_string()),
            Self::Time(moment) => Cow::Owned(moment.iso()),
            Self::Missing | Self::Null | Self::Json(_) => return Err(CONVERSION),
        })
    }

    /// `None` when one of the two is null: nothing is known then.
    pub fn compare(&self, other: &Value<'_>) -> Result<Option<Ordering>, Problem> {
        Ok(match (self, other) {
            (one, two) if one.is_null() || two.is_null() => None,
            (Self::Text(one), Value::Text(two)) => Some(one.as_ref().cmp(two.as_ref())),
            (Self::Time(_), _) | (_, Value::Time(_)) => Some(self.time()?.utc.cmp(&other.time()?.utc)),
            (Self::Boolean(_), Value::Text(_) | Value::Boolean(_)) | (Self::Text(_), Value::Boolean(_)) => {
                Some(self.boolean()?.cmp(&other.boolean()?))
            }
            _ => match (self.number()?, other.number()?) {
                (Number::Int(one), Number::Int(two)) => Some(one.cmp(&two)),
                (one, two) => one.float().partial_cmp(&two.float()),
            },
        })
    }
}
