//! What is special about credentials of the File service.

use lazuli_model::operation::{Method, Op, Service};
use lazuli_rest::auth::accounts::DEVELOPMENT_KEY;

use super::bearer::{Issuer, claims, with};
use super::matrix::{AUTHENTICATION, OK, ask, requests, table};
use super::support::{ACCOUNT, FILE_SAS, Request, Token};

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
    // A file is not listed.
    check(
        AUTHENTICATION,
        "/things/dir/thing",
        &sign(Token::service("rl").with("sr", "f"), "/things/dir/thing"),
    );
    let directory = sign(Token::service("rl").with("sr", "d").with("sdd", "2"), "/things/dir/sub");
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
        &sign(Token::service("r").with("sr", "d"), "/things/dir/sub"),
    );
    check(
        AUTHENTICATION,
        "/things/dir",
        &sign(Token::service("r").with("sr", "d").with("sdd", "0"), "/things"),
    );
    check(AUTHENTICATION, "/things/dir", &sign(Token::service("r").with("sr", "x"), "/things/dir"));
}
