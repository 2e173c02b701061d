//! What requests that wait make the server hold.

use lazuli_smb::wire::negotiate::Dialect;

use crate::channels::batch_oplock;
use crate::client::{Raw, Seal, command, create_body};
use crate::patience::watch_body;
use crate::server::{KEYS, start};

const PENDING: u32 = 0x103;
const INSUFFICIENT_RESOURCES: u32 = 0xC000_009A;
/// Of a message that is kept as it is while its CREATE waits.
const LONG: usize = 132 * 1024;
/// So many of them are the part of an account.
const FIT: usize = 16 * 1024 * 1024 / LONG;

/// So much longer than it needs to be.
async fn send_padded(raw: &mut Raw, command: u16, body: &[u8]) {
    let mut message = raw.header(command);
    message.extend(body);
    message.resize(LONG, 0);
    let message = raw.protect(message, Seal::Signed);
    raw.send(&message).await;
}

#[tokio::test]
async fn what_is_kept_of_requests_that_wait_is_counted() {
    let bench = start().await;
    let mut holder = Raw::ready(bench.address, Dialect::Smb311, "alpha", KEYS[0]).await;
    let answer = holder.request(command::CREATE, &batch_oplock("held"), Seal::Signed).await.expect("made");
    assert_eq!((answer.status, answer.body[2]), (0, 9), "with the oplock");
    let mut raw = Raw::ready(bench.address, Dialect::Smb311, "alpha", KEYS[0]).await;
    let directory = raw.open_root().await;
    // They wait for the oplock, which nobody gives up.
    for _ in 0..FIT + 6 {
        send_padded(&mut raw, command::CREATE, &create_body("held")).await;
    }
    let (mut waiting, mut refused) = (0, 0);
    for _ in 0..FIT + 6 {
        match raw.receive().await.expect("an answer").status {
            PENDING => waiting += 1,
            INSUFFICIENT_RESOURCES => refused += 1,
            other => panic!("{other:#x}"),
        }
    }
    assert_eq!((waiting, refused), (FIT, 6));
    // Of a watch no more is kept than its fixed part.
    for _ in 0..20 {
        send_padded(&mut raw, command::CHANGE_NOTIFY, &watch_body(directory)).await;
        assert_eq!(raw.receive().await.expect("an answer").status, PENDING);
    }
    // Another account has its own part.
    let mut other = Raw::ready(bench.address, Dialect::Smb311, "beta", "YmV0YQ==").await;
    let directory = other.open_root().await;
    send_padded(&mut other, command::CHANGE_NOTIFY, &watch_body(directory)).await;
    assert_eq!(other.receive().await.expect("an answer").status, PENDING);
}
