//! Shared access signatures: what each field takes away.

use lazuli_model::access::{AccessPolicy, ContainerAccess, PublicAccess};
use lazuli_model::operation::{Method, Op, Service};
use lazuli_model::time::Timestamp;
use lazuli_rest::auth::accounts::DEVELOPMENT_KEY;
use lazuli_rest::auth::bearer::Claims;
use lazuli_rest::auth::{Credential, KeyInfo};
use lazuli_rest::authorize::{Grant, authorize};

use super::bearer::{Issuer, claims, with};
use super::support::{
    ACCOUNT, BLOB_SAS, BLOB_SAS_2015, BLOB_SAS_2018, QUEUE_SAS, Request, TABLE_SAS, Token, VERSION, auth,
    code, detail, now,
};

const REFUSED: &str = "403 AuthenticationFailed";

fn get() -> Request {
    Request::new(Service::Blob, Method::Get, "/devstoreaccount1/c/d/e/b")
}

fn list(prefix: &str) -> Request {
    Request::new(Service::Blob, Method::Get, "/devstoreaccount1/c")
        .query("restype", "container")
        .query("comp", "list")
        .query("prefix", prefix)
}

fn account_sas(change: impl Fn(Token) -> Token) -> Token {
    change(Token::account("b", "sco", "rwdl")).sign_account(DEVELOPMENT_KEY)
}

fn blob_sas(token: Token, resource: &str) -> Token {
    token.sign_service(BLOB_SAS, resource, DEVELOPMENT_KEY)
}

fn grant(request: &Request, op: Op, container: Option<&ContainerAccess>) -> Result<Grant, String> {
    let head = request.head();
    let told = |failure: lazuli_model::error::Failure| code(Err::<(), _>(failure));
    let credential = auth().authenticate(&head, now()).map_err(told)?;
    authorize(&credential, op.row(), &head, container, now()).map_err(told)
}

#[test]
fn times_are_kept_to_the_end_inclusive() {
    let cases = [
        ("", "2026-11-01T12:00:00Z", "ok"),
        ("", "2026-11-01T11:59:59Z", REFUSED),
        ("2026-11-01T12:00:00Z", "2030-01-01", "ok"),
        ("2026-11-01T12:00:01Z", "2030-01-01", REFUSED),
        ("2026-11-01", "2026-11-01T12:00Z", "ok"),
        ("2026-11-01T12:00:00.0000001Z", "2030-01-01T00:00:00.0000000Z", REFUSED),
        ("", "", REFUSED),
        ("", "tomorrow", REFUSED),
        ("yesterday", "2030-01-01", REFUSED),
    ];
    for (start, expiry, expected) in cases {
        let account = account_sas(|token| token.with("st", start).with("se", expiry)).on(get());
        assert_eq!(code(account.authenticate()), expected, "account SAS {start} {expiry}");
        let token = Token::service("r").with("sr", "c").with("st", start).with("se", expiry);
        let container = blob_sas(token, "/blob/devstoreaccount1/c").on(get());
        assert_eq!(code(container.authenticate()), expected, "service SAS {start} {expiry}");
    }
}

#[test]
fn addresses_and_protocols() {
    let cases = [
        ("127.0.0.1", Some("127.0.0.1"), "ok"),
        ("127.0.0.1", Some("::ffff:127.0.0.1"), "ok"),
        ("127.0.0.1", Some("127.0.0.2"), "403 AuthorizationSourceIPMismatch"),
        ("127.0.0.1", Some("::1"), "403 AuthorizationSourceIPMismatch"),
        ("::1-::2", Some("127.0.0.1"), "403 AuthorizationSourceIPMismatch"),
        ("::1-::2", Some("::2"), "ok"),
        ("127.0.0.1", None, "403 AuthorizationSourceIPMismatch"),
        ("10.0.0.5-10.0.0.7", Some("10.0.0.4"), "403 AuthorizationSourceIPMismatch"),
        ("10.0.0.5-10.0.0.7", Some("10.0.0.5"), "ok"),
        ("10.0.0.5-10.0.0.7", Some("10.0.0.7"), "ok"),
        ("10.0.0.5-10.0.0.7", Some("10.0.0.8"), "403 AuthorizationSourceIPMismatch"),
        ("10.0.0.5-::1", Some("10.0.0.6"), REFUSED),
        ("somewhere", Some("10.0.0.6"), REFUSED),
    ];
    for (sip, peer, expected) in cases {
        let request = Request { peer, ..account_sas(|token| token.with("sip", sip)).on(get()) };
        // A header cannot tell another address.
        let request = request.header("x-forwarded-for", "10.0.0.6");
        assert_eq!(code(request.authenticate()), expected, "{sip} {peer:?}");
    }
    let cases = [
        ("https", true, "ok"),
        ("https", false, "403 AuthorizationProtocolMismatch"),
        ("https,http", false, "ok"),
        ("http", true, REFUSED),
    ];
    for (spr, secure, expected) in cases {
        let request = Request { secure, ..account_sas(|token| token.with("spr", spr)).on(get()) };
        assert_eq!(code(request.authenticate()), expected, "{spr} {secure}");
    }
}

