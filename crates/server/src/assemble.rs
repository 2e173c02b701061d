//! Where the layers meet: configuration to engine, services and gateway.

use std::net::SocketAddr;
use std::sync::Arc;

use lazuli_engine::{Engine, Host, Options};
use lazuli_model::operation::Service;
use lazuli_rest::Gateway;
use lazuli_rest::auth::{Account, Accounts, Auth, Jwks, OAuth};
use lazuli_rest::copy::{ForeignHosts, PublicAddresses, Sources};
use lazuli_rest::webhook::WebHooks;
use lazuli_service::blob::take_up_copies_forever;
use lazuli_service::event::deliver_forever;
use lazuli_service::{Members, ServiceOptions, Services, upkeep};
use lazuli_smb::Users;
use tokio::task::JoinHandle;

use crate::config::{Config, Credential, Oauth, Storage};
use crate::descriptors::EngineWants;
use crate::metrics::Metrics;
use crate::secret;

type Error = Box<dyn std::error::Error + Send + Sync>;

/// As users write it, in flags and in the lines that tools parse.
pub fn service_name(service: Service) -> &'static str {
    match service {
        Service::Blob => "blob",
        Service::Queue => "queue",
        Service::Table => "table",
        Service::File => "file",
        Service::Dfs => "dfs",
    }
}

/// File descriptors that the engine takes.
pub fn engine_wants(config: &Config) -> EngineWants {
    match &config.storage {
        Storage::Memory => EngineWants { fewest: 0, most: 0 },
        Storage::Directory(_) => {
            let fewest = Options::default().within(0).err().unwrap_or_default();
            EngineWants { fewest, most: Options::default().descriptors() }
        }
        Storage::Database(_) => EngineWants { fewest: FEWEST_SOCKETS, most: MOST_SOCKETS },
    }
}

/// Connections to the database and to the byte store, or files of a shared directory.
const FEWEST_SOCKETS: usize = 64;
const MOST_SOCKETS: usize = 256;

pub async fn open_engine(config: &Config, descriptors: usize) -> Result<Engine, Error> {
    open_storage(&config.storage, descriptors).await
}

pub async fn open_storage(storage: &Storage, descriptors: usize) -> Result<Engine, Error> {
    Ok(match storage {
        Storage::Memory => Engine::memory(Host::real()),
        Storage::Directory(directory) => {
            let options = Options::default().within(descriptors);
            let options = options.map_err(|fewest| format!("the engine needs {fewest} file descriptors"))?;
            Engine::open(directory, options, Host::real())?
        }
        Storage::Database(database) => Engine::connect(database.options()?, Host::real()).await?,
    })
}

/// Whether other servers may work over the same engine. A directory is locked by this process.
pub fn members(config: &Config, rehearsed: usize) -> Members {
    match &config.storage {
        Storage::Database(_) => Members::Several,
        _ if rehearsed > 1 => Members::Several,
        _ => Members::Alone,
    }
}

pub struct Assembled {
    pub services: Services,
    pub gateway: Arc<Gateway>,
    /// Who logs on over SMB.
    pub users: Users,
    accounts: Accounts,
    sources: Arc<Sources>,
    storage: Storage,
}

/// A server over the engine, ready for its first request. `own` are the addresses of the services that
/// copies can come from.
pub async fn assemble(
    config: &Config,
    engine: &Engine,
    members: Members,
    metrics: &Metrics,
    own: Vec<(Service, SocketAddr)>,
) -> Result<Assembled, Error> {
    let options = ServiceOptions {
        answer_memory: config.answer_memory,
        members,
        test_clock: config.test_clock,
        rehydration_time: config.rehydration_time,
        inline_limit: config.inline_limit,
        features: Arc::new(config.features.clone()),
        ..ServiceOptions::default()
    };
    if lazuli_service::moving::is_unfinished(engine).await? {
        return Err(
            "a move into this store was begun and is not finished: `lazuli move` goes on with it".into()
        );
    }
    let services = Services::new(engine.clone(), options);
    services.open_format().await.map_err(|fault| fault.0)?;
    services.set_settings_digest(digest(&config.accounts, &config.storage));
    services.resume_clock().await.map_err(|fault| fault.0)?;
    services.join().await.map_err(|fault| fault.0)?;
    services.index_tags().await.map_err(|fault| fault.0)?;
    let accounts = Accounts::new(config.accounts.iter().cloned());
    let secret = secret::delegation(&config.storage, &services).await?;
    let auth = Auth::new(accounts.clone(), oauth(&config.oauth)?, secret)
        .with_bearer_over_http(config.bearer_over_http);
    metrics.watch(&services);
    let foreign = ForeignHosts::parse(config.copy_sources.iter().map(String::as_str))?;
    let public = PublicAddresses::parse(config.public_addresses.iter().map(String::as_str))?;
    let sources = Arc::new(Sources::new(own, foreign, accounts.clone()).with_public(public));
    let gateway = Gateway::new(services.clone(), auth).with_sources(Arc::clone(&sources));
    let gateway = Arc::new(gateway);
    let users = Users::new(passwords(&config.credentials));
    Ok(Assembled { services, gateway, users, accounts, sources, storage: config.storage.clone() })
}

impl Assembled {
    pub fn replace_accounts(&self, accounts: Vec<Account>, credentials: &[Credential]) {
        self.services.set_settings_digest(digest(&accounts, &self.storage));
        self.accounts.replace(accounts);
        self.users.replace(passwords(credentials));
    }

    /// Work that goes on beside the requests.
    pub fn in_background(&self) -> [JoinHandle<()>; 4] {
        let deliver = deliver_forever(self.services.clone(), Arc::new(WebHooks::default()));
        [
            tokio::spawn(upkeep::sweep_forever(self.services.clone())),
            tokio::spawn(self.services.clone().keep_beating()),
            tokio::spawn(deliver),
            tokio::spawn(take_up_copies_forever(self.services.clone(), self.sources.clone())),
        ]
    }
}

fn passwords(credentials: &[Credential]) -> impl Iterator<Item = (&str, Vec<&str>)> {
    credentials.iter().map(|credential| (credential.account.as_str(), credential.keys()))
}

/// Of what servers must be told alike: accounts with their keys, in whatever order, and how long objects outlive what named
/// them, because the server that deletes them may be any. Tells nothing about a key.
fn digest(accounts: &[Account], storage: &Storage) -> u64 {
    let mut lines: Vec<Vec<u8>> = Vec::new();
    if let Storage::Database(database) = storage
        && !database.retention.is_zero()
    {
        lines.push([b"retention\0", &database.retention.as_secs().to_be_bytes()[..]].concat());
    }
    for account in accounts {
        for key in account.keys() {
            lines.push([account.name.as_bytes(), &[0], &key.sign(b"digest of accounts")].concat());
        }
    }
    lines.sort();
    let digest = lazuli_service::md5(&lines.concat());
    digest.iter().take(8).fold(0, |number, byte| number << 8 | u64::from(*byte))
}

fn oauth(config: &Oauth) -> Result<OAuth, Error> {
    Ok(match config {
        Oauth::Off => OAuth::Off,
        Oauth::Basic => OAuth::Basic,
        Oauth::Verified { issuer, jwks, audience } => {
            let text =
                std::fs::read_to_string(jwks).map_err(|error| format!("{}: {error}", jwks.display()))?;
            let keys = Jwks::parse(&text, vec![issuer.clone()], audience.iter().cloned().collect());
            OAuth::Jwks(keys.map_err(|error| format!("{}: {error}", jwks.display()))?)
        }
    })
}
