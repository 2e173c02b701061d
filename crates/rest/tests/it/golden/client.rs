//! A client in the process of the gateway: no socket between them, all headers of an answer checked.

use std::collections::BTreeMap;
use std::sync::Arc;

use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use lazuli_engine::{Engine, Host};
use lazuli_model::account::{AccountFeatures, Features};
use lazuli_model::operation::Service;
use lazuli_rest::Gateway;
use lazuli_rest::auth::{Accounts, Auth, OAuth};
use lazuli_service::{ServiceOptions, Services};
use lazuli_testing::{Signable, Signer, decode_query};

use super::rows;

pub struct Client {
    pub gateway: Gateway,
}

#[derive(Clone, Debug, Default)]
pub struct Request {
    pub method: String,
    pub uri: String,
    pub headers: Vec<(String, String)>,
    pub body: String,
    /// In place of the body, where it is no text.
    pub binary: Option<Bytes>,
    pub anonymous: bool,
}

pub struct Answer {
    pub status: u16,
    /// Without those that every answer has.
    pub headers: BTreeMap<String, String>,
    pub body: Bytes,
}

impl Answer {
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).trim_start_matches('\u{FEFF}').to_owned()
    }
}

impl Request {
    pub fn parse(text: &str) -> Self {
        let (head, body) = text.split_once("\n\n").unwrap_or((text, ""));
        let mut lines = head.lines();
        let (method, uri) = lines.next().unwrap().split_once(' ').unwrap();
        let mut request = Self { method: method.into(), uri: uri.trim().into(), ..Self::default() };
        for line in lines.filter(|line| !line.trim().is_empty()) {
            let (name, value) = line.split_once(':').unwrap_or_else(|| panic!("bad header {line}"));
            match (name, value.trim()) {
                ("credential", "none") => request.anonymous = true,
                (name, value) => request.headers.push((name.into(), value.into())),
            }
        }
        request.body = body.trim_end_matches('\n').to_owned();
        request
    }

    fn bytes(&self) -> Bytes {
        self.binary.clone().unwrap_or_else(|| self.body.clone().into())
    }

    pub fn header(&self, name: &str) -> &str {
        let found = self.headers.iter().find(|(own, _)| own.eq_ignore_ascii_case(name));
        found.map_or("", |(_, value)| value.as_str())
    }

    fn default_header(&mut self, name: &str, value: &str) {
        if !self.headers.iter().any(|(own, _)| own.eq_ignore_ascii_case(name)) {
            self.headers.push((name.into(), value.into()));
        }
    }

    /// Adds what clients add, and signs.
    pub fn finish(&mut self, now: &str) {
        self.default_header("host", "127.0.0.1:10000");
        if matches!(self.method.as_str(), "PUT" | "POST") || !self.bytes().is_empty() {
            let length = self.bytes().len().to_string();
            self.default_header("content-length", &length);
        }
        if self.anonymous {
            return;
        }
        self.default_header("x-ms-version", "2021-06-08");
        self.default_header("x-ms-date", now);
        let authorization = self.authorization();
        self.headers.push(("authorization".into(), authorization));
    }

    fn authorization(&self) -> String {
        let is_table = self.header("host").contains(".table.");
        let signer = if is_table { Signer::table() } else { Signer::development() };
        let (path, query) = self.uri.split_once('?').unwrap_or((&self.uri, ""));
        let query = decode_query(query);
        let (query, headers) = (borrowed(&query), borrowed(&self.headers));
        signer.authorization(&Signable { method: &self.method, path, query: &query, headers: &headers })
    }
}

fn borrowed(pairs: &[(String, String)]) -> Vec<(&str, &str)> {
    pairs.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect()
}

impl Client {
    pub fn new() -> Self {
        Self::with_answer_memory(ServiceOptions::default().answer_memory)
    }

