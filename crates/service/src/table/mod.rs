//! The Table service, one file an operation; the six changes of one entity are an entity group transaction of one.

mod access;
mod create_table;
mod delete_table;
mod entity;
mod entity_group_transaction;
mod get_entity;
mod limits;
pub mod ordinal;
mod query_entities;
mod query_tables;
mod range;
mod segments;
mod set_table_acl;
mod sieve;

pub use access::table_access;
pub use create_table::CreateTable;
pub use delete_table::DeleteTable;
pub use entity::Entity;
pub use entity_group_transaction::{EntityChange, EntityGroupTransaction, Refused};
pub use get_entity::GetEntity;
pub use limits::{check_key, check_key_length};
pub use query_entities::{EntityPage, QueryEntities};
pub use query_tables::{QueryTables, TablePage, find_table};
pub use range::KeyLimits;
pub use set_table_acl::SetTableAcl;

pub const PARTITION_KEY: &str = "PartitionKey";
pub const ROW_KEY: &str = "RowKey";
pub const TIMESTAMP: &str = "Timestamp";
/// The most entities or tables of one answer.
pub const PAGE_MAX: usize = 1_000;

use lazuli_engine::{Key, Plan, Reader};
use lazuli_model::admission::Permit;
use lazuli_model::error::ErrorCode;

use crate::fault::Answer;
use crate::key;
use crate::record::Record;
use crate::record::entity::StoredEntity;
use crate::record::table::TableRecord;

pub(crate) async fn find(reader: &Reader, account: &str, name: &str) -> Answer<Option<TableRecord>> {
    Ok(match reader.get(key::table(account, name)).await? {
        Some(entry) => Some(TableRecord::decode(&entry.value)?),
        None => None,
    })
}

/// The table that an operation works in. The read is a check of the commit: an entity written while its table is
/// being deleted is not left behind in a generation that was already swept.
pub(crate) async fn table(reader: &Reader, account: &str, name: &str) -> Answer<TableRecord> {
    Ok(find(reader, account, name).await?.ok_or(ErrorCode::TableNotFound)?)
}

/// Entities are written only with the [`Permit`] that admission gave for them.
fn put_entity<T>(plan: &mut Plan<T>, key: Key, entity: &StoredEntity, permit: Permit) {
    let Permit { .. } = permit;
    plan.put(key, entity.encode());
}

fn delete_entity<T>(plan: &mut Plan<T>, key: Key, permit: Permit) {
    let Permit { .. } = permit;
    plan.delete(key);
}

/// For the sweeper: an entity of a deleted table takes its segments with it.
pub(crate) fn release_segments<T>(plan: &mut Plan<T>, entity: &StoredEntity) {
    segments::release(plan, &entity.body);
}

#[cfg(test)]
mod tests;
