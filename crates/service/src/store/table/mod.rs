//! Tables and entities: found, created, changed, ended, queried.

mod entity;
mod entity_body;
mod query_entities;
mod query_tables;
mod range;
mod row_filter;
pub mod utf16_order;

pub use entity::Entity;
pub(in crate::store) use entity_body::release;
pub(crate) use entity_body::{PrewrittenBody, to_write_ahead};
pub use range::KeyLimits;

use bytes::Bytes;
use lazuli_engine::{Key, Value};
use lazuli_model::admission::table::{EntityMatch, admit_entity};
use lazuli_model::admission::{self, Circumstances, admit_name};
use lazuli_model::error::{ErrorCode, Failure};
use lazuli_model::operation::{Mode, Policy};
use lazuli_model::time::Timestamp;

use super::found::{Admitted, Found, Present, Resource};
use super::key::{self, Generation};
use super::record::Record;
use super::record::entity::{StoredBody, StoredEntity};
use super::record::table::TableRecord;
use super::unit::{Changes as _, Unit, View};
use crate::fault::Answer;

/// The name of a table in the account of the unit, as the request spells it.
pub struct TablePlace {
    name: String,
}

impl Resource for TableRecord {
    type Given = ();
    type Place = TablePlace;

    const NOT_FOUND: ErrorCode = ErrorCode::TableNotFound;

    fn judge(
        policy: &Policy,
        (): &(),
        found: Option<Self>,
        circumstances: Circumstances,
    ) -> Result<admission::Admitted<Self>, Failure> {
        admit_name(policy, found, circumstances.now, Self::NOT_FOUND)
    }
}

/// Where an entity stands.
pub struct EntityPlace {
    key: Key,
}

impl Resource for StoredEntity {
    type Given = Option<EntityMatch>;
    type Place = EntityPlace;

    const NOT_FOUND: ErrorCode = ErrorCode::ResourceNotFound;

    fn judge(
        policy: &Policy,
        given: &Option<EntityMatch>,
        found: Option<Self>,
        circumstances: Circumstances,
    ) -> Result<admission::Admitted<Self>, Failure> {
        admit_entity(policy, given.as_ref(), found, circumstances.now)
    }
}

impl<M: Mode> Unit<M> {
    pub async fn table(&self, name: &str) -> Answer<Found<TableRecord, M>> {
        let record = match self.reader().get(key::table(self.account(), name)).await? {
            Some(entry) => Some(TableRecord::decode(&entry.value)?),
            None => None,
        };
        Ok(Found::new(self.clone(), TablePlace { name: name.to_owned() }, record))
    }

    /// The table that an operation works in. The read is a check of the commit: an entity written while its table is
    /// being deleted is not left behind in a generation that was already swept.
    pub(super) async fn table_of(&self, name: &str) -> Answer<Generation> {
        let found = self.table(name).await?;
        let generation = found.record().ok_or(ErrorCode::TableNotFound)?.generation;
        let name = || key::table(self.account(), name);
        self.services().generations().learn(self.reader(), name, generation);
        Ok(generation)
    }

    /// The table is read together with entities of it.
    async fn near_entities(&self, table: &str, of: impl FnOnce(Generation) -> Vec<Key>) -> Answer<()> {
        let name = || key::table(self.account(), table);
        self.services().generations().fetch(self.reader(), name, of).await
    }

    /// The entities with these partition and row keys, read in one batch. One that cannot be read is an error of its
    /// own, so that the request can say which it was.
    pub async fn entities<'k>(
        &self,
        table: &str,
        keys: impl Iterator<Item = (&'k str, &'k str)>,
    ) -> Answer<Vec<Answer<Found<StoredEntity, M>>>> {
        let keys: Vec<(&str, &str)> = keys.collect();
        let of = |generation| {
            keys.iter().map(|(partition, row)| key::entity(generation, partition, row)).collect::<Vec<Key>>()
        };
        self.near_entities(table, of).await?;
        let keys = of(self.table_of(table).await?);
        let entries = self.reader().get_many(keys.clone()).await?;
        let found = |(key, entry): (Key, Option<lazuli_engine::Entry>)| {
            let record = entry.map(|entry| StoredEntity::decode(&entry.value)).transpose()?;
            Ok(Found::new(self.clone(), EntityPlace { key }, record))
        };
        Ok(keys.into_iter().zip(entries).map(found).collect())
    }
}

impl View {
    pub(crate) async fn entity(&self, table: &str, partition: &str, row: &str) -> Answer<Entity> {
        let of = |generation| key::entity(generation, partition, row);
        self.near_entities(table, |generation| vec![of(generation)]).await?;
        let key = of(self.table_of(table).await?);
        let entry = self.reader().get(key.clone()).await?.ok_or(ErrorCode::ResourceNotFound)?;
        Entity::load(self.reader(), key, StoredEntity::decode(&entry.value)?).await
    }
}

impl Admitted<TableRecord> {
    /// Makes the table; refuses where there is one.
    pub fn create(mut self) -> Result<(), Failure> {
        if self.record().is_some() {
            return Err(ErrorCode::TableAlreadyExists.into());
        }
        let now = self.unit.now();
        let fields = TableRecord {
            name: self.place.name.clone(),
            generation: Generation::new(now.0, rand::random()),
            created: now,
            policies: Vec::new(),
        };
        self.unit.put(key::table(self.unit.account(), &self.place.name), fields.encode());
        Ok(())
    }
}

impl Present<TableRecord> {
    pub fn put(mut self) {
        self.unit.put(key::table(self.unit.account(), &self.place.name), self.record.encode());
    }

    /// Ends the generation; the sweeper deletes the entities.
    pub fn delete(mut self) {
        self.unit.delete(key::table(self.unit.account(), &self.place.name));
        self.unit.put(key::dead_generation(self.record.generation), Value::new());
    }
}

impl<M: Mode> Admitted<StoredEntity, M> {
    /// The entity as it was, its body read from where it lies.
    pub async fn load(&self) -> Answer<Option<Entity>> {
        match self.record() {
            Some(stored) => {
                Ok(Some(Entity::load(self.unit.reader(), self.place.key.clone(), stored.clone()).await?))
            }
            None => Ok(None),
        }
    }
}

/// The body that an entity is given.
pub(crate) enum NewBody<'a> {
    Inline(Bytes),
    Prewritten(&'a PrewrittenBody),
}

impl Admitted<StoredEntity> {
    /// Writes the entity; gives its new Timestamp, later than every one before.
    pub(crate) fn put(mut self, body: NewBody<'_>) -> Timestamp {
        let now = self.unit.now();
        let timestamp = self.record().map_or(now, |before| now.max(Timestamp(before.timestamp.0 + 1)));
        self.release_body();
        let body = match body {
            NewBody::Inline(body) => StoredBody::Inline(body),
            NewBody::Prewritten(body) => body.publish(&mut self.unit),
        };
        self.unit.put(self.place.key, StoredEntity { timestamp, body }.encode());
        timestamp
    }

    /// Deletes the entity; gives its last Timestamp.
    pub(crate) fn delete(mut self) -> Timestamp {
        let last = self.record().map_or(self.unit.now(), |before| before.timestamp);
        self.release_body();
        self.unit.delete(self.place.key);
        last
    }

    fn release_body(&mut self) {
        if let Some(before) = self.admitted.record() {
            release(&mut self.unit, &before.body);
        }
    }
}
