//! Shared Key and shared access signatures over any request. What the server says it would have signed must, signed,
//! be accepted; the same signature on another request must not; and nothing is accepted unsigned.

use http::header::AUTHORIZATION;
use http::{HeaderMap, HeaderName, HeaderValue};
use lazuli_model::error::Failure;
use lazuli_model::operation::{Method, Service};
use lazuli_model::time::Timestamp;
use lazuli_model::version::ApiVersion;
use lazuli_rest::auth::{Accounts, Auth, Credential, OAuth};
use lazuli_rest::head::Head;
use lazuli_rest::query::Query;
use lazuli_rest::target::Target;
use lazuli_testing::{ACCOUNT, KEY, Key};
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};

use crate::fields::Fields;

const NOW: &str = "2026-11-01T12:00:00Z";
/// No string has this MAC, as far as anybody can find out.
const FORGED: &str = "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=";
const SHARED_KEY: [&str; 2] = ["SharedKey", "SharedKeyLite"];

pub fn run(data: &[u8]) {
    let _ = accepted(data);
}

/// How many requests were accepted once signed.
pub fn accepted(data: &[u8]) -> usize {
    let fields = Fields::of(data);
    let services = [Service::Blob, Service::Queue, Service::Table, Service::File];
    let mut accepted = 0;
    // The keys of other accounts are nobody's.
    let heads = services.into_iter().filter_map(|service| head(service, &fields));
    for head in heads.filter(|head| head.target.account == ACCOUNT) {
        accepted += SHARED_KEY.into_iter().filter(|scheme| shared_key(head.clone(), scheme)).count();
        if head.query.count("sig") > 0 {
            accepted += usize::from(sas(head));
        }
    }
    accepted
}

fn auth() -> Auth {
    Auth::new(Accounts::development(), OAuth::Off, [7; 32])
}

fn now() -> Timestamp {
    Timestamp::parse_iso(NOW).unwrap()
}

fn sign(string: &str) -> String {
    Key::new(KEY).sign(string)
}

/// Method, path, query, then headers, each on a line.
fn head(service: Service, fields: &Fields) -> Option<Head> {
    let method = Method::parse(fields.line(0).trim())?;
    let raw_path = fields.line(1).to_owned();
    let query = Query::parse(fields.line(2)).ok()?;
    let target = Target::parse(service, "127.0.0.1:10000", &raw_path, &query).ok()?;
    let mut headers = HeaderMap::new();
    for (name, value) in fields.pairs(3) {
        let name = HeaderName::from_bytes(name.as_bytes()).ok()?;
        // As hyper hands them over: without the space around.
        headers.append(name, HeaderValue::from_str(value.trim_matches([' ', '\t'])).ok()?);
    }
    headers.remove("authorization");
    headers.insert("x-ms-date", now().rfc1123().parse().ok()?);
    let sent = headers.get("x-ms-version").and_then(|value| value.to_str().ok()).map(str::to_owned);
    let version =
        sent.as_deref().or(query.get("sv")).and_then(ApiVersion::parse).unwrap_or(ApiVersion::V2021_06_08);
    Some(Head {
        method,
        raw_path,
        query,
        headers: headers.into(),
        target,
        peer: None,
        secure: true,
        request_id: uuid::Uuid::nil(),
        version,
        version_sent: sent,
        metadata_names: Vec::new(),
    })
}

fn authorized(mut head: Head, scheme: &str, signature: &str) -> Head {
    let value = format!("{scheme} {ACCOUNT}:{signature}");
    head.headers.append(AUTHORIZATION, value.parse().unwrap());
    head
}

fn shared_key(head: Head, scheme: &str) -> bool {
    let auth = auth();
    let refusal = auth.authenticate(&authorized(head.clone(), scheme, FORGED), now()).expect_err("forged");
    let Some(string) = told(&refusal, "Server used following string to sign: '") else {
        return false;
    };
    let Some(string) = string.strip_suffix("'.") else { return false };
    // What was not text was shown as something else.
    if string.contains('\u{FFFD}') {
        return false;
    }
    let head = authorized(head, scheme, &sign(string));
    match auth.authenticate(&head, now()) {
        Ok(credential) => assert_eq!(credential, Credential::SharedKey),
        Err(refusal) => panic!("{scheme}: what was shown is not what is checked: {refusal:?}\n{string:?}"),
    }
    let mut elsewhere = head.clone();
    elsewhere.raw_path.push('x');
    assert!(auth.authenticate(&elsewhere, now()).is_err(), "{scheme}: the path is not signed");
    if head.target.service == Service::Table {
        return true;
    }
    let mut more = head.clone();
    more.headers.append(HeaderName::from_static("x-ms-meta-tampered"), HeaderValue::from_static("yes"));
    assert!(auth.authenticate(&more, now()).is_err(), "{scheme}: a header is not signed");
    if scheme == "SharedKey" {
        let mut asks = head.clone();
        asks.query = Query::parse(&format!("{}&tampered=1", head.query.raw())).unwrap();
        assert!(auth.authenticate(&asks, now()).is_err(), "the query is not signed");
    }
    true
}

fn sas(head: Head) -> bool {
    let auth = auth();
    let with = |signature: &str| {
        let unsigned = |part: &&str| Query::parse(part).is_ok_and(|pair| pair.count("sig") == 0);
        let others = head.query.raw().split('&').filter(unsigned).map(str::to_owned);
        let encoded = utf8_percent_encode(signature, NON_ALPHANUMERIC).to_string();
        let raw = others.chain([format!("sig={encoded}")]).collect::<Vec<_>>().join("&");
        Head { query: Query::parse(&raw).unwrap(), ..head.clone() }
    };
    let refusal = match auth.authenticate(&with(FORGED), now()) {
        Ok(credential) => panic!("a forged signature is {credential:?}"),
        Err(refusal) => refusal,
    };
    let Some(string) = told(&refusal, "String to sign used was ") else { return false };
    match auth.authenticate(&with(&sign(&string)), now()) {
        Ok(_) => true,
        Err(refusal) => {
            // A user delegation is signed with another key than the account's.
            let delegated = head.query.count("skoid") > 0;
            let differs = told(&refusal, "String to sign used was ").is_some();
            assert!(delegated || !differs, "what was shown is not what is checked: {string:?}");
            false
        }
    }
}

fn told(failure: &Failure, before: &str) -> Option<String> {
    let (_, detail) =
        failure.details.iter().find(|(name, _)| AsRef::<str>::as_ref(name) == "AuthenticationErrorDetail")?;
    let detail: &str = detail.as_ref();
    detail.split_once(before).map(|(_, string)| string.to_owned())
}
