//! A session with several connections: who may bind one, what each of them can do, and what is left when one goes.

use std::time::Duration;

use lazuli_smb::wire::negotiate::Dialect;

use crate::client::{Raw, Seal, close_body, command, create_body};
use crate::server::{Bench, KEYS, start};

const ACCESS_DENIED: u32 = 0xC000_0022;
const INVALID_PARAMETER: u32 = 0xC000_000D;
const LOGON_FAILURE: u32 = 0xC000_006D;
const REQUEST_NOT_ACCEPTED: u32 = 0xC000_00D0;
const SESSION_DELETED: u32 = 0xC000_0203;
const FILE_NOT_AVAILABLE: u32 = 0xC000_0467;
const DUPLICATE_OBJECTID: u32 = 0xC000_022A;
const DIALECTS: [Dialect; 3] = [Dialect::Smb300, Dialect::Smb302, Dialect::Smb311];
const PENDING: u32 = 0x103;
const ECHO: [u8; 4] = [4, 0, 0, 0];

async fn alpha(bench: &Bench, dialect: Dialect) -> Raw {
    Raw::ready(bench.address, dialect, "alpha", KEYS[0]).await
}

async fn negotiated(bench: &Bench, dialect: Dialect) -> Raw {
    let mut raw = Raw::connect(bench.address).await;
    assert_eq!(raw.negotiate(dialect).await.status, 0);
    raw
}

/// Another connection of the same session, in its tree.
async fn second(bench: &Bench, first: &Raw) -> Raw {
    let mut raw = negotiated(bench, first.dialect).await;
    assert_eq!(raw.bind(first, "alpha", KEYS[0]).await, 0);
    raw.tree = first.tree;
    raw
}

