//! Blobs by name: found, replaced, changed, leased, deleted. No operation builds the key of a blob: the name is resolved
//! here.

use lazuli_model::admission::{
    self, Circumstances, Kind, Lease, LeaseAction, LeaseChange, LeaseId, Preconditions, Subject as _, admit,
};
use lazuli_model::encryption::{ContainerEncryption, Encryption};
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
use super::sparse;
use super::unit::{Changes as _, Unit};
use super::version::{Left, retire};
use crate::blob::{BlobAddress, BlobProperties, BlobState, Stamped};
use crate::fault::Answer;
use crate::store::key::{self, Generation};
use crate::store::record::Record;
use crate::store::record::blob::{BlobExtras, BlobRecord};
use crate::store::record::content::{Content, Shape};
use crate::store::record::existing::Existing;
use lazuli_model::blob::{BlobType, ExplicitTier};

/// Where a blob, or one of its snapshots or versions, stands.
#[derive(Clone)]
pub struct BlobPlace {
    pub(super) generation: Generation,
    /// The container's name, where the account has events; otherwise it is not needed.
    pub(super) container: String,
    pub(super) name: String,
    pub(super) state: BlobState,
    /// What the indexes say of it.
    pub(super) indexed: Indexed,
    /// A blob whose time is over, and that the sweeper has not deleted yet. It is gone for every request; what replaces
    /// it gives its content back.
    pub(super) expired: Option<Box<BlobRecord>>,
    /// What the container says of its blobs.
    pub(super) encryption: ContainerEncryption,
}

impl BlobPlace {
    pub(super) fn key(&self) -> lazuli_engine::Key {
        match self.state {
            BlobState::Snapshot(snapshot) => key::snapshot(self.generation, &self.name, snapshot.0),
            BlobState::Version(version) => key::version(self.generation, &self.name, version.0),
            BlobState::Base => key::blob(self.generation, &self.name),
        }
    }

    /// The base of the name.
    pub(super) fn base(generation: Generation, name: String) -> Self {
        Self {
            generation,
            container: String::new(),
            name,
            state: BlobState::Base,
            indexed: Indexed::default(),
            expired: None,
            encryption: ContainerEncryption::default(),
        }
    }

    /// A snapshot or version of the name that is about to be made: no index says anything of it yet.
    pub(super) fn beside(&self, state: BlobState) -> Self {
        Self { state, ..Self::base(self.generation, self.name.clone()) }
    }

    /// The one place where a blob, a snapshot or a version is written: what the indexes say of it changes with it.
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
        let mut place = self.place_of(at, BlobState::Base).await?;
        let record = match self.find_at(&mut place).await? {
            Some(blob) => Some(Existing::Blob(Box::new(blob))),
            None => self.find_staged(&place).await?.map(Existing::Staged),
        };
        Ok(Found::new(self.clone(), place, record))
    }

    /// A committed blob, or its snapshot or version of this moment. The current version is the base.
    pub async fn committed_blob(
        &self,
        at: &BlobAddress,
        state: impl Into<BlobState>,
    ) -> Answer<Found<BlobRecord, M>> {
        let mut place = self.place_of(at, state.into()).await?;
        let record = self.resolve(&mut place).await?;
        Ok(Found::new(self.clone(), place, record))
    }

    pub(super) async fn place_of(&self, at: &BlobAddress, state: BlobState) -> Answer<BlobPlace> {
        let hints = self.services().generations();
        let name = || key::container(self.account(), &at.container);
        let inside = |generation| {
            let place = BlobPlace { state, ..BlobPlace::base(generation, at.blob.clone()) };
            match state {
                BlobState::Base => vec![place.key(), place.staged_key()],
                BlobState::Snapshot(_) | BlobState::Version(_) => vec![place.key()],
            }
        };
        hints.fetch(self.reader(), name, inside).await?;
        let container = self.container_of(&at.container).await?;
        let (generation, encryption) = (container.generation, container.encryption());
        hints.learn(self.reader(), name, generation);
        let container = if self.has_events() { at.container.clone() } else { String::new() };
        Ok(BlobPlace { state, container, encryption, ..BlobPlace::base(generation, at.blob.clone()) })
    }
}

impl<M: Mode> Found<BlobRecord, M> {
    /// What was found is the base, whatever it was asked for as.
    pub fn is_base(&self) -> bool {
        self.place().state == BlobState::Base
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
    /// The commit itself makes it. `took_over`: what it holds in place of the record.
    Made {
        content: &'a Content,
        took_over: Option<key::ContentId>,
    },
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
        Ok(self.replace_with(kind, properties, bytes, |_, _| {}).await?.0)
    }

