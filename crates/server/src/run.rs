//! The life of the process: bind, open, announce, serve, drain, close.

use std::io::Write;
use std::net::SocketAddr;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use lazuli_engine::Engine;
use lazuli_model::operation::Service;
use tokio::task::JoinHandle;
use tokio::time::{MissedTickBehavior, interval};

use crate::admin::Admin;
use crate::args::ServeArgs;
use crate::assemble::{self, Assembled, service_name};
use crate::config::{Config, Environment, reload_accounts, resolve};
use crate::descriptors::{self, Share};
use crate::metrics::Metrics;
use crate::net::tls::Certificate;
use crate::net::{Acceptor, Bound, ConnectionSettings, Lanes, bind};
use crate::signals::{Signals, Told};
use crate::smb_listener;
use crate::storage_listener::{Place, StorageListener};
use crate::{connection_string, create_at_start, exit, log, startup_warnings};

type Error = Box<dyn std::error::Error + Send + Sync>;

/// Requests under way get this long to finish.
const DRAIN_PATIENCE: Duration = Duration::from_secs(30);
/// How often files are looked at and the engine is asked for its health.
const ROUND: Duration = Duration::from_secs(1);
/// Health and metrics are served when the house is full, too, and when every lane is busy.
const ADMIN_CONNECTIONS: usize = 8;
/// Browsers come back soon, or not at all.
const WEB_KEEP_ALIVE: Duration = Duration::from_secs(120);
const ADMIN_KEEP_ALIVE: Duration = Duration::from_secs(60);

pub fn run(args: &ServeArgs) -> Result<ExitCode, Error> {
    let started = Instant::now();
    let environment = Environment::read();
    let config = resolve(args, &environment)?;
    let _flush = log::start(&config.log)?;
    log_panics();
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let code = runtime.block_on(serve(args, &environment, &config, started));
    // Tasks that outlived the drain are cut off rather than waited for.
    runtime.shutdown_background();
    code
}

