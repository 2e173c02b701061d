//! A table. Its entities are read where they lie: see [`crate::store::record::entity`].

use lazuli_model::time::Timestamp;
use serde::{Deserialize, Serialize};

use super::container::AccessPolicyV1;
use super::first_shape;
use crate::store::key::Generation;
use crate::store::record::table::TableRecord;

#[derive(Serialize, Deserialize)]
pub struct TableV1 {
    name: String,
    generation: Generation,
    created: u64,
    policies: Vec<AccessPolicyV1>,
}

first_shape!(TableV1);

impl From<&TableRecord> for TableV1 {
    fn from(table: &TableRecord) -> Self {
        let TableRecord { name, generation, created, policies } = table;
        Self {
            name: name.clone(),
            generation: *generation,
            created: created.0,
            policies: AccessPolicyV1::all(policies),
        }
    }
}

impl From<TableV1> for TableRecord {
    fn from(stored: TableV1) -> Self {
        Self {
            name: stored.name,
            generation: stored.generation,
            created: Timestamp(stored.created),
            policies: AccessPolicyV1::read(stored.policies),
        }
    }
}