#[test]
fn fields_that_are_missing_or_wrong() {
    for name in ["sv", "sp", "se", "ss", "srt", "sig"] {
        let mut token = account_sas(|token| token);
        token.fields.retain(|(known, _)| *known != name);
        assert_eq!(
            code(token.on(get()).authenticate()),
            if name == "sig" { "ok" } else { REFUSED },
            "{name}"
        );
    }
    let wrong = [("sv", "2014-02-14"), ("sv", "new"), ("ss", "bx"), ("srt", "x"), ("sp", "rz"), ("sig", "")];
    for (name, value) in wrong {
        let token = account_sas(|token| token.with(name, value));
        let token = if name == "sig" { token.with("sig", value) } else { token };
        assert_eq!(code(token.on(get()).authenticate()), REFUSED, "{name}={value}");
    }
    // Letters of an account SAS stand in any order, those of a service SAS do not.
    assert_eq!(code(account_sas(|token| token.with("sp", "ldwr")).on(get()).authenticate()), "ok");
    for (sp, expected) in
        [("rw", "ok"), ("racwdxyltfmeopi", "ok"), ("wr", REFUSED), ("rr", REFUSED), ("u", REFUSED)]
    {
        let token = blob_sas(Token::service(sp).with("sr", "c"), "/blob/devstoreaccount1/c");
        assert_eq!(code(token.on(get()).authenticate()), expected, "{sp}");
    }
}

/// Without `sig` there is no signature to judge: the request is anybody's.
#[test]
fn parameters_without_a_signature_are_nobody() {
    let mut token = account_sas(|token| token);
    token.fields.retain(|(known, _)| *known != "sig");
    assert_eq!(token.on(get()).authenticate().unwrap(), Credential::Anonymous);
}

#[test]
fn every_version_signs_its_own_string() {
    let cases = [
        ("2015-04-05", BLOB_SAS_2015),
        ("2018-03-28", BLOB_SAS_2015),
        ("2018-11-09", BLOB_SAS_2018),
        ("2020-10-02", BLOB_SAS_2018),
        ("2020-12-06", BLOB_SAS),
        ("2031-01-01", BLOB_SAS),
    ];
    for (version, form) in cases {
        for signed in [BLOB_SAS_2015, BLOB_SAS_2018, BLOB_SAS] {
            let token = Token::service("r").with("sv", version).with("sr", "b").with("rsct", "a/b");
            let token = token.sign_service(signed, "/blob/devstoreaccount1/c/d/e/b", DEVELOPMENT_KEY);
            let expected = if signed == form { "ok" } else { REFUSED };
            assert_eq!(code(token.on(get()).authenticate()), expected, "{version} {signed}");
        }
    }
    // Account SAS before ses.
    let token = Token::account("b", "o", "r").with("sv", "2020-10-02");
    let string = "devstoreaccount1\nr\nb\no\n\n2030-01-01T00:00:00Z\n\n\n2020-10-02\n";
    assert_eq!(code(token.clone().signed(DEVELOPMENT_KEY, string).on(get()).authenticate()), "ok");
    let scoped = token.with("ses", "s").signed(DEVELOPMENT_KEY, string);
    assert_eq!(code(scoped.on(get()).authenticate()), REFUSED);
}

