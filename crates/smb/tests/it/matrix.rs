//! What is not signed, wrongly signed, changed, sent twice, or of somebody else's session: none of it is carried out.

use lazuli_smb::wire::negotiate::Dialect;

use crate::client::{Answer, Raw, Seal, close_body, command, create_body};
use crate::server::{Bench, KEYS, start};

const ACCESS_DENIED: u32 = 0xC000_0022;
const NOT_SUPPORTED: u32 = 0xC000_00BB;
const SESSION_DELETED: u32 = 0xC000_0203;
const NAME_DELETED: u32 = 0xC000_00C9;
const FILE_CLOSED: u32 = 0xC000_0128;
const BAD_NETWORK_NAME: u32 = 0xC000_00CC;
const INVALID_PARAMETER: u32 = 0xC000_000D;
const DIALECTS: [Dialect; 3] = [Dialect::Smb210, Dialect::Smb302, Dialect::Smb311];
const ECHO: [u8; 4] = [4, 0, 0, 0];

async fn alpha(bench: &Bench, dialect: Dialect) -> Raw {
    Raw::ready(bench.address, dialect, "alpha", KEYS[0]).await
}

/// The connection was cut.
fn cut(answer: Option<Answer>) -> bool {
    answer.is_none()
}

#[tokio::test]
async fn unsigned_and_wrongly_signed_requests_are_refused() {
    let bench = start().await;
    for dialect in DIALECTS {
        for seal in [Seal::None, Seal::Forged] {
            let mut raw = alpha(&bench, dialect).await;
            let answer = raw.request(command::CREATE, &create_body("made"), seal).await.expect("an answer");
            assert_eq!(answer.status, ACCESS_DENIED, "{dialect:?} {seal:?}");
            let answer = raw.request(command::ECHO, &ECHO, Seal::Signed).await.expect("an answer");
            assert_eq!(answer.status, 0, "{dialect:?}: who signs is served");
        }
    }
    let mut raw = alpha(&bench, Dialect::Smb311).await;
    let mut body = create_body("made");
    // Only what is there is opened.
    body[36..40].copy_from_slice(&1u32.to_le_bytes());
    let answer = raw.request(command::CREATE, &body, Seal::Signed).await.expect("an answer");
    assert_eq!(answer.status, 0xC000_0034, "none of them made the file");
}

#[tokio::test]
async fn a_message_is_good_once() {
    let bench = start().await;
    for dialect in DIALECTS {
        let mut raw = alpha(&bench, dialect).await;
        let message = [raw.header(command::ECHO), ECHO.to_vec()].concat();
        let message = raw.protect(message, Seal::Signed);
        raw.send(&message).await;
        assert_eq!(raw.receive().await.expect("an answer").status, 0);
        raw.send(&message).await;
        assert!(cut(raw.receive().await), "{dialect:?}: sent again");

        let mut raw = alpha(&bench, dialect).await;
        raw.next_message += 100_000;
        assert!(cut(raw.request(command::ECHO, &ECHO, Seal::Signed).await), "{dialect:?}: not granted");
    }
}

#[tokio::test]
async fn encrypted_messages_that_were_changed_end_the_connection() {
    let bench = start().await;
    for dialect in [Dialect::Smb300, Dialect::Smb311] {
        let mut raw = alpha(&bench, dialect).await;
        let answer = raw.request(command::ECHO, &ECHO, Seal::Encrypted).await.expect("an answer");
        assert!(answer.status == 0 && answer.encrypted);
        for place in [5, 22, 40, 44, 60] {
            let mut raw = alpha(&bench, dialect).await;
            let message = [raw.header(command::ECHO), ECHO.to_vec()].concat();
            let mut message = raw.protect(message, Seal::Encrypted);
            message[place] ^= 1;
            raw.send(&message).await;
            assert!(cut(raw.receive().await), "{dialect:?}: byte {place}");
        }
    }
}

#[tokio::test]
async fn sessions_trees_and_files_of_others_are_not_there() {
    let bench = start().await;
    let mut owner = alpha(&bench, Dialect::Smb311).await;
    let file = owner.create("file").await.expect("made");
    let own_session = owner.session.as_ref().expect("logged on").id;

    let mut other = Raw::ready(bench.address, Dialect::Smb311, "beta", "YmV0YQ==").await;
    // Another's session, on this connection.
    let mut message = [other.header(command::ECHO), ECHO.to_vec()].concat();
    message[40..48].copy_from_slice(&own_session.to_le_bytes());
    let message = other.protect(message, Seal::Signed);
    other.send(&message).await;
    assert_eq!(other.receive().await.expect("an answer").status, SESSION_DELETED);
    // Another's file, by its id; a tree that this session does not have.
    let answer = other.request(command::CLOSE, &close_body(file), Seal::Signed).await.expect("an answer");
    assert_eq!(answer.status, FILE_CLOSED);
    let tree = std::mem::replace(&mut other.tree, 77);
    let answer = other.request(command::CREATE, &create_body("x"), Seal::Signed).await.expect("an answer");
    assert_eq!(answer.status, NAME_DELETED);
    other.tree = tree;
    // The share of the same name is this account's own.
    let mut body = create_body("file");
    body[36..40].copy_from_slice(&1u32.to_le_bytes());
    let answer = other.request(command::CREATE, &body, Seal::Signed).await.expect("an answer");
    assert_eq!(answer.status, 0xC000_0034);
    assert_eq!(other.tree_connect("no-such-share", Seal::Signed).await.status, BAD_NETWORK_NAME);

    let answer = owner.request(command::CLOSE, &close_body(file), Seal::Signed).await.expect("an answer");
    assert_eq!(answer.status, 0, "the owner's is still open");
    let answer = owner.request(command::CLOSE, &close_body(file), Seal::Signed).await.expect("an answer");
    assert_eq!(answer.status, FILE_CLOSED, "and closed once");
}

