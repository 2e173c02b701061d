//! A JSON document as queries see it: the members of an object keep their order.

use std::collections::VecDeque;

use super::value::{Problem, Value};
use super::work::Work;
use super::{FromStep, Step};

/// The work of comparing a member's name.
const MEMBER: usize = 8;

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

    fn step(&self, step: &Step) -> Option<&Json> {
        match (self, step) {
            (Self::Object(members), Step::Name { .. }) => {
                members.iter().find(|(name, _)| step.names(name)).map(|(_, value)| value)
            }
            (Self::Array(elements), Step::Index(at)) => elements.get(*at),
            _ => None,
        }
    }

    fn into_step(self, step: &Step) -> Option<Json> {
        match (self, step) {
            (Self::Object(members), Step::Name { .. }) => {
                members.into_iter().find(|(name, _)| step.names(name)).map(|(_, value)| value)
            }
            (Self::Array(elements), Step::Index(at)) => elements.into_iter().nth(*at),
            _ => None,
        }
    }

    /// What lies at the end of these steps.
    pub fn find(&self, steps: &[Step], work: &Work) -> Result<Option<&Json>, Problem> {
        let mut json = self;
        for step in steps {
            work.spend(match json {
                Self::Object(members) => members.len().saturating_mul(MEMBER),
                _ => MEMBER,
            })?;
            match json.step(step) {
                Some(found) => json = found,
                None => return Ok(None),
            }
        }
        Ok(Some(json))
    }

    /// Takes out each record that a table's path leads to.
    pub fn records(self, path: &[FromStep], records: &mut VecDeque<Json>) {
        match path.split_first() {
            None => records.push_back(self),
            Some((FromStep::Field(step), rest)) => {
                if let Some(found) = self.into_step(step) {
                    found.records(rest, records);
                }
            }
            Some((FromStep::Each, rest)) => match self {
                Self::Array(elements) => {
                    elements.into_iter().for_each(|element| element.records(rest, records));
                }
                // `BlobStorage[*]` is the whole object too.
                one => one.records(rest, records),
            },
        }
    }
}

impl Step {
    fn names(&self, name: &str) -> bool {
        match self {
            Self::Name { text, quoted: true } => name == text,
            Self::Name { text, quoted: false } => name.eq_ignore_ascii_case(text),
            Self::Index(_) => false,
        }
    }
}