#[test]
fn a_token_reaches_what_it_names() {
    let container = blob_sas(Token::service("rl").with("sr", "c"), "/blob/devstoreaccount1/c");
    assert_eq!(code(container.on(get()).authenticate()), "ok");
    assert_eq!(code(container.on(list("")).authenticate()), "ok");
    let other = Request { path: "/devstoreaccount1/c2/d/e/b".into(), ..get() };
    assert_eq!(code(container.on(other).authenticate()), REFUSED);

    let blob = blob_sas(Token::service("r").with("sr", "b"), "/blob/devstoreaccount1/c/d/e/b");
    assert_eq!(code(blob.on(get()).authenticate()), "ok");
    assert_eq!(code(blob.on(list("")).authenticate()), REFUSED);

    // A snapshot's token opens that snapshot, not the base and no other.
    let snapshot = "2024-05-05T05:05:05.0000000Z";
    let token = Token::service("r").with("sr", "bs").with("snapshot", snapshot);
    let mut token = blob_sas(token, "/blob/devstoreaccount1/c/d/e/b");
    assert_eq!(code(token.on(get()).authenticate()), "ok");
    token = token.with("snapshot", "2024-05-05T05:05:05.0000001Z");
    assert_eq!(code(token.on(get()).authenticate()), REFUSED);
    token.fields.retain(|(name, _)| *name != "snapshot");
    assert_eq!(code(token.on(get()).authenticate()), REFUSED);

    // So does a version's.
    let token = Token::service("rx").with("sr", "bv").with("time", snapshot);
    let fields = BLOB_SAS.replace("snapshot", "time");
    let signed =
        token.sign_service(&fields, "/blob/devstoreaccount1/c/d/e/b", DEVELOPMENT_KEY).without("time");
    let named = |version: &str| signed.on(get().query("versionid", version));
    assert_eq!(code(named(snapshot).authenticate()), "ok");
    assert_eq!(code(named("2024-05-05T05:05:05.0000001Z").authenticate()), REFUSED);
    assert_eq!(code(signed.on(get()).authenticate()), REFUSED);
    assert_eq!(code(signed.on(get().query("snapshot", snapshot)).authenticate()), REFUSED);

    // Nor is there a snapshot without a time.
    let timeless = blob_sas(Token::service("r").with("sr", "bs"), "/blob/devstoreaccount1/c/d/e/b");
    assert_eq!(code(timeless.on(get()).authenticate()), REFUSED);

    // A token is of one kind.
    let mixed = account_sas(|token| token).with("sr", "b");
    assert_eq!(code(mixed.on(get()).authenticate()), REFUSED);

    // Above its own level a token says so (recorded).
    let batch = Request::new(Service::Blob, Method::Post, "/devstoreaccount1/").query("comp", "batch");
    let failure = container.on(batch).authenticate().unwrap_err();
    assert_eq!(detail(&failure), "The specified signed resource is not allowed for this resource level");
}

#[test]
fn a_directory_token_stays_in_its_directory() {
    let token = |depth: &str, path: &str| {
        let token = Token::service("rl").with("sr", "d").with("sdd", depth);
        blob_sas(token, &format!("/blob/devstoreaccount1/c{path}"))
    };
    let blob = |path: &str| Request { path: format!("/devstoreaccount1/c/{path}"), ..get() };
    let cases = [
        ("1", "/d", blob("d/e/b"), "ok"),
        ("2", "/d/e", blob("d/e/b"), "ok"),
        ("2", "/d/e", blob("d/e"), "ok"),
        ("0", "", blob("d/e/b"), "ok"),
        ("1", "/d", blob("d2/e/b"), REFUSED),
        ("2", "/d/e", blob("d/e2/b"), REFUSED),
        ("2", "/d/e", blob("d"), REFUSED),
        ("1", "/d/e", blob("d/e/b"), REFUSED),
        ("x", "/d", blob("d/e/b"), "403 QueryParameterSddInvalid"),
        ("-1", "/d", blob("d/e/b"), "403 QueryParameterSddInvalid"),
        ("", "/d", blob("d/e/b"), "403 QueryParameterSddInvalid"),
        ("1", "/d", list("d/"), "ok"),
        ("1", "/d", list("d/e"), "ok"),
        ("1", "/d", list("d"), REFUSED),
        ("1", "/d", list(""), REFUSED),
    ];
    for (depth, path, request, expected) in cases {
        let context = format!("{depth} {path} {} {:?}", request.path, request.query);
        assert_eq!(code(token(depth, path).on(request).authenticate()), expected, "{context}");
    }
    // Accounts whose names are no tree, as all are here, take such tokens from 2026-06-06 on.
    for version in ["2019-12-12", "2026-04-06"] {
        let old = token("1", "/d").with("sv", version);
        assert_eq!(code(old.on(get()).authenticate()), "409 DirectorySasNotSupportedVersion");
    }
}

