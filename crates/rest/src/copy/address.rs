//! The address of a source, and whether it is one of this server's.

use std::net::{IpAddr, SocketAddr};

use http::Uri;
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
        if text.len() > LONGEST {
            return None;
        }
        let uri: Uri = text.parse().ok()?;
        let secure = match uri.scheme_str() {
            Some("http") => false,
            Some("https") => true,
            None if head.version < ApiVersion::V2012_02_12 && text.starts_with('/') => {
                let host = "localhost".to_owned();
                return Some(Self { text: text.to_owned(), uri, secure: head.secure, host });
            }
            _ => return None,
        };
        let authority = uri.authority()?;
        // A name and a password before the host are not for storage.
        if authority.as_str().contains('@') {
            return None;
        }
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
            ["snapshot", "versionid"].iter().any(|kept| name.eq_ignore_ascii_case(kept))
        });
        let kept: Vec<&str> = kept.collect();
        match kept.is_empty() {
            true => address.to_owned(),
            false => format!("{address}?{}", kept.join("&")),
        }
    }

    /// Whether the server that was asked serves the source too: it is addressed as the request itself is, by another account
    /// beside that one, or by an address that the server listens on.
    pub fn is_of(&self, asked: &Head, own: &[SocketAddr]) -> bool {
        if self.uri.scheme().is_none() {
            return true;
        }
        let (host, port) = (name_of(&self.host), self.port());
        if let Some(addressed) = asked.header(headers::HOST) {
            let same_port = port_of(addressed).unwrap_or(default_port(asked.secure)) == port;
            if same_port && domain(host).eq_ignore_ascii_case(domain(name_of(addressed))) {
                return true;
            }
        }
        own.iter().any(|listener| listener.port() == port && reaches(host, listener.ip()))
    }
}

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

/// What accounts of one server have in common: `blob.core.example` of `account.blob.core.example`.
fn domain(host: &str) -> &str {
    match host.split_once('.') {
        Some((_, domain)) if domain.to_ascii_lowercase().starts_with("blob.") => domain,
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
        let own = [SocketAddr::from(([127, 0, 0, 1], 10000))];
        SourceUrl::parse(source, &asked).is_some_and(|url| url.is_of(&asked, &own))
    }

    #[test]
    fn sources_of_the_server_are_known_by_its_names() {
        for (source, host) in [
            ("http://127.0.0.1:10000/acct/c/b", "127.0.0.1:10000"),
            ("http://localhost:10000/acct/c/b", "127.0.0.1:10000"),
            ("http://other.blob.localhost:10000/c/b", "127.0.0.1:10000"),
            ("http://storage:10000/acct/c/b?sig=x", "storage:10000"),
            ("http://other.blob.core.example/c/b", "acct.blob.core.example"),
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
    fn signatures_are_not_shown() {
        let asked = head(&[]);
        let shown = |text| SourceUrl::parse(text, &asked).map(|url| url.shown());
        assert_eq!(shown("http://h/a/c/b?sv=1&sig=x").as_deref(), Some("http://h/a/c/b"));
        assert_eq!(shown("http://h/a/c/b?snapshot=t&sig=x").as_deref(), Some("http://h/a/c/b?snapshot=t"));
    }
}
