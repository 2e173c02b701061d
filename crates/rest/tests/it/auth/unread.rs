//! A header that the server acts by and cannot read is refused: to leave it out would be to do something else than was
//! asked, such as a write without its condition.

use lazuli_model::operation::{Conditions, Method, Op, Row, Service, rows};
use lazuli_rest::auth::accounts::DEVELOPMENT_KEY;
use lazuli_rest::headers;

use super::effects::filled;
use super::matrix::request;
use super::support::{ACCOUNT, Request, Token, auth};
use super::world::{Answer, World, owner};

const BAD: &str = "400 InvalidHeaderValue";

/// By a token, which signs no headers, except where only the key will do.
fn signed(request: Request) -> Request {
    if request.query.iter().any(|(_, value)| value == "acl") {
        return owner(request);
    }
    Token::account("b", "sco", "rwdxylacuptfi").sign_account(DEVELOPMENT_KEY).on(request)
}

fn asked(row: &Row) -> (Request, &'static str) {
    filled(row, request(row, row.route.methods[0], ACCOUNT))
}

async fn refused(world: &World, request: Request, body: &str) -> (Answer, bool) {
    let before = world.look().await;
    let answer = world.ask(&signed(request), body).await;
    (answer, before == world.look().await)
}

fn built() -> impl Iterator<Item = &'static Row> {
    let skipped = |row: &&Row| {
        lazuli_rest::is_built(row.op)
            && row.op != Op::GetUserDelegationKey
            && row.route.methods[0] != Method::Options
    };
    rows(Service::Blob).iter().filter(skipped)
}

/// Those that are judged elsewhere, or only told on.
const NOT_HERE: [&str; 4] =
    [headers::AUTHORIZATION, headers::CONTENT_LENGTH, headers::HOST, headers::X_MS_CLIENT_REQUEST_ID];

#[tokio::test]
async fn text_beyond_ascii_in_any_header_that_is_read() {
    let world = World::new(auth()).await;
    let mut faults = Vec::new();
    for op in [Op::PutBlockBlob, Op::GetBlob] {
        let names = headers::ALL.iter().chain(&["x-ms-copy-source", "x-ms-legal-hold", "x-ms-new-header"]);
        for name in names.filter(|name| !NOT_HERE.contains(name)) {
            let (request, body) = asked(op.row());
            let (answer, unchanged) = refused(&world, request.header(name, "\"\u{e9}tag\""), body).await;
            if answer.said() != BAD || !unchanged {
                faults.push(format!("{op:?} {name}: {}", answer.said()));
            }
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
    // What nothing is decided by may be in any letters.
    for name in ["user-agent", "referer", headers::X_MS_CLIENT_REQUEST_ID, "x-ms-meta-name"] {
        let (request, body) = asked(Op::PutBlockBlob.row());
        let answer = world.ask(&signed(request.header(name, "\u{e9}")), body).await;
        assert_eq!(answer.status, 201, "{name}");
    }
}

/// The conditions, by everything that could be done in spite of them.
#[tokio::test]
async fn a_condition_that_cannot_be_read_on_any_operation() {
    let world = World::new(auth()).await;
    let unreadable = [
        ("if-match", "\"\u{e9}tag\"", Conditions::NONE),
        ("if-match", ",", Conditions::IF_MATCH),
        ("if-none-match", "\u{e9}", Conditions::NONE),
        ("if-none-match", ", ,", Conditions::IF_NONE_MATCH),
        ("if-modified-since", "\u{e9}", Conditions::NONE),
        ("if-modified-since", "2026-11-01T12:00:00Z", Conditions::IF_MODIFIED_SINCE),
        ("if-unmodified-since", "1 Nov 2026 12:00:00", Conditions::IF_UNMODIFIED_SINCE),
        ("if-unmodified-since", "Sun, 01 Nov 2026 12:00:00 +0000", Conditions::IF_UNMODIFIED_SINCE),
        ("if-unmodified-since", "0", Conditions::IF_UNMODIFIED_SINCE),
        ("x-ms-if-tags", "\"\u{e9}\" = 'a'", Conditions::NONE),
        ("x-ms-if-tags", "a b c", Conditions::TAGS),
        ("x-ms-lease-id", "\u{e9}", Conditions::NONE),
    ];
    let mut faults = Vec::new();
    for row in built() {
        for (name, value, _) in unreadable.iter().filter(|(.., taken)| row.policy.conditions.has(*taken)) {
            let (request, body) = asked(row);
            let (answer, unchanged) = refused(&world, request.header(name, value), body).await;
            if answer.said() != BAD || !unchanged {
                faults.push(format!("{} {name}: {value}: {}", row.name(), answer.said()));
            }
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

/// A second line of a header that has one value would be left out.
#[tokio::test]
async fn a_header_that_is_there_twice() {
    let world = World::new(auth()).await;
    let twice = [
        ("if-unmodified-since", "Sun, 01 Nov 2026 12:00:00 GMT"),
        ("x-ms-if-tags", "a = 'b'"),
        ("x-ms-lease-id", "e0f0f8a0-0000-4000-8000-000000000000"),
        ("x-ms-version", "2021-06-08"),
        ("x-ms-blob-content-type", "a/b"),
        ("content-md5", "AAAAAAAAAAAAAAAAAAAAAA=="),
    ];
    for row in built() {
        for (name, value) in twice {
            let (request, body) = asked(row);
            let mut request = request.header(name, value);
            request.headers.push((name.to_owned(), value.to_owned()));
            let (answer, unchanged) = refused(&world, request, body).await;
            assert_eq!((answer.said().as_str(), unchanged), (BAD, true), "{} {name}", row.name());
        }
    }
}

/// What one client sends where it means no date is no condition (seen on the service), but only where nothing is written.
#[tokio::test]
async fn the_word_null_is_no_date() {
    let world = World::new(auth()).await;
    for (op, said) in [(Op::GetBlob, "200 "), (Op::GetBlobProperties, "200 "), (Op::PutBlockBlob, BAD)] {
        let (request, body) = asked(op.row());
        let (answer, _) = refused(&world, request.header("if-modified-since", "null"), body).await;
        assert_eq!(answer.said(), said, "{op:?}");
    }
}
