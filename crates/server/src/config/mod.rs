//! What the process was told to do, resolved and checked: flags before variables before the file.

mod create_at_start;
mod credential;
mod database;
mod environment;
mod error;
mod events;
mod features;
mod file;
mod list;
mod listeners;
mod resolve;
#[cfg(test)]
mod tests;

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

pub use create_at_start::CreateAtStart;
pub use credential::Credential;
pub use database::Database;
pub use environment::Environment;
pub use error::ConfigError;
pub use list::List;
pub use resolve::{reload_accounts, resolve, storage_at};

use lazuli_model::account::AccountFeatures;
use lazuli_model::operation::Service;
use lazuli_rest::auth::Account;

use crate::args::LogFormat;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listener {
    pub service: Service,
    pub address: SocketAddr,
    /// An idle connection is kept at least this long.
    pub keep_alive: Duration,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Storage {
    Memory,
    /// A directory of our own inside the location, which may hold other things.
    Directory(PathBuf),
    /// Shared with other servers.
    Database(Box<Database>),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tls {
    pub cert: PathBuf,
    pub key: PathBuf,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Oauth {
    Off,
    Basic,
    Verified { issuer: String, jwks: PathBuf, audience: Option<String> },
}

#[derive(Clone, Debug)]
pub struct Config {
    pub listeners: Vec<Listener>,
    /// Where static websites are served, beside the hosts that name one.
    pub web: Option<SocketAddr>,
    /// Where the File service is served over SMB.
    pub smb: Option<SocketAddr>,
    pub admin: SocketAddr,
    pub admin_token: Option<String>,
    pub storage: Storage,
    pub accounts: Vec<Account>,
    /// Of the same accounts, in the same order.
    pub credentials: Vec<Credential>,
    /// The development account is served beyond loopback, by explicit wish.
    pub well_known_key_exposed: bool,
    pub tls: Option<Tls>,
    pub oauth: Oauth,
    pub bearer_over_http: bool,
    /// By which addresses clients reach the services, as they are written.
    pub public_addresses: Vec<String>,
    /// In bytes.
    pub inline_limit: usize,
    /// Hosts elsewhere that copies may read, as they are written.
    pub copy_sources: Vec<String>,
    pub path_style_only: bool,
    pub test_clock: bool,
    pub create_at_start: Vec<CreateAtStart>,
    pub features: AccountFeatures,
    pub max_connections: usize,
    /// How long balancers are given to leave a server that is told to stop.
    pub shutdown_delay: Duration,
    /// In bytes a second; zero is none.
    pub least_download_rate: u64,
    /// In bytes, for answers that their clients have not taken yet.
    pub answer_memory: usize,
    /// How long a blob is on its way out of the archive.
    pub rehydration_time: Duration,
    pub log: LogConfig,
    /// Told once at start: settings that are accepted and do nothing, or that deserve a warning.
    pub warnings: Vec<String>,
}

#[derive(Clone, Debug)]
pub struct LogConfig {
    pub format: LogFormat,
    pub access: bool,
    pub debug_file: Option<PathBuf>,
}
