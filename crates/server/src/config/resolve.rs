//! Layers of settings to one checked [`Config`].

use std::net::{IpAddr, Ipv4Addr, SocketAddr, ToSocketAddrs};
use std::time::Duration;

use lazuli_model::operation::Service;
use lazuli_rest::auth::accounts::{DEVELOPMENT_ACCOUNT, DEVELOPMENT_KEY};
use lazuli_rest::auth::{Account, Accounts};
use lazuli_service::ServiceOptions;

use super::{Config, ConfigError, Environment, List, Listener, LogConfig, Oauth, Seed, Storage, Tls, file};
use crate::args::{LogFormat, OauthMode, ServeArgs, Settings};
use crate::wiring::service_name;

/// No client's pool keeps an idle connection longer than this, so none meets a reset.
const KEEP_ALIVE: Duration = Duration::from_secs(600);
const MAX_CONNECTIONS: usize = 8192;
/// Below the location, which users point at directories with other things in them.
const DIRECTORY: &str = "lazuli-data";

pub fn resolve(args: &ServeArgs, environment: &Environment) -> Result<Config, ConfigError> {
    let from_file = match &args.config {
        Some(path) => file::read(path)?,
        None => Settings::default(),
    };
    let near = args.settings.clone().or(environment.settings()?);
    let settings = near.clone().or(from_file);

    let storage = storage(&near, &settings)?;
    let accounts = accounts(settings.accounts.as_ref())?;
    let listeners = listeners(&settings)?;
    let admin = address("adminHost", settings.admin_host.as_deref(), settings.admin_port.unwrap_or(10010))?;
    let tls = tls(&settings)?;
    let oauth = oauth(&settings)?;
    let exposed = exposed(&listeners, admin);
    let well_known = Accounts::new(accounts.iter().cloned()).has_development_key();
    let allowed = settings.allow_well_known_key_on_network.unwrap_or(false);
    if let Some((listener, address)) = &exposed {
        let (listener, address) = (*listener, address.to_string());
        if well_known && !allowed {
            return Err(ConfigError::WellKnownKeyOnNetwork { listener, address });
        }
        if oauth == Oauth::Basic {
            return Err(ConfigError::BasicOauthOnNetwork { listener, address });
        }
    }
    if !admin.ip().is_loopback() && settings.admin_token.is_none() {
        return Err(ConfigError::AdminWithoutToken { address: admin.to_string() });
    }
    let seeds = seeds(&settings, &accounts)?;
    let log = LogConfig {
        format: settings.log_format.unwrap_or(LogFormat::Text),
        access: !settings.silent.unwrap_or(false),
        debug_file: settings.debug.clone(),
    };
    Ok(Config {
        well_known_key_exposed: well_known && exposed.is_some(),
        remarks: remarks(&settings),
        listeners,
        admin,
        admin_token: settings.admin_token,
        storage,
        accounts,
        tls,
        oauth,
        bearer_over_http: settings.bearer_over_http.unwrap_or(false),
        path_style_only: settings.disable_product_style_url.unwrap_or(false),
        test_clock: settings.test_clock.unwrap_or(false),
        seeds,
        max_connections: settings.max_connections.unwrap_or(MAX_CONNECTIONS).max(1),
        least_download_rate: settings.least_download_rate.unwrap_or(crate::net::LEAST_RATE),
        answer_memory: settings
            .answer_memory
            .map_or(ServiceOptions::default().answer_memory, |mib| mib.saturating_mul(1 << 20)),
        log,
    })
}

/// The accounts as they are written now: keys rotate in the file while the process runs.
pub fn reload_accounts(args: &ServeArgs, environment: &Environment) -> Result<Vec<Account>, ConfigError> {
    resolve(args, environment).map(|config| config.accounts)
}

fn storage(near: &Settings, all: &Settings) -> Result<Storage, ConfigError> {
    // A location in the file is a default; one given nearer contradicts the switch.
    if all.in_memory_persistence.unwrap_or(false) {
        return if near.location.is_some() {
            Err(ConfigError::MemoryWithLocation)
        } else {
            Ok(Storage::Memory)
        };
    }
    Ok(Storage::Directory(all.location.clone().unwrap_or_default().join(DIRECTORY)))
}

fn accounts(written: Option<&List>) -> Result<Vec<Account>, ConfigError> {
    let list = match written {
        Some(List(items)) => items.join(";"),
        None => format!("{DEVELOPMENT_ACCOUNT}:{DEVELOPMENT_KEY}"),
    };
    Accounts::parse(&list).map_err(|error| ConfigError::setting("accounts", error.to_string()))
}

