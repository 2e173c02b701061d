//! A service with something in it, asked through the gateway as a listener asks it, and looked at from outside.

use std::sync::Arc;

use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use lazuli_engine::host::Clock;
use lazuli_engine::{Engine, Host, Ticks};
use lazuli_model::account::AccountFeatures;
use lazuli_model::blob::BlobType;
use lazuli_model::operation::{Method, Service};
use lazuli_rest::Gateway;
use lazuli_rest::auth::Auth;
use lazuli_rest::auth::accounts::DEVELOPMENT_KEY;
use lazuli_service::{ServiceOptions, Services};

use super::support::{ACCOUNT, Request, now};

pub struct World {
    pub gateway: Gateway,
    /// Of the one snapshot of the blob.
    pub snapshot: String,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    pub status: u16,
    pub code: String,
    pub headers: Vec<(String, String)>,
    pub body: Bytes,
}

impl Answer {
    pub fn is_refusal(&self) -> bool {
        self.status >= 400
    }

    pub fn said(&self) -> String {
        format!("{} {}", self.status, self.code)
    }

    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(own, _)| own == name).map(|(_, value)| value.as_str())
    }
}

pub fn services() -> Services {
    let host = Host::test();
    if let Clock::Manual(clock) = &host.clock {
        clock.set_wall(Ticks(now().to_unix_ticks()));
    }
    let mut features = AccountFeatures::default();
    features.entry(ACCOUNT).immutability = true;
    let options = ServiceOptions { features: Arc::new(features), ..ServiceOptions::default() };
    Services::new(Engine::memory(host), options)
}

pub async fn send(gateway: &Gateway, request: &Request, body: &str) -> Answer {
    let query = request.raw_query();
    let uri = if query.is_empty() { request.path.clone() } else { format!("{}?{query}", request.path) };
    let mut builder = http::Request::builder().method(request.method.as_str()).uri(uri);
    builder = builder.header("host", request.host);
    for (name, value) in &request.headers {
        builder = builder.header(name, value.as_bytes());
    }
    let body = Full::new(Bytes::from(body.to_owned()));
    let peer = request.peer.map(|peer| peer.parse().unwrap());
    let response = gateway.serve(request.service, peer, request.secure, builder.body(body).unwrap()).await;
    let (parts, body) = response.into_parts();
    let headers = parts.headers.iter().map(|(name, value)| {
        (name.as_str().to_owned(), String::from_utf8_lossy(value.as_bytes()).into_owned())
    });
    let headers: Vec<(String, String)> =
        headers.filter(|(name, _)| !matches!(name.as_str(), "x-ms-request-id" | "date")).collect();
    let code = headers.iter().find(|(name, _)| name == "x-ms-error-code").map(|(_, code)| code.clone());
    Answer {
        status: parts.status.as_u16(),
        code: code.unwrap_or_default(),
        headers,
        body: body.collect().await.unwrap().to_bytes(),
    }
}

pub fn owner(request: Request) -> Request {
    request.shared_key("SharedKey", ACCOUNT, DEVELOPMENT_KEY)
}

/// A request of the blob service at a path below the account.
pub fn blob(method: Method, path: &str, query: &[(&str, &str)]) -> Request {
    let request = Request::new(Service::Blob, method, &format!("/{ACCOUNT}{path}"));
    query.iter().fold(request, |request, (name, value)| request.query(name, value))
}

impl World {
    /// A public container `things` with the block blob `dir/thing`, one snapshot of it, and one block that no list names.
    pub async fn new(auth: Auth) -> Self {
        Self::of(BlobType::Block, auth).await
    }

    /// The same with a blob of another type, beside which no block can be.
    pub async fn of(kind: BlobType, auth: Auth) -> Self {
        let gateway = Gateway::new(services(), auth);
        let mut world = Self { gateway, snapshot: String::new() };
        let container = [("restype", "container")];
        let make = blob(Method::Put, "/things", &container).header("x-ms-blob-public-access", "container");
        world.done(make, "").await;
        let write = blob(Method::Put, "/things/dir/thing", &[]);
        let write = write.header("x-ms-blob-type", kind.as_str()).header("x-ms-meta-kept", "yes");
        world.done(write, if kind == BlobType::Block { "base" } else { "" }).await;
        let made = world.done(blob(Method::Put, "/things/dir/thing", &[("comp", "snapshot")]), "").await;
        world.snapshot = made.header("x-ms-snapshot").unwrap().to_owned();
        // A policy whose time is over: it keeps no operation from the snapshot, and can be removed.
        let of_snapshot = [("comp", "immutabilityPolicies"), ("snapshot", world.snapshot.as_str())];
        let protect = blob(Method::Put, "/things/dir/thing", &of_snapshot)
            .header("x-ms-immutability-policy-until-date", "Wed, 01 Jan 2020 00:00:00 GMT");
        world.done(protect, "").await;
        if kind == BlobType::Block {
            let stage = [("comp", "block"), ("blockid", "b2xk")];
            world.done(blob(Method::Put, "/things/dir/thing", &stage), "staged").await;
        }
        world
    }

    pub async fn ask(&self, request: &Request, body: &str) -> Answer {
        send(&self.gateway, request, body).await
    }

    /// What the owner asks, which must go well.
    async fn done(&self, request: Request, body: &str) -> Answer {
        let request = owner(request.header("content-length", &body.len().to_string()));
        let answer = self.ask(&request, body).await;
        assert!(!answer.is_refusal(), "{request:?}: {}", answer.said());
        answer
    }

    /// Everything that a request to the blob, its container or the service could have changed, as the owner sees it:
    /// the blob first.
    pub async fn look(&self) -> Seen {
        let (container, thing) = (("restype", "container"), "/things/dir/thing");
        let snapshot = ("snapshot", self.snapshot.as_str());
        let (blocks, all) = (("comp", "blocklist"), ("blocklisttype", "all"));
        let list = [
            container,
            ("comp", "list"),
            ("include", "snapshots,metadata,uncommittedblobs,immutabilitypolicy,legalhold"),
        ];
        let asked = [
            blob(Method::Get, thing, &[]),
            blob(Method::Get, thing, &[blocks, all]),
            blob(Method::Get, thing, &[("comp", "tags")]),
            blob(Method::Get, thing, &[snapshot]),
            blob(Method::Get, "/things", &[container]),
            blob(Method::Get, "/things", &[container, ("comp", "acl")]),
            blob(Method::Get, "/things", &list),
            blob(Method::Get, "/", &[("restype", "service"), ("comp", "properties")]),
        ];
        let mut seen = Vec::with_capacity(asked.len());
        for request in asked {
            seen.push(self.ask(&owner(request), "").await);
        }
        // The text of a refusal names its request.
        for answer in seen.iter_mut().filter(|answer| answer.is_refusal()) {
            answer.body = Bytes::new();
        }
        Seen(seen)
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Seen(Vec<Answer>);

impl Seen {
    /// The blob itself, with its tags and what is staged beside it.
    pub fn base(&self) -> &[Answer] {
        &self.0[..3]
    }
}
