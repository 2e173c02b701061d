//! Requests and signatures, written a second time and plainly: the strings here follow the published forms and
//! share no code with the crate except HMAC itself.

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use http::{HeaderMap, HeaderName, HeaderValue};
use lazuli_model::error::Failure;
use lazuli_model::operation::{Method, Service};
use lazuli_model::time::Timestamp;
use lazuli_model::version::ApiVersion;
use lazuli_rest::auth::accounts::DEVELOPMENT_KEY;
use lazuli_rest::auth::{Account, Accounts, Auth, Credential, Key, OAuth};
use lazuli_rest::head::Head;
use lazuli_rest::query::Query;
use lazuli_rest::target::Target;
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use uuid::Uuid;

pub const ACCOUNT: &str = "devstoreaccount1";
/// A second key of the same account.
pub const SECOND_KEY: &str = "c2Vjb25kIGtleSBvZiB0aGUgZGV2ZWxvcG1lbnQgYWNjb3VudA==";
pub const OTHER_ACCOUNT: &str = "other";
pub const OTHER_KEY: &str = "YW5vdGhlciBhY2NvdW50J3Mga2V5LCAzMiBieXRlcyBsb25n";
pub const SECRET: [u8; 32] = [7; 32];
pub const NOW: &str = "2026-11-01T12:00:00Z";
pub const VERSION: &str = "2026-10-06";

pub fn now() -> Timestamp {
    Timestamp::parse_iso(NOW).unwrap()
}

pub fn accounts() -> Accounts {
    let key = |text| Key::from_base64(text).unwrap();
    Accounts::new([
        Account::new(ACCOUNT, vec![key(DEVELOPMENT_KEY), key(SECOND_KEY)]),
        Account::new(OTHER_ACCOUNT, vec![key(OTHER_KEY)]),
    ])
}

pub fn auth() -> Auth {
    Auth::new(accounts(), OAuth::Off, SECRET)
}

pub fn mac(key: &str, string: &str) -> String {
    BASE64_STANDARD.encode(Key::from_base64(key).unwrap().sign(string.as_bytes()))
}

/// A request over https, in path style unless a host is set.
#[derive(Clone, Debug)]
pub struct Request {
    pub service: Service,
    pub method: Method,
    pub host: &'static str,
    pub path: String,
    pub query: Vec<(String, String)>,
    pub headers: Vec<(String, String)>,
    pub secure: bool,
    pub peer: Option<&'static str>,
}

impl Request {
    pub fn new(service: Service, method: Method, path: &str) -> Self {
        let request = Self {
            service,
            method,
            host: "127.0.0.1:10000",
            path: path.to_owned(),
            query: Vec::new(),
            headers: Vec::new(),
            secure: true,
            peer: Some("127.0.0.1"),
        };
        request.header("x-ms-version", VERSION)
    }

    pub fn query(mut self, name: &str, value: &str) -> Self {
        self.query.push((name.to_owned(), value.to_owned()));
        self
    }

    pub fn replace_query(mut self, name: &str, value: &str) -> Self {
        self.query.retain(|(known, _)| known != name);
        self.query(name, value)
    }

