//! SESSION_SETUP (MS-SMB2 3.3.5.5): a logon, in as many steps as it takes, or its renewal.

use std::sync::Arc;

use bytes::{Buf, BufMut};
use tokio::sync::mpsc;

use crate::auth::logon::{LoggedOn, Step};
use crate::auth::ntlm::Refused;
use crate::crypto::{SessionKeys, SigningAlgorithm};
use crate::server::answer::{Failure, Reply};
use crate::server::call::Call;
use crate::server::channel::Channel;
use crate::server::connection::{Aim, PendingLogon};
use crate::server::limits::LOGONS_MAX;
use crate::server::session::{End, Session};
use crate::server::{notices, now};
use crate::status::{Malformed, NtStatus};
use crate::wire::header;
use crate::wire::negotiate::Dialect;

/// In the flags of a request: it is about a session that another connection has.
pub const BINDING: u8 = 1;
const SESSION_ENCRYPT_DATA: u16 = 4;

struct Request<'a> {
    flags: u8,
    token: bytes::Bytes,
    previous: u64,
    call: &'a Call,
}

impl<'a> Request<'a> {
    fn parse(call: &'a Call) -> Result<Self, Malformed> {
        let mut at = call.body(25)?;
        let flags = at.try_get_u8()?;
        let _security_mode = at.try_get_u8()?;
        let _capabilities = at.try_get_u32_le()?;
        let _channel = at.try_get_u32_le()?;
        let offset = usize::from(at.try_get_u16_le()?);
        let length = usize::from(at.try_get_u16_le()?);
        let previous = at.try_get_u64_le()?;
        Ok(Self { flags, token: call.part(offset, length)?, previous, call })
    }
}

pub async fn perform(call: &Call) -> Result<Reply, Failure> {
    let negotiated = call.negotiated()?;
    let connection = &call.connection;
    let server = &connection.server;
    let request = Request::parse(call)?;
    let binds = request.flags & BINDING != 0;
    if binds {
        may_bind(call)?;
    }
    if server.options.require_encryption && negotiated.cipher.is_none() {
        return Err(NtStatus::ACCESS_DENIED.into());
    }
    let (id, mut pending) = begin(call, binds)?;
    pending.preauth.update(&call.message);
    let step = pending.logon.step(&request.token, &server.gate, connection.peer.ip(), now()).await;
    match step {
        Ok(Step::Continue(token)) => {
            connection.logons.lock().insert(id, pending);
            let hashing = Arc::clone(connection);
            let after = move |answer: &[u8]| {
                if let Some(pending) = hashing.logons.lock().get_mut(&id) {
                    pending.preauth.update(answer);
                }
            };
            Ok(Reply {
                status: Some(NtStatus::MORE_PROCESSING_REQUIRED),
                body: body(0, &token),
                session_id: Some(id),
                after: Some(Box::new(after)),
                ..Reply::default()
            })
        }
        Ok(Step::Done(logged_on)) => match pending.aim {
            Aim::NewSession => established(&request, id, &pending, logged_on).await,
            Aim::Renewal => renewed(&request, logged_on).await,
            Aim::Binding => bound(call, &pending, logged_on),
        },
        Err(refused) => {
            server.stats.logon_failed();
            // Who cannot prove again who they are, is not any more (MS-SMB2 3.3.5.5.3).
            if pending.aim == Aim::Renewal
                && refused != Refused::TooMany
                && let Some(channel) = connection.channel(id)
            {
                server.end_session(&channel.session, End::Closed).await;
            }
            Err(match refused {
                Refused::Malformed => NtStatus::INVALID_PARAMETER.into(),
                Refused::Logon => NtStatus::LOGON_FAILURE.into(),
                Refused::TooMany => NtStatus::INSUFF_SERVER_RESOURCES.into(),
            })
        }
    }
}

/// Whether this connection can be bound to the session that the request speaks for, with that session's key (MS-SMB2 3.3.5.5).
fn may_bind(call: &Call) -> Result<(), NtStatus> {
    let negotiated = call.negotiated()?;
    let session = call.session()?;
    match (session.signing, negotiated.signing) {
        (SigningAlgorithm::AesGmac, SigningAlgorithm::AesGmac) => {}
        (SigningAlgorithm::AesGmac, _) => return Err(NtStatus::REQUEST_OUT_OF_SEQUENCE),
        (_, SigningAlgorithm::AesGmac) => return Err(NtStatus::NOT_SUPPORTED),
        _ => {}
    }
    if negotiated.dialect == Dialect::Smb210 || call.connection.channel(session.id).is_some() {
        return Err(NtStatus::REQUEST_NOT_ACCEPTED);
    }
    // The client's guid need not be the same: the key says who it is.
    let same = session.dialect == negotiated.dialect && session.cipher_id == negotiated.cipher;
    match same {
        true => Ok(()),
        false => Err(NtStatus::INVALID_PARAMETER),
    }
}

