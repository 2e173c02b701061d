//! Where the layers meet: configuration to engine, services and gateway.

use std::net::SocketAddr;
use std::sync::Arc;

use lazuli_engine::{Engine, Host, Options};
use lazuli_model::operation::Service;
use lazuli_rest::Gateway;
use lazuli_rest::auth::{Account, Accounts, Auth, Jwks, OAuth};
use lazuli_rest::copy::{ForeignHosts, Sources};
use lazuli_rest::webhook::WebHooks;
use lazuli_service::event::deliver_forever;
use lazuli_service::{Members, ServiceOptions, Services, upkeep};
use tokio::task::JoinHandle;

use crate::config::{Config, Oauth, Storage};
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
    }
}

pub fn open_engine(config: &Config, descriptors: usize) -> Result<Engine, Error> {
    Ok(match &config.storage {
        Storage::Memory => Engine::memory(Host::real()),
        Storage::Directory(directory) => {
            let options = Options::default().within(descriptors);
            let options = options.map_err(|fewest| format!("the engine needs {fewest} file descriptors"))?;
            Engine::open(directory, options, Host::real())?
        }
    })
}

pub struct Assembled {
    pub services: Services,
    pub gateway: Arc<Gateway>,
    accounts: Accounts,
}

/// A server over the engine, ready for its first request. `own` are the addresses that its Blob service listens on.
pub async fn assemble(
    config: &Config,
    engine: &Engine,
    members: Members,
    metrics: &Metrics,
    own: Vec<SocketAddr>,
) -> Result<Assembled, Error> {
    let options = ServiceOptions {
        answer_memory: config.answer_memory,
        members,
        test_clock: config.test_clock,
        rehydration_time: config.rehydration_time,
        features: Arc::new(config.features.clone()),
        ..ServiceOptions::default()
    };
    let services = Services::new(engine.clone(), options);
    services.set_accounts(digest(&config.accounts));
    services.resume_clock().await.map_err(|fault| fault.0)?;
    services.join().await.map_err(|fault| fault.0)?;
    services.index_tags().await.map_err(|fault| fault.0)?;
    let accounts = Accounts::new(config.accounts.iter().cloned());
    let secret = secret::delegation(&config.storage, &services).await?;
    let auth = Auth::new(accounts.clone(), oauth(&config.oauth)?, secret)
        .with_bearer_over_http(config.bearer_over_http);
    metrics.watch(&services);
    let foreign = ForeignHosts::parse(config.copy_sources.iter().map(String::as_str))?;
    let gateway = Gateway::new(services.clone(), auth).with_sources(Sources::new(own, foreign));
    let gateway = Arc::new(gateway);
    Ok(Assembled { services, gateway, accounts })
}

impl Assembled {
    pub fn replace_accounts(&self, accounts: Vec<Account>) {
        self.services.set_accounts(digest(&accounts));
        self.accounts.replace(accounts);
    }

    /// Work that goes on beside the requests.
    pub fn in_background(&self) -> [JoinHandle<()>; 3] {
        let deliver = deliver_forever(self.services.clone(), Arc::new(WebHooks::default()));
        [
            tokio::spawn(upkeep::sweep_forever(self.services.clone())),
            tokio::spawn(self.services.clone().keep_beating()),
            tokio::spawn(deliver),
        ]
    }
}

/// The same for the same names and keys, in whatever order. Tells nothing about a key.
fn digest(accounts: &[Account]) -> u64 {
    let mut lines: Vec<Vec<u8>> = Vec::new();
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
