//! Bearer tokens, by the keys of an issuer and in the development mode that looks at no signature.

use aws_lc_rs::rand::SystemRandom;
use aws_lc_rs::signature::{ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, KeyPair};
use base64::Engine as _;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use jsonwebtoken::{Algorithm, EncodingKey, Header, encode};
use lazuli_model::operation::{Method, Service};
use lazuli_rest::Gateway;
use lazuli_rest::auth::{Auth, BadJwks, Credential, Jwks, OAuth, wants_challenge};
use serde_json::{Value, json};

use super::support::{ACCOUNT, Request, SECRET, accounts, code, now};
use super::world::{send, services};

pub const ISSUER: &str = "https://sts.windows.net/22222222-2222-2222-2222-222222222222/";
const BAD_TOKEN: &str = "401 InvalidAuthenticationInfo";
const UNREADABLE: &str = "400 InvalidAuthenticationInfo";

/// An issuer with one key.
pub struct Issuer {
    der: Vec<u8>,
    jwk: Value,
}

impl Issuer {
    pub fn new(id: &str) -> Self {
        let der =
            EcdsaKeyPair::generate_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, &SystemRandom::new()).unwrap();
        let pair = EcdsaKeyPair::from_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, der.as_ref()).unwrap();
        // An uncompressed point: 4, x, y.
        let point = pair.public_key().as_ref();
        let jwk = json!({
            "kty": "EC", "crv": "P-256", "use": "sig", "kid": id,
            "x": BASE64_URL_SAFE_NO_PAD.encode(&point[1..33]),
            "y": BASE64_URL_SAFE_NO_PAD.encode(&point[33..65]),
        });
        Self { der: der.as_ref().to_vec(), jwk }
    }

    pub fn sign(&self, key_id: Option<&str>, claims: &Value) -> String {
        let header = Header { kid: key_id.map(str::to_owned), ..Header::new(Algorithm::ES256) };
        encode(&header, claims, &EncodingKey::from_ec_der(&self.der)).unwrap()
    }

    pub fn auth(&self) -> Auth {
        let set = json!({ "keys": [self.jwk] }).to_string();
        let jwks = Jwks::parse(&set, vec![ISSUER.to_owned()], Vec::new()).unwrap();
        Auth::new(accounts(), OAuth::Jwks(jwks), SECRET)
    }
}

/// Good at the time of the tests for an hour to both sides.
pub fn claims() -> Value {
    let seconds = now().to_unix_ticks() / 10_000_000;
    json!({
        "iss": ISSUER, "aud": "https://storage.azure.com/", "oid": "oid", "tid": "tid",
        "nbf": seconds - 3600, "exp": seconds + 3600,
    })
}

pub fn changed(name: &str, value: Value) -> Value {
    let mut claims = claims();
    claims[name] = value;
    claims
}

fn get() -> Request {
    Request::new(Service::Blob, Method::Get, "/devstoreaccount1/c/b")
}

pub fn with(request: Request, token: &str) -> Request {
    request.header("authorization", &format!("Bearer {token}"))
}

fn ask(auth: &Auth, request: Request) -> String {
    code(auth.authenticate(&request.head(), now()))
}

/// What makes a token good is the same in both modes, but for the signature.
#[test]
fn claims_are_judged() {
    let issuer = Issuer::new("k");
    let seconds = (now().to_unix_ticks() / 10_000_000) as i64;
    let basic = Auth::new(accounts(), OAuth::Basic, SECRET);
    let cases = [
        ("ok", claims()),
        ("ok", changed("aud", json!("https://storage.azure.com"))),
        ("ok", changed("aud", json!("e406a681-f3d4-42a8-90b6-c2b029497af1"))),
        ("ok", changed("aud", json!("https://devstoreaccount1.blob.core.windows.net"))),
        ("ok", changed("aud", json!(["x", "https://devstoreaccount1.blob.core.windows.net/"]))),
        ("ok", changed("exp", json!(seconds - 299))),
        ("ok", changed("nbf", json!(seconds + 299))),
        (BAD_TOKEN, changed("aud", json!("https://devstoreaccount1.queue.core.windows.net"))),
        (BAD_TOKEN, changed("aud", json!("https://other.blob.core.windows.net"))),
        (BAD_TOKEN, changed("aud", json!("https://devstoreaccount1.blob.core.windows.net.evil/x"))),
        (BAD_TOKEN, changed("aud", json!("https://vault.azure.net"))),
        (BAD_TOKEN, changed("aud", json!(null))),
        (BAD_TOKEN, changed("iss", json!("https://evil.example/"))),
        (BAD_TOKEN, changed("iss", json!(null))),
        (BAD_TOKEN, changed("exp", json!(seconds - 301))),
        (BAD_TOKEN, changed("exp", json!(null))),
        (BAD_TOKEN, changed("exp", json!("never"))),
        (BAD_TOKEN, changed("nbf", json!(seconds + 301))),
        (BAD_TOKEN, changed("nbf", json!("soon"))),
    ];
    for (expected, claims) in cases {
        let request = with(get(), &issuer.sign(Some("k"), &claims));
        assert_eq!(ask(&issuer.auth(), request.clone()), expected, "by key: {claims}");
        assert_eq!(ask(&basic, request), expected, "basic: {claims}");
    }
}

