//! The Table service, one file an operation; the six changes of one entity are an entity group transaction of one.

mod access;
mod create_table;
mod delete_table;
mod entity_group_transaction;
mod get_entity;
mod limits;
mod query_entities;
mod query_tables;
mod set_table_acl;

pub use access::table_access;
pub use create_table::CreateTable;
pub use delete_table::DeleteTable;
pub use entity_group_transaction::{EntityChange, EntityGroupTransaction, Refused};
pub use get_entity::GetEntity;
pub use limits::{check_key, check_key_length};
pub use query_entities::{EntityPage, QueryEntities};
pub use query_tables::{QueryTables, TablePage, find_table};
pub use set_table_acl::SetTableAcl;

pub const PARTITION_KEY: &str = "PartitionKey";
pub const ROW_KEY: &str = "RowKey";
pub const TIMESTAMP: &str = "Timestamp";
/// The most entities or tables of one answer.
pub const PAGE_MAX: usize = 1_000;

pub use crate::store::table::{Entity, KeyLimits};

#[cfg(test)]
mod tests;
