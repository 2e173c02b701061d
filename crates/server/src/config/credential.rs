//! An account's name and keys as text, for connection strings and as the passwords of SMB. Everything else keeps keys in a
//! form that signs.

use std::fmt;

use super::List;

#[derive(Clone, PartialEq, Eq)]
pub struct Credential {
    pub account: String,
    key: String,
    second: Option<String>,
}

impl Credential {
    /// Of a list that was found to be right.
    pub fn all(accounts: &List) -> Vec<Self> {
        let List(items) = accounts;
        let read = |item: &str| {
            let mut parts = item.split(':').map(str::trim);
            let (account, key) = (parts.next()?.to_owned(), parts.next()?.to_owned());
            Some(Self { account, key, second: parts.next().map(str::to_owned) })
        };
        items.iter().flat_map(|item| item.split(';')).filter_map(read).collect()
    }

    /// The secret itself: for the user who asks for it, never for a log.
    pub fn key(&self) -> &str {
        &self.key
    }

    /// Both, where there are two.
    pub fn keys(&self) -> Vec<&str> {
        std::iter::once(self.key.as_str()).chain(self.second.as_deref()).collect()
    }
}

impl fmt::Debug for Credential {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Credential").field("account", &self.account).finish_non_exhaustive()
    }
}
