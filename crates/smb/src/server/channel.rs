//! A session over one of its connections (MS-SMB2 3.3.1.14). Most have one; a client may bind more connections to a session that it has.

use std::sync::Arc;

use super::session::Session;
use crate::auth::ntlm::NtHash;
use crate::crypto::Signer;

pub struct Channel {
    pub session: Arc<Session>,
    /// Signs what goes over this connection. Encryption has the session's keys on all of them.
    pub signer: Arc<Signer>,
    /// What the client proved to have over this connection; a key that is rotated away ends what was opened with it.
    pub proved: NtHash,
}

impl Channel {
    /// Of the connection that the session was made over; also what speaks for the session on one that is about to be bound to it.
    pub fn first(session: &Arc<Session>) -> Arc<Self> {
        let signer = Arc::clone(&session.signer);
        Arc::new(Self { session: Arc::clone(session), signer, proved: session.proved.clone() })
    }
}
