//! Sources elsewhere. The server asks only hosts that its configuration names: a request must not make it speak to what
//! its client cannot reach itself. A name is resolved once, and the connection goes to the address that was judged.

mod answer;
mod pace;
mod request;

use std::convert::Infallible;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::{Request, Response};
use hyper::body::Incoming;
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use lazuli_model::error::{ErrorCode, Failure};
use lazuli_service::blob::ForeignSource;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio::sync::OnceCell;
use tokio::time::timeout;
use tokio_rustls::TlsConnector;
use tokio_rustls::rustls::pki_types::ServerName;
use tokio_rustls::rustls::{ClientConfig, RootCertStore};

pub(super) use request::SourceRequest;

use super::address::port_written;

/// How long a source may take to be reached, and then to begin its answer.
const REACHED: Duration = Duration::from_secs(10);
const ANSWERED: Duration = Duration::from_secs(30);
/// Of one name.
const ADDRESSES: usize = 16;

/// The hosts elsewhere that sources may be on; none by default.
#[derive(Default)]
pub struct ForeignHosts {
    allowed: Vec<Allowed>,
    tls: OnceCell<TlsConnector>,
}

#[derive(Debug, PartialEq, Eq)]
struct Allowed {
    host: String,
    /// None: the port that belongs to the scheme.
    port: Option<u16>,
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is not HOST or HOST:PORT")]
pub struct BadSources(String);

impl ForeignHosts {
    /// Each is `HOST` or `HOST:PORT`.
    pub fn parse<'a>(written: impl IntoIterator<Item = &'a str>) -> Result<Self, BadSources> {
        let mut allowed = Vec::new();
        for text in written.into_iter().map(str::trim).filter(|text| !text.is_empty()) {
            let bad = || BadSources(text.to_owned());
            let authority: http::uri::Authority = text.parse().map_err(|_| bad())?;
            if text.contains('@') || authority.host().is_empty() {
                return Err(bad());
            }
            let port = port_written(&authority).map_err(|_| bad())?;
            let host = authority.host().trim_matches(['[', ']']).to_ascii_lowercase();
            allowed.push(Allowed { host, port });
        }
        Ok(Self { allowed, tls: OnceCell::new() })
    }

    fn allows(&self, host: &str, port: u16, secure: bool) -> bool {
        let usual = if secure { 443 } else { 80 };
        self.allowed
            .iter()
            .any(|allowed| allowed.host.eq_ignore_ascii_case(host) && allowed.port.unwrap_or(usual) == port)
    }

    /// Addresses that a name of the outside should not lead to: only who names the address itself means it.
    fn allows_address(&self, address: IpAddr, port: u16, secure: bool) -> bool {
        !is_inside(address) || self.allows(&address.to_string(), port, secure)
    }

    /// Asks the source for its bytes. What stands in the answer's head is known when this returns; the bytes come as they
    /// are wanted.
    pub(super) async fn open(&self, asked: &SourceRequest) -> Result<ForeignSource, Failure> {
        let url = &asked.url;
        let host = url.uri().host().unwrap_or_default().trim_matches(['[', ']']);
        let (port, secure) = (url.port(), url.is_secure());
        if !self.allows(host, port, secure) {
            return Err(refused("the host is not among --copySources"));
        }
        let address = self.resolve(host, port, secure).await?;
        let unreachable = |cause: String| Failure::new(ErrorCode::CannotVerifyCopySource).cause(cause);
        let connected = timeout(REACHED, TcpStream::connect(address)).await;
        let stream = connected
            .map_err(|_| unreachable("the source is not reached in time".to_owned()))?
            .map_err(|error| unreachable(error.to_string()))?;
        let asking = async {
            let request = asked.request()?;
            let answer = match secure {
                false => ask(stream, request).await,
                true => {
                    let name =
                        ServerName::try_from(host.to_owned()).map_err(|_| refused("no name for TLS"))?;
                    let connector = self.tls.get_or_try_init(|| async { connector() }).await?;
                    let stream = connector.connect(name, stream).await;
                    ask(stream.map_err(|error| unreachable(error.to_string()))?, request).await
                }
            };
            answer.map_err(|error| unreachable(error.to_string()))
        };
        let answer = timeout(ANSWERED, asking).await;
        answer::source_of(
            answer.map_err(|_| unreachable("the source does not answer in time".to_owned()))??,
            asked,
        )
    }

    async fn resolve(&self, host: &str, port: u16, secure: bool) -> Result<SocketAddr, Failure> {
        let lookup = timeout(REACHED, tokio::net::lookup_host((host, port))).await;
        let found: Vec<SocketAddr> = match lookup {
            Ok(Ok(found)) => found.take(ADDRESSES).collect(),
            _ => return Err(Failure::new(ErrorCode::CannotVerifyCopySource).cause("the name is not known")),
        };
        let allowed = |address: &&SocketAddr| self.allows_address(address.ip(), port, secure);
        found.iter().find(allowed).copied().ok_or_else(|| refused("the name leads to an address inside"))
    }
}

