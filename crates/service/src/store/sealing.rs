//! What a request encrypts and decrypts with: the customer's key that it brings, or the key of a scope.
//!
//! The key of a scope is random, made by the first server that needs it and kept in the engine, where all servers find it.

use std::collections::HashMap;

use lazuli_engine::Plan;
use lazuli_model::blob::{CustomerKey, CustomerKeyHash};
use lazuli_model::encryption::{ContainerEncryption, Encryption};
use lazuli_model::error::{ErrorCode, Failure};
use lazuli_model::operation::Mode;
use parking_lot::Mutex;

use super::blob::BlobPlace;
use super::found::{Admitted, Present};
use super::key;
use super::record::Record;
use super::record::blob::BlobRecord;
use super::record::block::StagedRecord;
use super::record::container::ContainerRecord;
use super::record::existing::Existing;
use super::record::settings::ScopeSecret;
use super::seal::{KeyName, SealingKey};
use super::unit::Unit;
use crate::blob::check_customer_key;
use crate::fault::{Answer, Fault};
use crate::{Context, Services};

/// How an upload is to be encrypted.
#[derive(Clone, Default)]
pub struct Sealing {
    pub(super) encryption: Encryption,
    /// None: as the service stores what names no key.
    pub(super) key: Option<SealingKey>,
}

impl Sealing {
    /// Whether the content of a blob is encrypted so already.
    pub fn is_of(&self, blob: &BlobRecord) -> bool {
        blob.encryption() == self.encryption
    }

    /// Whether bytes are stored as those of files are.
    pub fn is_none(&self) -> bool {
        self.encryption == Encryption::default()
    }
}

/// Keys of scopes that this server has used.
#[derive(Default)]
pub struct ScopeKeys(Mutex<HashMap<KeyName, SealingKey>>);

impl Services {
    /// How what a request writes into this container is to be encrypted. The commit that points to it finds out whether
    /// that is still so.
    pub async fn sealing(
        &self,
        context: &Context,
        container: &str,
        key: Option<&CustomerKey>,
    ) -> Answer<Sealing> {
        let encryption = self.encryption(context, container, key).await?;
        let key = match (&encryption, key) {
            (Encryption::Customer(_), Some(key)) => Some(SealingKey::of_customer(key)),
            (Encryption::Scope(scope), _) => Some(self.scope_key(&context.account, scope).await?),
            _ => None,
        };
        Ok(Sealing { encryption, key })
    }

    /// How more of what is encrypted so is to be, unless that takes a key of the customer's.
    pub async fn sealing_as(&self, account: &str, encryption: Encryption) -> Answer<Sealing> {
        let key = match &encryption {
            Encryption::Scope(scope) => Some(self.scope_key(account, scope).await?),
            Encryption::Service | Encryption::Customer(_) => None,
        };
        Ok(Sealing { encryption, key })
    }

    /// How a write into this container is encrypted. Where there is no container, the write finds that out.
    pub async fn encryption(
        &self,
        context: &Context,
        container: &str,
        key: Option<&CustomerKey>,
    ) -> Answer<Encryption> {
        let asked = context.encryption_scope.as_deref();
        let features = self.options().features.of(&context.account);
        // No container of most accounts can have a scope, and is not read twice.
        let found = match features.encryption_scopes.is_empty() {
            true => None,
            false => self.view(context).await?.find_container(container).await?,
        };
        let container = found.map(|container| container.encryption()).unwrap_or_default();
        Ok(container.of_write(asked, key.map(|key| key.hash), features)?)
    }

