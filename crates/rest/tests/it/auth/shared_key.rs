//! Shared Key where clients and networks differ from the plain case.

use lazuli_model::operation::{Method, Service};
use lazuli_rest::auth::accounts::DEVELOPMENT_KEY;
use lazuli_rest::auth::{Account, Accounts, Auth, BadAccounts, Credential, Key, OAuth};

use super::support::{
    ACCOUNT, OTHER_ACCOUNT, OTHER_KEY, Request, SECOND_KEY, SECRET, code, detail, mac, now,
};

fn get() -> Request {
    Request::new(Service::Blob, Method::Get, "/devstoreaccount1/c/b")
}

fn sign(request: Request, string: &str) -> Request {
    request.header("authorization", &format!("SharedKey {ACCOUNT}:{}", mac(DEVELOPMENT_KEY, string)))
}

#[test]
fn either_key_opens_the_account() {
    for key in [DEVELOPMENT_KEY, SECOND_KEY] {
        for scheme in ["SharedKey", "SharedKeyLite"] {
            for service in [Service::Blob, Service::Queue, Service::Table, Service::File, Service::Dfs] {
                let request =
                    Request::new(service, Method::Get, "/devstoreaccount1/name").query("comp", "list");
                assert_eq!(code(request.shared_key(scheme, ACCOUNT, key).authenticate()), "ok");
            }
        }
    }
    let refused = get().shared_key("SharedKey", ACCOUNT, OTHER_KEY).authenticate();
    assert_eq!(code(refused), "403 AuthenticationFailed");
}

/// Every part of the request that is signed, changed after signing.
#[test]
fn a_signature_is_good_for_one_request() {
    let put = || {
        Request::new(Service::Blob, Method::Put, "/devstoreaccount1/c/b%201")
            .query("timeout", "30")
            .header("content-length", "5")
            .header("x-ms-meta-a", "1")
            .shared_key("SharedKey", ACCOUNT, DEVELOPMENT_KEY)
    };
    assert_eq!(code(put().authenticate()), "ok");
    let changes: [fn(Request) -> Request; 12] = [
        |r| Request { method: Method::Post, ..r },
        |r| Request { path: "/devstoreaccount1/c/b%202".into(), ..r },
        |r| Request { path: "/devstoreaccount1/c/b 1".into(), ..r },
        |r| Request { path: "/devstoreaccount1/c/%62%201".into(), ..r },
        |r| Request { path: "/devstoreaccount1//c/b%201".into(), ..r },
        |r| r.query("comp", "metadata"),
        |r| r.query("timeout", "31"),
        |r| r.header("content-length", "6"),
        |r| r.header("content-type", "x"),
        |r| r.header("range", "bytes=0-1"),
        |r| r.header("x-ms-meta-a", "2"),
        |r| r.header("x-ms-meta-b", ""),
    ];
    for (at, change) in changes.into_iter().enumerate() {
        assert_eq!(code(change(put()).authenticate()), "403 AuthenticationFailed", "change {at}");
    }
}

#[test]
fn the_date_is_close_to_now() {
    let cases = [
        (0, "ok"),
        (-899, "ok"),
        (899, "ok"),
        (-901, "403 AuthenticationFailed"),
        (901, "403 AuthenticationFailed"),
    ];
    for (seconds, expected) in cases {
        let date = now().plus_seconds(seconds).rfc1123();
        let request = get().header("x-ms-date", &date).shared_key("SharedKey", ACCOUNT, DEVELOPMENT_KEY);
        assert_eq!(code(request.authenticate()), expected, "{seconds}");
    }
    let unreadable = get().header("x-ms-date", "yesterday").shared_key("SharedKey", ACCOUNT, DEVELOPMENT_KEY);
    assert_eq!(code(unreadable.authenticate()), "403 AuthenticationFailed");
    let string = "GET\n\n\n\n\n\n\n\n\n\n\n\nx-ms-version:2026-10-06\n/devstoreaccount1/devstoreaccount1/c/b";
    assert_eq!(code(sign(get(), string).authenticate()), "403 AuthenticationFailed");
}