/// The client is not to try again.
fn refused(cause: &str) -> Failure {
    Failure::new(ErrorCode::CannotVerifyCopySource)
        .with_status(403)
        .with_message("This server may not read the specified copy source.")
        .cause(cause)
}

/// Loopback, private and link-local networks, and what else is no address of the internet.
pub(crate) fn is_inside(address: IpAddr) -> bool {
    match address.to_canonical() {
        IpAddr::V4(v4) => {
            let [first, second, third, _] = v4.octets();
            v4.is_loopback()
                || v4.is_private()
                || v4.is_link_local()
                || v4.is_unspecified()
                || v4.is_broadcast()
                || v4.is_multicast()
                || first == 0
                // Of carriers, behind whose translation customers are.
                || (first == 100 && (64..128).contains(&second))
                // Of protocols, of measurements, and kept for later.
                || (first, second, third) == (192, 0, 0)
                || (first == 198 && (18..20).contains(&second))
                || first >= 240
        }
        IpAddr::V6(v6) => {
            embedded(v6).is_some_and(|v4| is_inside(v4.into()))
                || v6.is_loopback()
                || v6.is_unspecified()
                || v6.is_multicast()
                || v6.is_unique_local()
                || v6.is_unicast_link_local()
        }
    }
}

/// The address of the old kind that a translator or a tunnel would take out of a new one.
fn embedded(address: Ipv6Addr) -> Option<Ipv4Addr> {
    let four = |high: u16, low: u16| Ipv4Addr::from_bits(u32::from(high) << 16 | u32::from(low));
    match address.segments() {
        [0x64, 0xff9b, 0, 0, 0, 0, high, low] => Some(four(high, low)),
        [0x2002, high, low, ..] => Some(four(high, low)),
        [0, 0, 0, 0, 0, 0, high, low] if high > 0 => Some(four(high, low)),
        _ => None,
    }
}

/// Trusts what the system trusts.
pub(crate) fn connector() -> Result<TlsConnector, Failure> {
    let mut roots = RootCertStore::empty();
    roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
    if roots.is_empty() {
        return Err(Failure::new(ErrorCode::CannotVerifyCopySource).cause("no certificates to trust"));
    }
    let config = ClientConfig::builder().with_root_certificates(roots).with_no_client_auth();
    Ok(TlsConnector::from(Arc::new(config)))
}

pub(crate) async fn ask<B>(
    stream: impl AsyncRead + AsyncWrite + Send + Unpin + 'static,
    request: Request<B>,
) -> hyper::Result<Response<Incoming>>
where
    B: http_body::Body<Data = Bytes, Error = Infallible> + Send + 'static,
{
    let (mut sender, connection) = http1::handshake(TokioIo::new(stream)).await?;
    // Ends with the answer's body.
    tokio::spawn(connection);
    sender.send_request(request).await
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_hosts_that_are_named_and_ports_that_are_meant() {
        let hosts = ForeignHosts::parse(["Data.example", "other.example:8080", "10.0.0.5:9000", "[::1]:9"])
            .expect("hosts");
        assert!(hosts.allows("data.example", 443, true));
        assert!(hosts.allows("data.example", 80, false));
        assert!(!hosts.allows("data.example", 8080, false));
        assert!(hosts.allows("other.example", 8080, true));
        assert!(!hosts.allows("sub.data.example", 443, true));
        assert!(hosts.allows("::1", 9, false));
        assert!(!ForeignHosts::default().allows("data.example", 443, true));
        for bad in ["http://x", "a b", "x@y", "host:", "host:99999", "host:0", "[::1]:65536"] {
            assert!(ForeignHosts::parse([bad]).is_err(), "{bad}");
        }
    }

    #[test]
    fn a_name_does_not_lead_inside() {
        let hosts = ForeignHosts::parse(["data.example", "10.0.0.5:9000"]).expect("hosts");
        for inside in [
            "127.0.0.1",
            "10.1.2.3",
            "169.254.169.254",
            "192.168.0.1",
            "172.16.0.1",
            "0.0.0.0",
            "::1",
            "fd00::1",
            "fe80::1",
            "::ffff:127.0.0.1",
            "100.64.0.1",
            "198.18.0.1",
            "240.0.0.1",
            "192.0.0.1",
            "64:ff9b::7f00:1",
            "64:ff9b::a9fe:a9fe",
            "2002:7f00:1::1",
            "::127.0.0.1",
        ] {
            assert!(!hosts.allows_address(inside.parse().expect("an address"), 443, true), "{inside}");
        }
        for outside in ["203.0.113.7", "64:ff9b::cb00:7107", "2a00::1"] {
            assert!(hosts.allows_address(outside.parse().expect("an address"), 443, true), "{outside}");
        }
        assert!(hosts.allows_address("10.0.0.5".parse().expect("an address"), 9000, false));
        assert!(!hosts.allows_address("10.0.0.5".parse().expect("an address"), 9001, false));
    }
}
