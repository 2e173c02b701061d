//! Containers: found, created, changed, ended.

use lazuli_model::admission::{
    self, Circumstances, Kind, LeaseAction, LeaseChange, LeaseId, Preconditions, admit,
};
use lazuli_model::error::{ErrorCode, Failure};
use lazuli_model::etag::ETag;
use lazuli_model::operation::{Mode, Policy};

use super::by_name::{ByName, merge};
use super::found::{Admitted, Found, Present, Resource};
use super::unit::{Changes as _, Unit, View};
use crate::blob::{CreateContainer, ListContainers, ListedContainer, Stamped};
use crate::fault::Answer;
use crate::shared::marker::Position;
use crate::store::key::{self, Generation};
use crate::store::record::Record;
use crate::store::record::container::ContainerRecord;

/// The name of a container in the account of the unit.
pub struct ContainerPlace {
    pub(super) name: String,
}

impl Resource for ContainerRecord {
    type Given = Preconditions;
    type Place = ContainerPlace;

    const NOT_FOUND: ErrorCode = ErrorCode::ContainerNotFound;

    fn judge(
        policy: &Policy,
        given: &Preconditions,
        found: Option<Self>,
        circumstances: Circumstances,
    ) -> Result<admission::Admitted<Self>, Failure> {
        admit(policy, given, Kind::Container, found, circumstances)
    }
}

impl<M: Mode> Unit<M> {
    pub async fn container(&self, name: &str) -> Answer<Found<ContainerRecord, M>> {
        let record = self.find_container(name).await?;
        Ok(Found::new(self.clone(), ContainerPlace { name: name.to_owned() }, record))
    }

    pub(crate) async fn find_container(&self, name: &str) -> Answer<Option<ContainerRecord>> {
        self.find_container_in(self.account(), name).await
    }

    pub(super) async fn find_container_in(
        &self,
        account: &str,
        name: &str,
    ) -> Answer<Option<ContainerRecord>> {
        Ok(match self.reader().get(key::container(account, name)).await? {
            Some(entry) => Some(ContainerRecord::decode(&entry.value)?),
            None => None,
        })
    }

    /// The container that a blob operation works in. The read is a check of the commit: a blob written while its
    /// container is being deleted is not left behind in a generation that was already swept.
    pub(crate) async fn container_of(&self, name: &str) -> Answer<ContainerRecord> {
        Ok(self.find_container(name).await?.ok_or(ErrorCode::ContainerNotFound)?)
    }
}

impl Admitted<ContainerRecord> {
    /// Makes the container; refuses where there is one.
    pub fn create(mut self, new: &CreateContainer) -> Result<Stamped, Failure> {
        if self.record().is_some() {
            return Err(ErrorCode::ContainerAlreadyExists.into());
        }
        let now = self.unit.now();
        let record = ContainerRecord {
            generation: Generation::new(now.0, rand::random()),
            created: now,
            etag: ETag(now.0),
            last_modified: now,
            metadata: new.metadata.clone(),
            public_access: new.public_access,
            policies: Vec::new(),
            lease: None,
            default_encryption_scope: new.default_encryption_scope.clone(),
            deny_encryption_scope_override: new.deny_encryption_scope_override,
        };
        let key = key::container(self.unit.account(), &self.place.name);
        self.unit.put(key, record.encode());
        Ok(record.stamped())
    }

    /// Carries out a lease action.
    pub fn lease(self, action: &LeaseAction, fresh: LeaseId) -> Result<(Stamped, LeaseChange), Failure> {
        let change = self.admitted.act(action, fresh)?;
        let mut container = self.present()?;
        container.lease.clone_from(&change.lease);
        Ok((container.put(), change))
    }
}

impl Present<ContainerRecord> {
    /// Writes what was changed.
    pub fn put(mut self) -> Stamped {
        if self.changes_etag() {
            let now = self.unit.now();
            self.record.touch(now);
        }
        let stamped = self.record.stamped();
        let key = key::container(self.unit.account(), &self.place.name);
        self.unit.put(key, self.record.encode());
        stamped
    }

    pub(super) fn key(&self) -> lazuli_engine::Key {
        key::container(self.unit.account(), &self.place.name)
    }
}

impl View {
    /// A page of the account's containers.
    pub(crate) async fn containers(
        &self,
        request: &ListContainers,
    ) -> Answer<(Vec<ListedContainer>, Option<Position>)> {
        let (alive, next) = self.containers_alive(request).await?;
        let listed = |(name, container)| ListedContainer { name, container, deleted: None };
        let mut items: Vec<ListedContainer> = alive.into_iter().map(listed).collect();
        if !request.deleted {
            return Ok((items, next));
        }
        let (deleted, next_deleted) = self.deleted_containers(request).await?;
        items.extend(deleted);
        Ok(merge(items, [next, next_deleted], request.max_results, ListedContainer::order))
    }

    async fn containers_alive(
        &self,
        request: &ListContainers,
    ) -> Answer<(Vec<(String, ContainerRecord)>, Option<Position>)> {
        let listing = ByName {
            space: key::containers(self.account()),
            prefix: &request.prefix,
            marker: request.marker.as_ref(),
            max_results: request.max_results,
            max_bytes: request.max_bytes,
        };
        listing.page(self.reader()).await
    }
}
