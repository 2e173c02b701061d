//! Every operation x every kind of credential x every fault. What is expected comes from [`super::rules`].

use lazuli_model::access::{ContainerAccess, PublicAccess};
use lazuli_model::operation::{Mark, Method, Name, Op, Resource, Row, Service, route};
use lazuli_rest::auth::accounts::DEVELOPMENT_KEY;
use lazuli_rest::auth::bearer::Claims;
use lazuli_rest::auth::{Auth, KeyInfo};
use lazuli_rest::authorize::authorize;
use serde_json::json;

use super::bearer::{Issuer, changed, claims, with};
use super::rules::{Rule, covers, rules};
use super::support::{
    ACCOUNT, BLOB_SAS, FILE_SAS, OTHER_ACCOUNT, OTHER_KEY, QUEUE_SAS, Request, TABLE_SAS, Token, VERSION,
    code, now,
};

pub const OK: &str = "ok";
pub const AUTHENTICATION: &str = "403 AuthenticationFailed";
const PERMISSION: &str = "403 AuthorizationPermissionMismatch";
const TYPE: &str = "403 AuthorizationResourceTypeMismatch";
const SERVICE: &str = "403 AuthorizationServiceMismatch";
const NEVER: &str = "403 AuthorizationFailure";
const BAD_TOKEN: &str = "401 InvalidAuthenticationInfo";
const UNREADABLE: &str = "400 InvalidAuthenticationInfo";

const PAST: &str = "2026-10-31T00:00:00Z";
const FUTURE: &str = "2026-11-02T00:00:00Z";

/// A request that the table routes to the row, one for each of its methods.
pub fn requests(row: &Row) -> Vec<Request> {
    row.route.methods.iter().map(|method| request(row, *method, ACCOUNT)).collect()
}

pub fn request(row: &Row, method: Method, account: &str) -> Request {
    let path = match (row.route.service, row.route.resource) {
        (Service::Blob, Resource::Any | Resource::Blob) => "/things/dir/thing",
        (Service::Queue, Resource::Any) => "/things/messages",
        (Service::Table, Resource::Any) => "/things()",
        (_, Resource::Account) => "/",
        (Service::File, Resource::Any | Resource::Path) => "/things/dir/thing",
        (_, Resource::Container | Resource::Queue | Resource::Share) => "/things",
        (_, Resource::Messages) => "/things/messages",
        (_, Resource::Message) => "/things/messages/1",
        (_, Resource::Tables) => "/Tables",
        (_, Resource::Table) => "/Tables('things')",
        (_, Resource::EntitySet) => "/things()",
        (_, Resource::Entity) => "/things(PartitionKey='p',RowKey='r')",
        (_, Resource::Batch) => "/$batch",
        (service, resource) => panic!("no path for {service:?} {resource:?}"),
    };
    let mut request = Request::new(row.route.service, method, &format!("/{account}{path}"));
    for mark in row.route.marks {
        let value = match mark {
            Mark::Is(_, value) => value,
            Mark::OneOf(_, values) => values[0],
            Mark::Has(_) => "x",
            Mark::Not(..) | Mark::Maybe(..) | Mark::Lacks(_) => continue,
        };
        request = match mark.name() {
            Name::Query(name) => request.query(name, value),
            Name::Header(name) => request.header(&name.to_lowercase(), value),
        };
    }
    let head = request.head();
    let found =
        route(head.target.service, head.target.resource, head.method, &|name| head.query(name), &|name| {
            head.header(name)
        });
    assert_eq!(found.map(|found| found.op).ok(), Some(row.op), "the request is not the row's");
    request
}

pub fn ask(auth: &Auth, row: &Row, request: &Request, container: Option<&ContainerAccess>) -> String {
    let head = request.head();
    code(
        auth.authenticate(&head, now())
            .and_then(|credential| authorize(&credential, row, &head, container, now())),
    )
}

/// Every row has its line, and every line its row.
pub fn table() -> Vec<(&'static Row, Rule)> {
    let rules = rules();
    let known: Vec<&str> = rules.iter().map(|rule| rule.op).collect();
    let missing: Vec<&str> =
        Op::ALL.iter().map(|op| op.name()).filter(|name| !known.contains(name)).collect();
    assert!(missing.is_empty(), "operations without a line in spec/access.txt: {missing:?}");
    rules
        .into_iter()
        .map(|rule| {
            let op = Op::ALL.iter().find(|op| op.name() == rule.op);
            (op.unwrap_or_else(|| panic!("{} is no operation", rule.op)).row(), rule)
        })
        .collect()
}