    /// Replaces one of the same name.
    pub fn header(mut self, name: &str, value: &str) -> Self {
        self.headers.retain(|(known, _)| known != name);
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    pub fn value(&self, name: &str) -> &str {
        self.headers.iter().find(|(known, _)| known == name).map_or("", |(_, value)| value)
    }

    pub fn queries(mut self, pairs: &[(&str, String)]) -> Self {
        for (name, value) in pairs {
            self = self.query(name, value);
        }
        self
    }

    pub fn raw_query(&self) -> String {
        let encode = |text: &str| utf8_percent_encode(text, NON_ALPHANUMERIC).to_string();
        let pairs: Vec<String> =
            self.query.iter().map(|(name, value)| format!("{}={}", encode(name), encode(value))).collect();
        pairs.join("&")
    }

    pub fn head(&self) -> Head {
        let query = Query::parse(&self.raw_query()).unwrap();
        let target = Target::parse(self.service, self.host, &self.path, &query).unwrap();
        let mut headers = HeaderMap::new();
        for (name, value) in &self.headers {
            headers.append(
                HeaderName::from_bytes(name.as_bytes()).unwrap(),
                HeaderValue::from_bytes(value.as_bytes()).unwrap(),
            );
        }
        let sent = self.value("x-ms-version");
        Head {
            metadata_names: Vec::new(),
            method: self.method,
            raw_path: self.path.clone(),
            query,
            headers: headers.into(),
            target,
            peer: self.peer.map(|peer| peer.parse().unwrap()),
            secure: self.secure,
            request_id: Uuid::nil(),
            version: ApiVersion::parse(sent).unwrap_or(ApiVersion::OLDEST),
            version_sent: (!sent.is_empty()).then(|| sent.to_owned()),
        }
    }

    /// Dates and signs, as a client that sorts headers by byte does.
    pub fn shared_key(self, scheme: &str, account: &str, key: &str) -> Self {
        let date = now().rfc1123();
        let dated = if self.value("x-ms-date").is_empty() { self.header("x-ms-date", &date) } else { self };
        let signature = mac(key, &dated.string_to_sign(scheme, account));
        dated.header("authorization", &format!("{scheme} {account}:{signature}"))
    }

    pub fn string_to_sign(&self, scheme: &str, account: &str) -> String {
        let method = self.method.as_str();
        let (md5, kind, date) =
            (self.value("content-md5"), self.value("content-type"), self.value("x-ms-date"));
        let comp = self.query.iter().find(|(name, _)| name == "comp");
        let comp = comp.map_or(String::new(), |(_, value)| format!("?comp={value}"));
        let path = format!("/{account}{}", self.path);
        let mut own: Vec<String> = self
            .headers
            .iter()
            .filter(|(name, _)| name.starts_with("x-ms-"))
            .map(|(name, value)| format!("{name}:{value}\n"))
            .collect();
        own.sort();
        let own = own.concat();
        match (scheme, self.service) {
            ("SharedKey", Service::Table) => format!("{method}\n{md5}\n{kind}\n{date}\n{path}{comp}"),
            ("SharedKeyLite", Service::Table) => format!("{date}\n{path}{comp}"),
            ("SharedKeyLite", _) => format!("{method}\n{md5}\n{kind}\n\n{own}{path}{comp}"),
            _ => {
                let length = Some(self.value("content-length")).filter(|length| *length != "0").unwrap_or("");
                let standard: Vec<&str> = [
                    method,
                    self.value("content-encoding"),
                    self.value("content-language"),
                    length,
                    md5,
                    kind,
                    "",
                    self.value("if-modified-since"),
                    self.value("if-match"),
                    self.value("if-none-match"),
                    self.value("if-unmodified-since"),
                    self.value("range"),
                ]
                .into();
                let mut query = self.query.clone();
                query.sort();
                let query: String = query.iter().map(|(name, value)| format!("\n{name}:{value}")).collect();
                format!("{}\n{own}{path}{query}", standard.join("\n"))
            }
        }
    }

    pub fn authenticate(&self) -> Result<Credential, Failure> {
        auth().authenticate(&self.head(), now())
    }
}

/// The fields of a token, signed at the end. Later settings replace earlier ones.
#[derive(Clone, Debug)]
pub struct Token {
    pub fields: Vec<(&'static str, String)>,
}

impl Token {
    pub fn account(services: &str, types: &str, permissions: &str) -> Self {
        Self { fields: Vec::new() }
            .with("sv", VERSION)
            .with("ss", services)
            .with("srt", types)
            .with("sp", permissions)
            .with("se", "2030-01-01T00:00:00Z")
    }

    pub fn service(permissions: &str) -> Self {
        Self { fields: Vec::new() }
            .with("sv", VERSION)
            .with("sp", permissions)
            .with("se", "2030-01-01T00:00:00Z")
    }

    pub fn with(mut self, name: &'static str, value: &str) -> Self {
        self.fields.retain(|(known, _)| *known != name);
        self.fields.push((name, value.to_owned()));
        self
    }

    pub fn without(mut self, name: &str) -> Self {
        self.fields.retain(|(known, _)| *known != name);
        self
    }

    pub fn get(&self, name: &str) -> &str {
        self.fields.iter().find(|(known, _)| *known == name).map_or("", |(_, value)| value)
    }

    fn list(&self, names: &str, resource: &str) -> String {
        let fields: Vec<&str> = names
            .split_whitespace()
            .map(|name| match name {
                "account" => ACCOUNT,
                "resource" => resource,
                "empty" => "",
                name => self.get(name),
            })
            .collect();
        fields.join("\n")
    }

    /// Account SAS of versions from 2020-12-06.
    pub fn sign_account(self, key: &str) -> Self {
        let string = self.list("account sp ss srt st se sip spr sv ses empty", "");
        self.signed(key, &string)
    }

    /// Service SAS by the names of its fields; `resource` stands for the canonical resource.
    pub fn sign_service(self, names: &str, resource: &str, key: &str) -> Self {
        let string = self.list(names, resource);
        self.signed(key, &string)
    }

    pub fn signed(self, key: &str, string: &str) -> Self {
        let signature = mac(key, string);
        self.with("sig", &signature)
    }

    pub fn on(&self, request: Request) -> Request {
        request.queries(&self.fields)
    }
}

pub const BLOB_SAS: &str = "sp st se resource si sip spr sv sr snapshot ses rscc rscd rsce rscl rsct";
pub const BLOB_SAS_2018: &str = "sp st se resource si sip spr sv sr snapshot rscc rscd rsce rscl rsct";
pub const BLOB_SAS_2015: &str = "sp st se resource si sip spr sv rscc rscd rsce rscl rsct";
pub const QUEUE_SAS: &str = "sp st se resource si sip spr sv";
pub const TABLE_SAS: &str = "sp st se resource si sip spr sv spk srk epk erk";

pub fn code(result: Result<impl std::fmt::Debug, Failure>) -> String {
    match result {
        Ok(_) => "ok".to_owned(),
        Err(failure) => format!("{} {}", failure.status(), failure.code.name()),
    }
}

pub fn detail(failure: &Failure) -> &str {
    failure
        .details
        .iter()
        .find(|(name, _)| *name == "AuthenticationErrorDetail")
        .map_or("", |(_, value)| value.as_str())
}
