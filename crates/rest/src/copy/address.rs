//! The address of a source, and whether it is one of this server's.

use std::net::{IpAddr, SocketAddr};

use http::Uri;
use http::uri::Authority;
use lazuli_model::operation::Service;
use lazuli_model::version::ApiVersion;

use crate::head::Head;
use crate::headers;

/// The longest address of a source.
const LONGEST: usize = 8 * 1024;

/// `x-ms-copy-source`.
pub(super) struct SourceUrl {
    text: String,
    uri: Uri,
    secure: bool,
    host: String,
}

impl SourceUrl {
    /// None for what is no address of a resource. Before copies were asynchronous, sources were named
    /// `/account/container/blob`.
    pub fn parse(text: &str, head: &Head) -> Option<Self> {
        if head.version < ApiVersion::V2012_02_12 && text.starts_with('/') && text.len() <= LONGEST {
            let (uri, host) = (text.parse().ok()?, "localhost".to_owned());
            return Some(Self { text: text.to_owned(), uri, secure: head.secure, host });
        }
        Self::absolute(text)
    }

    /// `http://..` or `https://..`.
    pub fn absolute(text: &str) -> Option<Self> {
        if text.len() > LONGEST {
            return None;
        }
        let uri: Uri = text.parse().ok()?;
        let secure = match uri.scheme_str() {
            Some("http") => false,
            Some("https") => true,
            _ => return None,
        };
        let authority = uri.authority()?;
        // A name and a password before the host are not for storage.
        if authority.as_str().contains('@') || authority.host().is_empty() {
            return None;
        }
        port_written(authority).ok()?;
        let host = authority.as_str().to_owned();
        Some(Self { text: text.to_owned(), uri, secure, host })
    }

    pub fn text(&self) -> &str {
        &self.text
    }

    /// With the port, if one is written.
    pub fn host(&self) -> &str {
        &self.host
    }

    /// Without the account and the service that it may begin with, and without the port.
    pub fn host_name(&self) -> &str {
        domain(name_of(&self.host))
    }

    pub fn uri(&self) -> &Uri {
        &self.uri
    }

    pub fn path(&self) -> &str {
        self.uri.path()
    }

    pub fn query(&self) -> &str {
        self.uri.query().unwrap_or_default()
    }

    pub fn is_secure(&self) -> bool {
        self.secure
    }

    pub fn port(&self) -> u16 {
        self.uri.port_u16().unwrap_or(default_port(self.secure))
    }

    /// The address of the resource alone: parameters that are no part of it are a signature's.
    pub fn shown(&self) -> String {
        let address = self.text.split('?').next().unwrap_or_default();
        let kept = self.query().split('&').filter(|part| {
            let name = part.split('=').next().unwrap_or_default();
            ["snapshot", "versionid", "sharesnapshot"].iter().any(|kept| name.eq_ignore_ascii_case(kept))
        });
        let kept: Vec<&str> = kept.collect();
        match kept.is_empty() {
            true => address.to_owned(),
            false => format!("{address}?{}", kept.join("&")),
        }
    }

    /// Which of its services the server that was asked serves the source by, if it does: the source is addressed as the
    /// request itself is, by another account or service beside that one, or by an address that the server listens on.
    /// A name that says the service itself may say another one.
    pub fn service_of(&self, asked: &Head, own: &[(Service, SocketAddr)]) -> Option<Service> {
        if self.uri.scheme().is_none() {
            return Some(Service::Blob);
        }
        let (host, port) = (name_of(&self.host), self.port());
        let mut here = own.iter().filter(|(_, listener)| listener.port() == port);
        if let Some(addressed) = asked.header(headers::HOST)
            && domain(host).eq_ignore_ascii_case(domain(name_of(addressed)))
        {
            if port_of(addressed).unwrap_or(default_port(asked.secure)) == port {
                return Some(asked.target.service);
            }
            return here.next().map(|(service, _)| *service);
        }
        here.find(|(_, listener)| reaches(host, listener.ip())).map(|(service, _)| *service)
    }
}

/// The port, if one is written. What is written there and is none must not become the usual one.
pub(crate) fn port_written(authority: &Authority) -> Result<Option<u16>, NoPort> {
    match authority.as_str().strip_prefix(authority.host()) {
        Some("") => Ok(None),
        Some(behind) => {
            let digits =
                behind.strip_prefix(':').filter(|port| port.bytes().all(|byte| byte.is_ascii_digit()));
            match digits.map(str::parse) {
                Some(Ok(port)) if port > 0 => Ok(Some(port)),
                _ => Err(NoPort),
            }
        }
        None => Err(NoPort),
    }
}

#[derive(Debug)]
pub(crate) struct NoPort;

/// Whether a name, without asking for its address, is one of the listener's.
fn reaches(host: &str, listener: IpAddr) -> bool {
    let is_local = listener.is_loopback() || listener.is_unspecified();
    let host = host.trim_matches(['[', ']']);
    if let Ok(address) = host.parse::<IpAddr>() {
        return address == listener || (address.is_loopback() && is_local);
    }
    let host = host.to_ascii_lowercase();
    is_local && (host == "localhost" || host.ends_with(".localhost"))
}

