//! What is special about credentials of the File service.

use lazuli_model::operation::{Method, Op, Service};
use lazuli_rest::auth::accounts::DEVELOPMENT_KEY;

use super::bearer::{Issuer, claims, with};
use super::matrix::{AUTHENTICATION, OK, ask, requests, table};
use super::support::{ACCOUNT, BLOB_SAS, FILE_SAS, Request, Token};
use super::world::{World, owner};

/// A token opens files with the intent that the request names, and with no other.
#[test]
fn bearer_with_an_intent() {
    let issuer = Issuer::new("k");
    let auth = issuer.auth();
    let good = issuer.sign(Some("k"), &claims());
    let mut asked = 0;
    for (row, rule) in table().into_iter().filter(|(row, _)| row.route.service == Service::File) {
        let free = rule.bearer == "only" || rule.anonymous == "everybody";
        for request in requests(row) {
            let request = with(request, &good);
            for (intent, refused) in [
                (None, "400 MissingRequiredHeader"),
                (Some(""), "400 MissingRequiredHeader"),
                (Some("restore"), "400 InvalidHeaderValue"),
                (Some("Backup"), OK),
            ] {
                let request = match intent {
                    Some(intent) => request.clone().header("x-ms-file-request-intent", intent),
                    None => request.clone(),
                };
                let expected = if free { OK } else { refused };
                assert_eq!(ask(&auth, row, &request, None), expected, "{} {intent:?}", rule.op);
                asked += 1;
            }
        }
    }
    assert!(asked > 200, "{asked}");
}

/// Tokens for one file, and for a directory and what lies beneath it.
#[test]
fn file_and_directory_sas() {
    let auth = super::support::auth();
    let row = Op::GetFile.row();
    let check = |expected: &str, path: &str, token: &Token| {
        let request = Request::new(Service::File, Method::Get, &format!("/{ACCOUNT}{path}"));
        assert_eq!(ask(&auth, row, &token.on(request), None), expected, "{path} {token:?}");
    };
    let sign = |token: Token, path: &str| {
        token.sign_service(FILE_SAS, &format!("/file/{ACCOUNT}{path}"), DEVELOPMENT_KEY)
    };
    let file = sign(Token::service("rcwd").with("sr", "f"), "/things/dir/thing");
    check(OK, "/things/dir/thing", &file);
    check(OK, "/things/dir%2Fthing", &file);
    for other in ["/things/dir/other", "/things/dir", "/things", "/others/dir/thing"] {
        check(AUTHENTICATION, other, &file);
    }
    // Dots at the end of a name count or not; a token is for the name that they leave.
    let plain = sign(Token::service("r").with("sr", "f"), "/things/dir/thing");
    let dotted = sign(Token::service("r").with("sr", "f"), "/things/dir/thing.");
    let keep = |path: &str, token: &Token| {
        let request = Request::new(Service::File, Method::Get, &format!("/{ACCOUNT}{path}"));
        ask(&auth, row, &token.on(request.header("x-ms-allow-trailing-dot", "true")), None)
    };
    check(OK, "/things/dir/thing.", &plain);
    check(OK, "/things/dir./thing", &plain);
    check(AUTHENTICATION, "/things/dir/thing.", &dotted);
    check(AUTHENTICATION, "/things/dir/thing", &dotted);
    assert_eq!(keep("/things/dir/thing.", &dotted), OK);
    assert_eq!(keep("/things/dir/thing", &plain), OK);
    assert_eq!(keep("/things/dir/thing.", &plain), AUTHENTICATION);
    assert_eq!(keep("/things/dir/thing", &dotted), AUTHENTICATION);
    // A file is not listed.
    check(
        AUTHENTICATION,
        "/things/dir/thing",
        &sign(Token::service("rl").with("sr", "f"), "/things/dir/thing"),
    );
    let sign_directory = |token: Token, path: &str| {
        token.with("sr", "d").sign_service(BLOB_SAS, &format!("/file/{ACCOUNT}{path}"), DEVELOPMENT_KEY)
    };
    let directory = sign_directory(Token::service("rl").with("sdd", "2"), "/things/dir/sub");
    check(OK, "/things/dir./sub./thing", &directory);
    check(
        AUTHENTICATION,
        "/things/dir/sub./thing",
        &sign_directory(Token::service("r").with("sdd", "2"), "/things/dir/sub."),
    );
    for inside in ["/things/dir/sub", "/things/dir/sub/thing", "/things/dir/sub/a/b"] {
        check(OK, inside, &directory);
    }
    for other in
        ["/things/dir", "/things/dir/subway", "/things", "/others/dir/sub/thing", "/things/dir/other/thing"]
    {
        check(AUTHENTICATION, other, &directory);
    }
    check(
        "403 QueryParameterSddInvalid",
        "/things/dir/sub",
        &sign_directory(Token::service("r"), "/things/dir/sub"),
    );
    check(AUTHENTICATION, "/things/dir", &sign_directory(Token::service("r").with("sdd", "0"), "/things"));
    // A token for a file does not become one for a directory of its name.
    let widened = sign(Token::service("r").with("sr", "f"), "/things/dir").with("sr", "d").with("sdd", "1");
    check(AUTHENTICATION, "/things/dir", &widened);
    check(AUTHENTICATION, "/things/dir/thing", &widened);
    check(AUTHENTICATION, "/things/dir", &sign(Token::service("r").with("sr", "x"), "/things/dir"));
}

/// A token for one file gives no name to another, which it could then read by that name.
#[tokio::test]
async fn a_hard_link_leads_to_what_the_token_reaches() {
    let world = World::new(super::support::auth()).await;
    let put = |path: &str, query: &[(&str, &str)], headers: &[(&str, &str)]| {
        let request = Request::new(Service::File, Method::Put, &format!("/{ACCOUNT}{path}"));
        let request = request.header("content-length", "0");
        let request = query.iter().fold(request, |request, (name, value)| request.query(name, value));
        headers.iter().fold(request, |request, (name, value)| request.header(name, value))
    };
    let share = put("/linked", &[("restype", "share")], &[("x-ms-enabled-protocols", "NFS")]);
    assert_eq!(world.ask(&owner(share), "").await.status, 201);
    let file = [("x-ms-type", "file"), ("x-ms-content-length", "1")];
    assert_eq!(world.ask(&owner(put("/linked/secret", &[], &file)), "").await.status, 201);
    let link = put(
        "/linked/name",
        &[("restype", "hardlink")],
        &[("x-ms-type", "file"), ("x-ms-file-target-file", "secret")],
    );
    let sign = |kind: &str, path: &str| {
        let token = Token::service("rcw").with("sr", kind);
        token.sign_service(FILE_SAS, &format!("/file/{ACCOUNT}{path}"), DEVELOPMENT_KEY)
    };
    let answer = world.ask(&sign("f", "/linked/name").on(link.clone()), "").await;
    assert_eq!(answer.said(), AUTHENTICATION);
    let answer = world.ask(&sign("s", "/linked").on(link), "").await;
    assert_eq!(answer.header("x-ms-link-count"), Some("2"));
}
