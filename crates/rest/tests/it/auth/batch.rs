//! Blob Batch: every part is authorised, carried out and answered by itself; what is wrong with the batch refuses all.

use lazuli_model::operation::{Method, Service};
use lazuli_rest::auth::accounts::DEVELOPMENT_KEY;

use super::support::{ACCOUNT, BLOB_SAS, OTHER_KEY, Request, Token, auth};
use super::world::{Answer, World, blob, owner};

const PARTS_MAX: usize = 256;

/// A part as clients send it: no version of its own.
fn part(method: Method, path: &str) -> Request {
    let mut request = Request::new(Service::Blob, method, path);
    request.headers.clear();
    request
}

fn delete(path: &str) -> Request {
    part(Method::Delete, path)
}

fn text(parts: &[Request]) -> String {
    let mut body = String::new();
    for (id, part) in parts.iter().enumerate() {
        let query = part.raw_query();
        let url = if query.is_empty() { part.path.clone() } else { format!("{}?{query}", part.path) };
        body += "--batch_1\r\nContent-Type: application/http\r\nContent-Transfer-Encoding: binary\r\n";
        body += &format!("Content-ID: {id}\r\n\r\n{} {url} HTTP/1.1\r\n", part.method.as_str());
        for (name, value) in &part.headers {
            body += &format!("{name}: {value}\r\n");
        }
        // A length of nothing is signed as nothing, in the version of the batch, which a part does not name.
        body += "content-length: 0\r\n\r\n";
    }
    body + "--batch_1--\r\n"
}

fn outer(path: &str, query: &[(&str, &str)], body: &str) -> Request {
    let request = blob(Method::Post, path, query).header("content-type", "multipart/mixed; boundary=batch_1");
    request.header("content-length", &body.len().to_string())
}

async fn batch(world: &World, path: &str, query: &[(&str, &str)], parts: &[Request]) -> Answer {
    let body = text(parts);
    world.ask(&owner(outer(path, query, &body)), &body).await
}

async fn of_account(world: &World, parts: &[Request]) -> Vec<String> {
    said(&batch(world, "/", &[("comp", "batch")], parts).await)
}

/// What each part was told, in the order of their ids.
fn said(answer: &Answer) -> Vec<String> {
    assert_eq!(answer.status, 202, "{}", answer.said());
    let boundary = answer.header("content-type").unwrap().strip_prefix("multipart/mixed; boundary=").unwrap();
    let body = String::from_utf8(answer.body.to_vec()).unwrap();
    let body = body.strip_suffix(&format!("--{boundary}--\r\n")).unwrap();
    let delimiter = format!("--{boundary}\r\n");
    let parts = body.split(&delimiter).skip(1).enumerate().map(|(id, part)| {
        let (head, rest) = part.split_once("\r\n\r\n").unwrap();
        let own = format!("Content-Type: application/http\r\nContent-ID: {id}");
        assert!(head == own || head == "Content-Type: application/http", "{head}");
        let status = rest.strip_prefix("HTTP/1.1 ").unwrap().split(' ').next().unwrap();
        let code = rest.lines().find_map(|line| line.strip_prefix("x-ms-error-code: ")).unwrap_or("");
        let body = rest.split_once("\r\n\r\n").unwrap().1;
        assert_eq!(!code.is_empty(), body.contains(&format!("<Code>{code}</Code>")), "{part}");
        format!("{status} {code}").trim().to_owned()
    });
    parts.collect()
}

async fn write(world: &World, path: &str) {
    let request = blob(Method::Put, path, &[]).header("x-ms-blob-type", "BlockBlob");
    let answer = world.ask(&owner(request.header("content-length", "4")), "data").await;
    assert_eq!(answer.status, 201, "{}", answer.said());
}

async fn exists(world: &World, path: &str) -> bool {
    world.ask(&owner(blob(Method::Head, path, &[])), "").await.status == 200
}

fn path(name: &str) -> String {
    format!("/{ACCOUNT}/things/{name}")
}

