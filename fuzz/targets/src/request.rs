//! Whole conversations with the gateway, signed: every decoder and every operation, over an engine in memory. The form is
//! that of the golden conversations, whose answers are passed over.

use std::sync::OnceLock;
use std::time::Duration;

use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use lazuli_engine::{Engine, Host};
use lazuli_model::operation::Service;
use lazuli_rest::Gateway;
use lazuli_rest::auth::{Accounts, Auth, OAuth};
use lazuli_service::{ServiceOptions, Services};
use lazuli_testing::{ACCOUNT, Form, KEY, Key, Scheme, Signable, decode_query, string_to_sign};
use tokio::runtime::{Builder, Runtime};

/// No request of a fuzzer is worth more.
const PATIENCE: Duration = Duration::from_secs(20);
const MOST_REQUESTS: usize = 12;

struct Asked {
    method: String,
    uri: String,
    headers: Vec<(String, String)>,
    body: Bytes,
}

pub fn run(data: &[u8]) {
    let _ = statuses(data);
}

/// What the signed requests were answered.
pub fn statuses(data: &[u8]) -> Vec<u16> {
    static RUNTIME: OnceLock<Runtime> = OnceLock::new();
    let runtime = RUNTIME.get_or_init(|| Builder::new_current_thread().enable_all().build().unwrap());
    let conversation: Vec<Asked> = split(data, b"\n===").filter_map(parse).take(MOST_REQUESTS).collect();
    if conversation.is_empty() {
        return Vec::new();
    }
    let mut statuses = Vec::new();
    runtime.block_on(async {
        let services = Services::new(Engine::memory(Host::test()), ServiceOptions::default());
        let auth = Auth::new(Accounts::development(), OAuth::Off, [7; 32]);
        let gateway = Gateway::new(services, auth);
        for asked in &conversation {
            let answered = tokio::time::timeout(PATIENCE, converse(&gateway, asked)).await;
            assert!(answered.is_ok(), "{} {} is not answered", asked.method, asked.uri);
            statuses.extend(answered.ok().flatten());
        }
    });
    statuses
}

fn split<'a>(data: &'a [u8], by: &'a [u8]) -> impl Iterator<Item = &'a [u8]> {
    let mut rest = Some(data);
    std::iter::from_fn(move || {
        let whole = rest?;
        let at = whole.windows(by.len()).position(|window| window == by);
        rest = at.map(|at| &whole[at + by.len()..]);
        Some(at.map_or(whole, |at| &whole[..at]))
    })
}

fn parse(exchange: &[u8]) -> Option<Asked> {
    let asked = split(exchange, b"\n--- ").next()?;
    let mut parts = split(asked, b"\n\n");
    let head = String::from_utf8_lossy(parts.next()?).into_owned();
    let body = parts.next().map(Bytes::copy_from_slice).unwrap_or_default();
    let mut lines = head.lines().filter(|line| !line.starts_with('#') && !line.trim().is_empty());
    let (method, uri) = lines.next()?.split_once(' ')?;
    let headers = lines.filter_map(|line| line.split_once(':'));
    let headers = headers.map(|(name, value)| (name.to_owned(), value.trim().to_owned())).collect();
    Some(Asked { method: method.to_owned(), uri: uri.trim().to_owned(), headers, body })
}

/// Once with a signature of nothing, to learn what is to be signed; then signed.
async fn converse(gateway: &Gateway, asked: &Asked) -> Option<u16> {
    let (status, body) = send(gateway, asked, "AAAA").await?;
    if status != 403 {
        return Some(status);
    }
    let text = String::from_utf8_lossy(&body);
    let shown = text.split_once("Server used following string to sign: '");
    let string = match shown.and_then(|(_, rest)| rest.rsplit_once("'.")) {
        Some((string, _)) => unescape(string),
        // The Table service does not say; its string is short.
        None => table_string(asked, &gateway.services.wall_now().rfc1123()),
    };
    let signature = Key::new(KEY).sign(&string);
    send(gateway, asked, &signature).await.map(|(status, _)| status)
}

fn table_string(asked: &Asked, now: &str) -> String {
    let (path, query) = asked.uri.split_once('?').unwrap_or((&asked.uri, ""));
    let query = decode_query(query);
    let query: Vec<(&str, &str)> = query.iter().map(|(name, value)| (&**name, &**value)).collect();
    let mut headers: Vec<(&str, &str)> = asked.headers.iter().map(|(n, v)| (&**n, &**v)).collect();
    if !headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("x-ms-date")) {
        headers.push(("x-ms-date", now));
    }
    let signable = Signable { method: &asked.method, path, query: &query, headers: &headers };
    string_to_sign(Scheme::SharedKey, Form::Table, ACCOUNT, &signable)
}

fn unescape(text: &str) -> String {
    text.replace("&lt;", "<").replace("&gt;", ">").replace("&quot;", "\"").replace("&amp;", "&")
}

async fn send(gateway: &Gateway, asked: &Asked, signature: &str) -> Option<(u16, Bytes)> {
    let mut request = http::Request::builder().method(asked.method.as_str()).uri(asked.uri.as_str());
    let has = |wanted: &str| asked.headers.iter().any(|(name, _)| name.eq_ignore_ascii_case(wanted));
    for (name, value) in &asked.headers {
        request = request.header(name, value);
    }
    for (name, value) in [
        ("host", "127.0.0.1:10000".to_owned()),
        ("content-length", asked.body.len().to_string()),
        ("x-ms-version", "2021-06-08".to_owned()),
        ("x-ms-date", gateway.services.wall_now().rfc1123()),
        ("authorization", format!("SharedKey {ACCOUNT}:{signature}")),
    ] {
        if !has(name) {
            request = request.header(name, value);
        }
    }
    let request = request.body(Full::new(asked.body.clone())).ok()?;
    let head = request.method() == http::Method::HEAD;
    let response = gateway.serve(Service::Blob, None, false, request).await;
    let (parts, body) = response.into_parts();
    let status = parts.status.as_u16();
    assert!(status != 500, "{} {} {:?}: an internal error", asked.method, asked.uri, asked.headers);
    assert!(parts.headers.contains_key("x-ms-request-id"), "an answer without an id");
    let body = body.collect().await.map(|body| body.to_bytes());
    let body = body.unwrap_or_else(|_| panic!("{} {}: the answer breaks off", asked.method, asked.uri));
    assert!(
        status < 400 || head || !body.is_empty(),
        "{} {}: {status} without a word",
        asked.method,
        asked.uri
    );
    Some((status, body))
}
