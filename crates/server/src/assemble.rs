//! Where the layers meet: configuration to engine, services and gateway.

use std::net::SocketAddr;
use std::sync::Arc;

use lazuli_engine::{Engine, Host, Options};
use lazuli_model::operation::Service;
use lazuli_rest::Gateway;
use lazuli_rest::auth::{Account, Accounts, Auth, Jwks, OAuth};
use lazuli_rest::copy::{ForeignHosts, Sources};
use lazuli_service::{ServiceOptions, Services, upkeep};
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

/// `own` are the addresses that the Blob service listens on.
pub fn assemble(
    config: &Config,
    engine: &Engine,
    metrics: &Metrics,
    own: Vec<SocketAddr>,
) -> Result<Assembled, Error> {
    let options = ServiceOptions { answer_memory: config.answer_memory, ..ServiceOptions::default() };
    let services = Services::new(engine.clone(), options);
    let accounts = Accounts::new(config.accounts.iter().cloned());
    let auth = Auth::new(accounts.clone(), oauth(&config.oauth)?, secret::delegation(&config.storage)?)
        .with_bearer_over_http(config.bearer_over_http);
    metrics.watch(&services);
    let foreign = ForeignHosts::parse(config.copy_sources.iter().map(String::as_str))?;
    let gateway = Gateway::new(services.clone(), auth).with_sources(Sources::new(own, foreign));
    let gateway = Arc::new(gateway);
    Ok(Assembled { services, gateway, accounts })
}

impl Assembled {
    pub fn replace_accounts(&self, accounts: Vec<Account>) {
        self.accounts.replace(accounts);
    }

    /// Sees to what a crash left; before the first request.
    pub async fn recover(&self) {
        upkeep::recover(&self.services).await;
    }

    pub fn sweep(&self) -> JoinHandle<()> {
        tokio::spawn(upkeep::sweep_forever(self.services.clone()))
    }
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