/// The logon that this request goes on with.
fn begin(call: &Call, binds: bool) -> Result<(u64, PendingLogon), NtStatus> {
    let connection = &call.connection;
    let mut logons = connection.logons.lock();
    let id = call.header.session_id;
    if let Some(pending) = logons.remove(&id) {
        return match (pending.aim == Aim::Binding) == binds {
            true => Ok((id, pending)),
            false => Err(NtStatus::INVALID_PARAMETER),
        };
    }
    if logons.len() >= LOGONS_MAX {
        return Err(NtStatus::INSUFFICIENT_RESOURCES);
    }
    let preauth = call.negotiated()?.preauth;
    if id == 0 {
        let id = connection.server.fresh_session_id();
        return Ok((id, PendingLogon { preauth, ..PendingLogon::default() }));
    }
    // It was signed with the session's key, or it would not be here.
    match (&call.channel, binds) {
        (Some(_), true) => Ok((id, PendingLogon { preauth, aim: Aim::Binding, ..PendingLogon::default() })),
        (Some(_), false) => Ok((id, PendingLogon { aim: Aim::Renewal, ..PendingLogon::default() })),
        (None, _) => Err(NtStatus::USER_SESSION_DELETED),
    }
}

/// What the connection agreed on, this logon and its session key give.
fn keys(call: &Call, pending: &PendingLogon, session_key: &[u8; 16]) -> Result<SessionKeys, NtStatus> {
    let negotiated = call.negotiated()?;
    let (signing, cipher) = (negotiated.signing, negotiated.cipher);
    SessionKeys::derive(negotiated.dialect, signing, cipher, session_key, &pending.preauth)
        .map_err(|_| NtStatus::INSUFF_SERVER_RESOURCES)
}

async fn established(
    request: &Request<'_>,
    id: u64,
    pending: &PendingLogon,
    logged_on: LoggedOn,
) -> Result<Reply, Failure> {
    let call = request.call;
    let (connection, negotiated) = (&call.connection, call.negotiated()?);
    let server = &connection.server;
    let LoggedOn { account, session_key, proved, token } = logged_on;
    let keys = keys(call, pending, &session_key)?;
    let encrypt = server.options.require_encryption;
    let (tell, told) = mpsc::unbounded_channel();
    let session = Session::new(id, Arc::clone(&account), keys, encrypt, proved, negotiated, tell, server);
    let session = Arc::new(session);
    let channel = Channel::first(&session);
    if let Err(refused) = connection.add_channel(&channel) {
        server.end_session(&session, End::Closed).await;
        return Err(refused.into());
    }
    server.remember(&session);
    tokio::spawn(notices::tell(Arc::downgrade(&session), told));
    // The client comes back after it lost its connection: what it had is treated as lost now.
    if request.previous != 0
        && request.previous != id
        && let Some(previous) = server.session(request.previous)
        && previous.account == account
    {
        server.end_session(&previous, End::Lost).await;
    }
    Ok(Reply {
        body: body(session_flags(&session), &token),
        session_id: Some(id),
        sign_as: Some(channel),
        ..Reply::default()
    })
}

/// The session has this connection, too, and signs what goes over it with a key of its own.
fn bound(call: &Call, pending: &PendingLogon, logged_on: LoggedOn) -> Result<Reply, Failure> {
    let session = call.session()?;
    let LoggedOn { account, session_key, proved, token } = logged_on;
    if session.account != account {
        return Err(NtStatus::ACCESS_DENIED.into());
    }
    let signer = keys(call, pending, &session_key)?.signer;
    let channel = Arc::new(Channel { session: Arc::clone(session), signer, proved });
    call.connection.add_channel(&channel)?;
    Ok(Reply { sign_as: Some(channel), ..Reply::new(body(session_flags(session), &token)) })
}

fn session_flags(session: &Session) -> u16 {
    if session.encrypt { SESSION_ENCRYPT_DATA } else { 0 }
}

/// The keys stay; the key of another account renews nothing.
async fn renewed(request: &Request<'_>, logged_on: LoggedOn) -> Result<Reply, Failure> {
    let session = request.call.session()?;
    if session.account != logged_on.account {
        return Err(NtStatus::ACCESS_DENIED.into());
    }
    Ok(Reply::new(body(session_flags(session), &logged_on.token)))
}

fn body(flags: u16, token: &[u8]) -> Vec<u8> {
    let mut body = Vec::with_capacity(8 + token.len());
    body.put_u16_le(9);
    body.put_u16_le(flags);
    body.put_u16_le((header::SIZE + 8) as u16);
    body.put_u16_le(token.len() as u16);
    body.put_slice(token);
    body
}