#[test]
fn the_signature_is_of_the_issuers_key() {
    let (issuer, stranger) = (Issuer::new("k"), Issuer::new("k"));
    let auth = issuer.auth();
    let good = issuer.sign(Some("k"), &claims());
    assert_eq!(ask(&auth, with(get(), &good)), "ok");
    assert_eq!(ask(&auth, with(get(), &issuer.sign(None, &claims()))), "ok");
    assert_eq!(ask(&auth, with(get(), &stranger.sign(Some("k"), &claims()))), BAD_TOKEN);
    assert_eq!(ask(&auth, with(get(), &issuer.sign(Some("another"), &claims()))), BAD_TOKEN);
    // The token does not choose its algorithm.
    let header = Header { kid: Some("k".into()), ..Header::new(Algorithm::HS256) };
    let symmetric = encode(&header, &claims(), &EncodingKey::from_secret(b"public")).unwrap();
    assert_eq!(ask(&auth, with(get(), &symmetric)), BAD_TOKEN);
    let (_, rest) = good.split_once('.').unwrap();
    let none = BASE64_URL_SAFE_NO_PAD.encode(r#"{"alg":"none","typ":"JWT"}"#);
    assert_eq!(ask(&auth, with(get(), &format!("{none}.{rest}"))), UNREADABLE);
    for garbage in ["x", "a.b.c", "..", "e30.e30"] {
        assert_eq!(ask(&auth, with(get(), garbage)), UNREADABLE, "{garbage}");
    }
    let failure = auth.authenticate(&with(get(), &stranger.sign(None, &claims())).head(), now()).unwrap_err();
    assert!(wants_challenge(&failure));
}

#[test]
fn tokens_travel_over_https_to_versions_that_know_them() {
    let issuer = Issuer::new("k");
    let auth = issuer.auth();
    let token = issuer.sign(Some("k"), &claims());
    let plain = Request { secure: false, ..with(get(), &token) };
    assert_eq!(ask(&auth, plain.clone()), "403 AuthenticationFailed");
    assert_eq!(ask(&auth.clone().with_bearer_over_http(true), plain), "ok");
    let old = with(get(), &token).header("x-ms-version", "2017-07-29");
    assert_eq!(ask(&auth, old), "403 AuthenticationFailed");
    let table = with(Request::new(Service::Table, Method::Get, "/devstoreaccount1/Tables"), &token);
    assert_eq!(ask(&auth, table.clone()), "ok");
    // Recorded: the table clients stay at 2019-02-02, and their tokens are taken.
    for version in ["2013-08-15", "2017-07-29", "2019-02-02", "2019-12-12"] {
        assert_eq!(ask(&auth, table.clone().header("x-ms-version", version)), "ok", "{version}");
    }
    let off = Auth::new(accounts(), OAuth::Off, SECRET);
    assert_eq!(ask(&off, with(get(), &token)), "403 AuthenticationFailed");
    let unknown = with(Request { path: "/nobody/c/b".into(), ..get() }, &token);
    assert_eq!(ask(&auth, unknown), "403 AuthenticationFailed");
}

#[test]
fn key_sets_without_a_usable_key_are_refused() {
    let parse = |text: &str| Jwks::parse(text, vec![ISSUER.to_owned()], Vec::new()).map(|_| ());
    assert_eq!(parse(r#"{"keys":[]}"#), Err(BadJwks::NoKeys));
    assert_eq!(parse(r#"{"keys":[{"kty":"oct","k":"AAAA"}]}"#), Err(BadJwks::NoKeys));
    assert!(matches!(parse("x"), Err(BadJwks::Form(_))));
    assert_eq!(Jwks::parse(r#"{"keys":[]}"#, Vec::new(), Vec::new()).map(|_| ()), Err(BadJwks::NoIssuer));
}

#[test]
fn a_token_tells_its_user() {
    let issuer = Issuer::new("k");
    let request = with(get(), &issuer.sign(Some("k"), &claims()));
    let credential = issuer.auth().authenticate(&request.head(), now()).unwrap();
    let Credential::Bearer(claims) = credential else { panic!("{credential:?}") };
    assert_eq!((claims.object_id.as_deref(), claims.tenant_id.as_deref()), (Some("oid"), Some("tid")));
    assert_eq!(
        issuer.auth().with_tenant("t").challenge(),
        "Bearer authorization_uri=https://login.microsoftonline.com/t/oauth2/authorize \
         resource_id=https://storage.azure.com"
    );
}

/// Get User Delegation Key of every service that has it: for those who came with a token, and for that service.
#[tokio::test]
async fn a_delegation_key_is_of_one_service() {
    const KEY_INFO: &str =
        "<KeyInfo><Start>2026-11-01T12:00:00Z</Start><Expiry>2026-11-02T12:00:00Z</Expiry></KeyInfo>";
    let issuer = Issuer::new("k");
    let gateway = Gateway::new(services(), issuer.auth());
    let mut values = Vec::new();
    for (service, letter) in [(Service::Blob, "b"), (Service::Queue, "q"), (Service::File, "f")] {
        let request = Request::new(service, Method::Post, &format!("/{ACCOUNT}/"));
        let request = request.query("restype", "service").query("comp", "userdelegationkey");
        let request = request.header("content-length", &KEY_INFO.len().to_string());
        let answer =
            send(&gateway, &with(request.clone(), &issuer.sign(Some("k"), &claims())), KEY_INFO).await;
        let body = String::from_utf8(answer.body.to_vec()).unwrap();
        assert_eq!(answer.status, 200, "{body}");
        let told = |name: &str| {
            let (_, rest) = body.split_once(&format!("<{name}>")).unwrap();
            rest.split_once('<').unwrap().0.to_owned()
        };
        assert_eq!((told("SignedService").as_str(), told("SignedOid").as_str()), (letter, "oid"));
        values.push(told("Value"));
        let by_key = request.shared_key("SharedKey", ACCOUNT, lazuli_rest::auth::accounts::DEVELOPMENT_KEY);
        assert_eq!(send(&gateway, &by_key, KEY_INFO).await.said(), "403 AuthenticationFailed");
    }
    values.dedup();
    assert_eq!(values.len(), 3, "each service has a key of its own");
}
