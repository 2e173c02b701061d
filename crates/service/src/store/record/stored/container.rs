//! A container, and the access policies that queues and tables store too.

use lazuli_model::access::{AccessPolicy, PublicAccess};
use lazuli_model::etag::ETag;
use lazuli_model::metadata::Metadata;
use lazuli_model::time::Timestamp;
use serde::{Deserialize, Serialize};

use super::lease::LeaseV1;
use super::{first_shape, same_variants};
use crate::store::key::Generation;
use crate::store::record::container::ContainerRecord;

#[derive(Serialize, Deserialize)]
pub struct ContainerV1 {
    generation: Generation,
    created: u64,
    etag: u64,
    last_modified: u64,
    metadata: Vec<(String, String)>,
    public_access: PublicAccessV1,
    policies: Vec<AccessPolicyV1>,
    lease: Option<LeaseV1>,
    default_encryption_scope: Option<String>,
    deny_encryption_scope_override: bool,
}

first_shape!(ContainerV1);

#[derive(Serialize, Deserialize)]
enum PublicAccessV1 {
    Private,
    Blob,
    Container,
}

same_variants!(PublicAccessV1, PublicAccess { Private, Blob, Container });

#[derive(Serialize, Deserialize)]
pub struct AccessPolicyV1 {
    id: String,
    start: Option<u64>,
    expiry: Option<u64>,
    permission: Option<String>,
}

impl AccessPolicyV1 {
    pub fn all(policies: &[AccessPolicy]) -> Vec<Self> {
        policies.iter().map(Self::from).collect()
    }

    pub fn read(stored: Vec<Self>) -> Vec<AccessPolicy> {
        stored.into_iter().map(AccessPolicy::from).collect()
    }
}

impl From<&AccessPolicy> for AccessPolicyV1 {
    fn from(policy: &AccessPolicy) -> Self {
        let AccessPolicy { id, start, expiry, permission } = policy.clone();
        Self { id, start: start.map(|at| at.0), expiry: expiry.map(|at| at.0), permission }
    }
}

impl From<AccessPolicyV1> for AccessPolicy {
    fn from(stored: AccessPolicyV1) -> Self {
        let AccessPolicyV1 { id, start, expiry, permission } = stored;
        Self { id, start: start.map(Timestamp), expiry: expiry.map(Timestamp), permission }
    }
}

impl From<&ContainerRecord> for ContainerV1 {
    fn from(container: &ContainerRecord) -> Self {
        let ContainerRecord {
            generation,
            created,
            etag,
            last_modified,
            metadata,
            public_access,
            policies,
            lease,
            default_encryption_scope,
            deny_encryption_scope_override,
        } = container;
        Self {
            generation: *generation,
            created: created.0,
            etag: etag.0,
            last_modified: last_modified.0,
            metadata: metadata.clone().into_pairs(),
            public_access: (*public_access).into(),
            policies: AccessPolicyV1::all(policies),
            lease: lease.as_ref().map(LeaseV1::from),
            default_encryption_scope: default_encryption_scope.clone(),
            deny_encryption_scope_override: *deny_encryption_scope_override,
        }
    }
}

impl From<ContainerV1> for ContainerRecord {
    fn from(stored: ContainerV1) -> Self {
        Self {
            generation: stored.generation,
            created: Timestamp(stored.created),
            etag: ETag(stored.etag),
            last_modified: Timestamp(stored.last_modified),
            metadata: Metadata::from_stored(stored.metadata),
            public_access: stored.public_access.into(),
            policies: AccessPolicyV1::read(stored.policies),
            lease: stored.lease.map(Into::into),
            default_encryption_scope: stored.default_encryption_scope,
            deny_encryption_scope_override: stored.deny_encryption_scope_override,
        }
    }
}
