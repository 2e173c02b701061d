//! NEGOTIATE (MS-SMB2 3.3.5.3, 3.3.5.4).

use std::sync::Arc;

use crate::auth::spnego;
use crate::crypto::{CipherId, PreauthHash, SigningAlgorithm, random};
use crate::server::answer::{Failure, Part, Reply, frame};
use crate::server::call::Call;
use crate::server::connection::Connection;
use crate::server::limits::TRANSFER_MAX;
use crate::server::negotiated::Negotiated;
use crate::server::now;
use crate::server::receive::Broken;
use crate::status::NtStatus;
use crate::wire::header::{Command, ResponseHeader};
use crate::wire::negotiate::{
    ChosenContexts, Contexts, Dialect, NegotiateRequest, NegotiateResponse, WILDCARD, capability,
    security_mode,
};
use crate::wire::smb1::Offer;

const SECURITY_MODE: u16 = security_mode::SIGNING_ENABLED | security_mode::SIGNING_REQUIRED;

pub fn perform(call: &Call) -> Result<Reply, Failure> {
    let connection = &call.connection;
    // A second negotiation on one connection ends it (MS-SMB2 3.3.5.4).
    if connection.negotiated().is_some() {
        connection.close();
        return Err(NtStatus::INVALID_PARAMETER.into());
    }
    let request = NegotiateRequest::parse(&call.message)?;
    let dialect = Dialect::chosen(&request.dialects).ok_or(NtStatus::NOT_SUPPORTED)?;
    let mut capabilities = capability::LEASING | capability::LARGE_MTU;
    let mut cipher = None;
    let mut signing = SigningAlgorithm::HmacSha256;
    let mut chosen = None;
    match dialect {
        Dialect::Smb210 => {}
        Dialect::Smb300 | Dialect::Smb302 => {
            signing = SigningAlgorithm::AesCmac;
            if request.capabilities & capability::ENCRYPTION != 0 {
                capabilities |= capability::ENCRYPTION;
                cipher = Some(CipherId::Aes128Ccm);
            }
        }
        Dialect::Smb311 => {
            let contexts = choose(request.contexts.as_ref())?;
            cipher = contexts.cipher.flatten();
            signing = contexts.signing.unwrap_or(SigningAlgorithm::AesCmac);
            chosen = Some(contexts);
        }
    }
    if dialect != Dialect::Smb210 {
        capabilities |= request.capabilities & capability::MULTI_CHANNEL;
    }
    let body = NegotiateResponse {
        security_mode: SECURITY_MODE,
        dialect: dialect as u16,
        server_guid: connection.server.guid,
        capabilities,
        max_transact: TRANSFER_MAX,
        max_read: TRANSFER_MAX,
        max_write: TRANSFER_MAX,
        system_time: now(),
        security_blob: &spnego::offer()?,
        contexts: chosen,
    }
    .write();
    let mut preauth = PreauthHash::default();
    preauth.update(&call.message);
    let connection = Arc::clone(connection);
    let after = Box::new(move |answer: &[u8]| {
        preauth.update(answer);
        connection.set_negotiated(Negotiated {
            dialect,
            cipher,
            signing,
            client_guid: request.client_guid,
            client_capabilities: request.capabilities,
            client_security_mode: request.security_mode,
            offered_dialects: request.dialects,
            server_capabilities: capabilities,
            server_security_mode: SECURITY_MODE,
            preauth,
        });
    });
    Ok(Reply { body, after: Some(after), ..Reply::default() })
}

fn choose(offered: Option<&Contexts>) -> Result<ChosenContexts, NtStatus> {
    let offered = offered.ok_or(NtStatus::INVALID_PARAMETER)?;
    match offered.sha_512 {
        None => return Err(NtStatus::INVALID_PARAMETER),
        Some(false) => return Err(NtStatus::SMB_NO_PREAUTH_INTEGRITY_HASH_OVERLAP),
        Some(true) => {}
    }
    Ok(ChosenContexts {
        salt: random().map_err(|_| NtStatus::INSUFF_SERVER_RESOURCES)?,
        // The client's order is its preference.
        cipher: offered.ciphers.as_ref().map(|ciphers| ciphers.first().copied()),
        signing: offered.signing.as_ref().and_then(|signing| signing.first().copied()),
    })
}

/// The negotiation of the older protocol is answered in this one: the client negotiates again.
pub async fn older(connection: &Arc<Connection>, offer: Offer) -> Result<(), Broken> {
    if offer == Offer::Nothing
        || connection.negotiated().is_some()
        || !connection.credits.lock().consume(0, 1)
    {
        return Err(Broken("a client that speaks older protocols only"));
    }
    let blob = spnego::offer().map_err(|_| Broken("no offer"))?;
    let body = NegotiateResponse {
        security_mode: SECURITY_MODE,
        dialect: WILDCARD,
        server_guid: connection.server.guid,
        capabilities: capability::LEASING | capability::LARGE_MTU,
        max_transact: TRANSFER_MAX,
        max_read: TRANSFER_MAX,
        max_write: TRANSFER_MAX,
        system_time: now(),
        security_blob: &blob,
        contexts: None,
    }
    .write();
    let header = ResponseHeader {
        credit_charge: 0,
        status: NtStatus::SUCCESS,
        command: Command::Negotiate as u16,
        credits: connection.credits.lock().grant(1),
        flags: 0,
        message_id: 0,
        async_id: None,
        tree_id: 0,
        session_id: 0,
    };
    let part = Part {
        header,
        body,
        payload: Vec::new(),
        held: Vec::new(),
        signed_by: None,
        echoed: None,
        after: None,
    };
    let frame = frame(vec![part], None).map_err(|_| Broken("no frame"))?;
    connection.send(frame).await;
    Ok(())
}