#[test]
fn every_parameter_counts_once() {
    use lazuli_rest::auth::sas::Parameters;
    let token = account_sas(|token| token);
    for name in Parameters::NAMES {
        let value = match token.get(name) {
            "" => "x",
            value => value,
        };
        let mut doubled = token.on(get());
        if token.get(name).is_empty() {
            doubled = doubled.query(name, value);
        }
        // The names of parameters have no case.
        let doubled = doubled.query(&name.to_uppercase(), value);
        assert_eq!(code(doubled.authenticate()), REFUSED, "{name}");
    }
}

#[test]
fn a_stored_policy_completes_a_token() {
    let time = |text: &str| Timestamp::parse_iso(text).unwrap();
    let policy = AccessPolicy {
        id: "p".into(),
        start: Some(time("2026-01-01")),
        expiry: Some(time("2027-01-01")),
        permission: Some("lr".into()),
    };
    let signed = |token: Token| {
        let token = token.with("sr", "c").with("si", "p");
        blob_sas(token, "/blob/devstoreaccount1/c").on(get())
    };
    let bare = || Token { fields: Vec::new() }.with("sv", VERSION);
    let ask = |token: Token, policies: Vec<AccessPolicy>| {
        let container = ContainerAccess { policies, ..ContainerAccess::default() };
        code_of(grant(&signed(token), Op::GetBlob, Some(&container)))
    };
    let without = |change: fn(&mut AccessPolicy)| {
        let mut policy = policy.clone();
        change(&mut policy);
        vec![policy]
    };
    assert_eq!(ask(bare(), vec![policy.clone()]), "ok");
    assert_eq!(ask(bare(), vec![]), REFUSED);
    assert_eq!(ask(bare(), without(|policy| policy.id = "P".into())), REFUSED);
    assert_eq!(
        ask(bare(), without(|policy| policy.permission = Some("l".into()))),
        "403 AuthorizationPermissionMismatch"
    );
    assert_eq!(ask(bare(), without(|policy| policy.permission = None)), REFUSED);
    assert_eq!(ask(bare(), without(|policy| policy.expiry = None)), REFUSED);
    assert_eq!(ask(bare(), without(|policy| policy.expiry = policy.start)), REFUSED);
    assert_eq!(ask(bare(), without(|policy| policy.start = policy.expiry)), REFUSED);
    // What the policy leaves open, the token may say; what both say is refused.
    assert_eq!(ask(bare().with("sp", "r"), without(|policy| policy.permission = None)), "ok");
    assert_eq!(ask(bare().with("sp", "r"), vec![policy.clone()]), REFUSED);
    assert_eq!(ask(bare().with("se", "2030-01-01"), vec![policy.clone()]), REFUSED);
    assert_eq!(ask(bare().with("se", "2030-01-01"), without(|policy| policy.expiry = None)), "ok");
    // The caller is told to read the container, and a missing one has no policies.
    let request = signed(bare());
    assert!(request.authenticate().unwrap().needs_container(Op::GetBlob.row()));
    assert_eq!(code_of(grant(&request, Op::GetBlob, None)), REFUSED);
}

fn code_of(result: Result<Grant, String>) -> String {
    result.map_or_else(|code| code, |_| "ok".to_owned())
}

#[test]
fn what_a_grant_carries() {
    let token =
        Token::service("cr").with("sp", "rc").with("sr", "b").with("rscc", "no-store").with("ses", "scope");
    let token = blob_sas(token, "/blob/devstoreaccount1/c/d/e/b");
    let read = grant(&token.on(get()), Op::GetBlob, None).unwrap();
    assert_eq!(read.overrides.cache_control.as_deref(), Some("no-store"));
    assert_eq!(read.encryption_scope.as_deref(), Some("scope"));
    assert!(!read.may_read_tags && !read.anonymous && !read.create_only);

    let put = Request { method: Method::Put, ..get() }.header("x-ms-blob-type", "BlockBlob");
    let create = |sp: &str| {
        let token = blob_sas(Token::service(sp).with("sr", "b"), "/blob/devstoreaccount1/c/d/e/b");
        grant(&token.on(put.clone()), Op::PutBlockBlob, None).unwrap().create_only
    };
    assert!(create("c") && create("rc"));
    assert!(!create("w") && !create("cw"));

    let other_scope = token.on(get()).header("x-ms-encryption-scope", "another");
    assert_eq!(code_of(grant(&other_scope, Op::GetBlob, None)), "400 InvalidHeaderValue");

    let tags = token.on(get()).header("x-ms-if-tags", "a='b'");
    assert_eq!(code_of(grant(&tags, Op::GetBlob, None)), "403 AuthorizationPermissionMismatch");
}

