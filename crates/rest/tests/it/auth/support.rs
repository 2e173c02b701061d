//! Requests, and signatures that share no code with this crate: they are those of `lazuli-testing`.

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
use lazuli_testing::sas::WithQuery;
use lazuli_testing::{Form, Scheme, Signable};
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use uuid::Uuid;

pub use lazuli_testing::ACCOUNT;
pub use lazuli_testing::sas::{
    BLOB_SAS, BLOB_SAS_2015, BLOB_SAS_2018, FILE_SAS, QUEUE_SAS, TABLE_SAS, Token, VERSION,
};

/// A second key of the same account.
pub const SECOND_KEY: &str = "c2Vjb25kIGtleSBvZiB0aGUgZGV2ZWxvcG1lbnQgYWNjb3VudA==";
pub const OTHER_ACCOUNT: &str = "other";
pub const OTHER_KEY: &str = "YW5vdGhlciBhY2NvdW50J3Mga2V5LCAzMiBieXRlcyBsb25n";
pub const SECRET: [u8; 32] = [7; 32];
pub const NOW: &str = "2026-11-01T12:00:00Z";

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
    lazuli_testing::Key::new(key).sign(string)
}

/// A request over https, in path style unless a host is set.
#[derive(Clone, Debug)]
pub struct Request {
    pub service: Service,
    pub method: Method,
    pub host: &'static str,
    pub path: String,
    pub query: Vec<(String, String)>,
    /// Parts of the query without `=`, after the others.
    pub words: Vec<String>,
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
            words: Vec::new(),
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

    pub fn word(mut self, word: &str) -> Self {
        self.words.push(word.to_owned());
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

    pub fn raw_query(&self) -> String {
        let encode = |text: &str| utf8_percent_encode(text, NON_ALPHANUMERIC).to_string();
        let pairs = self.query.iter().map(|(name, value)| format!("{}={}", encode(name), encode(value)));
        pairs.chain(self.words.iter().map(|word| encode(word))).collect::<Vec<_>>().join("&")
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
        let scheme = match scheme {
            "SharedKey" => Scheme::SharedKey,
            "SharedKeyLite" => Scheme::SharedKeyLite,
            other => panic!("no scheme {other}"),
        };
        let form = if self.service == Service::Table { Form::Table } else { Form::BlobQueueFile };
        let (query, headers) = (borrowed(&self.query), borrowed(&self.headers));
        let signable =
            Signable { method: self.method.as_str(), path: &self.path, query: &query, headers: &headers };
        lazuli_testing::string_to_sign(scheme, form, account, &signable)
    }

    pub fn authenticate(&self) -> Result<Credential, Failure> {
        auth().authenticate(&self.head(), now())
    }
}

impl WithQuery for Request {
    fn query(self, name: &str, value: &str) -> Self {
        Request::query(self, name, value)
    }
}

fn borrowed(pairs: &[(String, String)]) -> Vec<(&str, &str)> {
    pairs.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect()
}

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
