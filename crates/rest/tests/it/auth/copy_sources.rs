//! The source of a copy is authorised as a read of its own: every kind of copy x where its source is x what the request
//! brings for it.

use lazuli_model::operation::{Method, Service};
use lazuli_rest::auth::accounts::DEVELOPMENT_KEY;

use super::bearer::{Issuer, claims};
use super::support::{ACCOUNT, BLOB_SAS, OTHER_ACCOUNT, OTHER_KEY, Request, Token};
use super::world::{World, blob, owner, send};

const COPIES: [&str; 6] = [
    "Copy Blob",
    "Copy Blob From URL",
    "Put Blob From URL",
    "Put Block From URL",
    "Append Block From URL",
    "Put Page From URL",
];
/// What every source has.
const SECRET: [u8; 512] = [b's'; 512];

fn copy(name: &str, number: usize) -> Request {
    let request = |query: &[(&str, &str)]| blob(Method::Put, &format!("/things/copy{number}"), query);
    let request = match name {
        "Copy Blob" => request(&[]),
        "Copy Blob From URL" => request(&[]).header("x-ms-requires-sync", "true"),
        "Put Blob From URL" => request(&[]).header("x-ms-blob-type", "BlockBlob"),
        "Append Block From URL" => blob(Method::Put, "/vault/log", &[("comp", "appendblock")]),
        "Put Page From URL" => blob(Method::Put, "/vault/pages", &[("comp", "page")])
            .header("x-ms-page-write", "update")
            .header("x-ms-range", "bytes=0-511")
            .header("x-ms-source-range", "bytes=0-511"),
        _ => request(&[("comp", "block"), ("blockid", "YQ==")]),
    };
    request.header("content-length", "0")
}

/// The address of the blob `vault/secret` of an account, with a token on it.
fn source(account: &str, token: Option<&Token>) -> String {
    let request = Request::new(Service::Blob, Method::Get, &format!("/{account}/vault/secret"));
    let request = match token {
        Some(token) => token.on(request),
        None => request,
    };
    format!("https://{}{}?{}", request.host, request.path, request.raw_query())
}

fn token(account: &str, letters: &str, of: &str, key: &str) -> Token {
    let resource = format!("/blob/{account}/vault/{of}");
    Token::service(letters).with("sr", "b").sign_service(BLOB_SAS, &resource, key)
}

async fn fill(world: &World, account: &str, key: &str) {
    let put = |path: &str| Request::new(Service::Blob, Method::Put, &format!("/{account}{path}"));
    let make = put("/vault").query("restype", "container").header("content-length", "0");
    let write = put("/vault/secret").header("x-ms-blob-type", "BlockBlob").header("content-length", "512");
    let append = put("/vault/log").header("x-ms-blob-type", "AppendBlob").header("content-length", "0");
    let pages = put("/vault/pages").header("x-ms-blob-type", "PageBlob").header("content-length", "0");
    let pages = pages.header("x-ms-blob-content-length", "512");
    let secret = std::str::from_utf8(&SECRET).unwrap();
    for (request, body) in [(make, ""), (write, secret), (append, ""), (pages, "")] {
        let answer = send(&world.gateway, &request.shared_key("SharedKey", account, key), body).await;
        assert_eq!(answer.status, 201, "{}", answer.said());
    }
}

#[tokio::test]
async fn a_source_is_read_only_by_whom_it_may_be_read() {
    let issuer = Issuer::new("k");
    let world = World::new(issuer.auth()).await;
    fill(&world, ACCOUNT, DEVELOPMENT_KEY).await;
    fill(&world, OTHER_ACCOUNT, OTHER_KEY).await;
    let bearer = format!("Bearer {}", issuer.sign(Some("k"), &claims()));
    let (missing, refused) = ("401 CannotVerifyCopySource", "403 CannotVerifyCopySource");
    let mut number = 0;
    for (account, key) in [(ACCOUNT, DEVELOPMENT_KEY), (OTHER_ACCOUNT, OTHER_KEY)] {
        let read = token(account, "r", "secret", key);
        let wrongs = [
            token(account, "w", "secret", key),
            token(account, "r", "other", key),
            token(account, "r", "secret", "d3Jvbmc="),
        ];
        for name in COPIES {
            let own = name == "Copy Blob" && account == ACCOUNT;
            let takes_bearer = name != "Copy Blob";
            let mut cases = vec![
                (source(account, None), None, true, if own { "" } else { missing }),
                // A token for the target is none for the source.
                (source(account, None), None, false, missing),
                (source(account, Some(&read)), None, true, ""),
                (source(account, Some(&read)), None, false, ""),
                (source(account, None), Some(bearer.clone()), false, if takes_bearer { "" } else { missing }),
            ];
            cases.extend(wrongs.iter().map(|token| (source(account, Some(token)), None, true, refused)));
            for (source, bearer, by_key, wanted) in cases {
                number += 1;
                let mut request = copy(name, number).header("x-ms-copy-source", &source);
                if let Some(bearer) = &bearer {
                    request = request.header("x-ms-copy-source-authorization", bearer);
                }
                let request = match by_key {
                    true => owner(request),
                    false => Token::account("b", "sco", "rwcd").sign_account(DEVELOPMENT_KEY).on(request),
                };
                let answer = world.ask(&request, "").await;
                let said = if answer.is_refusal() { answer.said() } else { String::new() };
                assert_eq!(said, wanted, "{name} of {source}, by key {by_key}, bearer {}", bearer.is_some());
            }
        }
    }
}
