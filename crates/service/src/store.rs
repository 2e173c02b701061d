//! Records as the operations read and write them. Nothing else touches their keys.
//!
//! A record that conditions or leases guard is written only with the [`Permit`] that admission gave for it.

use lazuli_engine::{Plan, Reader};
use lazuli_model::admission::Permit;
use lazuli_model::error::ErrorCode;
use lazuli_model::time::Timestamp;

use crate::fault::Answer;
use crate::key::{self, Generation};
use crate::record::Record;
use crate::record::blob::BlobRecord;
use crate::record::block::StagedRecord;
use crate::record::container::ContainerRecord;
use crate::record::content::DeadContent;
use crate::record::dead_snapshots::DeadSnapshots;

/// The clock at the reader's snapshot.
pub fn now(reader: &Reader) -> Timestamp {
    Timestamp::from_unix_ticks(reader.stamp().now.0)
}

pub async fn find_container(reader: &Reader, account: &str, name: &str) -> Answer<Option<ContainerRecord>> {
    Ok(match reader.get(key::container(account, name)).await? {
        Some(entry) => Some(ContainerRecord::decode(&entry.value)?),
        None => None,
    })
}

/// The container that a blob operation works in. The read is a check of the commit: a blob written while its
/// container is being deleted is not left behind in a generation that was already swept.
pub async fn container(reader: &Reader, account: &str, name: &str) -> Answer<ContainerRecord> {
    Ok(find_container(reader, account, name).await?.ok_or(ErrorCode::ContainerNotFound)?)
}

pub fn put_container<T>(
    plan: &mut Plan<T>,
    account: &str,
    name: &str,
    record: ContainerRecord,
    permit: Permit,
) {
    let Permit { .. } = permit;
    plan.put(key::container(account, name), record.encode());
}

pub fn delete_container<T>(plan: &mut Plan<T>, account: &str, name: &str, permit: Permit) {
    let Permit { .. } = permit;
    plan.delete(key::container(account, name));
}

pub async fn find_blob(reader: &Reader, generation: Generation, name: &str) -> Answer<Option<BlobRecord>> {
    decode_blob(reader.get(key::blob(generation, name)).await?)
}

pub async fn find_snapshot(
    reader: &Reader,
    generation: Generation,
    name: &str,
    snapshot: Timestamp,
) -> Answer<Option<BlobRecord>> {
    if dead_snapshots(reader, generation, name).await?.is_some_and(|dead| snapshot.0 <= dead.up_to) {
        return Ok(None);
    }
    decode_blob(reader.get(key::snapshot(generation, name, snapshot.0)).await?)
}

/// The snapshots of a name that are deleted and not swept yet.
pub async fn dead_snapshots(
    reader: &Reader,
    generation: Generation,
    name: &str,
) -> Answer<Option<DeadSnapshots>> {
    Ok(match reader.get(key::dead_snapshots(generation, name)).await? {
        Some(entry) => Some(DeadSnapshots::decode(&entry.value)?),
        None => None,
    })
}

pub fn decode_blob(entry: Option<lazuli_engine::Entry>) -> Answer<Option<BlobRecord>> {
    Ok(match entry {
        Some(entry) => Some(BlobRecord::decode(&entry.value)?),
        None => None,
    })
}

pub fn put_blob<T>(
    plan: &mut Plan<T>,
    generation: Generation,
    name: &str,
    record: BlobRecord,
    permit: Permit,
) {
    let Permit { .. } = permit;
    plan.put(key::blob(generation, name), record.encode());
}

pub fn delete_blob<T>(plan: &mut Plan<T>, generation: Generation, name: &str, permit: Permit) {
    let Permit { .. } = permit;
    plan.delete(key::blob(generation, name));
}

pub async fn find_staged(
    reader: &Reader,
    generation: Generation,
    name: &str,
) -> Answer<Option<StagedRecord>> {
    Ok(match reader.get(key::staged(generation, name)).await? {
        Some(entry) => Some(StagedRecord::decode(&entry.value)?),
        None => None,
    })
}

pub fn put_staged<T>(plan: &mut Plan<T>, generation: Generation, name: &str, record: &StagedRecord) {
    plan.put(key::staged(generation, name), record.encode());
}

/// Uncommitted blocks are given up: their keys and bytes are swept later.
pub fn discard_staged<T>(plan: &mut Plan<T>, generation: Generation, name: &str, staged: &StagedRecord) {
    plan.delete(key::staged(generation, name));
    plan.put(key::dead_content(staged.stage), DeadContent::Stage.encode());
}
