//! What a client is given to find the server: `DefaultEndpointsProtocol=...;AccountName=...;AccountKey=...;...`.

use std::fmt::Write;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use lazuli_model::operation::Service;
use lazuli_rest::auth::accounts::DEVELOPMENT_KEY;

use crate::assemble::service_name;
use crate::config::{Config, Credential};

/// Stands for a key that is a secret.
const REDACTED: &str = "REDACTED";

/// The whole string, with the key, of a server that need not run. It cannot tell a port that the server chooses itself.
pub fn printed(config: &Config, account: Option<&str>) -> Result<String, String> {
    let found = match account {
        None => config.credentials.first(),
        Some(name) => config.credentials.iter().find(|known| known.account == name),
    };
    let credential = found.ok_or_else(|| format!("no account {}", account.unwrap_or_default()))?;
    let listeners: Vec<_> =
        config.listeners.iter().map(|listener| (listener.service, listener.address)).collect();
    if let Some((service, _)) =
        listeners.iter().find(|(service, at)| has_endpoint(*service) && at.port() == 0)
    {
        let name = service_name(*service);
        return Err(format!(
            "--{name}Port 0 is any free port: the server prints its connection string when it has chosen one"
        ));
    }
    Ok(build(&credential.account, credential.key(), config.tls.is_some(), &listeners))
}

/// The string of the first account as it is announced at start: of keys, the log shows the published development key only.
pub fn announced(credential: &Credential, tls: bool, listeners: &[(Service, SocketAddr)]) -> String {
    let key = if credential.key() == DEVELOPMENT_KEY { DEVELOPMENT_KEY } else { REDACTED };
    build(&credential.account, key, tls, listeners)
}

fn build(account: &str, key: &str, tls: bool, listeners: &[(Service, SocketAddr)]) -> String {
    let scheme = if tls { "https" } else { "http" };
    let mut text = format!("DefaultEndpointsProtocol={scheme};AccountName={account};AccountKey={key};");
    for (service, address) in listeners.iter().filter(|(service, _)| has_endpoint(*service)) {
        let (name, address) = (endpoint(*service), reachable(*address));
        let _ = write!(text, "{name}={scheme}://{address}/{account};");
    }
    text
}

/// Some clients refuse a string with a name that they do not know, such as that of dfs.
fn has_endpoint(service: Service) -> bool {
    !matches!(service, Service::Dfs)
}

fn endpoint(service: Service) -> &'static str {
    match service {
        Service::Blob => "BlobEndpoint",
        Service::Queue => "QueueEndpoint",
        Service::Table => "TableEndpoint",
        Service::File => "FileEndpoint",
        Service::Dfs => "DfsEndpoint",
    }
}

/// A listener on every address is reached by the loopback one.
fn reachable(address: SocketAddr) -> SocketAddr {
    let ip = match address.ip() {
        ip if !ip.is_unspecified() => ip,
        IpAddr::V4(_) => Ipv4Addr::LOCALHOST.into(),
        IpAddr::V6(_) => Ipv6Addr::LOCALHOST.into(),
    };
    SocketAddr::new(ip, address.port())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn endpoints_are_reachable_and_of_the_scheme_that_is_served() {
        let at = |text: &str| text.parse::<SocketAddr>().expect("an address");
        let listeners = [
            (Service::Blob, at("0.0.0.0:1")),
            (Service::Queue, at("[::]:2")),
            (Service::Table, at("10.0.0.7:3")),
            (Service::File, at("127.0.0.1:4")),
            (Service::Dfs, at("127.0.0.1:5")),
        ];
        assert_eq!(
            build("mine", "a2V5", true, &listeners),
            "DefaultEndpointsProtocol=https;AccountName=mine;AccountKey=a2V5;\
             BlobEndpoint=https://127.0.0.1:1/mine;QueueEndpoint=https://[::1]:2/mine;TableEndpoint=https://10.0.0.7:3/mine;\
             FileEndpoint=https://127.0.0.1:4/mine;"
        );
    }
}