#[test]
fn queues_and_tables() {
    let messages = Request::new(Service::Queue, Method::Get, "/devstoreaccount1/q/messages");
    let token = |queue: &str| {
        Token::service("rp").sign_service(
            QUEUE_SAS,
            &format!("/queue/devstoreaccount1/{queue}"),
            DEVELOPMENT_KEY,
        )
    };
    assert_eq!(code(token("q").on(messages.clone()).authenticate()), "ok");
    assert_eq!(code(token("q2").on(messages.clone()).authenticate()), REFUSED);
    let list = Request::new(Service::Queue, Method::Get, "/devstoreaccount1/").query("comp", "list");
    assert_eq!(code(token("").on(list).authenticate()), REFUSED);

    let entities = Request::new(Service::Table, Method::Get, "/devstoreaccount1/People()");
    let token = |name: &str, srk: &str| {
        let token = Token::service("r").with("tn", name).with("spk", "k").with("epk", "k").with("srk", srk);
        let resource = format!("/table/devstoreaccount1/{}", name.to_lowercase());
        token.sign_service(TABLE_SAS, &resource, DEVELOPMENT_KEY)
    };
    let scope =
        grant(&token("people", "m").on(entities.clone()), Op::QueryEntities, None).unwrap().table.unwrap();
    assert!(scope.covers("k", "m") && scope.covers("k", "z"));
    assert!(!scope.covers("k", "l") && !scope.covers("j", "z") && !scope.covers("l", "a"));
    // A token for another table does not open this one, although its own signature is good.
    assert_eq!(code(token("animals", "").on(entities).authenticate()), REFUSED);
    let batch = Request::new(Service::Table, Method::Post, "/devstoreaccount1/$batch");
    let scope =
        grant(&token("animals", "").on(batch), Op::EntityGroupTransaction, None).unwrap().table.unwrap();
    assert_eq!(scope.table, "animals");
}

const UD_SAS: &str = "sp st se resource skoid sktid skt ske sks skv saoid suoid scid skdutid sduoid sip spr sv sr \
                      snapshot ses empty empty rscc rscd rsce rscl rsct";
const UD_SAS_2025: &str = "sp st se resource skoid sktid skt ske sks skv saoid suoid scid skdutid sduoid sip spr sv sr \
                           snapshot ses rscc rscd rsce rscl rsct";
const UD_SAS_2020_12: &str = "sp st se resource skoid sktid skt ske sks skv saoid suoid scid sip spr sv sr \
                              snapshot ses rscc rscd rsce rscl rsct";
const UD_SAS_2020_02: &str = "sp st se resource skoid sktid skt ske sks skv saoid suoid scid sip spr sv sr \
                              snapshot rscc rscd rsce rscl rsct";
const UD_SAS_2018: &str = "sp st se resource skoid sktid skt ske sks skv sip spr sv sr snapshot rscc rscd rsce \
                           rscl rsct";
const UD_QUEUE: &str = "sp st se resource skoid sktid skt ske sks skv skdutid sduoid sip spr sv";
const UD_QUEUE_GO: &str =
    "sp st se resource skoid sktid skt ske sks skv saoid suoid scid skdutid sduoid sip spr sv";

/// A token with a key that the server gave out for the service of the request.
fn delegated(request: &Request, permissions: &str) -> (Token, String) {
    delegated_to(request, permissions, None)
}