#[tokio::test]
async fn a_session_that_logged_off_is_gone_with_what_it_had_open() {
    let bench = start().await;
    let mut raw = alpha(&bench, Dialect::Smb311).await;
    raw.create("file").await.expect("made");
    assert_eq!(bench.stats.opens(), 1);
    let answer = raw.request(command::LOGOFF, &ECHO, Seal::Signed).await.expect("an answer");
    assert_eq!(answer.status, 0);
    assert_eq!((bench.stats.opens(), bench.stats.sessions()), (0, 0));
    let answer = raw.request(command::CREATE, &create_body("x"), Seal::Signed).await.expect("an answer");
    assert_eq!(answer.status, SESSION_DELETED);
    raw.session = None;
    let answer = raw.request(command::ECHO, &ECHO, Seal::None).await.expect("an answer");
    assert_eq!(answer.status, 0, "the connection stays");
}

#[tokio::test]
async fn older_dialects_and_second_negotiations_are_refused() {
    let bench = start().await;
    let mut raw = Raw::connect(bench.address).await;
    let message = raw.negotiate_request(&[0x0202]);
    raw.send(&message).await;
    assert_eq!(raw.receive().await.expect("an answer").status, NOT_SUPPORTED);

    let mut raw = Raw::connect(bench.address).await;
    assert_eq!(raw.negotiate(Dialect::Smb311).await.status, 0);
    let message = raw.negotiate_request(&[0x0210]);
    raw.send(&message).await;
    let answer = raw.receive().await;
    assert!(answer.is_none_or(|answer| answer.status == INVALID_PARAMETER));
    assert!(cut(raw.request(command::ECHO, &ECHO, Seal::None).await), "the connection is gone");

    let mut raw = Raw::connect(bench.address).await;
    assert!(cut(raw.request(command::ECHO, &ECHO, Seal::None).await), "before any negotiation");
}

fn validate_body(dialects: &[u16], capabilities: u32) -> Vec<u8> {
    let mut input = capabilities.to_le_bytes().to_vec();
    input.extend([9; 16]);
    input.extend([1, 0]);
    input.extend(u16::try_from(dialects.len()).expect("few").to_le_bytes());
    dialects.iter().for_each(|dialect| input.extend(dialect.to_le_bytes()));
    let mut body = vec![57, 0, 0, 0];
    body.extend(0x0014_0204u32.to_le_bytes());
    body.extend([0xFF; 16]);
    for number in [120, u32::try_from(input.len()).expect("short"), 0, 0, 0, 24, 1, 0] {
        body.extend(number.to_le_bytes());
    }
    body.extend(input);
    body
}

/// Somebody between client and server took the newer dialects out of the negotiation: the client finds out by asking again,
/// signed, and the server cuts the connection.
#[tokio::test]
async fn a_downgrade_is_found_out() {
    let bench = start().await;
    let mut raw = alpha(&bench, Dialect::Smb302).await;
    let body = validate_body(&[0x0302], 0x40);
    let answer = raw.request(command::IOCTL, &body, Seal::Signed).await.expect("an answer");
    assert_eq!(answer.status, 0, "what was said is what was heard");
    assert_eq!(answer.body[70..72], 0x0302u16.to_le_bytes());
    for body in [validate_body(&[0x0302, 0x0311], 0x40), validate_body(&[0x0302], 0)] {
        let mut raw = alpha(&bench, Dialect::Smb302).await;
        let answer = raw.request(command::IOCTL, &body, Seal::Signed).await;
        assert!(answer.is_none_or(|answer| answer.status == ACCESS_DENIED));
        assert!(cut(raw.request(command::ECHO, &ECHO, Seal::Signed).await));
    }
}

/// In 3.1.1 the keys depend on every word of the negotiation.
#[tokio::test]
async fn a_changed_negotiation_gives_other_keys() {
    let bench = start().await;
    let mut raw = Raw::connect(bench.address).await;
    let mut message = raw.negotiate_request(&[0x0311]);
    raw.hash_as_meant(&message);
    message[70] ^= 2;
    raw.send(&message).await;
    assert_eq!(raw.receive_negotiated().await.status, 0);
    let panicked = tokio::spawn(async move { raw.log_on("alpha", KEYS[0]).await }).await;
    assert!(panicked.is_err(), "the last answer of the logon is not signed with the client's key");
}
