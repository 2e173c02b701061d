//! Which services listen, and where.

use std::net::{IpAddr, Ipv4Addr, SocketAddr, ToSocketAddrs};
use std::time::Duration;

use lazuli_model::operation::Service;

use super::{ConfigError, List, Listener};
use crate::args::Settings;
use crate::assemble::service_name;

/// No client's pool keeps an idle connection longer than this, so none meets a reset.
const KEEP_ALIVE: Duration = Duration::from_secs(600);

/// How SMB is called where services are named.
const SMB: &str = "smb";
const SMB_PORT: u16 = 10445;

/// What the settings say about one listener.
struct Written<'a> {
    service: Service,
    setting: &'static str,
    host: &'a Option<String>,
    port: u16,
    keep_alive: Option<u64>,
}

pub fn listeners(settings: &Settings) -> Result<Vec<Listener>, ConfigError> {
    let s = settings;
    let row = |service, setting, host, port, keep_alive| Written { service, setting, host, port, keep_alive };
    let all = [
        row(Service::Blob, "blobHost", &s.blob_host, s.blob_port.unwrap_or(10000), s.blob_keep_alive_timeout),
        row(
            Service::Queue,
            "queueHost",
            &s.queue_host,
            s.queue_port.unwrap_or(10001),
            s.queue_keep_alive_timeout,
        ),
        row(
            Service::Table,
            "tableHost",
            &s.table_host,
            s.table_port.unwrap_or(10002),
            s.table_keep_alive_timeout,
        ),
        row(Service::File, "fileHost", &s.file_host, s.file_port.unwrap_or(10003), None),
        row(Service::Dfs, "dfsHost", &s.dfs_host, s.dfs_port.unwrap_or(10004), None),
    ];
    let (on, _) = switched_on(s.services.as_ref())?;
    let listen = |row: &Written<'_>| {
        let address = address(s, row.setting, row.host.as_deref(), row.port)?;
        let keep_alive = row.keep_alive.map_or(KEEP_ALIVE, Duration::from_secs).max(KEEP_ALIVE);
        Ok(Listener { service: row.service, address, keep_alive })
    };
    all.iter().filter(|row| on.contains(&row.service)).map(listen).collect()
}

pub fn admin(settings: &Settings) -> Result<SocketAddr, ConfigError> {
    address(settings, "adminHost", settings.admin_host.as_deref(), settings.admin_port.unwrap_or(10010))
}

/// Where static websites are served, if that is asked for.
pub fn web(settings: &Settings) -> Result<Option<SocketAddr>, ConfigError> {
    match (&settings.web_host, settings.web_port) {
        (None, None) => Ok(None),
        (host, port) => address(settings, "webHost", host.as_deref(), port.unwrap_or(10005)).map(Some),
    }
}

/// The File service over SMB, unless it is switched off.
pub fn smb(settings: &Settings) -> Result<Option<SocketAddr>, ConfigError> {
    let (_, on) = switched_on(settings.services.as_ref())?;
    let listen =
        || address(settings, "smbHost", settings.smb_host.as_deref(), settings.smb_port.unwrap_or(SMB_PORT));
    on.then(listen).transpose()
}

/// The services that are named, and whether SMB is among them.
fn switched_on(written: Option<&List>) -> Result<(Vec<Service>, bool), ConfigError> {
    const ALL: [Service; 5] = [Service::Blob, Service::Queue, Service::Table, Service::File, Service::Dfs];
    let Some(List(names)) = written else { return Ok((ALL.to_vec(), true)) };
    let known = || ALL.map(service_name).into_iter().chain([SMB]).collect::<Vec<_>>().join(", ");
    let mut on = (Vec::new(), false);
    for name in names {
        let found = ALL.iter().find(|service| service_name(**service).eq_ignore_ascii_case(name.trim()));
        match found {
            Some(service) => on.0.push(*service),
            None if name.trim().eq_ignore_ascii_case(SMB) => on.1 = true,
            None => {
                let unknown = format!("`{name}`: there are {}", known());
                return Err(ConfigError::setting("services", unknown));
            }
        }
    }
    if names.is_empty() {
        return Err(ConfigError::setting("services", format!("none is left: there are {}", known())));
    }
    Ok(on)
}

/// A listener's own address, else that of all listeners, else loopback.
fn address(
    settings: &Settings,
    setting: &'static str,
    own: Option<&str>,
    port: u16,
) -> Result<SocketAddr, ConfigError> {
    let (setting, host) = match own {
        Some(own) => (setting, Some(own)),
        None => ("host", settings.host.as_deref()),
    };
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

/// A listener that others than this machine can reach.
pub fn exposed(
    listeners: &[Listener],
    smb: Option<SocketAddr>,
    admin: SocketAddr,
) -> Option<(&'static str, SocketAddr)> {
    let all = listeners.iter().map(|listener| (service_name(listener.service), listener.address));
    all.chain(smb.map(|address| (SMB, address)))
        .chain([("admin", admin)])
        .find(|(_, address)| !address.ip().is_loopback())
}
