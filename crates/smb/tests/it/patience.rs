//! Who may cancel what, and how long others wait for a client that does not do its part.

use std::time::Duration;

use lazuli_smb::wire::negotiate::Dialect;
use tokio::time::timeout;

use crate::client::{Raw, Seal, command};
use crate::server::{Bench, KEYS, start};

const PENDING: u32 = 0x103;
const CANCELLED: u32 = 0xC000_0120;

/// A watch of all changes in a directory.
pub fn watch_body(directory: [u8; 16]) -> Vec<u8> {
    let mut body = vec![32, 0, 0, 0, 0, 16, 0, 0];
    body.extend(directory);
    body.extend(0xFFFu32.to_le_bytes());
    body.extend([0; 4]);
    body
}

/// A watch of the share's root that has been told to wait, and by which number.
async fn watch(raw: &mut Raw) -> u64 {
    let directory = raw.open_root().await;
    let mut message = raw.header(command::CHANGE_NOTIFY);
    message.extend(watch_body(directory));
    let message = raw.protect(message, Seal::Signed);
    raw.send(&message).await;
    let answer = raw.receive().await.expect("an answer");
    assert_eq!(answer.status, PENDING);
    answer.header.async_id
}

/// A cancellation of what waits under this number.
fn cancel(raw: &mut Raw, async_id: u64, session: u64) -> Vec<u8> {
    let mut message = raw.header(command::CANCEL);
    raw.next_message -= 1;
    message[16] |= 2;
    message[32..40].copy_from_slice(&async_id.to_le_bytes());
    message[40..48].copy_from_slice(&session.to_le_bytes());
    message.extend([4, 0, 0, 0]);
    message
}

/// What was sent before has no answer: the next one is that of what is sent now.
async fn is_unanswered(raw: &mut Raw) -> bool {
    let id = raw.next_message;
    let mut message = raw.header(command::ECHO);
    message.extend([4, 0, 0, 0]);
    let message = raw.protect(message, Seal::Signed);
    raw.send(&message).await;
    let answer = raw.receive().await.expect("an answer");
    (answer.header.command, answer.header.message_id, answer.status) == (command::ECHO, id, 0)
}

async fn alpha(bench: &Bench) -> Raw {
    Raw::ready(bench.address, Dialect::Smb311, "alpha", KEYS[0]).await
}

#[tokio::test]
async fn only_the_session_that_waits_cancels() {
    let bench = start().await;
    let mut raw = alpha(&bench).await;
    let id = watch(&mut raw).await;
    let session = raw.session.as_ref().expect("logged on").id;
    // Of no session, unsigned, and signed wrongly.
    for (session, seal) in [
        (0, Seal::None),
        (0, Seal::Signed),
        (session, Seal::None),
        (session, Seal::Forged),
        (session + 1, Seal::Signed),
    ] {
        let message = cancel(&mut raw, id, session);
        let message = raw.protect(message, seal);
        raw.send(&message).await;
        assert!(is_unanswered(&mut raw).await, "{session} {seal:?}");
    }
    // Of another session on the same connection, which has a key of its own.
    let watcher = raw.session.take();
    assert_eq!(raw.log_on("beta", "YmV0YQ==").await, 0);
    let other = raw.session.as_ref().expect("logged on").id;
    let message = cancel(&mut raw, id, other);
    let message = raw.protect(message, Seal::Signed);
    raw.send(&message).await;
    assert!(is_unanswered(&mut raw).await);
    raw.session = watcher;
    let message = cancel(&mut raw, id, session);
    let message = raw.protect(message, Seal::Signed);
    raw.send(&message).await;
    assert_eq!(raw.receive().await.expect("an answer").status, CANCELLED);
}

/// Clients of one account announce more than there is, and send nothing of it.
#[tokio::test]
async fn frames_that_are_only_announced_hold_no_other_account_up() {
    let bench = start().await;
    let mut slow = Vec::new();
    for _ in 0..9 {
        let mut raw = alpha(&bench).await;
        raw.announce(8 << 20).await;
        slow.push(raw);
    }
    let mut other = Raw::ready(bench.address, Dialect::Smb311, "beta", "YmV0YQ==").await;
    timeout(Duration::from_secs(10), other.create("file")).await.expect("at once").expect("made");
    // More than all of the memory, were it not for the account's part.
    for _ in 0..30 {
        let mut raw = Raw::connect(bench.address).await;
        raw.negotiate(Dialect::Smb311).await;
        assert_eq!(raw.log_on("alpha", KEYS[0]).await, 0);
        raw.announce(8 << 20).await;
        slow.push(raw);
    }
    let answer = timeout(Duration::from_secs(10), other.create("another")).await;
    answer.expect("at once").expect("made");
}
