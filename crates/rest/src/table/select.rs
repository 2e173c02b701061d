//! `$select`: which properties an answer shows.

use std::collections::HashMap;

use lazuli_model::error::{ErrorCode, Failure};

use crate::head::Head;

/// An entity has 255 properties; a query over several kinds of them may name more.
pub const NAMES_MAX: usize = 1_000;

#[derive(Debug, Default, PartialEq, Eq)]
pub struct Select {
    /// As the metadata of the answer repeats it.
    pub text: String,
    /// Each once, in the order in which they were named; none of them means all.
    names: Vec<String>,
    places: HashMap<String, usize>,
}

impl Select {
    /// None when nothing is said. An empty option, and one with a `*`, selects everything and is repeated all the same
    /// (the empty one is recorded).
    pub fn of(head: &Head) -> Result<Option<Self>, Failure> {
        head.query.get("$select").map(Self::parse).transpose()
    }

    pub fn parse(text: &str) -> Result<Self, Failure> {
        let mut select = Self::default();
        for name in text.split(',').map(str::trim).filter(|name| !name.is_empty()) {
            if name == "*" {
                return Ok(Self { text: "*".to_owned(), ..Self::default() });
            }
            if select.places.contains_key(name) {
                continue;
            }
            if select.names.len() == NAMES_MAX {
                let message = format!("The query option $select names more than {NAMES_MAX} properties.");
                return Err(Failure::new(ErrorCode::InvalidInput).with_message(message));
            }
            select.places.insert(name.to_owned(), select.names.len());
            select.names.push(name.to_owned());
        }
        select.text = select.names.join(",");
        Ok(select)
    }

    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// Where a name stands among the selected ones.
    pub fn place(&self, name: &str) -> Option<usize> {
        self.places.get(name).copied()
    }
}
