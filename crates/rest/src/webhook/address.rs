//! The address of a webhook, and where it may lead.

use std::net::{IpAddr, SocketAddr};

use http::{Method, Request, Uri};

use crate::copy::{is_inside, port_written};

const LONGEST: usize = 2048;
/// Of one name.
const ADDRESSES: usize = 16;

/// `https://HOST[:PORT]/PATH[?QUERY]`; `http` for this machine only.
#[derive(Clone, Debug)]
pub struct HookAddress {
    text: String,
    uri: Uri,
    host: String,
    port: u16,
    secure: bool,
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadHook {
    #[error("not an address of the form https://HOST[:PORT]/PATH")]
    Address,
    #[error("http is for this machine only (localhost, 127.0.0.1): write https")]
    Http,
}

impl HookAddress {
    pub fn parse(text: &str) -> Result<Self, BadHook> {
        let uri: Uri = text.parse().map_err(|_| BadHook::Address)?;
        let authority = uri.authority().ok_or(BadHook::Address)?;
        if text.len() > LONGEST || authority.as_str().contains('@') {
            return Err(BadHook::Address);
        }
        let host = authority.host().trim_matches(['[', ']']).to_ascii_lowercase();
        if host.is_empty() {
            return Err(BadHook::Address);
        }
        let secure = match uri.scheme_str() {
            Some("https") => true,
            Some("http") if is_here(&host) => false,
            Some("http") => return Err(BadHook::Http),
            _ => return Err(BadHook::Address),
        };
        let port = port_written(authority).map_err(|_| BadHook::Address)?;
        let port = port.unwrap_or(if secure { 443 } else { 80 });
        Ok(Self { text: text.to_owned(), uri, host, port, secure })
    }

    pub fn text(&self) -> &str {
        &self.text
    }

    pub fn host(&self) -> &str {
        &self.host
    }

    pub fn is_secure(&self) -> bool {
        self.secure
    }

    pub(super) fn request(&self, method: Method) -> http::request::Builder {
        let path = self.uri.path_and_query().map_or("/", http::uri::PathAndQuery::as_str);
        let host = self.uri.authority().map_or("", http::uri::Authority::as_str);
        Request::builder().method(method).uri(path).header(http::header::HOST, host)
    }

    /// Addresses that a name of the outside should not lead to: only who names the address itself, or this machine,
    /// means it.
    fn allows(&self, address: IpAddr) -> bool {
        let is_meant = self.host.parse::<IpAddr>().is_ok_and(|named| named == address)
            || (is_here(&self.host) && address.is_loopback());
        is_meant || !is_inside(address)
    }

    pub(super) async fn resolve(&self) -> Result<SocketAddr, String> {
        let found = tokio::net::lookup_host((self.host.as_str(), self.port)).await;
        let found = found.map_err(|_| "the name is not known".to_owned())?;
        let mut found = found.take(ADDRESSES);
        found
            .find(|address| self.allows(address.ip()))
            .ok_or_else(|| "the name leads to an address inside".to_owned())
    }
}

fn is_here(host: &str) -> bool {
    host == "localhost" || host.parse::<IpAddr>().is_ok_and(|address| address.to_canonical().is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn http_is_for_this_machine() {
        for good in [
            "https://hooks.example/api/events?code=x",
            "https://hooks.example:8443/",
            "https://hooks.example",
            "http://localhost:7071/runtime/webhooks/EventGrid?functionName=f",
            "http://127.0.0.1:7071/a",
            "http://[::1]:7071/a",
        ] {
            HookAddress::parse(good).expect(good);
        }
        for (bad, why) in [
            ("http://hooks.example/a", BadHook::Http),
            ("http://10.0.0.1/a", BadHook::Http),
            ("http://localhost.evil.example/a", BadHook::Http),
            ("ftp://hooks.example/a", BadHook::Address),
            ("https://user:pass@hooks.example/a", BadHook::Address),
            ("https:///a", BadHook::Address),
            ("https://hooks.example:/a", BadHook::Address),
            ("https://hooks.example:99999/a", BadHook::Address),
            ("/a", BadHook::Address),
            ("hooks.example", BadHook::Address),
            ("", BadHook::Address),
        ] {
            assert_eq!(HookAddress::parse(bad).map(|_| ()), Err(why), "{bad}");
        }
    }

    #[test]
    fn a_name_does_not_lead_inside() {
        let at = |text: &str| HookAddress::parse(text).expect("an address");
        let ip = |text: &str| text.parse::<IpAddr>().expect("an address");
        let outside = at("https://hooks.example/a");
        for inside in ["127.0.0.1", "10.1.2.3", "169.254.169.254", "192.168.0.1", "::1", "fd00::1", "0.0.0.0"]
        {
            assert!(!outside.allows(ip(inside)), "{inside}");
        }
        assert!(outside.allows(ip("203.0.113.7")));
        assert!(at("https://10.1.2.3/a").allows(ip("10.1.2.3")));
        assert!(!at("https://10.1.2.3/a").allows(ip("10.1.2.4")));
        assert!(at("http://localhost:1/a").allows(ip("127.0.0.1")));
        assert!(!at("http://localhost:1/a").allows(ip("10.1.2.3")));
    }
}