fn without(letters: &str, cell: &str) -> String {
    letters.chars().filter(|letter| !cell.contains(*letter)).collect()
}

/// The entries of a cell; `*` and `-` are tried with something that is well-formed.
fn entries(cell: &str, any: &'static str) -> Vec<String> {
    if cell == "*" || cell == "-" {
        vec![any.to_owned()]
    } else {
        cell.split('|').map(str::to_owned).collect()
    }
}

#[test]
fn shared_key() {
    let auth = super::support::auth();
    for (row, rule) in table() {
        let good = if rule.bearer == "only" { AUTHENTICATION } else { OK };
        for request in requests(row) {
            for scheme in ["SharedKey", "SharedKeyLite"] {
                let check = |expected: &str, request: Request, fault: &str| {
                    assert_eq!(ask(&auth, row, &request, None), expected, "{} {scheme} {fault}", rule.op);
                };
                let signed = |request: Request| request.shared_key(scheme, ACCOUNT, DEVELOPMENT_KEY);
                check(good, signed(request.clone()), "good");
                check(AUTHENTICATION, request.clone().shared_key(scheme, ACCOUNT, OTHER_KEY), "wrong key");
                check(
                    AUTHENTICATION,
                    request.clone().shared_key(scheme, OTHER_ACCOUNT, OTHER_KEY),
                    "other account",
                );
                check(
                    AUTHENTICATION,
                    request.clone().shared_key(scheme, "nobody", OTHER_KEY),
                    "unknown account",
                );
                let late = now().plus_seconds(-1000).rfc1123();
                check(AUTHENTICATION, signed(request.clone().header("x-ms-date", &late)), "expired");
                let early = now().plus_seconds(1000).rfc1123();
                check(AUTHENTICATION, signed(request.clone().header("x-ms-date", &early)), "not yet");
                let moved = signed(request.clone());
                let moved = Request { path: moved.path.replace("/things", "/others"), ..moved };
                if moved.path != request.path && row.route.resource != Resource::Table {
                    check(AUTHENTICATION, moved, "wrong resource");
                }
                check(UNREADABLE, request.clone().header("authorization", scheme), "malformed");
            }
        }
    }
}

#[test]
fn account_sas() {
    let auth = super::support::auth();
    const LETTERS: &str = "rwdxylacuptfi";
    for (row, rule) in table() {
        let service = match row.route.service {
            Service::Blob => "b",
            Service::Queue => "q",
            Service::Table => "t",
            Service::File => "f",
            other => panic!("{other:?}"),
        };
        for request in requests(row) {
            let check = |expected: &str, token: Token, fault: &str| {
                let token = token.sign_account(DEVELOPMENT_KEY);
                let asked = ask(&auth, row, &token.on(request.clone()), None);
                assert_eq!(asked, expected, "{} {fault} {token:?}", rule.op);
            };
            let full = || Token::account("bqtf", "sco", LETTERS);
            // What the row says of a token that is otherwise good.
            let refused = match (rule.bearer, rule.account) {
                ("only", _) => Some(AUTHENTICATION),
                (_, "-") => Some(NEVER),
                _ => None,
            };
            check(refused.unwrap_or(OK), full(), "everything");
            for types in entries(rule.types, "s") {
                for letters in entries(rule.account, "r") {
                    check(refused.unwrap_or(OK), Token::account(service, &types, &letters), "just enough");
                }
            }
            check(SERVICE, Token::account(&without("bqtf", service), "sco", LETTERS), "wrong service");
            if refused.is_none() && rule.types != "*" {
                let types = without("sco", rule.types);
                check(TYPE, Token::account("bqtf", &types, LETTERS), "wrong resource");
                let letters = without(LETTERS, rule.account);
                check(PERMISSION, Token::account("bqtf", "sco", &letters), "missing permission");
                // Each single letter is enough or it is not.
                for letter in LETTERS.chars().map(String::from) {
                    let expected = if covers(rule.account, &letter) { OK } else { PERMISSION };
                    check(expected, Token::account("bqtf", "sco", &letter), "one letter");
                }
            }
            check(AUTHENTICATION, full().with("se", PAST), "expired");
            check(AUTHENTICATION, full().with("st", FUTURE), "not yet");
            let wrong = full().sign_account(OTHER_KEY).on(request.clone());
            assert_eq!(ask(&auth, row, &wrong, None), AUTHENTICATION, "{} wrong", rule.op);
            let weak = Token::account("bqtf", "sco", "p").sign_account(DEVELOPMENT_KEY);
            let raised = weak.with("sp", LETTERS).on(request.clone());
            assert_eq!(ask(&auth, row, &raised, None), AUTHENTICATION, "{} changed", rule.op);
            let doubled = full().sign_account(DEVELOPMENT_KEY).on(request.clone()).query("sp", LETTERS);
            assert_eq!(ask(&auth, row, &doubled, None), AUTHENTICATION, "{} duplicated", rule.op);
        }
    }
}