/// What accounts and services of one server have in common: `core.example` of `account.blob.core.example`.
fn domain(host: &str) -> &str {
    let named = host.split_once('.').and_then(|(_, behind)| behind.split_once('.'));
    match named {
        Some((service, domain)) if ["blob", "file"].iter().any(|one| one.eq_ignore_ascii_case(service)) => {
            domain
        }
        _ => host,
    }
}

fn name_of(authority: &str) -> &str {
    match port_of(authority) {
        Some(_) => authority.rsplit_once(':').map_or(authority, |(name, _)| name),
        None => authority,
    }
}

fn port_of(authority: &str) -> Option<u16> {
    authority.rsplit_once(':').and_then(|(_, port)| port.parse().ok())
}

fn default_port(secure: bool) -> u16 {
    if secure { 443 } else { 80 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::head;

    fn is_own(source: &str, host: &str) -> bool {
        let asked = head(&[("host", host)]);
        SourceUrl::parse(source, &asked).is_some_and(|url| url.service_of(&asked, &listeners()).is_some())
    }

    fn listeners() -> [(Service, SocketAddr); 2] {
        let at = |port| SocketAddr::from(([127, 0, 0, 1], port));
        [(Service::Blob, at(10000)), (Service::File, at(10003))]
    }

    #[test]
    fn the_port_tells_the_service() {
        let of = |source, host| {
            let asked = head(&[("host", host)]);
            SourceUrl::parse(source, &asked).and_then(|url| url.service_of(&asked, &listeners()))
        };
        let blobs = "127.0.0.1:10000";
        assert_eq!(of("http://127.0.0.1:10000/acct/c/b", blobs), Some(Service::Blob));
        assert_eq!(of("http://127.0.0.1:10003/acct/s/f", blobs), Some(Service::File));
        assert_eq!(of("http://acct.file.localhost:10003/s/f", blobs), Some(Service::File));
        assert_eq!(of("http://storage:10003/acct/s/f", "storage:10000"), Some(Service::File));
        assert_eq!(of("http://storage:10010/acct/s/f", "storage:10000"), None);
    }

    #[test]
    fn sources_of_the_server_are_known_by_its_names() {
        for (source, host) in [
            ("http://127.0.0.1:10000/acct/c/b", "127.0.0.1:10000"),
            ("http://localhost:10000/acct/c/b", "127.0.0.1:10000"),
            ("http://other.blob.localhost:10000/c/b", "127.0.0.1:10000"),
            ("http://storage:10000/acct/c/b?sig=x", "storage:10000"),
            ("http://other.blob.core.example/c/b", "acct.blob.core.example"),
            ("http://other.blob.core.example/c/b", "acct.file.core.example"),
            ("http://[::1]:10000/acct/c/b", "127.0.0.1:10000"),
        ] {
            assert!(is_own(source, host), "{source} asked of {host}");
        }
        for (source, host) in [
            ("http://127.0.0.1:10010/healthz", "127.0.0.1:10000"),
            ("https://127.0.0.1/acct/c/b", "127.0.0.1:10000"),
            ("http://169.254.169.254/latest", "127.0.0.1:10000"),
            ("http://other.blob.core.example/c/b", "acct.blob.core.elsewhere"),
            ("http://evil.example:10000/acct/c/b", "127.0.0.1:10000"),
            ("http://user:pass@127.0.0.1:10000/acct/c/b", "127.0.0.1:10000"),
            ("ftp://127.0.0.1:10000/acct/c/b", "127.0.0.1:10000"),
            ("c/b", "127.0.0.1:10000"),
        ] {
            assert!(!is_own(source, host), "{source} asked of {host}");
        }
    }

    #[test]
    fn a_port_that_is_none_is_not_another() {
        let asked = head(&[]);
        for (text, port) in [
            ("http://h/a/c/b", Some(80)),
            ("https://h/a/c/b", Some(443)),
            ("http://h:8080/a/c/b", Some(8080)),
            ("http://[::1]:8080/a/c/b", Some(8080)),
            ("http://[::1]/a/c/b", Some(80)),
            ("http://80:80/a", Some(80)),
            ("http://h:99999/a/c/b", None),
            ("http://h:65536/a/c/b", None),
            ("http://h:0/a/c/b", None),
            ("http://h:/a/c/b", None),
            ("http://h:+80/a/c/b", None),
        ] {
            let found = SourceUrl::parse(text, &asked).map(|url| url.port());
            assert_eq!(found, port, "{text}");
        }
    }

    #[test]
    fn signatures_are_not_shown() {
        let asked = head(&[]);
        let shown = |text| SourceUrl::parse(text, &asked).map(|url| url.shown());
        assert_eq!(shown("http://h/a/c/b?sv=1&sig=x").as_deref(), Some("http://h/a/c/b"));
        assert_eq!(shown("http://h/a/c/b?snapshot=t&sig=x").as_deref(), Some("http://h/a/c/b?snapshot=t"));
    }
}
