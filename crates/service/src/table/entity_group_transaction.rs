//! Performing Entity Group Transactions; each change of a single entity is one of these with one member.
//!
//! All entities and their table are read at one snapshot, every change is admitted against what was read, and one
//! commit, conditional on all of it, writes all or nothing. Large bodies are written ahead of that commit: the first
//! attempt finds out which they are, the next one only points to them.

use std::collections::HashSet;

use bytes::Bytes;
use lazuli_engine::EngineError;
use lazuli_model::admission::table::EntityMatch;
use lazuli_model::error::{ErrorCode, Failure};
use lazuli_model::odata::EdmValue;
use lazuli_model::operation::{Op, WritingOp};
use lazuli_model::time::Timestamp;

use super::limits::{Scale, check_key, check_key_length};
use crate::fault::Fault;
use crate::pace::Pace;
use crate::store::record::entity::{Properties, StoredEntity, encode_body, put_property};
use crate::store::table::{NewBody, PrewrittenBody, to_write_ahead};
use crate::store::{Admitted, Unit};
use crate::{Context, Services};

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
        let mut ahead: Vec<Option<PrewrittenBody>> = self.changes.iter().map(|_| None).collect();
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
        ahead: &mut [Option<PrewrittenBody>],
    ) -> Result<Vec<Timestamp>, Refused> {
        for _ in 0..ATTEMPTS {
            let written = &*ahead;
            match services.commit(context, |unit| self.change(unit, bodies, written)).await? {
                Outcome::Changed(timestamps) => return Ok(timestamps),
                Outcome::Needs(needed) => {
                    for (index, body) in needed {
                        let Some(place) = ahead.get_mut(index) else { continue };
                        if let Some(stale) = place.take() {
                            stale.discard().await?;
                        }
                        let written = PrewrittenBody::write(services, body).await;
                        *place = Some(written.map_err(Refused::at(index))?);
                    }
                }
            }
        }
        Err(Fault::from(ErrorCode::ServerBusy).into())
    }

    async fn change(
        &self,
        unit: Unit,
        bodies: &[Bytes],
        ahead: &[Option<PrewrittenBody>],
    ) -> Result<Outcome, Refused> {
        let keys = self.changes.iter().map(|change| (&*change.partition, &*change.row));
        let found = unit.entities(&self.table, keys).await?;
        let (mut steps, mut pace) = (Vec::with_capacity(self.changes.len()), Pace::default());
        for (index, (change, found)) in self.changes.iter().zip(found).enumerate() {
            let found = found.map_err(Refused::at(index))?;
            let op = WritingOp::of(change.op).ok_or(ErrorCode::InternalError).map_err(Refused::at(index))?;
            let admitted = found.admit(op, &change.if_match).map_err(Refused::at(index))?;
            let body = bodies.get(index).cloned().unwrap_or_default();
            let after = change.after(&admitted, body).await.map_err(Refused::at(index))?;
            // A hundred merges load and write a hundred entities.
            pace.spend(after.as_ref().map_or(0, Bytes::len)).await;
            steps.push((admitted, after));
        }

        let wanted: Vec<Option<Bytes>> = steps.iter().map(|(_, after)| after.clone()).collect();
        let large = to_write_ahead(&wanted);
        let mut missing = Vec::new();
        for &index in &large {
            let Some(body) = wanted.get(index).cloned().flatten() else { continue };
            let good = match ahead.get(index).and_then(Option::as_ref) {
                Some(ahead) => ahead.body == body && ahead.is_good(&unit).await?,
                None => false,
            };
            if !good {
                missing.push((index, body));
            }
        }
        if !missing.is_empty() {
            return Ok(Outcome::Needs(missing));
        }

        let mut timestamps = Vec::with_capacity(steps.len());
        for (index, (admitted, after)) in steps.into_iter().enumerate() {
            timestamps.push(match (after, ahead.get(index).and_then(Option::as_ref)) {
                (None, _) => admitted.delete(),
                (Some(_), Some(body)) if large.contains(&index) => admitted.put(NewBody::Prewritten(body)),
                (Some(body), _) => admitted.put(NewBody::Inline(body)),
            });
        }
        Ok(Outcome::Changed(timestamps))
    }
}

impl EntityChange {
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
    async fn after(&self, admitted: &Admitted<StoredEntity>, sent: Bytes) -> Result<Option<Bytes>, Fault> {
        if self.deletes() {
            return Ok(None);
        }
        if matches!(self.op, Op::MergeEntity | Op::InsertOrMergeEntity)
            && let Some(before) = admitted.load().await?
        {
            return Ok(Some(self.merged(before.properties())?));
        }
        Ok(Some(sent))
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
