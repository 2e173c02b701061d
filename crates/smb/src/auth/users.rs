//! The accounts that may log on. A key's text, not what it encodes, is the password.

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

use parking_lot::RwLock;

use super::ntlm::NtHash;

/// Shared with the listeners; replaced when keys rotate.
#[derive(Clone, Default)]
pub struct Users(Arc<RwLock<ByName>>);

/// By the name in lower case: the name as it is, and the hashes of the keys.
type ByName = HashMap<String, (Arc<str>, Arc<[NtHash]>)>;

impl Users {
    /// From names and the texts of their keys.
    pub fn new<'a>(accounts: impl IntoIterator<Item = (&'a str, Vec<&'a str>)>) -> Self {
        let this = Self::default();
        this.replace(accounts);
        this
    }

    pub fn replace<'a>(&self, accounts: impl IntoIterator<Item = (&'a str, Vec<&'a str>)>) {
        let hashes = |keys: Vec<&str>| keys.into_iter().map(NtHash::of_password).collect();
        let entry = |(name, keys): (&str, _)| (name.to_ascii_lowercase(), (name.into(), hashes(keys)));
        let map = accounts.into_iter().map(entry);
        *self.0.write() = map.collect();
    }

    /// The account's own name and the hashes of its keys. NTLM compares names without their case.
    pub fn find(&self, user: &str) -> Option<(Arc<str>, Arc<[NtHash]>)> {
        self.0.read().get(&user.to_ascii_lowercase()).cloned()
    }
}

impl fmt::Debug for Users {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Users({})", self.0.read().len())
    }
}
