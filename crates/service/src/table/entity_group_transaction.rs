//! Performing Entity Group Transactions; each change of a single entity is one of these with one member.
//!
//! All entities and their table are read at one snapshot, every change is admitted against what was read, and one
//! commit, conditional on all of it, writes all or nothing. Large bodies are written ahead of that commit: the first
//! attempt finds out which they are, the next one only points to them.

use std::collections::HashSet;

use bytes::Bytes;
use lazuli_engine::{EngineError, Plan, Reader};
use lazuli_model::admission::table::{EntityMatch, admit_entity};
use lazuli_model::error::{ErrorCode, Failure};
use lazuli_model::odata::EdmValue;
use lazuli_model::operation::Op;
use lazuli_model::time::Timestamp;

use super::limits::{Scale, check_key, check_key_length};
use super::segments::{self, Ahead};
use super::{Entity, delete_entity, put_entity, table};
use crate::fault::Fault;
use crate::key::Generation;
use crate::pace::Pace;
use crate::record::entity::{Properties, StoredBody, StoredEntity, encode_body, put_property};
use crate::{Context, Services, key, store};

/// Each attempt loses only to somebody who changed the very entity that is being merged into.
const ATTEMPTS: usize = 16;

/// One of Insert, Update, Merge, Insert Or Replace, Insert Or Merge, Delete Entity.
#[derive(Clone, Debug)]
pub struct EntityChange {
    pub op: Op,
    pub partition: String,
    pub row: String,
    pub if_match: Option<EntityMatch>,
    pub properties: Vec<(String, EdmValue)>,
}

#[derive(Clone, Debug)]
pub struct EntityGroupTransaction {
    pub table: String,
    pub changes: Vec<EntityChange>,
}

/// Why nothing was changed, and by which of the changes.
#[derive(Clone, Debug)]
pub struct Refused {
    pub index: usize,
    pub fault: Fault,
}

impl Refused {
    fn at<E: Into<Fault>>(index: usize) -> impl FnOnce(E) -> Self {
        move |error| Self { index, fault: error.into() }
    }
}

impl From<EngineError> for Refused {
    fn from(error: EngineError) -> Self {
        Self { index: 0, fault: error.into() }
    }
}

impl From<Fault> for Refused {
    fn from(fault: Fault) -> Self {
        Self { index: 0, fault }
    }
}

enum Outcome {
    Changed(Vec<Timestamp>),
    /// Nothing was written: these bodies must be ahead.
    Needs(Vec<(usize, Bytes)>),
}

impl EntityGroupTransaction {
    /// The new Timestamp of each entity, in order; of a deleted one, its last.
    pub async fn execute(&self, services: &Services, context: &Context) -> Result<Vec<Timestamp>, Refused> {
        let (mut bodies, mut pace) = (Vec::with_capacity(self.changes.len()), Pace::default());
        for (index, change) in self.changes.iter().enumerate() {
            let body = change.check().map_err(Refused::at(index))?;
            pace.spend(body.len()).await;
            bodies.push(body);
        }
        let mut ahead: Vec<Option<Ahead>> = self.changes.iter().map(|_| None).collect();
        let result = self.attempt(services, context, &bodies, &mut ahead).await;
        // Those that the commit points to have lost their intent and stay. The answer does not depend on this.
        for written in ahead.into_iter().flatten() {
            let _ = written.discard().await;
        }
        result
    }

    async fn attempt(
        &self,
        services: &Services,
        context: &Context,
        bodies: &[Bytes],
        ahead: &mut [Option<Ahead>],
    ) -> Result<Vec<Timestamp>, Refused> {
        for _ in 0..ATTEMPTS {
            let written = &*ahead;
            let outcome = services
                .engine()
                .run(services.deadline(), |reader| self.plan(reader, context, bodies, written))
                .await?;
            match outcome {
                Outcome::Changed(timestamps) => return Ok(timestamps),
                Outcome::Needs(needed) => {
                    for (index, body) in needed {
                        let Some(place) = ahead.get_mut(index) else { continue };
                        if let Some(stale) = place.take() {
                            stale.discard().await?;
                        }
                        *place = Some(Ahead::write(services, body).await.map_err(Refused::at(index))?);
                    }
                }
            }
        }
        Err(Fault::from(ErrorCode::ServerBusy).into())
    }