#[test]
fn the_date_header_serves_where_x_ms_date_is_absent() {
    let date = now().rfc1123();
    let string = format!(
        "GET\n\n\n\n\n\n{date}\n\n\n\n\n\nx-ms-version:2026-10-06\n/devstoreaccount1/devstoreaccount1/c/b"
    );
    assert_eq!(code(sign(get().header("date", &date), &string).authenticate()), "ok");
    let table = Request::new(Service::Table, Method::Get, "/devstoreaccount1/Tables").header("date", &date);
    let string = format!("GET\n\n\n{date}\n/devstoreaccount1/devstoreaccount1/Tables");
    assert_eq!(code(sign(table, &string).authenticate()), "ok");
}

#[test]
fn headers_are_taken_in_service_order_and_in_byte_order() {
    let date = now().rfc1123();
    let request = get().header("x-ms-date", &date).header("x-ms-meta-a-c", "2").header("x-ms-meta-ab", "1");
    let string = |own: &str| {
        format!(
            "GET\n\n\n\n\n\n\n\n\n\n\n\nx-ms-date:{date}\n{own}x-ms-version:2026-10-06\n\
             /devstoreaccount1/devstoreaccount1/c/b"
        )
    };
    let (ab, a_c) = ("x-ms-meta-ab:1\n", "x-ms-meta-a-c:2\n");
    for own in [format!("{ab}{a_c}"), format!("{a_c}{ab}")] {
        assert_eq!(code(sign(request.clone(), &string(&own)).authenticate()), "ok", "{own}");
    }
    let neither = sign(request, &string(ab));
    assert_eq!(code(neither.authenticate()), "403 AuthenticationFailed");
}

#[test]
fn white_space_is_taken_as_it_is_and_folded() {
    let date = now().rfc1123();
    let request = get().header("x-ms-date", &date).header("x-ms-meta-a", "x  y \"p  q\"");
    for value in ["x  y \"p  q\"", "x y \"p  q\""] {
        let string = format!(
            "GET\n\n\n\n\n\n\n\n\n\n\n\nx-ms-date:{date}\nx-ms-meta-a:{value}\nx-ms-version:2026-10-06\n\
             /devstoreaccount1/devstoreaccount1/c/b"
        );
        assert_eq!(code(sign(request.clone(), &string).authenticate()), "ok", "{value}");
    }
}

/// The v11 client for .NET sends `?comp=page&update` and signs `:update`; others sign `update:`.
#[test]
fn a_word_of_the_query_is_taken_as_a_name_and_as_a_value() {
    let date = now().rfc1123();
    let request = get().header("x-ms-date", &date).query("comp", "page");
    let string = |query: &str| {
        format!(
            "GET\n\n\n\n\n\n\n\n\n\n\n\nx-ms-date:{date}\nx-ms-version:2026-10-06\n\
             /devstoreaccount1/devstoreaccount1/c/b{query}"
        )
    };
    let judge = |request: &Request, signed: &str| code(sign(request.clone(), &string(signed)).authenticate());
    let word = request.clone().word("update");
    for signed in ["\n:update\ncomp:page", "\ncomp:page\nupdate:"] {
        assert_eq!(judge(&word, signed), "ok", "{signed}");
    }
    for (other, signed) in [
        (request.clone().word("delete"), "\n:update\ncomp:page"),
        (request.clone().query("update", ""), "\n:update\ncomp:page"),
        (request.clone(), "\n:update\ncomp:page"),
        (word, "\ncomp:page"),
    ] {
        assert_eq!(judge(&other, signed), "403 AuthenticationFailed", "{:?} {signed}", other.raw_query());
    }
}

