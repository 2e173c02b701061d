//! The SQL of Query Blob Contents: one `SELECT` over the records of one blob. Reading a query and asking it about a record
//! are here; where records come from is the service's business.
//!
//! A query is read once and asked about each record; what that costs is counted, and bounded for each record ([`Work`]).

mod aggregate;
mod evaluate;
mod expression;
mod expressions;
mod functions;
mod json;
mod lexer;
mod like;
mod moment;
mod parser;
mod value;
mod work;

pub use aggregate::Aggregates;
pub use evaluate::{Asked, Row};
pub use json::Json;
pub use moment::Moment;
pub use value::{Problem, Value};
pub use work::{RECORD_WORK, Work};

use crate::error::Failure;
use expression::Expression;

/// A query as it was written.
#[derive(Clone, Debug)]
pub struct Query {
    pub select: Select,
    /// The fields that the query names, by slot.
    pub columns: Vec<Vec<Step>>,
    /// What of a JSON document are the records.
    pub from: Vec<FromStep>,
    pub limit: Option<u64>,
    filter: Option<Expression>,
    nodes: usize,
    /// Bytes of the query.
    length: usize,
    /// Names of fields come after the table: `FROM BlobStorage[*]`.
    pub names_path: bool,
}

#[derive(Clone, Debug)]
pub enum Select {
    All,
    Items(Vec<Item>),
    Aggregates(Vec<aggregate::Aggregate>),
    /// `sys.split(size)`: how long the batches are that whole records fill.
    Split(u64),
}

#[derive(Clone, Debug)]
pub struct Item {
    expression: Expression,
    /// What the output calls it; `None` for one that has a number only.
    pub name: Option<String>,
}

/// One step to a field.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// Quoted names are compared exactly, others without their case.
    Name {
        text: String,
        quoted: bool,
    },
    Index(usize),
}

/// One step from a document to its records.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FromStep {
    Field(Step),
    /// `[*]`: each element of an array.
    Each,
}

impl Query {
    pub fn parse(text: &str) -> Result<Self, Failure> {
        parser::parse(text)
    }

    /// Whether the query wants this record.
    pub fn wants<'a>(&'a self, asked: &Asked<'a>) -> Result<bool, Problem> {
        match &self.filter {
            None => Ok(true),
            Some(filter) => Ok(asked.truth(filter)? == Some(true)),
        }
    }

    /// The expressions that are asked about each record, with the text that is written in the query.
    pub fn cost(&self) -> usize {
        self.nodes + self.length / work::STEP
    }

    /// The number of a column that is named by one, as `_3` is.
    pub fn ordinal(steps: &[Step]) -> Option<usize> {
        match steps {
            [Step::Name { text, quoted: false }] => text.strip_prefix('_')?.parse().ok(),
            _ => None,
        }
    }
}

impl Item {
    pub fn value<'a>(&'a self, asked: &Asked<'a>) -> Result<Value<'a>, Problem> {
        asked.value(&self.expression)
    }
}

#[cfg(test)]
mod tests;
