//! An account's name and first key as text, for connection strings. Everything else keeps keys in a form that signs.

use std::fmt;

use super::List;

#[derive(Clone, PartialEq, Eq)]
pub struct Credential {
    pub account: String,
    key: String,
}

impl Credential {
    /// Of a list that was found to be right.
    pub fn all(accounts: &List) -> Vec<Self> {
        let List(items) = accounts;
        let read = |item: &str| {
            let mut parts = item.split(':').map(str::trim);
            Some(Self { account: parts.next()?.to_owned(), key: parts.next()?.to_owned() })
        };
        items.iter().flat_map(|item| item.split(';')).filter_map(read).collect()
    }

    /// The secret itself: for the user who asks for it, never for a log.
    pub fn key(&self) -> &str {
        &self.key
    }
}

impl fmt::Debug for Credential {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Credential").field("account", &self.account).finish_non_exhaustive()
    }
}
