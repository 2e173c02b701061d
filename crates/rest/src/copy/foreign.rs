//! Sources elsewhere. The server asks only hosts that its configuration names: a request must not make it speak to what
//! its client cannot reach itself. A name is resolved once, and the connection goes to the address that was judged.

use std::convert::Infallible;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::{HeaderMap, Request, Response};
use http_body_util::{BodyExt as _, Empty};
use hyper::body::Incoming;
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use lazuli_model::blob::{BlobType, ContentHeaders, ContentMd5};
use lazuli_model::error::{ErrorCode, Failure};
use lazuli_model::metadata::Metadata;
use lazuli_model::operation::{Op, Source};
use lazuli_service::blob::{ForeignSource, SourceType};
use lazuli_service::{Body, BodyError};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio::sync::OnceCell;
use tokio::time::timeout;
use tokio_rustls::TlsConnector;
use tokio_rustls::rustls::pki_types::ServerName;
use tokio_rustls::rustls::{ClientConfig, RootCertStore};

use super::address::SourceUrl;
use crate::call::Call;
use crate::headers;

/// How long a source may take to be reached, and then to begin its answer.
const REACHED: Duration = Duration::from_secs(10);
const ANSWERED: Duration = Duration::from_secs(30);
/// How long it may pause between two parts of its bytes.
const PAUSE: Duration = Duration::from_secs(30);
const PAGE: u64 = 512;
/// Of an append blob.
const BLOCKS: u32 = 50_000;
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
            if text.contains('@') || authority.host().is_empty() || (text.ends_with(':')) {
                return Err(bad());
            }
            let host = authority.host().trim_matches(['[', ']']).to_ascii_lowercase();
            allowed.push(Allowed { host, port: authority.port_u16() });
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
    pub(super) async fn open(&self, call: &Call, url: &SourceUrl) -> Result<ForeignSource, Failure> {
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
            let request = request(call, url)?;
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
        source_of(answer.map_err(|_| unreachable("the source does not answer in time".to_owned()))??, call)
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
            let [first, second, ..] = v4.octets();
            v4.is_loopback()
                || v4.is_private()
                || v4.is_link_local()
                || v4.is_unspecified()
                || v4.is_broadcast()
                || v4.is_multicast()
                || first == 0
                // Of carriers, behind whose translation customers are.
                || (first == 100 && (64..128).contains(&second))
        }
        IpAddr::V6(v6) => {
            v6.is_loopback()
                || v6.is_unspecified()
                || v6.is_multicast()
                || v6.is_unique_local()
                || v6.is_unicast_link_local()
        }
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

/// Conditions on the source become conditions of its read.
const CONDITIONS: [(&str, &str); 5] = [
    (headers::X_MS_SOURCE_IF_MATCH, headers::IF_MATCH),
    (headers::X_MS_SOURCE_IF_NONE_MATCH, headers::IF_NONE_MATCH),
    (headers::X_MS_SOURCE_IF_MODIFIED_SINCE, headers::IF_MODIFIED_SINCE),
    (headers::X_MS_SOURCE_IF_UNMODIFIED_SINCE, headers::IF_UNMODIFIED_SINCE),
    (headers::X_MS_SOURCE_IF_TAGS, headers::X_MS_IF_TAGS),
];

/// The key that the source is encrypted with becomes the key of its read.
const KEYS: [(&str, &str); 3] = [
    (headers::X_MS_SOURCE_ENCRYPTION_KEY, headers::X_MS_ENCRYPTION_KEY),
    (headers::X_MS_SOURCE_ENCRYPTION_KEY_SHA256, headers::X_MS_ENCRYPTION_KEY_SHA256),
    (headers::X_MS_SOURCE_ENCRYPTION_ALGORITHM, headers::X_MS_ENCRYPTION_ALGORITHM),
];