fn delegated_to(request: &Request, permissions: &str, tenant: Option<&str>) -> (Token, String) {
    let claims = Claims {
        object_id: Some("oid".into()),
        tenant_id: Some("tid".into()),
        issuer: "https://sts.windows.net/tid/".into(),
    };
    let start = now().plus_seconds(-60);
    let delegated_user_tid = tenant.map(str::to_owned);
    let info = KeyInfo { start: Some(start), expiry: now().plus_seconds(3600), delegated_user_tid };
    let key = auth().user_delegation_key(&request.head(), &claims, info, now()).unwrap();
    let token = Token::service(permissions)
        .with("skoid", &key.signed_oid)
        .with("sktid", &key.signed_tid)
        // As clients print it, which is not how it was derived.
        .with("skt", "2026-11-01T11:59:00Z")
        .with("ske", "2026-11-01T13:00:00Z")
        .with("sks", key.signed_service)
        .with("skv", &key.signed_version);
    (token, key.value)
}

#[test]
fn a_user_delegation_token_is_made_with_the_key_given_out() {
    let (token, key) = delegated(&get(), "r");
    let resource = "/blob/devstoreaccount1/c/d/e/b";
    let forms = [
        ("2018-11-09", UD_SAS_2018),
        ("2020-02-10", UD_SAS_2020_02),
        ("2020-10-02", UD_SAS_2020_02),
        ("2020-12-06", UD_SAS_2020_12),
        ("2025-07-05", UD_SAS_2025),
        ("2026-04-06", UD_SAS),
        ("2026-10-06", UD_SAS),
    ];
    for (version, form) in forms {
        let token = token.clone().with("sv", version).with("sr", "b").with("rsct", "a/b");
        for signed in [UD_SAS_2018, UD_SAS_2020_02, UD_SAS_2020_12, UD_SAS_2025, UD_SAS] {
            let token = token.clone().sign_service(signed, resource, &key);
            let expected = if signed == form { "ok" } else { REFUSED };
            assert_eq!(code(token.on(get()).authenticate()), expected, "{version} {signed}");
        }
    }
    let token = token.with("sr", "b");
    let good = token.clone().sign_service(UD_SAS, resource, &key).on(get());
    let grant_of = grant(&good, Op::GetBlob, None).unwrap();
    assert_eq!(grant_of.delegation.unwrap().object_id, "oid");
    // Each fact of the key, changed and signed with the key that was given out.
    let changes = [
        ("skoid", "another"),
        ("sktid", "another"),
        ("skt", "2026-11-01T11:58:00Z"),
        ("ske", "2026-11-08T13:00:00Z"),
        ("sks", "q"),
        ("skv", "2020-02-10"),
        ("skdutid", "another"),
        ("si", "policy"),
        ("sv", "2018-03-28"),
    ];
    for (name, value) in changes {
        let token = token.clone().with(name, value).sign_service(UD_SAS, resource, &key);
        assert_eq!(code(token.on(get()).authenticate()), REFUSED, "{name}");
    }
    // The key of one account does not sign for another, nor after its end.
    let other = Request { path: "/other/c/d/e/b".into(), ..get() };
    let foreign = token.clone().sign_service(UD_SAS, "/blob/other/c/d/e/b", &key).on(other);
    assert_eq!(code(foreign.authenticate()), REFUSED);
    let late = auth().authenticate(&good.head(), now().plus_seconds(3601));
    assert_eq!(code(late), REFUSED);
    let unknown = Request { path: "/nobody/c/d/e/b".into(), ..get() };
    let (token, key) = delegated(&unknown, "r");
    let unknown = token.with("sr", "b").sign_service(UD_SAS, "/blob/nobody/c/d/e/b", &key).on(unknown);
    assert_eq!(code(unknown.authenticate()), REFUSED);
}

#[test]
fn a_user_delegation_token_can_bind_headers_and_parameters() {
    let (token, key) = delegated(&get(), "r");
    let token = token.with("sr", "b").with("srh", "x-ms-a,x-ms-b").with("srq", "p");
    let string = |a: &str, p: &str| {
        let before = token.fields.clone();
        let get = |name: &str| before.iter().find(|(known, _)| *known == name).map_or("", |(_, value)| value);
        let fields: Vec<&str> = UD_SAS
            .split_whitespace()
            .take_while(|name| *name != "empty")
            .map(|name| match name {
                "resource" => "/blob/devstoreaccount1/c/d/e/b",
                name => get(name),
            })
            .collect();
        format!("{}\nx-ms-a:{a}\nx-ms-b:2\n\n\np:{p}\n\n\n\n\n", fields.join("\n"))
    };
    let request = || get().header("x-ms-a", "1").header("x-ms-b", "2").query("p", "3");
    let good = token.clone().signed(&key, &string("1", "3"));
    assert_eq!(code(good.on(request()).authenticate()), "ok");
    assert_eq!(code(good.on(request().header("x-ms-a", "9")).authenticate()), REFUSED);
    assert_eq!(code(good.on(get().header("x-ms-a", "1").query("p", "3")).authenticate()), REFUSED);
    assert_eq!(code(good.on(request().query("p", "3")).authenticate()), REFUSED);
}

