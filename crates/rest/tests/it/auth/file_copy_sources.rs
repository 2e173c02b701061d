//! The source of Copy File is authorised as a read of its own: a file or a blob, of the same account or another, by what the
//! request brings for it.

use lazuli_model::operation::{Method, Service};
use lazuli_rest::auth::accounts::DEVELOPMENT_KEY;

use super::support::{ACCOUNT, BLOB_SAS, FILE_SAS, OTHER_ACCOUNT, OTHER_KEY, Request, Token, auth};
use super::world::{World, owner, send};

/// Of [`ACCOUNT`].
const HOST: &str = "devstoreaccount1.file.localhost";

fn at(service: Service, method: Method, path: &str) -> Request {
    Request::new(service, method, path)
}

/// The same thing by both services: `vault/secret`.
async fn fill(world: &World, account: &str, key: &str) {
    let blob = |path: &str| at(Service::Blob, Method::Put, &format!("/{account}{path}"));
    let file = |path: &str| at(Service::File, Method::Put, &format!("/{account}{path}"));
    let range = file("/vault/secret").query("comp", "range").header("x-ms-write", "update");
    for (request, body) in [
        (blob("/vault").query("restype", "container"), ""),
        (blob("/vault/secret").header("x-ms-blob-type", "BlockBlob"), "secret"),
        (file("/vault").query("restype", "share"), ""),
        (file("/vault/secret").header("x-ms-type", "file").header("x-ms-content-length", "6"), ""),
        (range.header("x-ms-range", "bytes=0-5"), "secret"),
    ] {
        let request = request.header("content-length", &body.len().to_string());
        let answer = send(&world.gateway, &request.shared_key("SharedKey", account, key), body).await;
        assert_eq!(answer.status, 201, "{}", answer.said());
    }
}

fn source(service: Service, account: &str, token: Option<&Token>) -> String {
    let request = at(service, Method::Get, &format!("/{account}/vault/secret"));
    let request = match token {
        Some(token) => token.on(request),
        None => request,
    };
    let name = if service == Service::Blob { "blob" } else { "file" };
    format!("https://{account}.{name}.localhost/vault/secret?{}", request.raw_query())
}

fn token(service: Service, account: &str, letters: &str, key: &str) -> Token {
    match service {
        Service::Blob => {
            let resource = format!("/blob/{account}/vault/secret");
            Token::service(letters).with("sr", "b").sign_service(BLOB_SAS, &resource, key)
        }
        _ => {
            let resource = format!("/file/{account}/vault/secret");
            Token::service(letters).with("sr", "f").sign_service(FILE_SAS, &resource, key)
        }
    }
}

#[tokio::test]
async fn a_source_of_a_file_is_read_only_by_whom_it_may_be_read() {
    let world = World::new(auth()).await;
    fill(&world, ACCOUNT, DEVELOPMENT_KEY).await;
    fill(&world, OTHER_ACCOUNT, OTHER_KEY).await;
    let refused = "403 CannotVerifyCopySource";
    let mut number = 0;
    for (service, missing) in [
        (Service::Blob, "401 CannotVerifyCopySource"),
        // Nobody is told of files who says nothing of himself.
        (Service::File, "404 CannotVerifyCopySource"),
    ] {
        for (account, key) in [(ACCOUNT, DEVELOPMENT_KEY), (OTHER_ACCOUNT, OTHER_KEY)] {
            let read = token(service, account, "r", key);
            let is_own = account == ACCOUNT;
            let mut cases = vec![
                (source(service, account, None), true, if is_own { "" } else { missing }),
                // A token for the target is none for the source.
                (source(service, account, None), false, missing),
                (source(service, account, Some(&read)), true, ""),
                (source(service, account, Some(&read)), false, ""),
            ];
            for wrong in [token(service, account, "w", key), token(service, account, "r", "d3Jvbmc=")] {
                cases.push((source(service, account, Some(&wrong)), true, refused));
            }
            for (source, by_key, wanted) in cases {
                number += 1;
                let path = format!("/{ACCOUNT}/vault/copy{number}");
                let mut request = at(Service::File, Method::Put, &path).header("content-length", "0");
                request.host = HOST;
                request.path = format!("/vault/copy{number}");
                let request = request.header("x-ms-copy-source", &source);
                let request = match by_key {
                    true => owner(request),
                    false => Token::account("f", "sco", "rwcd").sign_account(DEVELOPMENT_KEY).on(request),
                };
                let answer = world.ask(&request, "").await;
                let said = if answer.is_refusal() { answer.said() } else { String::new() };
                assert_eq!(said, wanted, "{source}, by key {by_key}");
                let made = at(Service::File, Method::Head, &path);
                let made = world.ask(&owner(made), "").await;
                assert_eq!(made.is_refusal(), !wanted.is_empty(), "{source}: {}", made.said());
            }
        }
    }
}