/// How a service SAS for `/things` is made for a row's service.
struct Form {
    fields: &'static str,
    resource: fn(&str) -> String,
    letters: &'static str,
    extra: (&'static str, &'static str),
}

fn form(service: Service) -> Form {
    match service {
        Service::Blob => Form {
            fields: BLOB_SAS,
            resource: |name| format!("/blob/{ACCOUNT}/{name}"),
            letters: "racwdxyltfmeopi",
            extra: ("sr", "c"),
        },
        Service::Queue => Form {
            fields: QUEUE_SAS,
            resource: |name| format!("/queue/{ACCOUNT}/{name}"),
            letters: "raup",
            extra: ("rscc", ""),
        },
        Service::Table => Form {
            fields: TABLE_SAS,
            resource: |name| format!("/table/{ACCOUNT}/{name}"),
            letters: "raud",
            extra: ("tn", "things"),
        },
        Service::File => Form {
            fields: FILE_SAS,
            resource: |name| format!("/file/{ACCOUNT}/{name}"),
            letters: "rcwdl",
            extra: ("sr", "s"),
        },
        other => panic!("{other:?}"),
    }
}

#[test]
fn service_sas() {
    let auth = super::support::auth();
    for (row, rule) in table() {
        let form = form(row.route.service);
        for request in requests(row) {
            let make = |letters: &str| Token::service(letters).with(form.extra.0, form.extra.1);
            let sign = |token: Token, name: &str| {
                token.sign_service(form.fields, &(form.resource)(name), DEVELOPMENT_KEY)
            };
            let check = |expected: &str, token: Token, fault: &str| {
                let asked = ask(&auth, row, &token.on(request.clone()), None);
                assert_eq!(asked, expected, "{} {fault} {token:?}", rule.op);
            };
            let good = |letters: &str| sign(make(letters), "things");
            let refused = match (row.route.resource, rule.bearer, rule.service) {
                (Resource::Account, ..) | (_, "only", _) => Some(AUTHENTICATION),
                (.., "-") => Some(NEVER),
                _ => None,
            };
            check(refused.unwrap_or(OK), good(form.letters), "everything");
            if refused.is_none() && rule.service != "*" {
                for letters in entries(rule.service, "r") {
                    check(OK, good(&letters), "just enough");
                }
                check(PERMISSION, good(&without(form.letters, rule.service)), "missing permission");
                for letter in form.letters.chars().map(String::from) {
                    let expected = if covers(rule.service, &letter) { OK } else { PERMISSION };
                    check(expected, good(&letter), "one letter");
                }
            }
            check(AUTHENTICATION, sign(make(form.letters).with("se", PAST), "things"), "expired");
            check(AUTHENTICATION, sign(make(form.letters).with("st", FUTURE), "things"), "not yet");
            check(AUTHENTICATION, sign(make(form.letters), "others"), "wrong resource");
            check(
                AUTHENTICATION,
                make(form.letters).sign_service(form.fields, &(form.resource)("things"), OTHER_KEY),
                "wrong",
            );
            let other = if row.route.service == Service::File { "blob" } else { "file" };
            let foreign = make(form.letters).sign_service(
                form.fields,
                &format!("/{other}/{ACCOUNT}/things"),
                DEVELOPMENT_KEY,
            );
            check(AUTHENTICATION, foreign, "wrong service");
            let doubled = good(form.letters).on(request.clone()).query("sp", form.letters);
            assert_eq!(ask(&auth, row, &doubled, None), AUTHENTICATION, "{} duplicated", rule.op);
        }
    }
}

/// A token of another service, whole: the kind is told apart by its fields.
#[test]
fn service_sas_of_another_service() {
    let auth = super::support::auth();
    for (row, rule) in table() {
        for other in [Service::Blob, Service::Queue, Service::Table, Service::File] {
            if other == row.route.service {
                continue;
            }
            let form = form(other);
            let token = Token::service(form.letters).with(form.extra.0, form.extra.1);
            let token = token.sign_service(form.fields, &(form.resource)("things"), DEVELOPMENT_KEY);
            for request in requests(row) {
                let asked = ask(&auth, row, &token.on(request), None);
                assert_eq!(asked, AUTHENTICATION, "{} with a token of {other:?}", rule.op);
            }
        }
    }
}

