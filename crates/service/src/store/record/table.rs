//! A table.

use lazuli_model::access::AccessPolicy;
use lazuli_model::time::Timestamp;

use super::{Record, stored};
use crate::store::key::Generation;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TableRecord {
    /// As its creator spelled it; the key has it in lower case.
    pub name: String,
    pub generation: Generation,
    pub created: Timestamp,
    pub policies: Vec<AccessPolicy>,
}

impl Record for TableRecord {
    const NAME: &'static str = "table";
    type Newest = stored::table::TableV1;
}
