//! An entity out of its JSON.

use std::collections::{HashMap, HashSet};

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use lazuli_model::error::{ErrorCode, Failure};
use lazuli_model::odata::{EdmType, EdmValue};
use lazuli_model::time::Timestamp;
use serde_json::value::RawValue;
use uuid::Uuid;

use super::json_members::{Members, Scalar};

const TYPE_MARK: &str = "@odata.type";

/// The members of an entity as sent. The keys may be missing where the address has them.
#[derive(Debug, Default)]
pub struct SentEntity {
    pub partition: Option<String>,
    pub row: Option<String>,
    pub properties: Vec<(String, EdmValue)>,
}

pub fn read(document: &[u8]) -> Result<SentEntity, Failure> {
    read_counted(document, &mut 0)
}

/// The same, and how many bytes were looked at for it, each as often as it was.
pub fn read_counted(document: &[u8], looked: &mut usize) -> Result<SentEntity, Failure> {
    *looked += document.len();
    let Members::<Scalar> { found, more } = serde_json::from_slice(document).map_err(|_| unreadable())?;
    if more {
        return Err(ErrorCode::TooManyProperties.into());
    }
    let is_annotation = |name: &str| name.contains('@') || name.starts_with("odata.");
    let (annotations, members): (Vec<_>, Vec<_>) =
        found.into_iter().enumerate().partition(|(_, (name, _))| is_annotation(name));
    let types = Types::of(&annotations);
    let repeated = repeated(&members);
    let mut written = Written { document, members: None, looked };
    let mut entity = SentEntity { properties: Vec::with_capacity(members.len()), ..SentEntity::default() };
    for (place, (name, mut value)) in members {
        if repeated == Some(place) {
            return Err(ErrorCode::DuplicatePropertiesSpecified.into());
        }
        let edm_type = match name.as_str() {
            "Timestamp" => continue,
            name => types.find(name)?,
        };
        match name.as_str() {
            "PartitionKey" => entity.partition = key(value, edm_type)?,
            "RowKey" => entity.row = key(value, edm_type)?,
            _ => {
                if edm_type.is_none() && may_be_whole(&value) && written.is_whole(place) {
                    return Err(unreadable());
                }
                if edm_type != Some(EdmType::Double) && is_minus_zero(&value) && written.is_whole(place) {
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

/// A member of the document, with its place in it.
type Placed = (usize, (String, Scalar));

/// The place of the first member whose name was there before.
fn repeated(members: &[Placed]) -> Option<usize> {
    let mut names = HashSet::with_capacity(members.len());
    members.iter().find(|(_, (name, _))| !names.insert(name.as_str())).map(|(place, _)| *place)
}

/// What the members named `NAME@odata.type` say; of two, the first.
struct Types<'a>(HashMap<&'a str, &'a Scalar>);

impl<'a> Types<'a> {
    fn of(annotations: &'a [Placed]) -> Self {
        let mut types = HashMap::with_capacity(annotations.len());
        for (_, (name, value)) in annotations {
            if let Some(property) = name.strip_suffix(TYPE_MARK) {
                types.entry(property).or_insert(value);
            }
        }
        Self(types)
    }

    fn find(&self, name: &str) -> Result<Option<EdmType>, Failure> {
        match self.0.get(name) {
            None => Ok(None),
            Some(Scalar::String(text)) => EdmType::parse(text).map(Some).ok_or_else(unreadable),
            Some(_) => Err(unreadable()),
        }
    }
}

/// The members as they were written: read a second time by the first one that needs it, which is hardly any.
struct Written<'a, 'l> {
    document: &'a [u8],
    members: Option<Vec<(String, &'a RawValue)>>,
    looked: &'l mut usize,
}

impl Written<'_, '_> {
    /// Whether the number at this place was written without a point and an exponent.
    fn is_whole(&mut self, place: usize) -> bool {
        let Self { document, members, looked } = self;
        let members = members.get_or_insert_with(|| {
            **looked += document.len();
            serde_json::from_slice::<Members<&RawValue>>(document)
                .map_or_else(|_| Vec::new(), |read| read.found)
        });
        members.get(place).is_none_or(|(_, written)| !written.get().contains(['.', 'e', 'E']))
    }
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

/// A text, whatever else a property could be.
fn key(value: Scalar, edm_type: Option<EdmType>) -> Result<Option<String>, Failure> {
    if edm_type.is_some_and(|edm_type| edm_type != EdmType::String) {
        return Err(unreadable());
    }
    match value {
        Scalar::String(key) => Ok(Some(key)),
        Scalar::Null => Ok(None),
        _ => Err(unreadable()),
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
        EdmType::Boolean => boolean(text).map(EdmValue::Boolean),
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

/// In any case: clients write what their language prints.
fn boolean(text: &str) -> Option<bool> {
    [true, false].into_iter().find(|value| text.eq_ignore_ascii_case(if *value { "true" } else { "false" }))
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