#[tokio::test]
async fn each_part_is_authorised_by_itself_whoever_sent_the_batch() {
    let world = World::new(auth()).await;
    let name = path("by-itself");
    let sas = |letters: &str, of: &str, resource: &str| {
        let token = Token::service(letters).with("sr", of);
        token.sign_service(BLOB_SAS, &format!("/blob/{ACCOUNT}/{resource}"), DEVELOPMENT_KEY)
    };
    let account_sas = |letters: &str| Token::account("b", "o", letters).sign_account(DEVELOPMENT_KEY);
    let cases: Vec<(&str, Request, &str)> = vec![
        ("its owner", owner(delete(&name)), "202"),
        ("account SAS", account_sas("d").on(delete(&name)), "202"),
        ("SAS of the container", sas("d", "c", "things").on(delete(&name)), "202"),
        ("SAS of the blob", sas("d", "b", "things/by-itself").on(delete(&name)), "202"),
        ("SAS that reads", sas("r", "c", "things").on(delete(&name)), "403 AuthorizationPermissionMismatch"),
        ("account SAS that reads", account_sas("r").on(delete(&name)), "403 AuthorizationPermissionMismatch"),
        ("SAS of another container", sas("d", "c", "other").on(delete(&name)), "403 AuthenticationFailed"),
        ("wrong key", delete(&name).shared_key("SharedKey", ACCOUNT, OTHER_KEY), "403 AuthenticationFailed"),
        (
            "signed for another blob",
            {
                let signed = owner(delete(&path("another")));
                Request { path: name.clone(), ..signed }
            },
            "403 AuthenticationFailed",
        ),
        ("no credentials", delete(&name), "401 NoAuthenticationInformation"),
    ];
    for container_level in [false, true] {
        let (at, query): (&str, &[_]) = match container_level {
            true => ("/things", &[("restype", "container"), ("comp", "batch")]),
            false => ("/", &[("comp", "batch")]),
        };
        for by in ["owner", "SAS that may nothing", "nobody"] {
            for (who, asked, expected) in &cases {
                write(&world, "/things/by-itself").await;
                let body = text(std::slice::from_ref(asked));
                let sent = outer(at, query, &body);
                let sent = match by {
                    "owner" => owner(sent),
                    "nobody" => sent,
                    _ => Token::account("b", "s", "x").sign_account(DEVELOPMENT_KEY).on(sent),
                };
                let answer = world.ask(&sent, &body).await;
                let case = format!("{who}, in a batch of {by}, container {container_level}");
                if by == "nobody" {
                    assert_eq!(answer.said(), "401 NoAuthenticationInformation", "{case}");
                    assert!(exists(&world, "/things/by-itself").await, "{case}");
                    continue;
                }
                assert_eq!(said(&answer), [*expected], "{case}");
                assert_eq!(exists(&world, "/things/by-itself").await, *expected != "202", "{case}");
            }
        }
    }
}

#[tokio::test]
async fn a_part_that_is_refused_does_not_stop_the_others() {
    let world = World::new(auth()).await;
    write(&world, "/things/first").await;
    write(&world, "/things/last").await;
    let elsewhere = format!("/{ACCOUNT}/nowhere/blob");
    let leased = "e0f0f8a0-0000-4000-8000-000000000000";
    let parts = [
        owner(delete(&path("first"))),
        owner(delete(&path("missing"))),
        owner(delete(&elsewhere)),
        owner(delete(&path("dir/thing"))),
        owner(delete(&path("last")).header("if-match", "\"0x1\"")),
        owner(delete(&path("last")).header("x-ms-lease-id", leased)),
        owner(delete(&path("last")).query("snapshot", "never")),
        owner(delete(&path("last"))),
    ];
    let told = of_account(&world, &parts).await;
    let expected = [
        "202",
        "404 BlobNotFound",
        "404 ContainerNotFound",
        "409 SnapshotsPresent",
        "412 ConditionNotMet",
        "412 LeaseNotPresentWithBlobOperation",
        "400 InvalidQueryParameterValue",
        "202",
    ];
    assert_eq!(told, expected);
    assert!(!exists(&world, "/things/first").await && !exists(&world, "/things/last").await);
}

/// In path style some clients name the account in a part's path and some do not; the JavaScript client says
/// `restype=container` of the account; a container may have the account's name.
#[tokio::test]
async fn addresses_with_and_without_the_account_are_understood() {
    let world = World::new(auth()).await;
    let make = blob(Method::Put, &format!("/{ACCOUNT}"), &[("restype", "container")]);
    assert_eq!(world.ask(&owner(make.header("content-length", "0")), "").await.status, 201);
    let names = ["/things/a b", "/things/b/c/d", &format!("/{ACCOUNT}/e"), &format!("/{ACCOUNT}/f/g")];
    let account: &[_] = &[("comp", "batch")];
    let js: &[_] = &[("comp", "batch"), ("restype", "container")];
    for (at, query) in [("/", account), ("/", js), ("", account), ("", js)] {
        for (index, name) in names.iter().enumerate() {
            for with_account in [true, false] {
                // Without the account this one cannot be told from the blob `g` of a container `f`.
                if index == 3 && !with_account {
                    continue;
                }
                let encoded = name.replace(' ', "%20");
                write(&world, &encoded).await;
                let sent = if with_account { format!("/{ACCOUNT}{encoded}") } else { encoded.clone() };
                let told = said(&batch(&world, at, query, &[owner(delete(&sent))]).await);
                assert_eq!(told, ["202"], "{sent}");
                assert!(!exists(&world, &encoded).await, "{sent}");
            }
        }
    }
    let of_container: &[_] = &[("restype", "container"), ("comp", "batch")];
    write(&world, names[3]).await;
    let told = said(&batch(&world, &format!("/{ACCOUNT}"), of_container, &[owner(delete(names[3]))]).await);
    assert_eq!(told, ["202"], "the batch's container says what is meant");
    write(&world, names[2]).await;
    let told = said(&batch(&world, "/things", of_container, &[owner(delete(names[2]))]).await);
    assert_eq!(told, ["400 InvalidInput"], "a batch of a container stays within it");
}