/// The rules that versions changed.
#[test]
fn old_versions_sign_zero_and_leave_empty_headers_out() {
    let date = now().rfc1123();
    let request = |version: &str| {
        Request::new(Service::Blob, Method::Put, "/devstoreaccount1/c")
            .query("restype", "container")
            .header("content-length", "0")
            .header("x-ms-date", &date)
            .header("x-ms-meta-a", "")
            .header("x-ms-version", version)
    };
    let cases = [
        ("2014-02-14", "0", ""),
        ("2015-02-21", "", ""),
        ("2016-05-31", "", "x-ms-meta-a:\n"),
        ("2026-10-06", "", "x-ms-meta-a:\n"),
    ];
    for (version, length, empty) in cases {
        let string = format!(
            "PUT\n\n\n{length}\n\n\n\n\n\n\n\n\nx-ms-date:{date}\n{empty}x-ms-version:{version}\n\
             /devstoreaccount1/devstoreaccount1/c\nrestype:container"
        );
        assert_eq!(code(sign(request(version), &string).authenticate()), "ok", "{version}");
    }
}

#[test]
fn the_secondary_is_signed_with_or_without_its_suffix() {
    let request = Request::new(Service::Blob, Method::Get, "/devstoreaccount1-secondary/c/b");
    let request = request.header("x-ms-date", &now().rfc1123());
    for path in ["/devstoreaccount1-secondary/c/b", "/devstoreaccount1/c/b"] {
        let string =
            request.string_to_sign("SharedKey", ACCOUNT).replace("/devstoreaccount1-secondary/c/b", path);
        let signature = mac(DEVELOPMENT_KEY, &string);
        for name in ["devstoreaccount1", "devstoreaccount1-secondary"] {
            let signed = request.clone().header("authorization", &format!("SharedKey {name}:{signature}"));
            assert_eq!(code(signed.authenticate()), "ok", "{path} {name}");
        }
    }
}

#[test]
fn text_beyond_ascii_is_signed_as_utf8_however_it_was_sent() {
    let date = now().rfc1123();
    let string = format!(
        "GET\n\n\n\n\n\n\n\n\n\n\n\nx-ms-date:{date}\nx-ms-meta-a:\u{e9}\nx-ms-version:2026-10-06\n\
         /devstoreaccount1/devstoreaccount1/c/b"
    );
    let utf8 = sign(get().header("x-ms-date", &date).header("x-ms-meta-a", "\u{e9}"), &string);
    assert_eq!(code(utf8.authenticate()), "ok");
    let mut latin1 = utf8.head();
    let mut headers = http::HeaderMap::clone(&latin1.headers);
    headers.insert("x-ms-meta-a", http::HeaderValue::from_bytes(b"\xe9").unwrap());
    latin1.headers = headers.into();
    assert_eq!(code(super::support::auth().authenticate(&latin1, now())), "ok");
}

#[test]
fn malformed_headers_are_400() {
    for header in ["x", "SharedKey", "SharedKey x", "SharedKey :x", "SharedKey x:", "Basic a:b", "Bearer"] {
        let refused = get().header("authorization", header).authenticate();
        assert_eq!(code(refused), "400 InvalidAuthenticationInfo", "{header}");
    }
    let mut twice = get().shared_key("SharedKey", ACCOUNT, DEVELOPMENT_KEY);
    twice.headers.push(("authorization".into(), "SharedKey a:b".into()));
    assert_eq!(code(twice.authenticate()), "400 InvalidAuthenticationInfo");
    let mut doubled = get().header("x-ms-meta-a", "1").shared_key("SharedKey", ACCOUNT, DEVELOPMENT_KEY);
    doubled.headers.push(("x-ms-meta-a".into(), "2".into()));
    assert_eq!(code(doubled.authenticate()), "400 InvalidHeaderValue");
    for signature in ["!", "AAAA", &"A".repeat(44), &"A".repeat(4000)] {
        let refused = get()
            .header("x-ms-date", &now().rfc1123())
            .header("authorization", &format!("SharedKey {ACCOUNT}:{signature}"))
            .authenticate();
        assert_eq!(code(refused), "403 AuthenticationFailed");
    }
}

