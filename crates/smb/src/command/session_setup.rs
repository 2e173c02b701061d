//! SESSION_SETUP (MS-SMB2 3.3.5.5): a logon, in as many steps as it takes, or its renewal.

use std::sync::Arc;

use bytes::{Buf, BufMut};
use tokio::sync::mpsc;

use crate::auth::logon::{LoggedOn, Step};
use crate::auth::ntlm::Refused;
use crate::crypto::{SessionKeys, SigningAlgorithm};
use crate::server::answer::{Failure, Reply};
use crate::server::call::Call;
use crate::server::connection::PendingLogon;
use crate::server::limits::LOGONS_MAX;
use crate::server::session::{End, Session};
use crate::server::{notices, now};
use crate::status::{Malformed, NtStatus};
use crate::wire::header;
use crate::wire::negotiate::Dialect;

const FLAG_BINDING: u8 = 1;
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
    if request.flags & FLAG_BINDING != 0 {
        return Err(binding_refused(call)?.into());
    }
    if server.options.require_encryption && negotiated.cipher.is_none() {
        return Err(NtStatus::ACCESS_DENIED.into());
    }
    let (id, mut pending) = begin(call)?;
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
        Ok(Step::Done(logged_on)) => match pending.renews {
            true => renewed(&request, logged_on).await,
            false => established(&request, id, &pending, logged_on).await,
        },
        Err(refused) => {
            server.stats.logon_failed();
            // Who cannot prove again who they are, is not any more (MS-SMB2 3.3.5.5.3).
            if pending.renews
                && let Some(session) = connection.remove_session(id)
            {
                session.end(End::Closed).await;
            }
            Err(match refused {
                Refused::Malformed => NtStatus::INVALID_PARAMETER.into(),
                Refused::Logon => NtStatus::LOGON_FAILURE.into(),
            })
        }
    }
}

/// A second connection for a session is not offered (see the capabilities), and refused for the first reason that there is
/// (MS-SMB2 3.3.5.5).
fn binding_refused(call: &Call) -> Result<NtStatus, NtStatus> {
    let negotiated = call.negotiated()?;
    let session = call.session()?;
    match (session.signing, negotiated.signing) {
        (SigningAlgorithm::AesGmac, SigningAlgorithm::AesGmac) => {}
        (SigningAlgorithm::AesGmac, _) => return Ok(NtStatus::REQUEST_OUT_OF_SEQUENCE),
        (_, SigningAlgorithm::AesGmac) => return Ok(NtStatus::NOT_SUPPORTED),
        _ => {}
    }
    if negotiated.dialect == Dialect::Smb210 {
        return Ok(NtStatus::REQUEST_NOT_ACCEPTED);
    }
    let same = session.dialect == negotiated.dialect
        && session.client_guid == negotiated.client_guid
        && session.cipher == negotiated.cipher;
    Ok(if same { NtStatus::REQUEST_NOT_ACCEPTED } else { NtStatus::INVALID_PARAMETER })
}

/// The logon that this request goes on with.
fn begin(call: &Call) -> Result<(u64, PendingLogon), NtStatus> {
    let connection = &call.connection;
    let mut logons = connection.logons.lock();
    let id = call.header.session_id;
    if let Some(pending) = logons.remove(&id) {
        return Ok((id, pending));
    }
    if logons.len() >= LOGONS_MAX {
        return Err(NtStatus::INSUFFICIENT_RESOURCES);
    }
    if id == 0 {
        let preauth = call.negotiated()?.preauth;
        return Ok((
            connection.server.fresh_session_id(),
            PendingLogon { preauth, ..PendingLogon::default() },
        ));
    }
    // It was signed with the session's key, or it would not be here.
    match call.session {
        Some(_) => Ok((id, PendingLogon { renews: true, ..PendingLogon::default() })),
        None => Err(NtStatus::USER_SESSION_DELETED),
    }
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
    let keys = SessionKeys::derive(
        negotiated.dialect,
        negotiated.signing,
        negotiated.cipher,
        &session_key,
        &pending.preauth,
    )
    .map_err(|_| NtStatus::INSUFF_SERVER_RESOURCES)?;
    let encrypt = server.options.require_encryption;
    let (tell, told) = mpsc::unbounded_channel();
    let session = Session::new(id, Arc::clone(&account), keys, encrypt, proved, negotiated, tell, server);
    let session = Arc::new(session);
    if !connection.add_session(&session) {
        session.end(End::Closed).await;
        return Err(NtStatus::INSUFFICIENT_RESOURCES.into());
    }
    tokio::spawn(notices::tell(Arc::downgrade(connection), Arc::downgrade(&session), told));
    // The client comes back after it lost its connection: what it had is treated as lost now.
    if request.previous != 0
        && request.previous != id
        && let Some(previous) = server.session(request.previous)
        && previous.account == account
    {
        server.forget(previous.id);
        previous.end(End::Lost).await;
    }
    Ok(Reply {
        body: body(if encrypt { SESSION_ENCRYPT_DATA } else { 0 }, &token),
        session_id: Some(id),
        sign_as: Some(session),
        ..Reply::default()
    })
}

/// The keys stay; the key of another account renews nothing.
async fn renewed(request: &Request<'_>, logged_on: LoggedOn) -> Result<Reply, Failure> {
    let session = request.call.session()?;
    if session.account != logged_on.account {
        return Err(NtStatus::ACCESS_DENIED.into());
    }
    let flags = if session.encrypt { SESSION_ENCRYPT_DATA } else { 0 };
    Ok(Reply::new(body(flags, &logged_on.token)))
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
