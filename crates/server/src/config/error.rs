//! Why the process does not start. Each message says what to write instead.

use std::path::PathBuf;

#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    #[error("cannot read {path}: {reason}")]
    File { path: PathBuf, reason: String },
    #[error("{path}: {reason}")]
    Toml { path: PathBuf, reason: String },
    #[error(
        "the variable {name} means nothing; is {nearest} meant? `lazuli --help` lists all. Unset it, or correct its name"
    )]
    UnknownVariable { name: String, nearest: &'static str },
    #[error("{setting}: {reason}")]
    Setting { setting: &'static str, reason: String },
    #[error(
        "--inMemoryPersistence keeps no files, --location names a directory for them: give one of the two"
    )]
    MemoryWithLocation,
    #[error(
        "--database keeps no files here: --location and --inMemoryPersistence contradict it. Give one of the three"
    )]
    DatabaseWithLocation,
    #[error(
        "AZURITE_DB is set: its database is of another kind and not supported. Unset it; the data lives in --location, or in --database (PostgreSQL)"
    )]
    ExternalDatabase,
    #[error(
        "PFX certificates (--pwd) are not supported: convert with `openssl pkcs12 -in F.pfx -out F.pem -nodes` and give --cert F.pem --key F.pem"
    )]
    Pfx,
    #[error("--cert and --key go together: give both (PEM)")]
    HalfTls,
    #[error(
        "{listener} listens on {address}, beyond loopback, and the account devstoreaccount1 has the key that everybody \
         knows: set accounts of your own (AZURITE_ACCOUNTS or --accounts), or say --allow-well-known-key-on-network"
    )]
    WellKnownKeyOnNetwork { listener: &'static str, address: String },
    #[error(
        "--oauth basic verifies no signature and is for loopback only, but {listener} listens on {address}: use --oauthIssuer and --oauthJwks"
    )]
    BasicOauthOnNetwork { listener: &'static str, address: String },
    #[error("--oauthIssuer and --oauthJwks go together, and exclude --oauth basic")]
    HalfOauth,
    #[error(
        "the admin endpoint listens on {address}, beyond loopback: give it a token (--adminToken), or keep it at home (--adminHost 127.0.0.1)"
    )]
    AdminWithoutToken { address: String },
}

impl ConfigError {
    pub fn setting(setting: &'static str, reason: impl Into<String>) -> Self {
        Self::Setting { setting, reason: reason.into() }
    }
}