fn listeners(settings: &Settings) -> Result<Vec<Listener>, ConfigError> {
    let s = settings;
    let listener = |service, setting, host: &Option<String>, port: u16, keep_alive: Option<u64>| {
        let address = address(setting, host.as_deref(), port)?;
        let keep_alive = keep_alive.map_or(KEEP_ALIVE, Duration::from_secs).max(KEEP_ALIVE);
        Ok(Listener { service, address, keep_alive })
    };
    Ok(vec![
        listener(
            Service::Blob,
            "blobHost",
            &s.blob_host,
            s.blob_port.unwrap_or(10000),
            s.blob_keep_alive_timeout,
        )?,
        listener(
            Service::Queue,
            "queueHost",
            &s.queue_host,
            s.queue_port.unwrap_or(10001),
            s.queue_keep_alive_timeout,
        )?,
        listener(
            Service::Table,
            "tableHost",
            &s.table_host,
            s.table_port.unwrap_or(10002),
            s.table_keep_alive_timeout,
        )?,
        listener(Service::File, "fileHost", &s.file_host, s.file_port.unwrap_or(10003), None)?,
        listener(Service::Dfs, "dfsHost", &s.dfs_host, s.dfs_port.unwrap_or(10004), None)?,
    ])
}

fn address(setting: &'static str, host: Option<&str>, port: u16) -> Result<SocketAddr, ConfigError> {
    let host = host.map(|host| host.trim_start_matches('[').trim_end_matches(']'));
    match host {
        // Resolvers differ in which family `localhost` names first; the emulator's users expect this one.
        None | Some("localhost") => Ok(SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), port)),
        Some(host) => {
            let refused = |reason: String| ConfigError::setting(setting, format!("`{host}`: {reason}"));
            let mut found = (host, port).to_socket_addrs().map_err(|error| refused(error.to_string()))?;
            found.next().ok_or_else(|| refused("names no address".to_owned()))
        }
    }
}

fn exposed(listeners: &[Listener], admin: SocketAddr) -> Option<(&'static str, SocketAddr)> {
    let all = listeners.iter().map(|listener| (service_name(listener.service), listener.address));
    all.chain([("admin", admin)]).find(|(_, address)| !address.ip().is_loopback())
}

fn tls(settings: &Settings) -> Result<Option<Tls>, ConfigError> {
    if settings.pwd.is_some() {
        return Err(ConfigError::Pfx);
    }
    match (&settings.cert, &settings.key) {
        (None, None) => Ok(None),
        (Some(cert), Some(key)) => Ok(Some(Tls { cert: cert.clone(), key: key.clone() })),
        _ => Err(ConfigError::HalfTls),
    }
}

fn oauth(settings: &Settings) -> Result<Oauth, ConfigError> {
    match (settings.oauth, &settings.oauth_issuer, &settings.oauth_jwks) {
        (None, None, None) => Ok(Oauth::Off),
        (Some(OauthMode::Basic), None, None) => Ok(Oauth::Basic),
        (None, Some(issuer), Some(jwks)) => {
            let audience = settings.oauth_audience.clone();
            Ok(Oauth::Verified { issuer: issuer.clone(), jwks: jwks.clone(), audience })
        }
        _ => Err(ConfigError::HalfOauth),
    }
}

fn seeds(settings: &Settings, accounts: &[Account]) -> Result<Vec<Seed>, ConfigError> {
    let rows = [
        (Service::Blob, "createContainers", &settings.create_containers),
        (Service::Queue, "createQueues", &settings.create_queues),
        (Service::Table, "createTables", &settings.create_tables),
    ];
    let mut seeds = Vec::new();
    for (service, setting, list) in rows {
        for item in list.iter().flat_map(|List(items)| items) {
            let first = accounts.first().map_or("", |account| account.name.as_str());
            let (account, name) = item.split_once('/').unwrap_or((first, item));
            if !accounts.iter().any(|known| known.name == account) {
                return Err(ConfigError::setting(setting, format!("`{item}`: no account {account}")));
            }
            seeds.push(Seed { service, account: account.to_owned(), name: name.to_owned() });
        }
    }
    Ok(seeds)
}

fn remarks(settings: &Settings) -> Vec<String> {
    let mut remarks = Vec::new();
    if settings.extent_memory_limit.is_some() {
        remarks.push("--extentMemoryLimit is accepted and has no effect".to_owned());
    }
    if settings.loose == Some(true) {
        remarks.push("--loose is accepted and has no effect: what is not supported is refused".to_owned());
    }
    if settings.smb_port.is_some() {
        remarks.push("--smbPort is accepted; SMB is not built yet and its port stays closed".to_owned());
    }
    remarks
}