pub const UD_BLOB_SAS: &str = "sp st se resource skoid sktid skt ske sks skv saoid suoid scid skdutid sduoid sip spr sv sr \
     snapshot ses empty empty rscc rscd rsce rscl rsct";

#[test]
fn user_delegation_sas() {
    const QUEUE: &str = "sp st se resource skoid sktid skt ske sks skv skdutid sduoid sip spr sv";
    const FILE: &str =
        "sp st se resource skoid sktid skt ske sks skv skdutid sduoid sip spr sv rscc rscd rsce rscl rsct";
    let auth = super::support::auth();
    for (row, rule) in table() {
        let form = form(row.route.service);
        let fields = match row.route.service {
            Service::Blob => UD_BLOB_SAS,
            Service::File => FILE,
            _ => QUEUE,
        };
        for request in requests(row) {
            let holder =
                Claims { object_id: Some("o".into()), tenant_id: Some("t".into()), ..Claims::default() };
            let info =
                KeyInfo { start: Some(now()), expiry: now().plus_seconds(3600), delegated_user_tid: None };
            let key = auth.user_delegation_key(&request.head(), &holder, info, now()).unwrap();
            let make = |letters: &str| {
                Token::service(letters)
                    .with(form.extra.0, form.extra.1)
                    .with("skoid", "o")
                    .with("sktid", "t")
                    .with("skt", "2026-11-01T12:00:00Z")
                    .with("ske", "2026-11-01T13:00:00Z")
                    .with("sks", key.signed_service)
                    .with("skv", VERSION)
            };
            let sign =
                |token: Token, name: &str| token.sign_service(fields, &(form.resource)(name), &key.value);
            let check = |expected: &str, token: Token, fault: &str| {
                let asked = ask(&auth, row, &token.on(request.clone()), None);
                assert_eq!(asked, expected, "{} {fault} {token:?}", rule.op);
            };
            let refused = match (row.route.service, row.route.resource, rule.bearer, rule.service) {
                (Service::Table, ..) | (_, Resource::Account, ..) | (_, _, "only", _) => Some(AUTHENTICATION),
                (.., "-") => Some(NEVER),
                _ => None,
            };
            check(refused.unwrap_or(OK), sign(make(form.letters), "things"), "everything");
            if refused.is_none() && rule.service != "*" {
                let letters = without(form.letters, rule.service);
                check(PERMISSION, sign(make(&letters), "things"), "missing permission");
            }
            check(AUTHENTICATION, sign(make(form.letters).with("se", PAST), "things"), "expired");
            check(AUTHENTICATION, sign(make(form.letters).with("st", FUTURE), "things"), "not yet");
            check(AUTHENTICATION, sign(make(form.letters), "others"), "wrong resource");
            let other = if row.route.service == Service::File { "b" } else { "f" };
            check(AUTHENTICATION, sign(make(form.letters).with("sks", other), "things"), "wrong service");
            check(AUTHENTICATION, sign(make(form.letters).with("skoid", "p"), "things"), "another's key");
            let account_key =
                make(form.letters).sign_service(fields, &(form.resource)("things"), DEVELOPMENT_KEY);
            check(AUTHENTICATION, account_key, "wrong");
            let doubled = sign(make(form.letters), "things").on(request.clone()).query("skoid", "o");
            assert_eq!(ask(&auth, row, &doubled, None), AUTHENTICATION, "{} duplicated", rule.op);
        }
    }
}