async fn connections_left(bench: &Bench, count: u64) {
    let all = async {
        while bench.stats.connections() > count {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(30), all).await.expect("connections end");
}

async fn status(raw: &mut Raw, command: u16, body: &[u8]) -> u32 {
    raw.request(command, body, Seal::Signed).await.expect("an answer").status
}

/// `sequence` is the client's count of connections that it has given up.
async fn write(raw: &mut Raw, file: [u8; 16], sequence: u16) -> u32 {
    let mut body = vec![49, 0, 112, 0, 1, 0, 0, 0];
    body.extend([0; 8]);
    body.extend(file);
    body.extend([0; 16]);
    body.push(b'x');
    let id = raw.next_message;
    let mut message = raw.header(command::WRITE);
    message[8..10].copy_from_slice(&sequence.to_le_bytes());
    message.extend(body);
    let message = raw.protect(message, Seal::Signed);
    raw.send(&message).await;
    let answer = raw.receive().await.expect("an answer");
    assert_eq!(answer.header.message_id, id);
    answer.status
}

#[tokio::test]
async fn what_one_connection_opens_another_uses_and_keeps() {
    let bench = start().await;
    for dialect in DIALECTS {
        let mut first = alpha(&bench, dialect).await;
        let file = first.create("file").await.expect("made");
        let mut other = second(&bench, &first).await;
        assert_eq!((bench.stats.sessions(), bench.stats.opens()), (1, 1), "{dialect:?}");
        assert_eq!(write(&mut other, file, 0).await, 0);
        let answer = other.request(command::ECHO, &ECHO, Seal::Encrypted).await.expect("an answer");
        assert!(
            answer.status == 0 && answer.encrypted,
            "the session's keys encrypt on all of its connections"
        );
        // The key of one connection is not that of the other. Before 3.1.1 they differ only where the logons do, and here they do not.
        if dialect == Dialect::Smb311 {
            std::mem::swap(&mut first.session, &mut other.session);
            assert_eq!(status(&mut first, command::ECHO, &ECHO).await, ACCESS_DENIED);
            std::mem::swap(&mut first.session, &mut other.session);
        }

        drop(first);
        connections_left(&bench, 1).await;
        assert_eq!(write(&mut other, file, 0).await, 0);
        assert_eq!((bench.stats.sessions(), bench.stats.opens()), (1, 1), "{dialect:?}");
        assert_eq!(status(&mut other, command::CLOSE, &close_body(file)).await, 0);
        drop(other);
        connections_left(&bench, 0).await;
        assert_eq!(bench.stats.sessions(), 0, "it ends with its last connection");
    }
}

#[tokio::test]
async fn a_logoff_ends_the_session_on_all_connections() {
    let bench = start().await;
    let mut first = alpha(&bench, Dialect::Smb311).await;
    first.create("file").await.expect("made");
    let mut other = second(&bench, &first).await;
    assert_eq!(status(&mut other, command::LOGOFF, &ECHO).await, 0);
    assert_eq!((bench.stats.sessions(), bench.stats.opens()), (0, 0));
    assert_eq!(status(&mut first, command::CREATE, &create_body("x")).await, SESSION_DELETED);
}

#[tokio::test]
async fn only_who_has_the_session_and_its_account_binds_to_it() {
    let bench = start().await;
    let first = alpha(&bench, Dialect::Smb311).await;
    let beta = Raw::ready(bench.address, Dialect::Smb311, "beta", "YmV0YQ==").await;
    let bind = async |of: &Raw, user: &str, key: &str, dialect| {
        negotiated(&bench, dialect).await.bind(of, user, key).await
    };
    assert_eq!(bind(&first, "alpha", "d3Jvbmc=", Dialect::Smb311).await, LOGON_FAILURE);
    assert_eq!(bind(&first, "beta", "YmV0YQ==", Dialect::Smb311).await, ACCESS_DENIED, "another user");
    assert_eq!(bind(&first, "alpha", KEYS[1], Dialect::Smb311).await, 0, "either key is the account's");
    // Signed with the key of one session, of which another is spoken.
    let mut forged = beta;
    let own = forged.session.as_mut().expect("logged on");
    own.id = first.session.as_ref().expect("logged on").id;
    assert_eq!(bind(&forged, "alpha", KEYS[0], Dialect::Smb311).await, SESSION_DELETED);
    assert_eq!(bind(&forged, "beta", "YmV0YQ==", Dialect::Smb311).await, SESSION_DELETED);
    // In another dialect than the session's the first reason is that it signs otherwise.
    let older = alpha(&bench, Dialect::Smb300).await;
    assert_eq!(bind(&older, "alpha", KEYS[0], Dialect::Smb302).await, INVALID_PARAMETER);
    let oldest = alpha(&bench, Dialect::Smb210).await;
    assert_eq!(bind(&oldest, "alpha", KEYS[0], Dialect::Smb210).await, REQUEST_NOT_ACCEPTED);
    // On its own connection there is nothing to bind.
    let mut own = alpha(&bench, Dialect::Smb302).await;
    let session = own.session.take().expect("logged on");
    let mut of = negotiated(&bench, Dialect::Smb302).await;
    of.session = Some(session);
    assert_eq!(own.bind(&of, "alpha", KEYS[0]).await, REQUEST_NOT_ACCEPTED);
}

#[tokio::test]
async fn a_session_has_so_many_connections_and_ends_with_either_key() {
    let bench = start().await;
    let mut first = alpha(&bench, Dialect::Smb302).await;
    let mut others = Vec::new();
    for _ in 1..32 {
        others.push(second(&bench, &first).await);
    }
    let mut more = negotiated(&bench, Dialect::Smb302).await;
    assert_eq!(more.bind(&first, "alpha", KEYS[0]).await, 0xC000_009A);
    others.truncate(1);
    connections_left(&bench, 3).await;
    let mut with_other_key = negotiated(&bench, Dialect::Smb302).await;
    assert_eq!(with_other_key.bind(&first, "alpha", KEYS[1]).await, 0);
    bench.users.replace([("alpha", vec![KEYS[0], "bmV3"])]);
    assert_eq!(status(&mut with_other_key, command::ECHO, &ECHO).await, SESSION_DELETED);
    assert_eq!(status(&mut first, command::ECHO, &ECHO).await, 0);
    bench.users.replace([("alpha", vec!["bmV3"])]);
    assert_eq!(status(&mut first, command::ECHO, &ECHO).await, SESSION_DELETED);
}

/// What was sent before its connection was given up changes nothing any more.
#[tokio::test]
async fn a_write_that_comes_late_is_refused() {
    let bench = start().await;
    let mut first = alpha(&bench, Dialect::Smb311).await;
    let file = first.create("file").await.expect("made");
    let mut other = second(&bench, &first).await;
    assert_eq!(write(&mut first, file, 0).await, 0);
    assert_eq!(write(&mut other, file, 1).await, 0);
    assert_eq!(write(&mut first, file, 0).await, FILE_NOT_AVAILABLE);
    // In 2.1 the client has no such count.
    let mut old = alpha(&bench, Dialect::Smb210).await;
    let file = old.create("old").await.expect("made");
    assert_eq!(write(&mut old, file, 9).await, 0);
    assert_eq!(write(&mut old, file, 0).await, 0);
}

pub fn batch_oplock(name: &str) -> Vec<u8> {
    let mut body = create_body(name);
    body[3] = 9;
    body
}

/// Opens the file for somebody else, and does not wait for it.
async fn disturb(raw: &mut Raw, name: &str) {
    let mut message = raw.header(command::CREATE);
    message.extend(create_body(name));
    let message = raw.protect(message, Seal::Signed);
    raw.send(&message).await;
}

async fn opened(raw: &mut Raw) -> u32 {
    loop {
        match raw.receive().await.expect("an answer").status {
            PENDING => {}
            status => return status,
        }
    }
}

/// A break goes over the connection that the file was opened over, and where that is gone, over another one.
#[tokio::test]
async fn breaks_find_a_connection() {
    let bench = start().await;
    let mut first = alpha(&bench, Dialect::Smb311).await;
    let mut other = second(&bench, &first).await;
    let open = async |raw: &mut Raw, name: &str| {
        let answer =
            raw.request(command::CREATE, &batch_oplock(name), Seal::Signed).await.expect("an answer");
        assert_eq!((answer.status, answer.body[2]), (0, 9), "with the oplock");
        <[u8; 16]>::try_from(&answer.body[64..80]).expect("sixteen")
    };
    let is_broken = async |raw: &mut Raw, file: [u8; 16]| {
        let told = raw.receive().await.expect("a break");
        assert_eq!((told.header.command, &told.body[8..24]), (command::OPLOCK_BREAK, &file[..]));
    };
    let acknowledgement = |file: [u8; 16]| [&[24, 0, 0, 0, 0, 0, 0, 0][..], &file].concat();
    let by_first = open(&mut first, "by first").await;
    let by_other = open(&mut other, "by other").await;
    let last = open(&mut first, "last").await;
    let mut breaker = alpha(&bench, Dialect::Smb311).await;

    disturb(&mut breaker, "by other").await;
    is_broken(&mut other, by_other).await;
    // Acknowledged over whichever of them.
    assert_eq!(status(&mut first, command::OPLOCK_BREAK, &acknowledgement(by_other)).await, 0);
    assert_eq!(opened(&mut breaker).await, 0);

    disturb(&mut breaker, "by first").await;
    is_broken(&mut first, by_first).await;
    assert_eq!(status(&mut other, command::OPLOCK_BREAK, &acknowledgement(by_first)).await, 0);
    assert_eq!(opened(&mut breaker).await, 0);

    first.cut().await;
    connections_left(&bench, 2).await;
    disturb(&mut breaker, "last").await;
    is_broken(&mut other, last).await;
    assert_eq!(status(&mut other, command::OPLOCK_BREAK, &acknowledgement(last)).await, 0);
    assert_eq!(opened(&mut breaker).await, 0);
}

/// A CREATE that the client names by a guid.
fn create_named(raw: &mut Raw, name: &str, guid: u8, again: bool) -> Vec<u8> {
    let mut body = create_body(name);
    body.resize(body.len().next_multiple_of(8), 0);
    let offset = u32::try_from(64 + body.len()).expect("near");
    body[48..52].copy_from_slice(&offset.to_le_bytes());
    body[52..56].copy_from_slice(&56u32.to_le_bytes());
    body.extend([0, 0, 0, 0, 16, 0, 4, 0, 0, 0, 24, 0, 32, 0, 0, 0]);
    body.extend(b"DH2Q\0\0\0\0");
    body.extend([0; 16]);
    body.extend([guid; 16]);
    let mut message = raw.header(command::CREATE);
    if again {
        // The flag of what is sent again.
        message[19] |= 0x20;
    }
    message.extend(body);
    raw.protect(message, Seal::Signed)
}

/// One that is sent again while it is under way has to come once more, and is then told what the first one has opened.
#[tokio::test]
async fn a_create_is_carried_out_once() {
    let bench = start().await;
    let mut holder = alpha(&bench, Dialect::Smb311).await;
    let answer = holder.request(command::CREATE, &batch_oplock("held"), Seal::Signed).await.expect("made");
    assert_eq!((answer.status, answer.body[2]), (0, 9), "with the oplock");
    let held = <[u8; 16]>::try_from(&answer.body[64..80]).expect("sixteen");
    let mut first = alpha(&bench, Dialect::Smb311).await;
    let mut other = second(&bench, &first).await;
    let message = create_named(&mut first, "held", 7, false);
    first.send(&message).await;
    assert_eq!(first.receive().await.expect("an answer").status, PENDING);
    for (again, expected) in [(true, FILE_NOT_AVAILABLE), (false, DUPLICATE_OBJECTID)] {
        let message = create_named(&mut other, "held", 7, again);
        other.send(&message).await;
        assert_eq!(other.receive().await.expect("an answer").status, expected);
    }
    // The holder is told to give the oplock up, and closes the file.
    assert_eq!(holder.receive().await.expect("a break").header.command, command::OPLOCK_BREAK);
    assert_eq!(status(&mut holder, command::CLOSE, &close_body(held)).await, 0);
    let made = first.receive().await.expect("an answer");
    assert_eq!(made.status, 0);
    let message = create_named(&mut other, "held", 7, true);
    other.send(&message).await;
    let told = other.receive().await.expect("an answer");
    assert_eq!((told.status, &told.body[64..80]), (0, &made.body[64..80]), "the same open");
}

/// Who hears that there may be several connections is told where to.
#[tokio::test]
async fn the_address_is_told() {
    let bench = start().await;
    let ask = |room: u32| {
        let mut body = vec![57, 0, 0, 0];
        body.extend(0x0014_01FCu32.to_le_bytes());
        body.extend([0xFF; 16]);
        for number in [120, 0, 0, 0, 0, room, 1, 0] {
            body.extend(number.to_le_bytes());
        }
        body
    };
    let mut raw = alpha(&bench, Dialect::Smb311).await;
    let answer = raw.request(command::IOCTL, &ask(4096), Seal::Signed).await.expect("an answer");
    assert_eq!(answer.status, 0);
    let told = &answer.body[48..];
    assert_eq!((told.len(), &told[..4]), (152, &[0; 4][..]), "one interface");
    assert_eq!(&told[24..32], [2, 0, 0, 0, 127, 0, 0, 1]);
    let answer = raw.request(command::IOCTL, &ask(100), Seal::Signed).await.expect("an answer");
    assert_eq!(answer.status, 0xC000_0023);
    let mut old = alpha(&bench, Dialect::Smb210).await;
    let answer = old.request(command::IOCTL, &ask(4096), Seal::Signed).await.expect("an answer");
    assert_eq!(answer.status, 0xC000_00BB);
}
