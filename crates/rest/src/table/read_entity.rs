//! An entity out of its JSON.

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use lazuli_model::error::{ErrorCode, Failure};
use lazuli_model::odata::{EdmType, EdmValue};
use lazuli_model::time::Timestamp;
use serde_json::value::RawValue;
use uuid::Uuid;

use super::members::{Members, Scalar};

const TYPE_MARK: &str = "@odata.type";

/// The members of an entity as sent. The keys may be missing where the address has them.
#[derive(Debug, Default)]
pub struct SentEntity {
    pub partition: Option<String>,
    pub row: Option<String>,
    pub properties: Vec<(String, EdmValue)>,
}

pub fn read(document: &[u8]) -> Result<SentEntity, Failure> {
    let Members::<Scalar> { found, more } = serde_json::from_slice(document).map_err(|_| unreadable())?;
    if more {
        return Err(ErrorCode::TooManyProperties.into());
    }
    let is_annotation = |name: &str| name.contains('@') || name.starts_with("odata.");
    let (annotations, members): (Vec<_>, Vec<_>) =
        found.into_iter().partition(|(name, _)| is_annotation(name));
    let names: Vec<&str> = members.iter().map(|(name, _)| name.as_str()).collect();
    let repeated = (1..names.len()).find(|&at| names[..at].contains(&names[at]));
    let mut entity = SentEntity { properties: Vec::with_capacity(members.len()), ..SentEntity::default() };
    for (at, (name, mut value)) in members.into_iter().enumerate() {
        if repeated == Some(at) {
            return Err(ErrorCode::DuplicatePropertiesSpecified.into());
        }
        match name.as_str() {
            "PartitionKey" => entity.partition = key(value)?,
            "RowKey" => entity.row = key(value)?,
            "Timestamp" => {}
            _ => {
                let edm_type = annotation(&annotations, &name)?;
                if edm_type.is_none() && may_be_whole(&value) && is_whole(document, &name) {
                    return Err(unreadable());
                }
                if edm_type != Some(EdmType::Double) && is_minus_zero(&value) && is_whole(document, &name) {
                    value = Scalar::Number(0.into());
                }
                if let Some(value) = property(value, edm_type)? {
                    entity.properties.push((name, value));
                }
            }
        }
    }
    Ok(entity)
}

/// The one member of the body of Create Table.
pub fn table_name(document: &[u8]) -> Result<String, Failure> {
    let members: Members<Scalar> = serde_json::from_slice(document).map_err(|_| unreadable())?;
    let name = members.found.into_iter().find(|(name, _)| name == "TableName");
    match name {
        Some((_, Scalar::String(name))) => Ok(name),
        Some((_, Scalar::Null)) | None => Err(ErrorCode::PropertiesNeedValue.into()),
        Some(_) => Err(unreadable()),
    }
}

/// Recorded: what cannot be read as an entity is not explained.
pub fn unreadable() -> Failure {
    Failure::new(ErrorCode::InvalidInput).with_message("An error occurred while processing this request.")
}

fn key(value: Scalar) -> Result<Option<String>, Failure> {
    match value {
        Scalar::String(key) => Ok(Some(key)),
        Scalar::Null => Ok(None),
        _ => Err(unreadable()),
    }
}

fn annotation(annotations: &[(String, Scalar)], name: &str) -> Result<Option<EdmType>, Failure> {
    let found = annotations.iter().find(|(member, _)| member.strip_suffix(TYPE_MARK) == Some(name));
    match found {
        None => Ok(None),
        Some((_, Scalar::String(text))) => EdmType::parse(text).map(Some).ok_or_else(unreadable),
        Some(_) => Err(unreadable()),
    }
}

/// None for null, which is never stored.
fn property(value: Scalar, edm_type: Option<EdmType>) -> Result<Option<EdmValue>, Failure> {
    let read = match (value, edm_type) {
        (Scalar::Null, _) => return Ok(None),
        (Scalar::String(text), None | Some(EdmType::String)) => Some(EdmValue::String(text)),
        (Scalar::String(text), Some(edm_type)) => from_text(&text, edm_type),
        (Scalar::Bool(value), None | Some(EdmType::Boolean)) => Some(EdmValue::Boolean(value)),
        (Scalar::Number(number), edm_type) => from_number(&number, edm_type),
        _ => None,
    };
    read.map(Some).ok_or_else(unreadable)
}

fn from_text(text: &str, edm_type: EdmType) -> Option<EdmValue> {
    match edm_type {
        EdmType::String => Some(EdmValue::String(text.to_owned())),
        EdmType::Boolean => text.parse().ok().map(EdmValue::Boolean),
        EdmType::Int32 => text.parse().ok().map(EdmValue::Int32),
        EdmType::Int64 => text.parse().ok().map(EdmValue::Int64),
        EdmType::Double => match text {
            "NaN" => Some(EdmValue::Double(f64::NAN)),
            "Infinity" | "INF" => Some(EdmValue::Double(f64::INFINITY)),
            "-Infinity" | "-INF" => Some(EdmValue::Double(f64::NEG_INFINITY)),
            text => text.parse().ok().filter(|value: &f64| value.is_finite()).map(EdmValue::Double),
        },
        EdmType::Guid => Uuid::try_parse(text).ok().map(EdmValue::Guid),
        EdmType::DateTime => date_time(text).map(EdmValue::DateTime),
        EdmType::Binary => BASE64_STANDARD.decode(text).ok().map(EdmValue::Binary),
    }
}

/// From 1601 on; a time without a zone is UTC.
fn date_time(text: &str) -> Option<Timestamp> {
    let at = Timestamp::parse_iso(text).or_else(|| Timestamp::parse_iso(&format!("{text}Z")))?;
    (at >= Timestamp::YEAR_1601).then_some(at)
}

fn from_number(number: &serde_json::Number, edm_type: Option<EdmType>) -> Option<EdmValue> {
    match edm_type {
        None => match number.as_i64() {
            Some(value) => i32::try_from(value).ok().map(EdmValue::Int32),
            None if number.is_f64() => number.as_f64().map(EdmValue::Double),
            None => None,
        },
        Some(EdmType::Int32) => {
            number.as_i64().and_then(|value| i32::try_from(value).ok()).map(EdmValue::Int32)
        }
        Some(EdmType::Int64) => number.as_i64().map(EdmValue::Int64),
        Some(EdmType::Double) => number.as_f64().map(EdmValue::Double),
        Some(_) => None,
    }
}

/// A whole number that no integer can hold has become a Double in the reader's hands.
fn may_be_whole(value: &Scalar) -> bool {
    const LARGEST: f64 = (1_u64 << 63) as f64;
    matches!(value, Scalar::Number(number) if number.as_f64().is_some_and(|read| read.abs() >= LARGEST))
}

/// So has a zero with a sign.
fn is_minus_zero(value: &Scalar) -> bool {
    matches!(value, Scalar::Number(number) if number.is_f64() && number.as_f64() == Some(0.0))
}

/// Whether a number was written without a point and an exponent. Reads the document once more; hardly any needs it.
fn is_whole(document: &[u8], name: &str) -> bool {
    let Ok(members) = serde_json::from_slice::<Members<&RawValue>>(document) else { return true };
    let written = members.found.iter().find(|(member, _)| member == name);
    written.is_some_and(|(_, written)| !written.get().contains(['.', 'e', 'E']))
}
