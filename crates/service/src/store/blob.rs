//! Blobs by name: found, replaced, changed, leased, deleted. No operation builds the key of a blob: the name is resolved
//! here.

use lazuli_model::admission::{
    self, Circumstances, Kind, Lease, LeaseAction, LeaseChange, LeaseId, Preconditions, Subject as _, admit,
};
use lazuli_model::error::{ErrorCode, Failure};
use lazuli_model::etag::ETag;
use lazuli_model::operation::{Mode, Policy};
use lazuli_model::time::Timestamp;

use super::append;
use super::block_list::BlockListPlan;
use super::content;
use super::found::{Admitted, Found, Present, Resource};
use super::indexed::Indexed;
use super::new_content::NewContent;
use super::unit::{Changes as _, Unit};
use crate::blob::{BlobAddress, BlobProperties, Stamped};
use crate::fault::Answer;
use crate::store::key::{self, Generation};
use crate::store::record::Record;
use crate::store::record::blob::{BlobExtras, BlobRecord};
use crate::store::record::content::{Content, Shape};
use crate::store::record::existing::Existing;
use lazuli_model::blob::{BlobType, ExplicitTier};

/// Where a blob or one of its snapshots stands.
pub struct BlobPlace {
    pub(super) generation: Generation,
    pub(super) name: String,
    pub(super) snapshot: Option<Timestamp>,
    /// What the indexes say of it.
    pub(super) indexed: Indexed,
    /// A blob whose time is over, and that the sweeper has not deleted yet. It is gone for every request; what replaces
    /// it gives its content back.
    pub(super) expired: Option<Box<BlobRecord>>,
}

impl BlobPlace {
    pub(super) fn key(&self) -> lazuli_engine::Key {
        match self.snapshot {
            Some(snapshot) => key::snapshot(self.generation, &self.name, snapshot.0),
            None => key::blob(self.generation, &self.name),
        }
    }

    pub(super) fn new(generation: Generation, name: String, snapshot: Option<Timestamp>) -> Self {
        Self { generation, name, snapshot, indexed: Indexed::default(), expired: None }
    }

    /// The one place where a blob, or a snapshot of one, is written: what the indexes say of it changes with it.
    pub(super) fn write(&self, unit: &mut Unit, record: &BlobRecord) {
        self.reindex(unit, &Indexed::of(record));
        unit.put(self.key(), record.encode());
    }

    /// The one place where a base, or a single snapshot, is deleted.
    pub(super) fn erase(&self, unit: &mut Unit) {
        self.reindex(unit, &Indexed::default());
        unit.delete(self.key());
    }

    pub(super) fn staged_key(&self) -> lazuli_engine::Key {
        key::staged(self.generation, &self.name)
    }
}

/// A committed blob, or a snapshot of one.
impl Resource for BlobRecord {
    type Given = Preconditions;
    type Place = BlobPlace;

    const NOT_FOUND: ErrorCode = ErrorCode::BlobNotFound;

    fn judge(
        policy: &Policy,
        given: &Preconditions,
        found: Option<Self>,
        circumstances: Circumstances,
    ) -> Result<admission::Admitted<Self>, Failure> {
        admit(policy, given, Kind::Blob, found, circumstances)
    }
}

/// What a blob's name stands for.
impl Resource for Existing {
    type Given = Preconditions;
    type Place = BlobPlace;

    const NOT_FOUND: ErrorCode = ErrorCode::BlobNotFound;

    fn judge(
        policy: &Policy,
        given: &Preconditions,
        found: Option<Self>,
        circumstances: Circumstances,
    ) -> Result<admission::Admitted<Self>, Failure> {
        admit(policy, given, Kind::Blob, found, circumstances)
    }
}

impl<M: Mode> Unit<M> {
    /// What the name stands for: a committed blob, else one of uncommitted blocks only.
    pub async fn blob(&self, at: &BlobAddress) -> Answer<Found<Existing, M>> {
        let mut place = self.place_of(at, None).await?;
        let record = match self.find_at(&mut place).await? {
            Some(blob) => Some(Existing::Blob(Box::new(blob))),
            None => self.find_staged(&place).await?.map(Existing::Staged),
        };
        Ok(Found::new(self.clone(), place, record))
    }