#[tokio::test]
async fn what_is_no_batch_is_refused_as_a_whole_and_changes_nothing() {
    let world = World::new(auth()).await;
    write(&world, "/things/kept").await;
    let good = owner(delete(&path("kept")));
    let tier = part(Method::Put, &path("kept")).query("comp", "tier").header("x-ms-access-tier", "Cool");
    let put = part(Method::Put, &path("kept")).header("x-ms-blob-type", "BlockBlob");
    let container = part(Method::Delete, &format!("/{ACCOUNT}/things")).query("restype", "container");
    let get = part(Method::Get, &path("kept"));
    let inner = part(Method::Post, &format!("/{ACCOUNT}")).query("comp", "batch");
    let cases: Vec<(&str, Vec<Request>, &str)> = vec![
        ("nothing", vec![], "400 InvalidInput"),
        ("two kinds", vec![good.clone(), owner(tier.clone())], "400 AllBatchSubRequestsShouldBeSameApi"),
        ("a write", vec![good.clone(), owner(put)], "400 InvalidInput"),
        ("a container", vec![good.clone(), owner(container)], "400 InvalidInput"),
        ("a read", vec![good.clone(), owner(get)], "400 InvalidInput"),
        ("a batch", vec![good.clone(), owner(inner)], "400 InvalidInput"),
    ];
    for (what, parts, expected) in cases {
        let answer = batch(&world, "/", &[("comp", "batch")], &parts).await;
        assert_eq!(answer.said(), expected, "{what}");
        assert!(exists(&world, "/things/kept").await, "{what}");
    }
    let whole = text(std::slice::from_ref(&good));
    let large = format!("{}{whole}", "x".repeat(4 << 20));
    for (what, body, expected) in [
        ("no multipart", "hello".to_owned(), "400 InvalidInput"),
        ("never closed", whole.replace("--batch_1--", ""), "400 InvalidInput"),
        ("no request", whole.replace(" HTTP/1.1", "").replace("DELETE /", "DELETE/"), "400 InvalidInput"),
        ("too long", large, "413 RequestBodyTooLarge"),
    ] {
        let answer = world.ask(&owner(outer("/", &[("comp", "batch")], &body)), &body).await;
        assert_eq!(answer.said(), expected, "{what}");
        assert!(exists(&world, "/things/kept").await, "{what}");
    }
}

/// Otherwise what three changes of one blob come to would be a matter of luck.
#[tokio::test]
async fn parts_about_one_blob_are_carried_out_in_their_order() {
    let world = World::new(auth()).await;
    for _ in 0..5 {
        write(&world, "/things/one").await;
        let to = |tier: &str| {
            let part = part(Method::Put, &path("one")).query("comp", "tier");
            owner(part.header("x-ms-access-tier", tier))
        };
        let parts = [to("Cool"), to("Archive"), to("Hot"), to("Cool"), to("Hot")];
        let told = of_account(&world, &parts).await;
        assert_eq!(told, ["200", "200", "202", "409 BlobBeingRehydrated", "202"]);
        assert_eq!(
            of_account(&world, &[owner(delete(&path("one"))), owner(delete(&path("one")))]).await,
            ["202", "404 BlobNotFound"]
        );
    }
}

#[tokio::test]
async fn there_are_at_most_256_parts() {
    let world = World::new(auth()).await;
    write(&world, "/things/kept").await;
    let parts = vec![owner(delete(&path("kept"))); PARTS_MAX];
    let told = of_account(&world, &parts).await;
    let count = |status: &str| told.iter().filter(|told| *told == status).count();
    assert_eq!((count("202"), count("404 BlobNotFound")), (1, PARTS_MAX - 1), "one of them found it");
    write(&world, "/things/kept").await;
    for many in [PARTS_MAX + 1, 5_000] {
        let parts = vec![owner(delete(&path("kept"))); many];
        assert_eq!(
            of_account(&world, &parts).await,
            ["400 ExceedsMaxBatchRequestCount"],
            "one answer for all"
        );
        assert!(exists(&world, "/things/kept").await);
    }
}
