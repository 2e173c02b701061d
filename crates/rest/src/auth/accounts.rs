//! The accounts that this server knows, and their keys.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, LazyLock};

use aws_lc_rs::hmac;
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use parking_lot::RwLock;

/// The account and key that every emulator and client knows. Fit for loopback only.
pub const DEVELOPMENT_ACCOUNT: &str = "devstoreaccount1";
pub const DEVELOPMENT_KEY: &str =
    "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw==";

const MAX_KEYS: usize = 2;
pub const MAC_BYTES: usize = 32;

/// An HMAC-SHA256 key whose padding blocks are hashed once, not per request. Prints no secret.
#[derive(Clone)]
pub struct Key(hmac::Key);

impl Key {
    pub fn new(secret: &[u8]) -> Self {
        Self(hmac::Key::new(hmac::HMAC_SHA256, secret))
    }

    pub fn from_base64(text: &str) -> Option<Self> {
        let secret = BASE64_STANDARD.decode(text.trim()).ok()?;
        (!secret.is_empty()).then(|| Self::new(&secret))
    }

    pub fn sign(&self, message: &[u8]) -> [u8; MAC_BYTES] {
        let mut mac = [0; MAC_BYTES];
        mac.copy_from_slice(hmac::sign(&self.0, message).as_ref());
        mac
    }

    /// In constant time.
    pub fn verify(&self, message: &[u8], signature: &Signature) -> bool {
        hmac::verify(&self.0, message, &signature.bytes).is_ok() & signature.readable
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Key(..)")
    }
}

/// A signature as a client sent it. One that cannot be read costs as much to refuse as a wrong one.
pub struct Signature {
    bytes: [u8; MAC_BYTES],
    readable: bool,
}

impl Signature {
    pub fn parse(text: &str) -> Self {
        // 32 bytes are 44 characters, and the decoder estimates in whole quanta of three bytes.
        let mut buffer = [0; MAC_BYTES + 1];
        let readable = text.len() == 44
            && BASE64_STANDARD.decode_slice(text, &mut buffer).is_ok_and(|length| length == MAC_BYTES);
        let mut bytes = [0; MAC_BYTES];
        bytes.copy_from_slice(&buffer[..MAC_BYTES]);
        Self { bytes, readable }
    }
}

#[derive(Clone, Debug)]
pub struct Account {
    pub name: String,
    keys: Vec<Key>,
    /// Requests over plain http are refused.
    pub https_only: bool,
    /// Neither Shared Key nor a SAS signed with an account key is taken.
    pub shared_key_disabled: bool,
}

impl Account {
    pub fn new(name: impl Into<String>, keys: Vec<Key>) -> Self {
        Self { name: name.into(), keys, https_only: false, shared_key_disabled: false }
    }

    /// Every key is tried whatever the first one says, so that time does not tell which one it was.
    pub fn verify(&self, message: &[u8], signature: &Signature) -> bool {
        self.keys.iter().fold(false, |matched, key| matched | key.verify(message, signature))
    }

    pub fn keys(&self) -> &[Key] {
        &self.keys
    }
}

/// Stands in for accounts that do not exist: refusing them must take the same work.
static NOBODY: LazyLock<Arc<Account>> = LazyLock::new(|| {
    // Whatever the secret, nobody's signatures are never accepted: see `Claimed::known`.
    let secret = [uuid::Uuid::new_v4().into_bytes(), uuid::Uuid::new_v4().into_bytes()].concat();
    Arc::new(Account::new("", vec![Key::new(&secret), Key::new(&secret)]))
});

/// An account that a request speaks of, which need not exist.
pub struct Claimed {
    pub account: Arc<Account>,
    pub known: bool,
}

impl Claimed {
    pub fn verify(&self, message: &[u8], signature: &Signature) -> bool {
        self.account.verify(message, signature) & self.known
    }
}

/// Shared by all listeners; the set can be replaced while requests are being served.
#[derive(Clone, Debug, Default)]
pub struct Accounts(Arc<RwLock<ByName>>);

type ByName = HashMap<String, Arc<Account>>;

/// What is wrong with a list of accounts. Never quotes a key.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadAccounts {
    #[error("the list of accounts is empty")]
    Empty,
    #[error("account {0:?} is not of the form name:key1[:key2]")]
    Form(String),
    #[error("{0:?} is not an account name: 3 to 24 lower-case letters and digits")]
    Name(String),
    #[error("a key of account {0:?} is not base64")]
    Key(String),
    #[error("account {0:?} is given twice")]
    Twice(String),
}

impl Accounts {
    pub fn new(accounts: impl IntoIterator<Item = Account>) -> Self {
        let this = Self::default();
        this.replace(accounts);
        this
    }

    pub fn development() -> Self {
        Self::new(Key::from_base64(DEVELOPMENT_KEY).map(|key| Account::new(DEVELOPMENT_ACCOUNT, vec![key])))
    }

    /// `name:key1[:key2];name2:key1`, as in `AZURITE_ACCOUNTS`.
    pub fn parse(text: &str) -> Result<Vec<Account>, BadAccounts> {
        let mut accounts: Vec<Account> = Vec::new();
        for entry in text.split(';').map(str::trim).filter(|entry| !entry.is_empty()) {
            let mut parts = entry.split(':');
            let name = parts.next().unwrap_or_default().trim();
            // Azurite's users have names that the service would refuse: only what breaks addresses is refused.
            if name.is_empty() || !name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-') {
                return Err(BadAccounts::Name(name.to_owned()));
            }
            let mut keys = Vec::with_capacity(MAX_KEYS);
            for key in parts {
                keys.push(Key::from_base64(key).ok_or_else(|| BadAccounts::Key(name.to_owned()))?);
            }
            if keys.is_empty() || keys.len() > MAX_KEYS {
                return Err(BadAccounts::Form(name.to_owned()));
            }
            if accounts.iter().any(|account| account.name == name) {
                return Err(BadAccounts::Twice(name.to_owned()));
            }
            accounts.push(Account::new(name, keys));
        }
        if accounts.is_empty() { Err(BadAccounts::Empty) } else { Ok(accounts) }
    }

    pub fn replace(&self, accounts: impl IntoIterator<Item = Account>) {
        let map = accounts.into_iter().map(|account| (account.name.clone(), Arc::new(account))).collect();
        *self.0.write() = map;
    }

    pub fn get(&self, name: &str) -> Option<Arc<Account>> {
        self.0.read().get(name).cloned()
    }

    pub fn names(&self) -> Vec<String> {
        let mut names: Vec<String> = self.0.read().keys().cloned().collect();
        names.sort_unstable();
        names
    }

    /// True while the well-known key opens an account: such a server belongs on loopback.
    pub fn has_development_key(&self) -> bool {
        let probe = b"the well-known key";
        let Some(known) = Key::from_base64(DEVELOPMENT_KEY).map(|key| key.sign(probe)) else { return false };
        self.0.read().values().flat_map(|account| account.keys()).any(|key| key.sign(probe) == known)
    }

    pub(super) fn claimed(&self, name: &str) -> Claimed {
        match self.get(name) {
            Some(account) => Claimed { account, known: true },
            None => Claimed { account: Arc::clone(&NOBODY), known: false },
        }
    }
}