    async fn scope_key(&self, account: &str, scope: &str) -> Answer<SealingKey> {
        let name = KeyName::of_scope(account, scope);
        if let Some(key) = self.scope_keys().0.lock().get(&name) {
            return Ok(key.clone());
        }
        let fresh = ScopeSecret(rand::random());
        let secret = self
            .engine()
            .run(self.deadline(), |reader| async move {
                if let Some(entry) = reader.get(key::scope_secret(name)).await? {
                    return Ok(Plan::new(ScopeSecret::decode(&entry.value)?));
                }
                let mut plan = Plan::new(fresh);
                plan.put(key::scope_secret(name), fresh.encode());
                Ok::<_, Fault>(plan)
            })
            .await?;
        Ok(self.remember(name, secret))
    }

    /// The key of a scope that sealed something.
    pub(super) async fn known_scope_key(&self, name: KeyName) -> Answer<Option<SealingKey>> {
        if let Some(key) = self.scope_keys().0.lock().get(&name) {
            return Ok(Some(key.clone()));
        }
        Ok(match self.engine().reader().await?.get(key::scope_secret(name)).await? {
            Some(entry) => Some(self.remember(name, ScopeSecret::decode(&entry.value)?)),
            None => None,
        })
    }

    fn remember(&self, name: KeyName, secret: ScopeSecret) -> SealingKey {
        let key = SealingKey::new(name, &secret.0);
        self.scope_keys().0.lock().insert(name, key.clone());
        key
    }
}

impl ContainerRecord {
    pub fn encryption(&self) -> ContainerEncryption {
        ContainerEncryption {
            default_scope: self.default_encryption_scope.clone(),
            deny_override: self.deny_encryption_scope_override,
        }
    }
}

impl BlobRecord {
    pub fn encryption(&self) -> Encryption {
        encryption(self.customer_key, self.encryption_scope.as_ref())
    }
}

impl StagedRecord {
    pub fn encryption(&self) -> Encryption {
        encryption(self.customer_key, self.encryption_scope.as_ref())
    }
}

fn encryption(key: Option<CustomerKeyHash>, scope: Option<&String>) -> Encryption {
    match (key, scope) {
        (Some(hash), _) => Encryption::Customer(hash),
        (None, Some(scope)) => Encryption::Scope(scope.clone()),
        (None, None) => Encryption::Service,
    }
}

impl<M: Mode> Unit<M> {
    /// How the write of this unit is encrypted at a place.
    pub(super) fn encryption_at(
        &self,
        place: &BlobPlace,
        key: Option<CustomerKeyHash>,
    ) -> Result<Encryption, Failure> {
        place.encryption.of_write(self.encryption_scope(), key, self.features())
    }

    /// Whether bytes that were sealed before the commit are sealed as the place wants it at the commit. They are not only
    /// when another container has taken the name meanwhile.
    pub(super) fn check_sealed(&self, place: &BlobPlace, sealed: &Encryption) -> Result<(), Failure> {
        match self.encryption_at(place, sealed.customer_key())? == *sealed {
            true => Ok(()),
            false => Err(Failure::new(ErrorCode::ServerBusy).cause("the container was replaced")),
        }
    }

    /// The bytes of a blob are read with its key, and only while its scope is one of the account's.
    pub fn check_readable(
        &self,
        account: &str,
        blob: &BlobRecord,
        key: Option<&CustomerKey>,
    ) -> Result<(), Failure> {
        check_customer_key(blob, key)?;
        match &blob.encryption_scope {
            Some(scope) => self.features_of(account).check_scope(scope),
            None => Ok(()),
        }
    }
}

impl<M: Mode> Present<BlobRecord, M> {
    /// A change of a blob names what the blob is encrypted with.
    pub fn check_encryption(&self, key: Option<&CustomerKey>) -> Result<(), Failure> {
        self.record.encryption().admits(&self.unit.encryption_at(&self.place, key.map(|key| key.hash))?)
    }
}

impl<M: Mode> Admitted<Existing, M> {
    /// How the write is encrypted.
    pub fn encryption(&self, key: Option<&CustomerKey>) -> Result<Encryption, Failure> {
        self.unit.encryption_at(&self.place, key.map(|key| key.hash))
    }
}
