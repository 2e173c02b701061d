//! Who is let in.

use lazuli_smb::wire::negotiate::Dialect;

use crate::client::{Raw, Seal, command};
use crate::server::{KEYS, start, start_with};

const LOGON_FAILURE: u32 = 0xC000_006D;
const ACCESS_DENIED: u32 = 0xC000_0022;
const SESSION_DELETED: u32 = 0xC000_0203;
const DIALECTS: [Dialect; 4] = [Dialect::Smb210, Dialect::Smb300, Dialect::Smb302, Dialect::Smb311];

#[tokio::test]
async fn either_key_opens_the_account_in_every_dialect() {
    let bench = start().await;
    for dialect in DIALECTS {
        for (user, key) in [("alpha", KEYS[0]), ("ALPHA", KEYS[1])] {
            let mut raw = Raw::connect(bench.address).await;
            assert_eq!(raw.negotiate(dialect).await.status, 0, "{dialect:?}");
            assert_eq!(raw.log_on(user, key).await, 0, "{dialect:?} {user}");
        }
    }
}

#[tokio::test]
async fn nobody_else_is_let_in() {
    let bench = start().await;
    for (user, key) in
        [("alpha", "d3Jvbmc="), ("beta", KEYS[0]), ("nobody", KEYS[0]), ("guest", ""), ("", "")]
    {
        let mut raw = Raw::connect(bench.address).await;
        raw.negotiate(Dialect::Smb311).await;
        assert_eq!(raw.log_on(user, key).await, LOGON_FAILURE, "{user:?}");
    }
    assert_eq!(bench.stats.sessions(), 0);
    assert_eq!(bench.stats.logon_failures(), 5);
}

#[tokio::test]
async fn a_key_that_is_rotated_away_ends_its_sessions() {
    let bench = start().await;
    let mut first = Raw::ready(bench.address, Dialect::Smb311, "alpha", KEYS[0]).await;
    let mut second = Raw::ready(bench.address, Dialect::Smb311, "alpha", KEYS[1]).await;
    bench.users.replace([("alpha", vec![KEYS[1], "bmV3"])]);
    let echo = |raw: &mut Raw| {
        let message = raw.header(command::ECHO);
        raw.protect([message, vec![4, 0, 0, 0]].concat(), Seal::Signed)
    };
    let message = echo(&mut first);
    first.send(&message).await;
    assert_eq!(first.receive().await.expect("an answer").status, SESSION_DELETED);
    let message = echo(&mut second);
    second.send(&message).await;
    assert_eq!(second.receive().await.expect("an answer").status, 0);
}

#[tokio::test]
async fn where_encryption_is_required_nothing_goes_without() {
    let bench = start_with(true).await;
    let mut old = Raw::connect(bench.address).await;
    old.negotiate(Dialect::Smb210).await;
    assert_eq!(old.log_on("alpha", KEYS[0]).await, ACCESS_DENIED, "2.1 has no encryption");
    for dialect in [Dialect::Smb300, Dialect::Smb311] {
        let mut raw = Raw::connect(bench.address).await;
        raw.negotiate(dialect).await;
        assert_eq!(raw.log_on("alpha", KEYS[0]).await, 0);
        assert_eq!(raw.session.as_ref().map(|session| session.flags), Some(4), "the client is told");
        assert_eq!(raw.tree_connect("files", Seal::Signed).await.status, ACCESS_DENIED, "{dialect:?}");
        let answer = raw.tree_connect("files", Seal::Encrypted).await;
        assert!(answer.status == 0 && answer.encrypted, "{dialect:?}");
    }
}