async fn serve(
    args: &ServeArgs,
    environment: &Environment,
    config: &Config,
    started: Instant,
) -> Result<ExitCode, Error> {
    let mut signals = Signals::listen()?;
    let certificate = config.tls.clone().map(Certificate::load).transpose()?;
    let listeners = bind_all(config, args.rehearse_servers.unwrap_or(1))?;
    let share = share_descriptors(config)?;
    let engine = tokio::select! {
        opened = assemble::open_engine(config, share.engine) => opened?,
        // A database that is away is waited for, and nothing is under way yet that would have to be finished.
        () = stopped(&mut signals) => return Ok(ExitCode::SUCCESS),
    };

    let acceptor = Acceptor::new(share.connections, Lanes::start()?);
    let admin_acceptor = Acceptor::new(ADMIN_CONNECTIONS, Lanes::here());
    let metrics = Metrics::new(acceptor.clone());
    let members = assemble::members(config, listeners.servers.len());
    let mut servers = Vec::new();
    for bound in &listeners.servers {
        let is_source = |service: Service| matches!(service, Service::Blob | Service::File);
        let own = config.listeners.iter().zip(bound).filter(|(of, _)| is_source(of.service));
        let own = own.map(|(of, bound)| (of.service, bound.address)).collect();
        servers.push(assemble::assemble(config, &engine, members, &metrics, own).await?);
    }
    let Some(first) = servers.first() else { return Err("no server".into()) };
    create_at_start::create(&first.services, &config.create_at_start).await?;
    let background: Vec<JoinHandle<()>> = servers.iter().flat_map(Assembled::in_background).collect();

    let ready = Arc::new(AtomicBool::new(true));
    let mut announcement = String::new();
    let mut bound_at = Vec::new();
    for (number, (assembled, bound)) in servers.iter().zip(listeners.servers).enumerate() {
        for (listener, bound) in config.listeners.iter().zip(bound) {
            let name = match number {
                0 => service_name(listener.service).to_owned(),
                _ => format!("{}-{}", service_name(listener.service), number + 1),
            };
            if number == 0 {
                bound_at.push((listener.service, bound.address));
            }
            announce(&mut announcement, &name, certificate.is_some(), bound.address);
            let answering = Arc::new(StorageListener {
                gateway: assembled.gateway.clone(),
                place: Place::Service(listener.service),
                metrics: Arc::clone(&metrics),
                access: config.log.access,
                path_style_only: config.path_style_only,
            });
            let tls = certificate.as_ref().map(Certificate::acceptor).transpose()?;
            let (keep_alive, least_rate) = (listener.keep_alive, config.least_download_rate);
            let settings = ConnectionSettings { answering, tls, keep_alive, least_rate };
            tokio::spawn(acceptor.clone().run(bound.listener, settings));
        }
    }
    for (number, (assembled, bound)) in servers.iter().zip(listeners.smb).enumerate() {
        let name = if number == 0 { "smb".to_owned() } else { format!("smb-{}", number + 1) };
        announcement.push_str(&format!("lazuli: {name} listening on smb://{}\n", bound.address));
        smb_listener::start(&acceptor, assembled, &metrics, bound)?;
    }
    if let Some(bound) = listeners.web {
        announce(&mut announcement, "web", certificate.is_some(), bound.address);
        let answering = Arc::new(StorageListener {
            gateway: first.gateway.clone(),
            place: Place::Web,
            metrics: Arc::clone(&metrics),
            access: config.log.access,
            path_style_only: config.path_style_only,
        });
        let tls = certificate.as_ref().map(Certificate::acceptor).transpose()?;
        let (keep_alive, least_rate) = (WEB_KEEP_ALIVE, config.least_download_rate);
        let settings = ConnectionSettings { answering, tls, keep_alive, least_rate };
        tokio::spawn(acceptor.clone().run(bound.listener, settings));
    }
    announce(&mut announcement, "admin", false, listeners.admin.address);
    if let Some(credential) = config.credentials.first() {
        let text = connection_string::announced(credential, certificate.is_some(), &bound_at);
        announcement.push_str(&format!("lazuli: connection string {text}\n"));
    }
    let admin = Admin {
        services: first.services.clone(),
        metrics,
        token: config.admin_token.clone(),
        test_clock: config.test_clock,
        well_known_key_exposed: config.well_known_key_exposed,
        ready: ready.clone(),
    };
    let (answering, least_rate) = (Arc::new(admin), config.least_download_rate);
    let settings = ConnectionSettings { answering, tls: None, keep_alive: ADMIN_KEEP_ALIVE, least_rate };
    tokio::spawn(admin_acceptor.clone().run(listeners.admin.listener, settings));

    startup_warnings::log(config);
    announcement.push_str("lazuli: ready\n");
    let _ = std::io::stdout().write_all(announcement.as_bytes());
    let _ = std::io::stdout().flush();
    tracing::info!(version = env!("CARGO_PKG_VERSION"), ms = millis(started), "serving");

    let mut rounds = interval(ROUND);
    rounds.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        tokio::select! {
            told = signals.next() => match told {
                Told::Stop => break,
                Told::Reload => {
                    reload_certificate(certificate.as_ref());
                    reload_keys(args, environment, &servers);
                }
            },
            _ = rounds.tick() => {
                if let Some(reason) = engine.is_stopped() {
                    tracing::error!(reason, "the engine has stopped: leaving, a restart recovers");
                    return Ok(ExitCode::from(exit::ENGINE_STOPPED));
                }
                if certificate.as_ref().is_some_and(Certificate::changed) {
                    reload_certificate(certificate.as_ref());
                }
            }
        }
    }
    ready.store(false, Ordering::Relaxed);
    if !config.shutdown_delay.is_zero() {
        tracing::info!(
            seconds = config.shutdown_delay.as_secs(),
            "stopping: balancers are given time to leave"
        );
        // Told again, it does not wait.
        let _ = tokio::time::timeout(config.shutdown_delay, stopped(&mut signals)).await;
    }
    background.iter().for_each(JoinHandle::abort);
    Ok(stop(&mut signals, &acceptor, &engine, &servers).await)
}

async fn stopped(signals: &mut Signals) {
    while signals.next().await != Told::Stop {}
}