    async fn plan(
        &self,
        reader: Reader,
        context: &Context,
        bodies: &[Bytes],
        ahead: &[Option<Ahead>],
    ) -> Result<Plan<Outcome>, Refused> {
        let now = store::now(&reader);
        let generation = table(&reader, &context.account, &self.table).await?.generation;
        let keys = self.changes.iter().map(|change| change.key(generation)).collect();
        let entries = reader.get_many(keys).await?;
        let (mut steps, mut pace) = (Vec::with_capacity(self.changes.len()), Pace::default());
        for (index, (change, entry)) in self.changes.iter().zip(entries).enumerate() {
            let stored = entry.map(|entry| StoredEntity::decode(&entry.value)).transpose();
            let stored = stored.map_err(Refused::at(index))?;
            let given = change.if_match.as_ref();
            let admitted =
                admit_entity(&change.op.row().policy, given, stored, now).map_err(Refused::at(index))?;
            let (before, permit) = admitted.into_parts();
            let body = bodies.get(index).cloned().unwrap_or_default();
            let after = change.after(&reader, generation, before.as_ref(), body).await;
            let after = after.map_err(Refused::at(index))?;
            // A hundred merges load and write a hundred entities.
            pace.spend(after.as_ref().map_or(0, Bytes::len)).await;
            steps.push((before, after, permit));
        }

        let wanted: Vec<Option<Bytes>> = steps.iter().map(|(_, after, _)| after.clone()).collect();
        let large = segments::to_write_ahead(&wanted);
        let mut missing = Vec::new();
        for &index in &large {
            let Some(body) = wanted.get(index).cloned().flatten() else { continue };
            let good = match ahead.get(index).and_then(Option::as_ref) {
                Some(ahead) => ahead.body == body && ahead.is_good(&reader).await?,
                None => false,
            };
            if !good {
                missing.push((index, body));
            }
        }
        if !missing.is_empty() {
            return Ok(Plan::new(Outcome::Needs(missing)));
        }

        let mut plan = Plan::new(Outcome::Changed(Vec::new()));
        let mut timestamps = Vec::with_capacity(steps.len());
        for (index, (change, (before, after, permit))) in self.changes.iter().zip(steps).enumerate() {
            let previous = before.as_ref().map(|before| before.timestamp);
            if let Some(before) = &before {
                segments::release(&mut plan, &before.body);
            }
            let Some(body) = after else {
                delete_entity(&mut plan, change.key(generation), permit);
                timestamps.push(previous.unwrap_or(now));
                continue;
            };
            let timestamp = previous.map_or(now, |previous| now.max(Timestamp(previous.0 + 1)));
            let body = match ahead.get(index).and_then(Option::as_ref) {
                Some(ahead) if large.contains(&index) => ahead.publish(&mut plan),
                _ => StoredBody::Inline(body),
            };
            put_entity(&mut plan, change.key(generation), &StoredEntity { timestamp, body }, permit);
            timestamps.push(timestamp);
        }
        plan.output = Outcome::Changed(timestamps);
        Ok(plan)
    }
}

impl EntityChange {
    fn key(&self, generation: Generation) -> lazuli_engine::Key {
        key::entity(generation, &self.partition, &self.row)
    }

    fn deletes(&self) -> bool {
        self.op == Op::DeleteEntity
    }

    /// What can be said of the change whatever is stored; gives the body as sent.
    fn check(&self) -> Result<Bytes, Failure> {
        if self.deletes() {
            check_key_length(&self.partition)?;
            check_key_length(&self.row)?;
            // A key that cannot be stored names no entity; let it be looked up like any other.
            return match self.partition.contains('\0') || self.row.contains('\0') {
                true => Err(ErrorCode::ResourceNotFound.into()),
                false => Ok(Bytes::new()),
            };
        }
        check_key(&self.partition)?;
        check_key(&self.row)?;
        let mut scale = Scale::new(&self.partition, &self.row);
        for (name, value) in &self.properties {
            scale.add(name, &value.borrowed())?;
        }
        Ok(encode_body(&self.properties))
    }

    /// The body that the entity will have; none when it is deleted.
    async fn after(
        &self,
        reader: &Reader,
        generation: Generation,
        before: Option<&StoredEntity>,
        sent: Bytes,
    ) -> Result<Option<Bytes>, Fault> {
        if self.deletes() {
            return Ok(None);
        }
        match before {
            Some(before) if matches!(self.op, Op::MergeEntity | Op::InsertOrMergeEntity) => {
                let before = Entity::load(reader, self.key(generation), before.clone()).await?;
                Ok(Some(self.merged(before.properties())?))
            }
            _ => Ok(Some(sent)),
        }
    }

    /// The properties given, in place of those of the same name; the others as they are.
    fn merged(&self, before: Properties<'_>) -> Result<Bytes, Fault> {
        let mut scale = Scale::new(&self.partition, &self.row);
        let mut body = Vec::new();
        let given: HashSet<&[u8]> = self.properties.iter().map(|(name, _)| name.as_bytes()).collect();
        for property in before {
            let property = property?;
            if !given.contains(property.name) {
                scale.add(property.name()?, &property.value()?)?;
                body.extend_from_slice(property.whole);
            }
        }
        for (name, value) in &self.properties {
            scale.add(name, &value.borrowed())?;
            put_property(&mut body, name, &value.borrowed());
        }
        Ok(body.into())
    }
}