#[test]
fn bearer() {
    let issuer = Issuer::new("k");
    let stranger = Issuer::new("k");
    let auth = issuer.auth();
    let seconds = now().to_unix_ticks() / 10_000_000;
    let token = |claims| issuer.sign(Some("k"), &claims);
    let good = token(claims());
    let faults = [
        (UNREADABLE, "x".to_owned(), "unreadable"),
        (BAD_TOKEN, stranger.sign(Some("k"), &claims()), "wrong"),
        (BAD_TOKEN, token(changed("exp", json!(seconds - 3600))), "expired"),
        (BAD_TOKEN, token(changed("nbf", json!(seconds + 3600))), "not yet"),
        (
            BAD_TOKEN,
            token(changed("aud", json!(format!("https://{ACCOUNT}.web.core.windows.net")))),
            "wrong service",
        ),
        (BAD_TOKEN, token(changed("aud", json!("https://other.blob.core.windows.net"))), "wrong resource"),
        (BAD_TOKEN, token(changed("iss", json!("https://sts.windows.net/another/"))), "another issuer"),
    ];
    for (row, rule) in table() {
        let of_files = row.route.service == Service::File;
        for request in requests(row) {
            let request =
                if of_files { request.header("x-ms-file-request-intent", "backup") } else { request };
            let expected = if rule.bearer == "no" { NEVER } else { OK };
            assert_eq!(ask(&auth, row, &with(request.clone(), &good), None), expected, "{} good", rule.op);
            let since = if rule.bearer.starts_with("20") { rule.bearer } else { "2020-12-06" };
            for version in [
                "2020-12-06",
                "2021-10-04",
                "2021-12-02",
                "2022-11-02",
                "2024-08-04",
                "2024-11-04",
                "2025-05-05",
                "2025-07-05",
            ] {
                let expected = match version < since {
                    _ if of_files && version < "2021-12-02" => AUTHENTICATION,
                    true => NEVER,
                    false => expected,
                };
                let old = with(request.clone(), &good).header("x-ms-version", version);
                assert_eq!(ask(&auth, row, &old, None), expected, "{} at {version}", rule.op);
            }
            for (expected, token, fault) in &faults {
                let asked = ask(&auth, row, &with(request.clone(), token), None);
                assert_eq!(asked, *expected, "{} {fault}", rule.op);
            }
            let mut doubled = with(request, &good);
            doubled.headers.push(("authorization".into(), format!("Bearer {good}")));
            assert_eq!(ask(&auth, row, &doubled, None), UNREADABLE, "{} duplicated", rule.op);
        }
    }
}

#[test]
fn nobody() {
    let auth = super::support::auth();
    let levels = [
        (None, "-"),
        (Some(PublicAccess::Private), "-"),
        (Some(PublicAccess::Blob), "blob"),
        (Some(PublicAccess::Container), "container"),
    ];
    for (row, rule) in table() {
        let secret = rule.op.starts_with("GetAccountInformation");
        for request in requests(row) {
            for (public, level) in levels {
                let container = public.map(|public| ContainerAccess { public, policies: Vec::new() });
                let open = match rule.anonymous {
                    "everybody" => true,
                    "blob" => level == "blob" || level == "container",
                    "container" => level == "container",
                    _ => false,
                };
                let expected = match (open, secret || row.route.service == Service::File) {
                    (true, _) => OK,
                    (false, false) => "401 NoAuthenticationInformation",
                    (false, true) => "404 ResourceNotFound",
                };
                let asked = ask(&auth, row, &request, container.as_ref());
                assert_eq!(asked, expected, "{} {level}", rule.op);
            }
            // Recorded of blobs and queues at 2018-11-09, of tables at 2019-07-07.
            for version in ["2018-11-09", "2019-07-07"] {
                let old = request.clone().header("x-ms-version", version);
                let expected = match (rule.anonymous, row.route.service) {
                    ("everybody", _) => OK,
                    (_, Service::Table) => "403 AuthenticationFailed",
                    _ => "404 ResourceNotFound",
                };
                let asked = ask(&auth, row, &old, None);
                assert_eq!(asked, expected, "{} before the challenge, {version}", rule.op);
            }
            // The caller is asked for the container exactly where it can change the answer.
            let credential = auth.authenticate(&request.head(), now()).unwrap();
            let needed = rule.anonymous == "blob" || rule.anonymous == "container";
            assert_eq!(credential.needs_container(row), needed, "{}", rule.op);
        }
    }
}

/// The secondary is read only, for whoever asks.
#[test]
fn secondary() {
    let auth = super::support::auth();
    for (row, rule) in table() {
        let reads_by_post = rule.op == "QueryBlobContents" || rule.op.ends_with("UserDelegationKey");
        for method in row.route.methods {
            let reads = match method {
                Method::Get | Method::Head | Method::Options => rule.op != "GetMessages",
                _ => reads_by_post,
            };
            let expected = match (rule.bearer, reads) {
                ("only", _) => AUTHENTICATION,
                (_, true) => OK,
                (_, false) => "403 InsufficientAccountPermissions",
            };
            let request = request(row, *method, &format!("{ACCOUNT}-secondary"));
            let request = request.shared_key("SharedKey", ACCOUNT, DEVELOPMENT_KEY);
            assert_eq!(ask(&auth, row, &request, None), expected, "{}", rule.op);
        }
    }
}
