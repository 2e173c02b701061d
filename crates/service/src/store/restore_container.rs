//! Soft-deleted containers: kept, listed, restored. All that they hold stays under their generation meanwhile.

use lazuli_engine::{Key, KeyRange, Scan, Value};
use lazuli_model::error::ErrorCode;
use lazuli_model::time::Timestamp;

use super::found::{Admitted, Present};
use super::key;
use super::record::Record as _;
use super::record::container::ContainerRecord;
use super::record::deleted_container::DeletedContainer;
use super::retention::{kept_for, note_due};
use super::unit::{Changes as _, Unit, View};
use crate::blob::{ListContainers, ListedContainer};
use crate::fault::Answer;
use crate::shared::marker::Position;

impl Present<ContainerRecord> {
    /// Takes the container away: for good, when the sweeper deletes what it held, or for as long as the account keeps
    /// deleted containers. Refuses while anything in it is held.
    pub async fn delete(self) -> Answer<()> {
        self.refuse_held().await?;
        let Self { mut unit, place, record, .. } = self;
        unit.delete(key::container(unit.account(), &place.name));
        let Some(days) = unit.features().container_soft_delete else {
            unit.put(key::dead_generation(record.generation), Value::new());
            return Ok(());
        };
        let deletion = kept_for(days, unit.now());
        let version = unit.next_deleted(&place.name, deletion.deleted.0).await?;
        let key = key::deleted_container(unit.account(), &place.name, version);
        unit.put(key.clone(), DeletedContainer { container: record, deletion }.encode());
        note_due(&mut unit, deletion, &key);
        Ok(())
    }
}

impl Unit {
    /// A moment that tells this deletion from earlier ones of containers of this name. The container's own key is a check
    /// of the commit, so there is one deletion of a name at a time.
    async fn next_deleted(&self, name: &str, from: u64) -> Answer<u64> {
        let range = key::deleted_containers_of(self.account(), name);
        let scan = Scan { limit: 1, reverse: true, keys_only: true, ..Scan::of(range) };
        let page = self.reader().scan(scan).await?;
        let last = page.items.first().and_then(|(key, _)| key::snapshot_ticks(key)).unwrap_or(0);
        Ok(from.max(last + 1))
    }
}

impl Admitted<ContainerRecord> {
    /// Brings a deleted container back under this name; refuses where there is one.
    pub async fn restore(mut self, deleted: &str, version: Timestamp) -> Answer<()> {
        if self.record().is_some() {
            return Err(ErrorCode::ContainerAlreadyExists.into());
        }
        let now = self.unit.now();
        let key = key::deleted_container(self.unit.account(), deleted, version.0);
        let entry = self.unit.reader().get(key.clone()).await?.ok_or(ErrorCode::ContainerNotFound)?;
        let DeletedContainer { mut container, deletion } = DeletedContainer::decode(&entry.value)?;
        if deletion.until <= now {
            return Err(ErrorCode::ContainerNotFound.into());
        }
        self.unit.delete(key);
        container.lease = None;
        container.touch(now);
        let key = key::container(self.unit.account(), &self.place.name);
        self.unit.put(key, container.encode());
        Ok(())
    }
}

impl View {
    /// A page of the account's deleted containers, each before those of a later deletion and before a container that
    /// has the name now.
    pub(super) async fn deleted_containers(
        &self,
        request: &ListContainers,
    ) -> Answer<(Vec<ListedContainer>, Option<Position>)> {
        let space = key::deleted_containers(self.account());
        let full = |name: &str| Key::from([&space[..], name.as_bytes()].concat());
        let after = match &request.marker {
            Some(Position::Name { name, ticks }) => {
                Some(key::deleted_container(self.account(), name, *ticks))
            }
            _ => None,
        };
        let range = KeyRange::prefix(full(&request.prefix));
        let (limit, max_bytes) = (request.max_results, request.max_bytes);
        let page = self.reader().scan(Scan { after, limit, max_bytes, ..Scan::of(range) }).await?;
        let mut items = Vec::new();
        let mut last = None;
        for (key, entry) in page.items {
            let (Some(ticks), Some(end)) = (key::snapshot_ticks(&key), key.len().checked_sub(9)) else {
                continue;
            };
            let name = String::from_utf8_lossy(key.get(space.len()..end).unwrap_or_default()).into_owned();
            last = Some(Position::Name { name: name.clone(), ticks });
            let DeletedContainer { container, deletion } = DeletedContainer::decode(&entry.value)?;
            if deletion.until > self.now() {
                let deleted = Some((Timestamp(ticks), deletion));
                items.push(ListedContainer { name, container, deleted });
            }
        }
        Ok((items, last.filter(|_| page.more)))
    }
}
