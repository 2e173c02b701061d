//! What an account can do beyond every other one. On the service its owner sets this with the account, not over the
//! protocol of its data; here it stands in the configuration.

use std::collections::HashMap;
use std::sync::Arc;

use crate::event::EventSubscription;

/// The default is a plain account.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Features {
    /// Every write of a blob keeps what it replaces as a version.
    pub versioning: bool,
    /// Immutability policies and legal holds of single blobs.
    pub immutability: bool,
    /// Blobs remember when they were last read.
    pub last_access_time: bool,
    /// Days that a deleted container can be restored.
    pub container_soft_delete: Option<u32>,
    /// Names that blobs and containers may be encrypted under.
    pub encryption_scopes: Vec<String>,
    /// Who is told of blobs that are made and deleted.
    pub events: Vec<Arc<EventSubscription>>,
}

/// Of all accounts of a server.
#[derive(Clone, Debug, Default)]
pub struct AccountFeatures(HashMap<String, Features>);

impl AccountFeatures {
    pub fn of(&self, account: &str) -> &Features {
        const PLAIN: &Features = &Features {
            versioning: false,
            immutability: false,
            last_access_time: false,
            container_soft_delete: None,
            encryption_scopes: Vec::new(),
            events: Vec::new(),
        };
        self.0.get(account).unwrap_or(PLAIN)
    }

    /// What accounts can do beyond a plain one, as text that is the same for the same features.
    pub fn described(&self) -> String {
        let plain = Features::default();
        let mut lines: Vec<String> = self
            .0
            .iter()
            .filter(|(_, features)| **features != plain)
            .map(|(account, features)| format!("{account:?} {features:?}\n"))
            .collect();
        lines.sort();
        lines.concat()
    }

    /// The subscriptions of all accounts.
    pub fn events(&self) -> impl Iterator<Item = &Arc<EventSubscription>> {
        self.0.values().flat_map(|features| &features.events)
    }

    pub fn entry(&mut self, account: &str) -> &mut Features {
        self.0.entry(account.to_owned()).or_default()
    }
}