fn request(call: &Call, url: &SourceUrl) -> Result<Request<Empty<Bytes>>, Failure> {
    let path = url.uri().path_and_query().map_or("/", http::uri::PathAndQuery::as_str);
    let mut request = Request::get(path)
        .header(http::header::HOST, url.host())
        .header(headers::X_MS_VERSION, call.head.version.as_str());
    for (given, sent) in CONDITIONS {
        if let Some(value) = call.head.headers.find(given) {
            request = request.header(sent, value.clone());
        }
    }
    if let Some(range) = call.head.headers.find(headers::X_MS_SOURCE_RANGE) {
        request = request.header(headers::RANGE, range.clone());
    }
    if call.row.policy.source != Source::Looked
        && let Some(token) = call.head.headers.find(headers::X_MS_COPY_SOURCE_AUTHORIZATION)
    {
        request = request.header(headers::AUTHORIZATION, token.clone());
    }
    for (given, sent) in KEYS {
        let Some(value) = call.head.headers.find(given) else { continue };
        if !super::takes_source_key(call.row.op) {
            continue;
        }
        // A key is sent to a source over TLS only.
        if !url.is_secure() {
            return Err(Failure::invalid_header(given, ""));
        }
        request = request.header(sent, value.clone());
    }
    let bad = || Failure::invalid_header(headers::X_MS_COPY_SOURCE, url.text());
    request.body(Empty::new()).map_err(|_| bad())
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

/// Only an answer with the bytes will do: a redirection is not followed.
fn source_of(answer: Response<Incoming>, call: &Call) -> Result<ForeignSource, Failure> {
    let status = answer.status().as_u16();
    let wanted = if call.head.headers.holds(headers::X_MS_SOURCE_RANGE) { 206 } else { 200 };
    if status != wanted && status != 200 {
        return Err(told(status, call));
    }
    let (parts, body) = answer.into_parts();
    let text = |name: &str| parts.headers.get(name).and_then(|value| value.to_str().ok()).map(str::to_owned);
    let length = text(headers::CONTENT_LENGTH).and_then(|text| text.trim().parse().ok());
    let length: u64 = length.ok_or_else(|| {
        Failure::new(ErrorCode::CannotVerifyCopySource).with_status(400).cause("the source tells no length")
    })?;
    // A source that ignores ranges sends all of it, which is not what was asked for.
    if status != wanted {
        return Err(told(416, call));
    }
    let content_md5 = text(headers::CONTENT_MD5).and_then(|text| {
        use base64::Engine as _;
        base64::prelude::BASE64_STANDARD.decode(text).ok()
    });
    let headers = ContentHeaders {
        content_type: text(headers::CONTENT_TYPE),
        content_encoding: text(headers::CONTENT_ENCODING),
        content_language: text(headers::CONTENT_LANGUAGE),
        content_disposition: text(headers::CONTENT_DISPOSITION),
        cache_control: text(headers::CACHE_CONTROL),
        content_md5: content_md5.filter(|md5| md5.len() == 16).map_or(ContentMd5::None, ContentMd5::of),
    };
    let metadata = metadata(&parts.headers);
    let kind = match text(headers::X_MS_BLOB_TYPE).as_deref() {
        Some("PageBlob") => BlobType::Page,
        Some("AppendBlob") => BlobType::Append,
        // A file is copied as a block blob.
        _ => BlobType::Block,
    };
    let sequence_number = text(headers::X_MS_BLOB_SEQUENCE_NUMBER).and_then(|text| text.parse().ok());
    let blocks = text(headers::X_MS_BLOB_COMMITTED_BLOCK_COUNT).and_then(|text| text.parse().ok());
    let blocks = blocks.map(|blocks: u32| blocks.min(BLOCKS));
    // Pages are copied as pages, or not at all.
    if kind == BlobType::Page && call.row.op == Op::CopyBlob && !length.is_multiple_of(PAGE) {
        return Err(Failure::new(ErrorCode::CannotVerifyCopySource)
            .with_status(400)
            .cause("a page blob of a length that is none"));
    }
    let of = SourceType { kind, sequence_number: sequence_number.unwrap_or(0), blocks };
    Ok(ForeignSource { headers, metadata, body: paced(body, length), length, of })
}

/// What the read was told, as the operation tells it.
fn told(status: u16, call: &Call) -> Failure {
    let looked = call.row.policy.source == Source::Looked;
    let by_match =
        call.row.policy.source == Source::Fetched && call.head.headers.holds(headers::X_MS_SOURCE_IF_MATCH);
    match status {
        304 | 412 if looked => ErrorCode::SourceConditionNotMet.into(),
        412 if by_match => ErrorCode::SourceConditionNotMet.into(),
        304 | 400..=499 => Failure::new(ErrorCode::CannotVerifyCopySource).with_status(status),
        _ => Failure::new(ErrorCode::CannotVerifyCopySource)
            .with_status(400)
            .cause(format!("the source answers {status}")),
    }
}

fn metadata(headers: &HeaderMap) -> Metadata {
    let pairs = headers.iter().filter_map(|(name, value)| {
        let name = name.as_str().strip_prefix(headers::X_MS_META_PREFIX)?;
        Some((name.to_owned(), value.to_str().ok()?.to_owned()))
    });
    Metadata::from_pairs(pairs).unwrap_or_default()
}

/// The bytes, as long as the source goes on sending.
fn paced(body: Incoming, length: u64) -> Body {
    let frames = futures_util::stream::unfold(Some(body), |body| async move {
        let mut body = body?;
        loop {
            return match timeout(PAUSE, body.frame()).await {
                Err(_) => Some((Err(BodyError::Idle), None)),
                Ok(None) => None,
                Ok(Some(Err(_))) => Some((Err(BodyError::Incomplete), None)),
                Ok(Some(Ok(frame))) => match frame.into_data() {
                    Ok(bytes) => Some((Ok(bytes), Some(body))),
                    Err(_) => continue,
                },
            };
        }
    });
    Body::new(frames, Some(length))
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
        for bad in ["http://x", "a b", "x@y", "host:", ""].into_iter().filter(|text| !text.is_empty()) {
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
        ] {
            assert!(!hosts.allows_address(inside.parse().expect("an address"), 443, true), "{inside}");
        }
        assert!(hosts.allows_address("203.0.113.7".parse().expect("an address"), 443, true));
        assert!(hosts.allows_address("10.0.0.5".parse().expect("an address"), 9000, false));
        assert!(!hosts.allows_address("10.0.0.5".parse().expect("an address"), 9001, false));
    }
}