/// `sduoid`: the user shows a bearer token beside the signature.
#[test]
fn a_user_delegation_token_can_be_bound_to_a_user() {
    let issuer = Issuer::new("k");
    let auth = issuer.auth();
    let ask = |tenant: Option<&str>, bearer: Option<(&str, &str)>| {
        let (token, key) = delegated_to(&get(), "r", tenant);
        let token = token.with("sr", "b").with("sduoid", "user").with("skdutid", tenant.unwrap_or(""));
        let mut request = token.sign_service(UD_SAS, "/blob/devstoreaccount1/c/d/e/b", &key).on(get());
        if let Some((user, tenant)) = bearer {
            let mut claims = claims();
            claims["oid"] = user.into();
            claims["tid"] = tenant.into();
            request = with(request, &issuer.sign(Some("k"), &claims));
        }
        let credential = auth.authenticate(&request.head(), now());
        assert!(!matches!(credential, Ok(Credential::Bearer(_))), "the token limits, whoever shows it");
        code(credential)
    };
    assert_eq!(ask(None, Some(("user", "tid"))), "ok");
    assert_eq!(ask(None, None), REFUSED);
    assert_eq!(ask(None, Some(("another", "tid"))), REFUSED);
    assert_eq!(ask(None, Some(("user", "elsewhere"))), REFUSED);
    assert_eq!(ask(Some("elsewhere"), Some(("user", "elsewhere"))), "ok");
    assert_eq!(ask(Some("elsewhere"), Some(("user", "tid"))), REFUSED);
}

#[test]
fn a_key_of_one_service_does_not_sign_for_another() {
    let messages = Request::new(Service::Queue, Method::Get, "/devstoreaccount1/q/messages");
    let (token, key) = delegated(&get(), "r");
    let token = token.sign_service(UD_QUEUE, "/queue/devstoreaccount1/q", &key);
    let failure = token.on(messages).authenticate().unwrap_err();
    assert_eq!(detail(&failure), "The user delegation key is for another service.");
}

/// A public container shows its blobs, not their tags.
#[test]
fn nobody_asks_for_tags() {
    let public = ContainerAccess { public: PublicAccess::Container, policies: Vec::new() };
    let open = grant(&get(), Op::GetBlob, Some(&public)).unwrap();
    assert!(open.anonymous && !open.may_read_tags);
    let tags = get().header("x-ms-if-tags", "a='b'");
    assert_eq!(code_of(grant(&tags, Op::GetBlob, Some(&public))), "401 NoAuthenticationInformation");
}

#[test]
fn a_queue_takes_the_delegation_strings_of_all_clients() {
    let messages = Request::new(Service::Queue, Method::Get, "/devstoreaccount1/q/messages");
    let (token, key) = delegated(&messages, "r");
    for form in [UD_QUEUE, UD_QUEUE_GO] {
        let token = token.clone().sign_service(form, "/queue/devstoreaccount1/q", &key);
        assert_eq!(code(token.on(messages.clone()).authenticate()), "ok", "{form}");
    }
}

#[test]
fn a_user_delegation_key_lasts_seven_days_at_most() {
    let ask = |start: i64, expiry: i64| {
        let info = KeyInfo {
            start: Some(now().plus_seconds(start)),
            expiry: now().plus_seconds(expiry),
            delegated_user_tid: None,
        };
        code(auth().user_delegation_key(&get().head(), &Claims::default(), info, now()).map(|_| ()))
    };
    const DAY: i64 = 24 * 3600;
    assert_eq!(ask(0, 7 * DAY), "ok");
    assert_eq!(ask(0, 8 * DAY), "400 InvalidXmlNodeValue");
    assert_eq!(ask(0, -1), "400 InvalidXmlNodeValue");
    assert_eq!(ask(3600, 1800), "400 InvalidXmlNodeValue");
    assert_eq!(ACCOUNT, get().head().target.account);
}