    /// A committed blob, or its snapshot of this moment.
    pub async fn committed_blob(
        &self,
        at: &BlobAddress,
        snapshot: Option<Timestamp>,
    ) -> Answer<Found<BlobRecord, M>> {
        let mut place = self.place_of(at, snapshot).await?;
        let record = self.find_at(&mut place).await?;
        Ok(Found::new(self.clone(), place, record))
    }

    pub(super) async fn place_of(&self, at: &BlobAddress, snapshot: Option<Timestamp>) -> Answer<BlobPlace> {
        let generation = self.container_of(&at.container).await?.generation;
        Ok(BlobPlace::new(generation, at.blob.clone(), snapshot))
    }

    /// Also where its time is over.
    pub(super) async fn find_standing(&self, place: &BlobPlace) -> Answer<Option<BlobRecord>> {
        if let Some(snapshot) = place.snapshot
            && (self.dead_snapshots(place).await?.is_some_and(|dead| snapshot.0 <= dead.up_to)
                || self.is_base_expired(place).await?)
        {
            return Ok(None);
        }
        let found = decode_blob(self.reader().get(place.key()).await?)?;
        Ok(found.map(|blob| blob.at(self.now())))
    }
}

pub(crate) fn decode_blob(entry: Option<lazuli_engine::Entry>) -> Answer<Option<BlobRecord>> {
    Ok(match entry {
        Some(entry) => Some(BlobRecord::decode(&entry.value)?),
        None => None,
    })
}