#[test]
fn a_header_is_judged_even_beside_a_good_signature_in_the_query() {
    let token = super::support::Token::account("b", "o", "r").sign_account(DEVELOPMENT_KEY);
    assert_eq!(code(token.on(get()).authenticate()), "ok");
    let both = token.on(get()).header("authorization", "SharedKey x");
    assert_eq!(code(both.authenticate()), "400 InvalidAuthenticationInfo");
}

#[test]
fn accounts_do_not_open_each_other() {
    let own = Request::new(Service::Blob, Method::Get, "/other/c/b");
    assert_eq!(code(own.clone().shared_key("SharedKey", OTHER_ACCOUNT, OTHER_KEY).authenticate()), "ok");
    let foreign = own.shared_key("SharedKey", ACCOUNT, DEVELOPMENT_KEY).authenticate();
    assert_eq!(code(foreign), "403 AuthenticationFailed");
    let unknown = get().shared_key("SharedKey", "nobody", OTHER_KEY).authenticate().unwrap_err();
    assert_eq!(
        detail(&unknown),
        "Cannot find the claimed account when trying to GetProperties for the account nobody."
    );
}

#[test]
fn accounts_can_demand_https_and_forbid_their_keys() {
    let account = || Account::new(ACCOUNT, vec![Key::from_base64(DEVELOPMENT_KEY).unwrap()]);
    let with = |account| Auth::new(Accounts::new([account]), OAuth::Off, SECRET);
    let request = get().shared_key("SharedKey", ACCOUNT, DEVELOPMENT_KEY);
    let plain = Request { secure: false, ..request.clone() };
    let mut demanding = account();
    demanding.https_only = true;
    let https = with(demanding);
    assert_eq!(code(https.authenticate(&request.head(), now())), "ok");
    assert_eq!(code(https.authenticate(&plain.head(), now())), "400 AccountRequiresHttps");
    let mut locked = account();
    locked.shared_key_disabled = true;
    let keyless = with(locked);
    let sas = super::support::Token::account("b", "o", "r").sign_account(DEVELOPMENT_KEY).on(get());
    for request in [request, sas] {
        let refused = keyless.authenticate(&request.head(), now());
        assert_eq!(code(refused), "403 KeyBasedAuthenticationNotPermitted");
    }
}

#[test]
fn accounts_are_read_from_text_and_replaced_while_serving() {
    let names = |text: &str| Accounts::parse(text).map(|list| Accounts::new(list).names());
    let key = DEVELOPMENT_KEY;
    assert_eq!(names(&format!("a1:{key};b2:{key}:{SECOND_KEY};")), Ok(vec!["a1".into(), "b2".into()]));
    assert_eq!(names(""), Err(BadAccounts::Empty));
    assert_eq!(names("a1"), Err(BadAccounts::Form("a1".into())));
    assert_eq!(names("a1:%%"), Err(BadAccounts::Key("a1".into())));
    assert_eq!(names(&format!("a1:{key}:{key}:{key}")), Err(BadAccounts::Form("a1".into())));
    assert_eq!(names(&format!("a/1:{key}")), Err(BadAccounts::Name("a/1".into())));
    assert_eq!(names(&format!("a1:{key};a1:{key}")), Err(BadAccounts::Twice("a1".into())));

    let accounts = Accounts::development();
    assert!(accounts.has_development_key());
    let auth = Auth::new(accounts.clone(), OAuth::Off, SECRET);
    let request = get().shared_key("SharedKey", ACCOUNT, DEVELOPMENT_KEY);
    assert_eq!(auth.authenticate(&request.head(), now()).unwrap(), Credential::SharedKey);
    accounts.replace(Accounts::parse(&format!("{ACCOUNT}:{SECOND_KEY}")).unwrap());
    assert!(!accounts.has_development_key());
    assert_eq!(code(auth.authenticate(&request.head(), now())), "403 AuthenticationFailed");
    let request = get().shared_key("SharedKey", ACCOUNT, SECOND_KEY);
    assert_eq!(code(auth.authenticate(&request.head(), now())), "ok");
}