    /// The same; `change` has the last word on the record. Gives the unit back, for what is written beside it.
    pub(super) async fn replace_with(
        self,
        kind: BlobType,
        properties: &BlobProperties,
        bytes: Bytes<'_>,
        change: impl FnOnce(&mut BlobRecord, Option<Timestamp>),
    ) -> Answer<(Stamped, Unit)> {
        let empty = Content::empty();
        let Self { mut unit, mut place, admitted, .. } = self;
        let encryption = unit.encryption_at(&place, properties.customer_key.as_ref().map(|key| key.hash))?;
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
        if let Some(old) = old {
            unit.near_retired(old).await?;
        }
        let (left, buried) = match old {
            Some(old) => (unit.leave_replaced(&place, old).await?, None),
            None => (Left::Nothing, unit.bury_deleted(&place).await?),
        };
        let mut first_sequence_number = 0;
        let content = match bytes {
            Bytes::Pages { length, sequence_number } => {
                if let Some(staged) = &staged {
                    unit.give_up_stage(&place, staged);
                }
                retire(&mut unit, old, left, None).await?;
                first_sequence_number = sequence_number;
                &Content { id: key::ContentId::fresh(unit.now()), length, shape: Shape::Sparse }
            }
            Bytes::Uploaded(new) => {
                if let Some(staged) = &staged {
                    unit.give_up_stage(&place, staged);
                }
                unit.check_sealed(&place, new.encryption())?;
                new.publish(&mut unit).await?;
                retire(&mut unit, old, left, None).await?;
                &new.content
            }
            Bytes::Listed(list) => {
                if staged.is_some() {
                    unit.delete(place.staged_key());
                }
                list.publish(&mut unit).await?;
                retire(&mut unit, old, left, list.taking_over()).await?;
                list.content()
            }
            Bytes::Shared(content) => {
                if let Some(staged) = &staged {
                    unit.give_up_stage(&place, staged);
                }
                let is_same = old.is_some_and(|old| old.content.id == content.id);
                // A blob that gets the content that it has goes on holding it.
                if !is_held && (!is_same || left != Left::Nothing) {
                    let reader = unit.reader().clone();
                    content::share(&reader, &mut unit, content).await?;
                    retire(&mut unit, old, left, None).await?;
                }
                // Pages are written in place: the base goes on with a layer over what is kept of it.
                if is_same && left != Left::Nothing && content.shape == Shape::Sparse {
                    let (reader, now) = (unit.reader().clone(), unit.now());
                    &sparse::push_layer(&reader, &mut unit, content, true, now).await?
                } else {
                    content
                }
            }
            Bytes::Made { content, took_over } => {
                if let Some(staged) = &staged {
                    unit.give_up_stage(&place, staged);
                }
                match old.filter(|old| Some(old.content.id) == took_over) {
                    None => retire(&mut unit, old, left, None).await?,
                    Some(_) if left == Left::Nothing => {}
                    // What is kept of the base holds the content too.
                    Some(old) => {
                        let reader = unit.reader().clone();
                        content::share(&reader, &mut unit, &old.content).await?;
                    }
                }
                content
            }
            Bytes::None => {
                if let Some(staged) = &staged {
                    unit.give_up_stage(&place, staged);
                }
                retire(&mut unit, old, left, None).await?;
                &empty
            }
        };
        let lease = existing.as_ref().and_then(Existing::lease).cloned();
        let content = match kind {
            BlobType::Append => append::growing(&mut unit, content),
            _ => content.clone(),
        };
        let mut record = record_over(old, lease, kind, content, properties, &encryption, unit.now());
        record.sequence_number = first_sequence_number;
        let beside = match left {
            Left::Version(left) | Left::DeletedSnapshot(left) => Some(left),
            Left::Nothing => buried,
        };
        change(&mut record, beside);
        // Behind what this commit leaves beside it, and behind the snapshot that an incremental copy makes.
        let made = record.extras().copy.as_ref().and_then(|copy| copy.destination_snapshot);
        let from = record.etag.0.max(beside.max(made).map_or(0, |beside| beside.0 + 1));
        if left == Left::Nothing {
            unit.no_younger_version(&place).await?;
        }
        record.set_version(unit.next_version(&place, from).await?);
        let stamped = record.stamped_with_version();
        place.write(&mut unit, &record);
        // A copy under way raises its event when the bytes are there.
        if record.pending_copy().is_none() {
            unit.raise_created(&place, &record);
        }
        Ok((stamped, unit))
    }

    /// Carries out a lease action, on a committed blob or on one of uncommitted blocks only.
    pub fn lease(self, action: &LeaseAction, fresh: LeaseId) -> Result<(Stamped, LeaseChange), Failure> {
        let change = self.admitted.act(action, fresh)?;
        let Present { mut unit, place, policy, record } = self.present()?;
        let target = record.target();
        let stamped = Stamped::new(target.etag, target.last_modified);
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
        self.stamp();
        self.place.write(&mut self.unit, &self.record);
        self.record
    }

    /// What changes with every change: the ETag, and what is known of a copy.
    pub(super) fn stamp(&mut self) {
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
    }
}

/// The record of a new content over the old one. Its ETag is later than that of `old`; where no blob was read it is the time of the
/// reading, and the commit is refused if one was deleted since.
fn record_over(
    old: Option<&BlobRecord>,
    lease: Option<Lease>,
    kind: BlobType,
    content: Content,
    properties: &BlobProperties,
    encryption: &Encryption,
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
        customer_key: encryption.customer_key(),
        encryption_scope: encryption.scope().map(str::to_owned),
        snapshots: old.map_or(0, |old| old.snapshots),
        sequence_number: 0,
        sealed: false,
        extras: BlobExtras::held(properties.hold),
    }
}
