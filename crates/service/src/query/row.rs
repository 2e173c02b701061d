//! One record of the input as a query sees it.

use std::borrow::Cow;

use lazuli_model::query::{Json, Problem, Query, Row, Step, Value, Work};

use super::delimited::{Delimited, Field};

/// A record of columns.
pub(super) struct Columns<'a> {
    pub format: &'a Delimited,
    pub bytes: &'a [u8],
    pub fields: &'a [Field],
    /// Where each column of the query is found, counted from 0.
    pub bound: &'a [usize],
}

impl<'a> Columns<'a> {
    pub fn text(&self, at: usize) -> Option<Cow<'a, str>> {
        self.fields.get(at).map(|field| self.format.text(self.bytes, *field))
    }
}

impl Row for Columns<'_> {
    fn column(&self, slot: usize, work: &Work) -> Result<Value<'_>, Problem> {
        let at = self.bound.get(slot).copied().ok_or(Problem::ORDINAL)?;
        work.spend(self.fields.get(at).map_or(0, Field::length))?;
        self.text(at).map(Value::Text).ok_or(Problem::ORDINAL)
    }
}

/// A document.
pub(super) struct Document<'a> {
    pub query: &'a Query,
    pub json: &'a Json,
}

impl Row for Document<'_> {
    fn column(&self, slot: usize, work: &Work) -> Result<Value<'_>, Problem> {
        let steps = self.query.columns.get(slot).ok_or(Problem::ORDINAL)?;
        Ok(self.json.find(steps, work)?.map_or(Value::Missing, Json::value))
    }
}

/// Finds the columns of the query among the names of the first record, if that names them. `Err` is the name that is
/// not there.
pub(super) fn bind(query: &Query, names: Option<&[String]>) -> Result<Vec<usize>, String> {
    let find = |steps: &Vec<Step>| {
        let named = match (&steps[..], names) {
            ([Step::Name { text, quoted }], Some(names)) => {
                let is = |name: &String| if *quoted { name == text } else { name.eq_ignore_ascii_case(text) };
                names.iter().position(is)
            }
            _ => None,
        };
        // `_0` is the number of no column.
        named.or(Query::ordinal(steps).map(|ordinal| ordinal.wrapping_sub(1))).ok_or_else(|| shown(steps))
    };
    query.columns.iter().map(find).collect()
}

fn shown(steps: &[Step]) -> String {
    let step = |step: &Step| match step {
        Step::Name { text, .. } => text.clone(),
        Step::Index(at) => format!("[{at}]"),
    };
    steps.iter().map(step).collect::<Vec<_>>().join(".")
}