/// Finishes what is under way, then closes the engine. Another signal cuts the waiting short.
async fn stop(
    signals: &mut Signals,
    acceptor: &Acceptor,
    engine: &Engine,
    servers: &[Assembled],
) -> ExitCode {
    tracing::info!(connections = acceptor.open_connections(), "stopping: finishing requests under way");
    let finished = tokio::select! {
        finished = acceptor.drain(DRAIN_PATIENCE) => finished,
        _ = signals.next() => false,
    };
    if !finished {
        tracing::warn!("requests cut off");
    }
    for server in servers {
        if let Err(fault) = server.services.leave().await {
            tracing::warn!(cause = ?fault.0.cause, "the other servers will wait for this one for a while");
        }
    }
    match engine.close().await {
        Ok(()) if finished => {
            tracing::info!("stopped");
            ExitCode::SUCCESS
        }
        Ok(()) => ExitCode::from(exit::CUT_SHORT),
        Err(error) => {
            tracing::error!(%error, "the engine did not close cleanly");
            ExitCode::from(exit::ENGINE_STOPPED)
        }
    }
}

/// Before anything is opened that could run out of them.
fn share_descriptors(config: &Config) -> Result<Share, Error> {
    let lanes = std::thread::available_parallelism().map_or(1, usize::from);
    let limit = descriptors::limit();
    let share = descriptors::share(
        limit,
        lanes,
        ADMIN_CONNECTIONS,
        assemble::engine_wants(config),
        config.max_connections,
    )?;
    tracing::debug!(limit, engine = share.engine, connections = share.connections, "file descriptors");
    Ok(share)
}

struct Listeners {
    web: Option<Bound>,
    /// Of each server, one for each service.
    servers: Vec<Vec<Bound>>,
    /// Of each server, where it is served.
    smb: Vec<Bound>,
    admin: Bound,
}

fn bind_all(config: &Config, count: u8) -> Result<Listeners, Error> {
    let open = |name: &str, address: SocketAddr| {
        bind(address).map_err(|error| Error::from(format!("cannot listen on {address} ({name}): {error}")))
    };
    let of_server = |number: u8| -> Result<Vec<Bound>, Error> {
        let bound = config.listeners.iter().map(|listener| {
            let port = if number == 0 { listener.address.port() } else { 0 };
            open(service_name(listener.service), SocketAddr::new(listener.address.ip(), port))
        });
        bound.collect()
    };
    let servers = (0..count).map(of_server).collect::<Result<_, _>>()?;
    let of_smb = |number: u8| -> Option<Result<Bound, Error>> {
        let address = config.smb?;
        let port = if number == 0 { address.port() } else { 0 };
        Some(open("smb", SocketAddr::new(address.ip(), port)))
    };
    let smb = (0..count).filter_map(of_smb).collect::<Result<_, _>>()?;
    let web = config.web.map(|address| open("web", address)).transpose()?;
    Ok(Listeners { servers, smb, web, admin: open("admin", config.admin)? })
}

/// One line for each listener, of a form that tools may parse: `lazuli: NAME listening on SCHEME://ADDRESS`.
fn announce(to: &mut String, name: &str, tls: bool, address: SocketAddr) {
    let scheme = if tls { "https" } else { "http" };
    to.push_str(&format!("lazuli: {name} listening on {scheme}://{address}\n"));
}

fn reload_certificate(certificate: Option<&Certificate>) {
    match certificate.map(Certificate::reload) {
        None => {}
        Some(Ok(())) => tracing::info!("certificate reloaded"),
        Some(Err(error)) => tracing::error!(%error, "certificate not reloaded, the old one stays"),
    }
}

fn reload_keys(args: &ServeArgs, environment: &Environment, servers: &[Assembled]) {
    match reload_accounts(args, environment) {
        Ok((accounts, credentials)) => {
            servers.iter().for_each(|server| server.replace_accounts(accounts.clone(), &credentials));
            tracing::info!("accounts reloaded");
        }
        Err(error) => tracing::error!(%error, "accounts not reloaded, the old ones stay"),
    }
}

/// A panic is a defect of ours: one line with its place, without the default hook's mix into stderr.
fn log_panics() {
    std::panic::set_hook(Box::new(|panic| {
        let payload = panic.payload();
        let text = payload.downcast_ref::<String>().map(String::as_str);
        let message = text.or_else(|| payload.downcast_ref::<&str>().copied()).unwrap_or("unknown");
        let place = panic.location().map_or_else(|| "unknown place".to_owned(), ToString::to_string);
        tracing::error!(%place, message, "panic");
    }));
}

fn millis(since: Instant) -> u64 {
    u64::try_from(since.elapsed().as_millis()).unwrap_or(u64::MAX)
}