    /// With the features that the first line of a conversation names.
    pub fn of(conversation: &str) -> Self {
        let first = conversation.lines().next().unwrap_or_default();
        let Some((_, words)) = first.split_once("# features: ") else { return Self::new() };
        let mut all = AccountFeatures::default();
        let features = all.entry("devstoreaccount1");
        for word in words.split(", ") {
            match word {
                "immutability" => features.immutability = true,
                "versioning" => features.versioning = true,
                "lastAccessTime" => features.last_access_time = true,
                other => panic!("no such feature: {other}"),
            }
        }
        let options = ServiceOptions { features: Arc::new(all), ..ServiceOptions::default() };
        Self::with(Engine::memory(Host::test()), options)
    }

    pub fn with_answer_memory(answer_memory: usize) -> Self {
        Self::with(
            Engine::memory(Host::test()),
            ServiceOptions { answer_memory, ..ServiceOptions::default() },
        )
    }

    /// An account that can do more than a plain one.
    pub fn with_features(set: impl FnOnce(&mut Features)) -> Self {
        let mut features = AccountFeatures::default();
        set(features.entry("devstoreaccount1"));
        let options = ServiceOptions { features: Arc::new(features), ..ServiceOptions::default() };
        Self::with(Engine::memory(Host::test()), options)
    }

    pub fn over(engine: Engine) -> Self {
        Self::with(engine, ServiceOptions::default())
    }

    fn with(engine: Engine, options: ServiceOptions) -> Self {
        let services = Services::new(engine, options);
        let auth = Auth::new(Accounts::development(), OAuth::Off, [7; 32]);
        Self { gateway: Gateway::new(services, auth) }
    }

    pub async fn send(&self, mut request: Request) -> Answer {
        request.finish(&self.gateway.services.wall_now().rfc1123());
        let mut builder = http::Request::builder().method(request.method.as_str()).uri(&request.uri);
        for (name, value) in &request.headers {
            builder = builder.header(name, value);
        }
        let body = Full::new(request.bytes());
        let served = self.gateway.serve_named(Service::Blob, None, false, builder.body(body).unwrap()).await;
        let (parts, body) = served.response.into_parts();
        rows::check(served.operation, parts.status.as_u16(), &parts.headers);
        let body = body.collect().await.unwrap().to_bytes();
        let mut headers = BTreeMap::new();
        for (name, value) in &parts.headers {
            let before = headers.insert(name.as_str().to_owned(), value.to_str().unwrap().to_owned());
            assert!(before.is_none(), "{name} twice");
        }
        if !rows::says_length(served.operation, parts.status.as_u16()) {
            assert_eq!(headers.insert("content-length".into(), "0".into()), None, "{}", served.operation);
        }
        check_common(&request, &mut headers, &body);
        Answer { status: parts.status.as_u16(), headers, body }
    }
}

/// What every answer has, checked and taken away.
fn check_common(request: &Request, headers: &mut BTreeMap<String, String>, body: &[u8]) {
    let mut take = |name: &str| headers.remove(name);
    let id = take("x-ms-request-id").expect("request id");
    assert!(uuid::Uuid::try_parse(&id).is_ok() && id.len() == 36, "{id}");
    assert!(take("date").is_some_and(|date| date.ends_with(" GMT") && date.len() == 29));
    let host = request.header("host");
    let service = match host.split('.').nth(1) {
        Some("queue") => "Queue",
        Some("table") => "Table",
        Some("file") => "File",
        _ => "Blob",
    };
    assert_eq!(take("server"), Some(format!("Windows-Azure-{service}/1.0 Microsoft-HTTPAPI/2.0")));
    let is_xml = headers.get("content-type").is_some_and(|kind| kind == "application/xml");
    if is_xml && !body.is_empty() {
        // Refusals of the Table service have none.
        let bare = service == "Table" && headers.contains_key("x-ms-error-code");
        let body = if bare { Some(body) } else { body.strip_prefix(b"\xEF\xBB\xBF") };
        let declared = body.is_some_and(|it| it.starts_with(b"<?xml version=\"1.0\" encoding=\"utf-8\"?>"));
        assert!(declared, "no byte order mark, or one too many");
    }
    if headers.get("content-type").is_some_and(|kind| kind == "avro/binary") {
        assert_eq!(headers.get("content-length"), None, "results are sent while they are found");
    } else if request.method != "HEAD" {
        assert_eq!(headers.remove("content-length"), Some(body.len().to_string()));
    }
}
