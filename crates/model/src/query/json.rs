//! A JSON document as queries see it: the members of an object keep their order.

use super::value::Value;
use super::{FromStep, Step};

#[derive(Clone, Debug, PartialEq)]
pub enum Json {
    Null,
    Boolean(bool),
    Int(i64),
    Float(f64),
    Text(String),
    Array(Vec<Json>),
    Object(Vec<(String, Json)>),
}

impl Json {
    /// What an expression sees of it.
    pub fn value(&self) -> Value<'_> {
        match self {
            Self::Null => Value::Null,
            Self::Boolean(value) => Value::Boolean(*value),
            Self::Int(value) => Value::Int(*value),
            Self::Float(value) => Value::Float(*value),
            Self::Text(text) => Value::Text(text.as_str().into()),
            Self::Array(_) | Self::Object(_) => Value::Json(self),
        }
    }

    pub fn step(&self, step: &Step) -> Option<&Json> {
        match (self, step) {
            (Self::Object(members), Step::Name { text, quoted }) => members
                .iter()
                .find(|(name, _)| if *quoted { name == text } else { name.eq_ignore_ascii_case(text) })
                .map(|(_, value)| value),
            (Self::Array(elements), Step::Index(at)) => elements.get(*at),
            _ => None,
        }
    }

    /// What lies at the end of these steps.
    pub fn find(&self, steps: &[Step]) -> Option<&Json> {
        steps.iter().try_fold(self, |json, step| json.step(step))
    }

    /// Hands over each record that a table's path leads to.
    pub fn each<E>(
        &self,
        path: &[FromStep],
        record: &mut dyn FnMut(&Json) -> Result<(), E>,
    ) -> Result<(), E> {
        match path.split_first() {
            None => record(self),
            Some((FromStep::Field(step), rest)) => match self.step(step) {
                Some(found) => found.each(rest, record),
                None => Ok(()),
            },
            Some((FromStep::Each, rest)) => match self {
                Self::Array(elements) => elements.iter().try_for_each(|element| element.each(rest, record)),
                // `BlobStorage[*]` is the whole object too.
                one => one.each(rest, record),
            },
        }
    }
}
