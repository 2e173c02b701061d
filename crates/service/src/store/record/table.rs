//! A table as stored.

use serde::{Deserialize, Serialize};

use super::Record;
use super::container::StoredPolicy;
use crate::key::Generation;

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TableFields {
    /// As its creator spelled it; the key has it in lower case.
    pub name: String,
    pub generation: Generation,
    pub created: u64,
    pub policies: Vec<StoredPolicy>,
}

impl Record for TableFields {
    const SHAPE: u8 = 1;
    const NAME: &'static str = "table";
}
