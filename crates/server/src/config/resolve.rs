//! Layers of settings to one checked [`Config`].

use std::path::Path;
use std::time::Duration;

use lazuli_rest::auth::accounts::{DEVELOPMENT_ACCOUNT, DEVELOPMENT_KEY};
use lazuli_rest::auth::{Account, Accounts};
use lazuli_rest::copy::{ForeignHosts, PublicAddresses};
use lazuli_service::{MOST_INLINE, ServiceOptions};

use super::create_at_start::create_at_start;
use super::database::database;
use super::events::events;
use super::features::features;
use super::listeners::{admin, exposed, listeners, smb, web};
use super::{Config, ConfigError, Credential, Environment, List, LogConfig, Oauth, Storage, Tls, file};
use crate::args::{LogFormat, OauthMode, ServeArgs, Settings};

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

    let storage = storage(&near, &settings, environment)?;
    let shutdown_delay = shutdown_delay(settings.shutdown_delay, &storage);
    let (accounts, credentials) = accounts(settings.accounts.as_ref())?;
    let listeners = listeners(&settings)?;
    let smb = smb(&settings)?;
    let admin = admin(&settings)?;
    let tls = tls(&settings)?;
    let oauth = oauth(&settings)?;
    let exposed = exposed(&listeners, smb, admin);
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
    let create_at_start = create_at_start(&settings, &accounts, &listeners)?;
    let mut features = features(settings.features.as_ref(), &accounts)?;
    events(settings.events.as_ref(), &accounts, &mut features)?;
    let log = LogConfig {
        format: settings.log_format.unwrap_or(LogFormat::Text),
        access: !settings.silent.unwrap_or(false),
        debug_file: settings.debug.clone(),
    };
    Ok(Config {
        well_known_key_exposed: well_known && exposed.is_some(),
        warnings: warnings(&settings),
        listeners,
        web: web(&settings)?,
        smb,
        admin,
        admin_token: settings.admin_token,
        storage,
        accounts,
        credentials,
        tls,
        oauth,
        public_addresses: public_addresses(settings.public_addresses.as_ref())?,
        inline_limit: inline_limit(settings.inline_limit)?,
        copy_sources: copy_sources(settings.copy_sources.as_ref())?,
        bearer_over_http: settings.bearer_over_http.unwrap_or(false),
        path_style_only: settings.disable_product_style_url.unwrap_or(false),
        test_clock: settings.test_clock.unwrap_or(false),
        create_at_start,
        features,
        max_connections: settings.max_connections.unwrap_or(MAX_CONNECTIONS).max(1),
        shutdown_delay,
        least_download_rate: settings.least_download_rate.unwrap_or(crate::net::LEAST_RATE),
        answer_memory: settings
            .answer_memory
            .map_or(ServiceOptions::default().answer_memory, |mib| mib.saturating_mul(1 << 20)),
        rehydration_time: settings
            .rehydration_time
            .map_or(ServiceOptions::default().rehydration_time, Duration::from_secs),
        log,
    })
}

/// With a database there are other servers, and a balancer that sends clients to them.
fn shutdown_delay(given: Option<u32>, storage: &Storage) -> Duration {
    const TO_LEAVE: Duration = Duration::from_secs(3);
    let otherwise = if matches!(storage, Storage::Database(_)) { TO_LEAVE } else { Duration::ZERO };
    given.map_or(otherwise, |seconds| Duration::from_secs(seconds.into()))
}

/// The accounts as they are written now: keys rotate in the file while the process runs.
pub fn reload_accounts(
    args: &ServeArgs,
    environment: &Environment,
) -> Result<(Vec<Account>, Vec<Credential>), ConfigError> {
    resolve(args, environment).map(|config| (config.accounts, config.credentials))
}

fn storage(near: &Settings, all: &Settings, environment: &Environment) -> Result<Storage, ConfigError> {
    if let Some(database) = database(all, environment)? {
        return Ok(Storage::Database(Box::new(database)));
    }
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

fn accounts(written: Option<&List>) -> Result<(Vec<Account>, Vec<Credential>), ConfigError> {
    let development = List(vec![format!("{DEVELOPMENT_ACCOUNT}:{DEVELOPMENT_KEY}")]);
    let list = written.unwrap_or(&development);
    let accounts = Accounts::parse(&list.0.join(";"))
        .map_err(|error| ConfigError::setting("accounts", error.to_string()))?;
    Ok((accounts, Credential::all(list)))
}

/// A store that is moved: a directory as `--location` has it, or that of a server with this file of settings.
pub fn storage_at(place: &Path, environment: &Environment) -> Result<Storage, ConfigError> {
    if !place.is_file() {
        return Ok(Storage::Directory(place.join(DIRECTORY)));
    }
    let settings = file::read(place)?;
    storage(&settings, &settings, environment)
}

fn public_addresses(written: Option<&List>) -> Result<Vec<String>, ConfigError> {
    let addresses: Vec<String> = written.map(|list| list.0.clone()).unwrap_or_default();
    PublicAddresses::parse(addresses.iter().map(String::as_str))
        .map_err(|error| ConfigError::setting("publicAddresses", error.to_string()))?;
    Ok(addresses)
}

fn inline_limit(kib: Option<usize>) -> Result<usize, ConfigError> {
    match kib.map(|kib| kib.saturating_mul(1024)) {
        None => Ok(ServiceOptions::default().inline_limit),
        Some(limit) if limit <= MOST_INLINE => Ok(limit),
        Some(_) => Err(ConfigError::setting("inlineLimit", format!("at most {}", MOST_INLINE / 1024))),
    }
}

fn copy_sources(written: Option<&List>) -> Result<Vec<String>, ConfigError> {
    let hosts: Vec<String> = written.map(|list| list.0.clone()).unwrap_or_default();
    ForeignHosts::parse(hosts.iter().map(String::as_str))
        .map_err(|error| ConfigError::setting("copySources", error.to_string()))?;
    Ok(hosts)
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

fn warnings(settings: &Settings) -> Vec<String> {
    let mut warnings = Vec::new();
    if settings.extent_memory_limit.is_some() {
        warnings.push("--extentMemoryLimit is accepted and has no effect".to_owned());
    }
    if settings.loose == Some(true) {
        warnings.push("--loose is accepted and has no effect: what is not supported is refused".to_owned());
    }
    warnings
}