/// Where the bytes of a new content come from.
pub enum Bytes<'a> {
    Uploaded(&'a NewContent),
    Listed(&'a BlockListPlan),
    /// Zeros, to be written in place.
    Pages {
        length: u64,
        sequence_number: u64,
    },
    /// Another record holds it already, and goes on holding it.
    Shared(&'a Content),
    /// There are none yet.
    None,
}

impl<M: Mode> Admitted<Existing, M> {
    /// The committed blob, for operations that know no other.
    pub fn committed(self) -> Result<Present<BlobRecord, M>, Failure> {
        let Self { unit, place, policy, admitted } = self;
        let record = admitted.into_record().and_then(Existing::blob).ok_or(ErrorCode::BlobNotFound)?;
        Ok(Present { unit, place, policy, record })
    }
}

impl Admitted<Existing> {
    /// Gives the name a new content: what was committed is retired, what was staged is given up. Lease, creation time,
    /// snapshots and an explicit tier stay.
    pub async fn replace(
        self,
        kind: BlobType,
        properties: &BlobProperties,
        bytes: Bytes<'_>,
    ) -> Answer<Stamped> {
        Ok(self.replace_with(kind, properties, bytes, |_| {}).await?.0)
    }

    /// The same; `change` has the last word on the record. Gives the unit back, for what is written beside it.
    pub(super) async fn replace_with(
        self,
        kind: BlobType,
        properties: &BlobProperties,
        bytes: Bytes<'_>,
        change: impl FnOnce(&mut BlobRecord),
    ) -> Answer<(Stamped, Unit)> {
        let empty = Content::empty();
        let Self { mut unit, mut place, admitted, .. } = self;
        let existing = admitted.into_record();
        let staged = match &existing {
            Some(Existing::Staged(staged)) => Some(staged.clone()),
            _ => unit.find_staged(&place).await?,
        };
        let is_held = unit.replace_expired(&mut place, &bytes).await?;
        let old = match &existing {
            Some(Existing::Blob(old)) => Some(&**old),
            _ => None,
        };
        let mut first_sequence_number = 0;
        let content = match bytes {
            Bytes::Pages { length, sequence_number } => {
                if let Some(staged) = &staged {
                    unit.give_up_stage(&place, staged);
                }
                retire(&mut unit, old, None).await?;
                first_sequence_number = sequence_number;
                &Content { id: key::ContentId::fresh(unit.now()), length, shape: Shape::Sparse }
            }
            Bytes::Uploaded(new) => {
                if let Some(staged) = &staged {
                    unit.give_up_stage(&place, staged);
                }
                new.publish(&mut unit).await?;
                retire(&mut unit, old, None).await?;
                &new.content
            }
            Bytes::Listed(list) => {
                if staged.is_some() {
                    unit.delete(place.staged_key());
                }
                list.publish(&mut unit).await?;
                retire(&mut unit, old, list.taking_over()).await?;
                list.content()
            }
            Bytes::Shared(content) => {
                if let Some(staged) = &staged {
                    unit.give_up_stage(&place, staged);
                }
                // A blob that gets the content that it has goes on holding it.
                if !is_held && old.is_none_or(|old| old.content.id != content.id) {
                    let reader = unit.reader().clone();
                    content::share(&reader, &mut unit, content).await?;
                    retire(&mut unit, old, None).await?;
                }
                content
            }
            Bytes::None => {
                if let Some(staged) = &staged {
                    unit.give_up_stage(&place, staged);
                }
                retire(&mut unit, old, None).await?;
                &empty
            }
        };
        let lease = existing.as_ref().and_then(Existing::lease).cloned();
        let content = match kind {
            BlobType::Append => append::growing(&mut unit, content),
            _ => content.clone(),
        };
        let mut record = record_over(old, lease, kind, content, properties, unit.now());
        record.sequence_number = first_sequence_number;
        change(&mut record);
        let stamped = record.stamped();
        place.write(&mut unit, &record);
        Ok((stamped, unit))
    }

    /// Carries out a lease action, on a committed blob or on one of uncommitted blocks only.
    pub fn lease(self, action: &LeaseAction, fresh: LeaseId) -> Result<(Stamped, LeaseChange), Failure> {
        let change = self.admitted.act(action, fresh)?;
        let Present { mut unit, place, policy, record } = self.present()?;
        let target = record.target();
        let stamped = Stamped { etag: target.etag, last_modified: target.last_modified };
        match record {
            Existing::Blob(record) => {
                let mut blob = Present { unit, place, policy, record: *record };
                blob.lease.clone_from(&change.lease);
                blob.put();
            }
            Existing::Staged(mut staged) => {
                staged.lease.clone_from(&change.lease);
                unit.put(place.staged_key(), staged.encode());
            }
        }
        Ok((stamped, change))
    }
}

impl Present<BlobRecord> {
    /// Writes what was changed. The old content is not given back: it stays, or the new one goes on behind it.
    pub fn put(mut self) -> BlobRecord {
        if self.changes_etag() {
            let now = self.unit.now();
            self.record.touch(now);
            // What a copy wrote is not what stands here any more.
            if !self.policy.keeps_copy_state
                && let Some(extras) = &mut self.record.extras
            {
                extras.copy = None;
            }
        }
        self.place.write(&mut self.unit, &self.record);
        self.record
    }
}

/// The one place where a blob loses its content: it is dropped, or handed on to the list that takes its blocks over.
pub(super) async fn retire(
    unit: &mut Unit,
    old: Option<&BlobRecord>,
    by: Option<key::ContentId>,
) -> Answer<()> {
    let Some(old) = old else { return Ok(()) };
    let reader = unit.reader().clone();
    match by {
        Some(list) => content::become_parent(&reader, unit, &old.content, list).await,
        None => content::drop_holder(&reader, unit, &old.content).await,
    }
}

/// The record of a new content over the old one. Its ETag is later than every one before.
fn record_over(
    old: Option<&BlobRecord>,
    lease: Option<Lease>,
    kind: BlobType,
    content: Content,
    properties: &BlobProperties,
    now: Timestamp,
) -> BlobRecord {
    let etag = ETag(old.map_or(now.0, |old| now.0.max(old.etag.0 + 1)));
    let changed = Timestamp(etag.0);
    BlobRecord {
        kind,
        created: old.map_or(changed, |old| old.created),
        etag,
        last_modified: changed,
        content,
        headers: properties.headers.clone(),
        metadata: properties.metadata.clone(),
        tags: properties.tags.clone(),
        lease,
        tier: match properties.tier {
            Some(tier) => Some(ExplicitTier { tier, changed }),
            None => old.and_then(|old| old.tier),
        },
        customer_key: properties.customer_key.clone(),
        encryption_scope: None,
        snapshots: old.map_or(0, |old| old.snapshots),
        sequence_number: 0,
        sealed: false,
        extras: BlobExtras::held(properties.hold),
    }
}
